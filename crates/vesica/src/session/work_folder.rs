//! Whether a work folder has room for a run, before anything has been compared.

use std::path::Path;

use rustix::fs::statvfs;
use vesica_party::Role;
use vesica_protocols::tasks::Extent;

use super::Config;
use crate::buckets::{self, OnDisk};
use crate::failure::{Failure, code};
use crate::memory::Bytes;
use crate::table::KeyTable;

/// What a run of these buckets has in the folder, where the partner's payload has `received` bytes.
pub(super) fn needed(table: &KeyTable, received: usize, run: (&Extent, u32), role: Role) -> OnDisk {
    let own = table.spilled.as_ref().map_or(0, |keys| keys.width());
    OnDisk::new(table.stats.rows, (own, received), run, role)
}

/// Refuses a run for which the folder's disk has no room, as far as the own table tells.
pub(super) fn check_room_for_own(config: &Config, table: &KeyTable, own_items: usize) -> Result<(), Failure> {
    if table.spilled.is_none() {
        return Ok(());
    }
    // The partner's sizes, which are not known yet, have no part in it.
    let whole = Extent::new(own_items, own_items, config.security);
    // A table that is in a work folder unasked is divided by its size.
    let asked = if config.buckets == 1 { buckets::BY_SIZE } else { config.buckets };
    let count = buckets::count(&whole, asked);
    check_room(config, table, 0, (&buckets::extent(&whole, count)?, count))
}

/// Refuses a run of these buckets for which the folder's disk has no room, where the partner's payload has `received`
/// bytes.
pub(super) fn check_room(
    config: &Config,
    table: &KeyTable,
    received: usize,
    run: (&Extent, u32),
) -> Result<(), Failure> {
    let Some(keys) = &table.spilled else { return Ok(()) };
    let folder = keys.folder();
    let OnDisk { dividing, running, .. } = needed(table, received, run, config.role);
    // The keys are there already, and go when they are divided.
    let further = dividing.max(running).saturating_sub(keys.bytes());
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
