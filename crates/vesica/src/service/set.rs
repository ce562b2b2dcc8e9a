//! A table as a set, under the salt of the description.

use std::time::Duration;

use rayon::prelude::*;
use vesica_protocols::tasks::IntersectSenderInput;

use super::Description;
use super::roster::Roster;
use super::slow_hash::{self, Hashed, Terms};
use crate::failure::{Failure, code};
use crate::table::{KeyTable, PayloadTable};

/// A table that was read, as a set.
pub(super) struct Set {
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
        let input = in_order(items, table.payload.take(), width);
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
        terms: Terms<'_>,
        stage: impl Fn(&str),
    ) -> Result<Self, Failure> {
        let (Some(slow), Some(salt)) = (description.slow_hash(), description.salt_number()) else { return Ok(self) };
        let told = |count, time: Duration| stage(&slow_hash::announcement(slow, count, time));
        slow.hash(salt, &mut self.input.items, hashed, terms, told)?;
        self.roster = Roster::of(salt, &self.input);
        Ok(self)
    }
}

/// Items in ascending order, whatever order the table has, with their payloads in records of `width` bytes: a table that
/// was sorted in another way is prepared in the same parts.
fn in_order(mut items: Vec<u128>, payload: Option<PayloadTable>, width: usize) -> IntersectSenderInput {
    let Some(payload) = payload.filter(|_| width > 0) else {
        items.par_sort_unstable();
        let payloads = vec![0; items.len().saturating_mul(width)];
        return IntersectSenderInput { items, payloads };
    };
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    order.par_sort_unstable_by_key(|&place| items.get(place as usize));
    let mut payloads = vec![0; items.len().saturating_mul(width)];
    let record_bytes = payload.schema.width;
    payloads.par_chunks_exact_mut(width).zip(&order).for_each(|(padded, &place)| {
        let start = place as usize * record_bytes;
        let record = payload.bytes.get(start..start + record_bytes).unwrap_or_default();
        padded.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
    });
    items.par_sort_unstable();
    IntersectSenderInput { items, payloads }
}
