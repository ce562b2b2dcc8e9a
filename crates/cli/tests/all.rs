//! Tests of the command as users meet it: two operating-system processes, real files, real signals.

use vesica_kernels::memory::HugePages;

/// As in the program: what runs in the tests' own process leaves in memory what it would leave there.
#[global_allocator]
static MEMORY: HugePages = HugePages;

#[path = "all/bounds.rs"]
mod bounds;
#[path = "all/buckets.rs"]
mod buckets;
#[path = "all/cases.rs"]
mod cases;
#[path = "all/commands/mod.rs"]
mod commands;
#[path = "all/counts.rs"]
mod counts;
#[path = "all/documents.rs"]
mod documents;
#[path = "all/dry_run.rs"]
mod dry_run;
#[path = "all/errors.rs"]
mod errors;
#[path = "all/faults.rs"]
mod faults;
#[path = "all/harness.rs"]
mod harness;
#[path = "all/help.rs"]
mod help;
#[path = "all/identities.rs"]
mod identities;
#[path = "all/jobs.rs"]
mod jobs;
#[path = "all/joins.rs"]
mod joins;
#[path = "all/kinds.rs"]
mod kinds;
#[path = "all/layering.rs"]
mod layering;
#[path = "all/libraries.rs"]
mod libraries;
#[path = "all/limits.rs"]
mod limits;
#[path = "all/log.rs"]
mod log;
#[path = "all/memory.rs"]
mod memory;
#[path = "all/metadata.rs"]
mod metadata;
#[path = "all/mismatch.rs"]
mod mismatch;
#[path = "all/networks.rs"]
mod networks;
#[path = "all/null_words.rs"]
mod null_words;
#[path = "all/or_keys.rs"]
mod or_keys;
#[path = "all/outputs.rs"]
mod outputs;
#[path = "all/packaging.rs"]
mod packaging;
#[path = "all/plans.rs"]
mod plans;
#[path = "all/policies.rs"]
mod policies;
#[path = "all/post_quantum.rs"]
mod post_quantum;
#[path = "all/progress.rs"]
mod progress;
#[path = "all/receipts.rs"]
mod receipts;
#[path = "all/resume.rs"]
mod resume;
#[cfg(target_os = "linux")]
#[path = "all/secrets.rs"]
mod secrets;
#[path = "all/service.rs"]
mod service;
#[path = "all/service_preparation.rs"]
mod service_preparation;
#[path = "all/signals.rs"]
mod signals;
#[path = "all/silent.rs"]
mod silent;
#[path = "all/sockets.rs"]
mod sockets;
#[path = "all/strangers.rs"]
mod strangers;
#[path = "all/streams.rs"]
mod streams;
#[path = "all/tasks.rs"]
mod tasks;
#[path = "all/terminals.rs"]
mod terminals;
#[path = "all/told.rs"]
mod told;
#[path = "all/trusting.rs"]
mod trusting;
#[path = "all/union_totals.rs"]
mod union_totals;
#[path = "all/unions.rs"]
mod unions;
#[path = "all/work_folder.rs"]
mod work_folder;

/// The program that is tested.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_vesica");
