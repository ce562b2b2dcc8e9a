//! Tests of the command as users meet it: two operating-system processes, real files, real signals.

#[path = "all/broken.rs"]
mod broken;
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
#[path = "all/joins.rs"]
mod joins;
#[path = "all/layering.rs"]
mod layering;
#[path = "all/memory.rs"]
mod memory;
#[path = "all/mismatch.rs"]
mod mismatch;
#[path = "all/plans.rs"]
mod plans;
#[path = "all/receipts.rs"]
mod receipts;
#[path = "all/tasks.rs"]
mod tasks;
