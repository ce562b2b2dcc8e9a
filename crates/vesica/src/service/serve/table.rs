//! The table that is asked about, and what clients are told of it.

use vesica_structures::rng::SecretRng;

use super::config::ServeConfig;
use super::report::ServeLog;
use crate::failure::{Failure, code};
use crate::key::DIGEST_VERSION;
use crate::service::{Description, capacity_for};
use crate::table::{KeyTable, MAX_PAYLOAD_WIDTH, PayloadSchema};
use crate::task::Columns;

/// Reads the table.
pub(super) fn read(config: &ServeConfig, log: &dyn ServeLog) -> Result<KeyTable, Failure> {
    let opened = config.source.table.open()?;
    let columns = match config.integer_bits {
        Some(bits) => Columns::Integers(bits),
        None => Columns::Payload(config.payload.clone()),
    };
    let table = columns.read(&*opened, &config.source.key, config.memory)?;
    if table.digests.is_empty() {
        // It would answer every client with no match, which nobody could tell from a right answer.
        return Err(Failure::new(
            code::INPUT,
            format_args!("{} has no rows, and an empty list is not served", opened.name()),
            "check what writes it; a list that is meant to be empty can hold one key that no client has",
        ));
    }
    for warning in table.stats.warnings(&config.source.key) {
        log.warning(&warning);
    }
    Ok(table)
}

/// What clients are told of the table: as before, where a state is there that the table fits.
pub(super) fn describe(
    config: &ServeConfig,
    table: &KeyTable,
    before: Option<&Description>,
    rng: &mut SecretRng,
) -> Result<Description, Failure> {
    let keys = table.digests.len() as u64;
    if let Some(capacity) = config.capacity.filter(|&capacity| capacity < keys) {
        return Err(Failure::new(
            code::USAGE,
            format_args!("--capacity {capacity} is less than the {keys} distinct keys of the table"),
            "give a number that is at least as large as the table will ever be",
        ));
    }
    let kept_capacity = before.map(|before| before.capacity).filter(|&capacity| capacity >= keys);
    let capacity = config.capacity.or(kept_capacity).unwrap_or_else(|| capacity_for(keys));
    Ok(Description {
        version: 1,
        protocol: config.protocol.clone(),
        security: config.security,
        key_digest: DIGEST_VERSION.into(),
        key_columns: config.source.key.agreement(),
        key_kinds: table.stats.kinds(),
        salt: before.map_or_else(|| format!("{:032x}", rng.block()), |before| before.salt.clone()),
        capacity,
        items_per_query: config.items_per_query,
        payload: table.payload.as_ref().map(|payload| {
            let PayloadSchema { fields, width } = payload.schema.clone();
            // As before, while that has room.
            let told = before.and_then(|before| before.payload.as_ref()).map(|before| before.width);
            PayloadSchema { fields, width: told.filter(|&told| told >= width).unwrap_or_else(|| record_width(width)) }
        }),
        quota: config.quota.map(|quota| quota.to_string()),
        quota_left: None,
        leak_prefix: config.leak_prefix,
        slow_hash: config.slow_hash.map(|hash| hash.to_string()),
        integer_bits: config.integer_bits,
    })
}

/// The width that clients are told of records of `width` bytes: it hides the exact length of the
/// longest, and leaves room for longer ones.
fn record_width(width: usize) -> usize {
    width.checked_next_power_of_two().map_or(width, |rounded| rounded.clamp(16, MAX_PAYLOAD_WIDTH)).max(width)
}
