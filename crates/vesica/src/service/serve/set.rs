//! A table as a set, and what clients are told of it.

use std::time::Duration;

use vesica_protocols::tasks::IntersectSenderInput;
use vesica_structures::rng::SecretRng;

use super::config::ServeConfig;
use super::report::ServeLog;
use crate::failure::{Failure, code};
use crate::key::DIGEST_VERSION;
use crate::service::roster::Roster;
use crate::service::slow_hash::{self, Hashed};
use crate::service::{Description, capacity_for};
use crate::table::{KeyTable, MAX_PAYLOAD_WIDTH, PayloadSchema};
use crate::task::Columns;

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

/// A table that was read, as a set.
pub(in crate::service) struct Set {
    pub input: IntersectSenderInput,
    pub roster: Roster,
    /// Of items and payloads, before the slow hash of each: it tells in no time whether a table is
    /// the one before.
    pub hash: [u8; 32],
}

impl Set {
    /// The set of a table, under the salt of the description.
    pub(super) fn of(description: &Description, table: &mut KeyTable) -> Result<Self, Failure> {
        let salt = description
            .salt_number()
            .ok_or_else(|| Failure::new(code::INTERNAL, "the server's salt is malformed", "please report this"))?;
        let digests = std::mem::take(&mut table.digests);
        let items = match (description.integer_bits, table.integers.take()) {
            (None, _) => digests.fold(salt),
            (Some(_), Some(integers)) => integers.into_iter().map(u128::from).collect(),
            (Some(_), None) => {
                return Err(Failure::new(code::INTERNAL, "the table was not read as integers", "please report this"));
            }
        };
        let width = description.payload.as_ref().map_or(0, |schema| schema.width);
        let mut payloads = vec![0; items.len().saturating_mul(width)];
        if let Some(payload) = table.payload.take() {
            let records = payload.bytes.chunks_exact(payload.schema.width.max(1));
            payloads.chunks_exact_mut(width.max(1)).zip(records).for_each(|(padded, record)| {
                padded.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
            });
        }
        let input = IntersectSenderInput { items, payloads };
        let roster = Roster::of(salt, &input);
        let hash = roster.hash(salt);
        let hash = description.slow_hash().map_or(Ok(hash), |slow| slow.hash_of_set(salt, hash))?;
        Ok(Self { hash, roster, input })
    }

    /// The set with the slow hash of each item in its place, where the description has one.
    pub(super) fn with_slow_hashes(
        mut self,
        description: &Description,
        hashed: &mut Hashed,
        memory: Option<u64>,
        log: &dyn ServeLog,
    ) -> Result<Self, Failure> {
        let (Some(slow), Some(salt)) = (description.slow_hash(), description.salt_number()) else { return Ok(self) };
        let told = |count, time: Duration| log.stage(&slow_hash::announcement(slow, count, time));
        slow.hash(salt, &mut self.input.items, hashed, memory, told, &|| None)?;
        self.roster = Roster::of(salt, &self.input);
        Ok(self)
    }
}
