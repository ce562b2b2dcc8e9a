//! Whether a work folder has room for a run, before the partner hears of the own table.

use std::path::Path;

use rustix::fs::statvfs;
use vesica_party::Role;
use vesica_protocols::tasks::Extent;

use super::Config;
use crate::buckets::{self, bytes_on_disk};
use crate::failure::{Failure, code};
use crate::memory::Bytes;
use crate::table::KeyTable;

/// The most bytes that a run of these buckets has in the folder, where the partner's payload has `received` bytes.
pub(super) fn needed(table: &KeyTable, received: usize, run: &Extent, role: Role) -> u64 {
    let own = table.spilled.as_ref().map_or(0, |keys| keys.width());
    bytes_on_disk(table.stats.rows, (own, received), run, role)
}

/// Refuses a run for which the folder's disk has no room, as far as the own table tells.
pub(super) fn check_room(config: &Config, table: &KeyTable, own_items: usize) -> Result<(), Failure> {
    let (Some(folder), Some(keys)) = (&config.work, &table.spilled) else { return Ok(()) };
    // The partner's sizes are not known yet: it has no part in what is written before the first match.
    let whole = Extent::new(own_items, own_items, config.security);
    let run = buckets::extent(&whole, config.buckets)?;
    // The keys are there already.
    let further = needed(table, 0, &run, config.role).saturating_sub(keys.bytes());
    match free(folder) {
        Some(free) if free < further => Err(Failure {
            told: Some("it cannot use its work folder"),
            ..Failure::new(
                code::OUTPUT,
                format_args!(
                    "the run needs {} more in the work folder {}, and {} are free",
                    Bytes(further),
                    folder.display(),
                    Bytes(free)
                ),
                "free space there, or name a folder on a larger disk with --work",
            )
        }),
        _ => Ok(()),
    }
}

/// Bytes that this user may still write there; `None` where the system does not say.
fn free(folder: &Path) -> Option<u64> {
    let disk = statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
