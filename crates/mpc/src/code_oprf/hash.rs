//! The hash of rows.

use vesica_kernels::blake3::{keyed_digests, keyed_digests_256};
use vesica_structures::secret::Secret;

use super::Params;
use super::rows::MatrixRow;
use crate::binding::Binding;

/// Hashes made at a time: their buffers stay in the first-level cache.
const ROWS_PER_BATCH: usize = 128;

/// Bytes of a block of BLAKE3: one compression.
const BLOCK_BYTES: usize = 64;

/// Bytes of an instance's number.
const INSTANCE_BYTES: usize = 4;

/// `H`: a block of the output for the row of an instance.
///
/// Where a row leaves no space for the instance in one block of BLAKE3, 256 bits of its hash take
/// its place.
pub(super) struct RowHash {
    /// A key for each block of an output.
    keys: Vec<[u8; 32]>,
    /// The key of a row's own hash, where there is one.
    row_key: Option<[u8; 32]>,
    /// Bytes of a row, or of its own hash.
    row_bytes: usize,
}

impl RowHash {
    /// The hash of a run.
    pub fn new(binding: Binding, params: &Params) -> Self {
        let keys =
            (0..params.request.blocks as u64).map(|block| binding.digest("hash", &[&block.to_le_bytes()])).collect();
        let row_bytes = params.row_bytes();
        if row_bytes + INSTANCE_BYTES <= BLOCK_BYTES {
            Self { keys, row_key: None, row_bytes }
        } else {
            Self { keys, row_key: Some(binding.digest("row", &[])), row_bytes: 32 }
        }
    }

    /// Block number `block` of the output for each row; `instance` gives the instance of a row by
    /// its number.
    pub fn hash<R: MatrixRow>(&self, block: usize, rows: &[R], instance: impl Fn(usize) -> u32, out: &mut [u128]) {
        let length = self.row_bytes + INSTANCE_BYTES;
        let mut messages = Secret::new([[0; BLOCK_BYTES]; ROWS_PER_BATCH]);
        for (batch, (rows, out)) in rows.chunks(ROWS_PER_BATCH).zip(out.chunks_mut(ROWS_PER_BATCH)).enumerate() {
            let messages = &mut messages[..rows.len()];
            for (message, row) in messages.iter_mut().zip(rows) {
                // Beyond the width a row is zero.
                message.fill(0);
                message[..16 * R::BLOCKS].copy_from_slice(bytemuck::bytes_of(row));
            }
            if let Some(key) = &self.row_key {
                shorten(key, messages);
            }
            for (i, message) in messages.iter_mut().enumerate() {
                message[self.row_bytes..length].copy_from_slice(&instance(batch * ROWS_PER_BATCH + i).to_le_bytes());
            }
            keyed_digests(&self.keys[block], messages, &[length as u8; ROWS_PER_BATCH][..rows.len()], out);
        }
    }
}

/// Replaces each of up to [`ROWS_PER_BATCH`] rows by 256 bits of a hash of it.
fn shorten(key: &[u8; 32], messages: &mut [[u8; BLOCK_BYTES]]) {
    let mut halves = Secret::new([[0; ROWS_PER_BATCH]; 2]);
    let [low, high] = &mut *halves;
    let (low, high) = (&mut low[..messages.len()], &mut high[..messages.len()]);
    keyed_digests_256(key, messages, &[BLOCK_BYTES as u8; ROWS_PER_BATCH][..messages.len()], low, high);
    for ((message, low), high) in messages.iter_mut().zip(&*low).zip(&*high) {
        *message = bytemuck::cast([*low, *high, 0, 0]);
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::{Protocol, Security};
    use vesica_testkit::two_party;

    use super::*;
    use crate::code_oprf::{Kkrt16, Oos17};
    use crate::tasks::BatchPrfRequest;

    /// The proof has a function of its own for each instance, and the parties see more than one
    /// block.
    #[test]
    fn a_value_depends_on_the_row_and_the_instance_and_the_block() {
        let request = BatchPrfRequest {
            instances: 9,
            key_bits: 70,
            evaluations: 9,
            evaluations_in_all: 9,
            blocks: 2,
            security: Security::SemiHonest,
        };
        let wide = Oos17::derive(&BatchPrfRequest { security: Security::Malicious, ..request }).unwrap();
        assert!(wide.row_bytes() + INSTANCE_BYTES > BLOCK_BYTES, "the instance does not fit beside the row");
        let binding = two_party(|ch, _| Ok(Binding::new(ch, "test")), |_, _| Ok(())).0;
        for params in [Kkrt16::derive(&request).unwrap(), wide] {
            let hash = RowHash::new(binding, &params);
            let mut seen = Vec::new();
            for row in [[0; 4], [1, 0, 0, 0], [0, 0, 0, 1]] {
                for instance in [0, 1, 1 << 8, 1 << 16, 1 << 24] {
                    for block in 0..2 {
                        let mut out = [0];
                        hash.hash(block, &[row], |_| instance, &mut out);
                        seen.push(out[0]);
                    }
                }
            }
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), count);
        }
    }
}
