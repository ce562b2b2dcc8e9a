//! Made-up records, and what a side that lacks some of them compares its result with.

use vesica_party::{Role, Step, Stream};
use vesica_protocols::tasks::UnionOptions;

use crate::task::Sample;

/// The record of each made-up item.
pub(super) fn sample_records(role: Role, options: &UnionOptions, sample: &Sample) -> Vec<u8> {
    let mut records = Vec::with_capacity(sample.items().count() * options.record_bytes);
    for item in sample.items() {
        records.extend(Sample::payload(role, item, options.record_bytes));
    }
    records
}

/// The hash of the records of a side that the other one lacks.
pub(super) fn expected(role: Role, options: &UnionOptions, sample: &Sample) -> [u8; 32] {
    let records = sample_records(role, options, sample);
    let mut common = sample.common.iter().peekable();
    let new = (0u32..).zip(records.chunks_exact(options.record_bytes));
    let new = new.filter(|(place, _)| common.next_if_eq(&place).is_none());
    hash(new.map(|(_, record)| record).collect())
}

/// A hash of records that does not depend on their order.
pub(super) fn hash(mut records: Vec<&[u8]>) -> [u8; 32] {
    records.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    records.into_iter().for_each(|record| _ = hasher.update(record));
    *hasher.finalize().as_bytes()
}

pub(super) enum Expected {}

impl Stream for Expected {
    const STEP: Step =
        Step { protocol: "vesica-bench", number: 3, from: Role::Sender, carries: "a hash of the expected records" };
    type Element = u8;
}

pub(super) enum ExpectedOfReceiver {}

impl Stream for ExpectedOfReceiver {
    const STEP: Step = Step {
        protocol: "vesica-bench",
        number: 4,
        from: Role::Receiver,
        carries: "a hash of the receiver's expected records",
    };
    type Element = u8;
}
