//! Records: from the keys and payloads of the table to those of the protocol, and from what the protocol gives to the result.

use vesica_protocols::tasks::NewRecords;

use super::Terms;
use crate::buckets::Bucket;
use crate::cluster::keys::Widths;
use crate::table::KeyTable;
use crate::task::{ResultSet, Unopened};

/// Takes a side's records from its table, fills them up, and appends those of dummies.
pub(super) fn records(terms: &Terms, widths: Widths, items: usize, table: &mut KeyTable) -> Vec<u8> {
    let keys = table.union.as_mut().and_then(|union| union.records.take()).map(|records| records.bytes);
    let payload = table.payload.take().map(|payload| payload.bytes);
    filled(terms, widths, items, (&keys.unwrap_or_default(), &payload.unwrap_or_default()))
}

/// The records of a bucket of a side, filled up.
pub(super) fn records_of(
    terms: &Terms,
    (key_bytes, payload_bytes): Widths,
    bucket: &Bucket,
    table: &KeyTable,
) -> Vec<u8> {
    let keys = table.union.as_ref().and_then(|union| union.records.as_ref()).map(|records| records.bytes.as_slice());
    let payload = table.payload.as_ref().map(|payload| payload.bytes.as_slice());
    let keys = bucket.records(keys.unwrap_or_default(), key_bytes);
    let payload = bucket.records(payload.unwrap_or_default(), payload_bytes);
    filled(terms, (key_bytes, payload_bytes), bucket.items.len(), (&keys, &payload))
}

/// Records of a key and its payload for each of `items`; zeros behind the last key.
fn filled(terms: &Terms, (key_bytes, payload_bytes): Widths, items: usize, (keys, payload): (&[u8], &[u8])) -> Vec<u8> {
    let mut payloads = payload.chunks_exact(payload_bytes.max(1));
    let width = terms.record_bytes();
    let mut records = Vec::with_capacity(items * width);
    for key in keys.chunks_exact(key_bytes.max(1)) {
        let filled = records.len() + width;
        records.extend_from_slice(key);
        records.extend_from_slice(payloads.next().unwrap_or_default());
        records.resize(filled, 0);
    }
    records.resize(items * width, 0);
    records
}

/// The sender's result, of the records of each bucket; `None` if it learns nothing.
pub(super) fn new_at_sender(terms: &Terms, records: Vec<NewRecords>) -> Option<Unopened> {
    let keys = terms.receiver_keys.clone()?;
    let records = narrowed(records, keys.width);
    Some(Box::new(move |_| ResultSet::Union { records, keys, payload: None }))
}

/// The receiver's result, of the records of each bucket.
pub(super) fn new_at_receiver(terms: &Terms, records: Vec<NewRecords>) -> Unopened {
    let (keys, payload) = (terms.keys.clone(), terms.payload.clone());
    let records = narrowed(records, terms.sender_bytes());
    Box::new(move |_| ResultSet::Union { records, keys, payload })
}

/// Records without what fills them up. Where the other side has no items there are none, of no
/// width.
fn narrowed(records: Vec<NewRecords>, width: usize) -> Vec<NewRecords> {
    let one = |records: NewRecords| if records.is_empty() { records } else { records.narrowed(width) };
    records.into_iter().map(one).collect()
}
