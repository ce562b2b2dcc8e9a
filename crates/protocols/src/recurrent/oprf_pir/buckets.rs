//! Records: the buckets of a set, each with a hash of it behind it, and the search in one of them.
//!
//! Free slots lie in front of a bucket, as zeros.

use rayon::prelude::*;
use vesica_mpc::rfc9497::{self, SecretKey};
use vesica_party::Abort;
use vesica_structures::secret::{Secret, WipedStack};

use super::Params;
use super::params::CHECK_BYTES;
use crate::recurrent::buckets::{self, Shape, Sorted};
use crate::recurrent::filter::Output;
use crate::recurrent::kept::{Evaluation, Keeper};
use crate::tasks::{IntersectReceiverOutput, IntersectSenderInput};

/// Separates the keystreams of payloads from others'.
const DOMAIN: &[u8; 16] = b"OPRF PIR payload";
/// Separates the hashes of records from others.
const CHECK_DOMAIN: &str = "vesica v1 oprf-pir 2026 check of a record";

/// Bytes of an output that [`Place::of`] takes.
const OUTPUT_BYTES: usize = 40;

/// What an output of the function says of its item.
pub(super) struct Place {
    pub bucket: usize,
    output: Output,
}

impl Place {
    /// Bytes 0 to 15 are the tag, 16 to 31 the key of the payload, 32 to 39 choose the bucket.
    pub fn of(params: &Params, output: &rfc9497::Output) -> Self {
        let [tag, payload_key, chooser, _]: [u128; 4] = bytemuck::cast(*output);
        let bucket = (u128::from(chooser as u64) * params.shape.rows() as u128) >> u64::BITS;
        Self { bucket: bucket as usize, output: [tag, payload_key] }
    }
}

/// The sizes of a bucket.
fn shape(params: &Params) -> Shape {
    let &Params { slots, tag_bits, payload_bytes, .. } = params;
    Shape { slots, tag_bits, payload_bytes, domain: DOMAIN }
}

/// The records of a set of the agreed size, under a key that no other set has.
pub(super) fn records(
    params: &Params,
    key: &SecretKey,
    set: &IntersectSenderInput,
    keeper: Option<&dyn Keeper>,
) -> Result<Vec<u8>, Abort> {
    let shape = shape(params);
    let of_item = |output: &rfc9497::Output| {
        let Place { bucket, output } = Place::of(params, output);
        (bucket as u32, output)
    };
    let evaluation = Evaluation::new(key, OUTPUT_BYTES, keeper);
    let sorted = Sorted::new(shape, set, params.shape.rows(), |take| {
        evaluation.of(&set.items, |outputs| {
            let outputs: Secret<Vec<(u32, Output)>> = Secret::new(outputs.iter().map(of_item).collect());
            take(&outputs);
        })
    })?;
    let mut records = vec![0; params.shape.matrix_bytes()];
    let buckets = records.par_chunks_exact_mut(params.shape.record_bytes()).enumerate();
    buckets.for_each_init(
        || WipedStack,
        |_, (bucket, record)| {
            let (body, check) = record.split_at_mut(record.len() - CHECK_BYTES);
            sorted.write(bucket, |_| (), &mut body[..shape.bytes()]);
            check.copy_from_slice(&check_of(body));
        },
    );
    Ok(records)
}

/// What a record ends with: it finds errors, and is no protection from a server that makes them.
fn check_of(body: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    blake3::Hasher::new_derive_key(CHECK_DOMAIN).update(body).finalize_xof().fill(&mut check);
    check
}

/// What a client found of its items, item by item. Its work does not depend on that.
pub(super) struct Found {
    found: buckets::Found,
    bucket_bytes: usize,
    items: usize,
    /// Items whose records were not read rightly.
    unread: usize,
}

impl Found {
    /// Nothing yet.
    pub fn new(params: &Params) -> Self {
        let shape = shape(params);
        let found = buckets::Found::new(shape, params.query_items);
        Self { found, bucket_bytes: shape.bytes(), items: 0, unread: 0 }
    }

    /// Looks for the next item in its bucket. Any record has a meaning.
    pub fn look(&mut self, place: &Place, record: &Secret<Vec<u8>>) {
        let (record, check) = record.split_at(record.len() - CHECK_BYTES);
        self.unread += usize::from(u64::from_le_bytes(check_of(record)) != bytemuck::pod_read_unaligned::<u64>(check));
        // Bits left over in the last byte are the server's mistake, and no reason to stop: whether there
        // are some may depend on what was asked.
        let _is_clean = self.found.look(self.items, &place.output, &record[..self.bucket_bytes]);
        self.items += 1;
    }

    /// The matches of all items, which are given again, and their payloads.
    pub fn finish(self, items: Vec<u128>) -> IntersectReceiverOutput {
        self.found.finish(items, self.unread)
    }
}
