//! The pseudo-random code, and the hash of its rows.

use vesica_kernels::aes::Aes128;
use vesica_kernels::blake3::keyed_digests;
use vesica_structures::secret::Secret;

use super::Params;
use super::rows::{BLOCKS_PER_ROW, Row};
use crate::binding::Binding;

/// Code words or hashes made at a time: their buffers stay in the first-level cache.
const WORDS_PER_BATCH: usize = 128;

/// `C`: a code word is a block under each of four public keys, cut to the width. They are keys of
/// the run, which nobody knew when the inputs were fixed.
pub(super) struct Code {
    quarters: [Aes128; BLOCKS_PER_ROW],
    mask: Row,
}

impl Code {
    /// The code of a run.
    pub fn new(binding: Binding, width: usize) -> Self {
        let quarters = std::array::from_fn(|quarter| Aes128::new(binding.key("code", &[&[quarter as u8]])));
        Self { quarters, mask: std::array::from_fn(|quarter| low_bits(width.saturating_sub(128 * quarter))) }
    }

    /// Calls `each` with the number and the code word of each key.
    pub fn words(&self, keys: &[u128], mut each: impl FnMut(usize, Row)) {
        let mut blocks = Secret::new([[0; WORDS_PER_BATCH]; BLOCKS_PER_ROW]);
        for (batch, keys) in keys.chunks(WORDS_PER_BATCH).enumerate() {
            for (blocks, cipher) in blocks.iter_mut().zip(&self.quarters) {
                blocks[..keys.len()].copy_from_slice(keys);
                cipher.encrypt(&mut blocks[..keys.len()]);
            }
            for i in 0..keys.len() {
                each(
                    batch * WORDS_PER_BATCH + i,
                    std::array::from_fn(|quarter| blocks[quarter][i] & self.mask[quarter]),
                );
            }
        }
    }
}

/// A number whose lowest `count` bits are ones.
fn low_bits(count: usize) -> u128 {
    match count {
        0 => 0,
        1..128 => u128::MAX >> (128 - count),
        _ => u128::MAX,
    }
}

/// `H`: a block of the output for the row of an instance.
pub(super) struct RowHash {
    /// A key for each block of an output.
    keys: Vec<[u8; 32]>,
    row_bytes: usize,
}

impl RowHash {
    /// The hash of a run.
    pub fn new(binding: Binding, params: &Params) -> Self {
        let keys =
            (0..params.request.blocks as u64).map(|block| binding.digest("hash", &[&block.to_le_bytes()])).collect();
        Self { keys, row_bytes: params.row_bytes() }
    }

    /// Block number `block` of the output for each row; `instance` gives the instance of a row by
    /// its number.
    pub fn hash(&self, block: usize, rows: &[Row], instance: impl Fn(usize) -> u32, out: &mut [u128]) {
        let length = self.row_bytes + 4;
        let mut messages = Secret::new([[0; 64]; WORDS_PER_BATCH]);
        let messages = &mut *messages;
        for (batch, (rows, out)) in rows.chunks(WORDS_PER_BATCH).zip(out.chunks_mut(WORDS_PER_BATCH)).enumerate() {
            for (i, (message, row)) in messages.iter_mut().zip(rows).enumerate() {
                // Beyond the width a row is zero.
                *message = bytemuck::cast(*row);
                message[self.row_bytes..length].copy_from_slice(&instance(batch * WORDS_PER_BATCH + i).to_le_bytes());
            }
            keyed_digests(
                &self.keys[block],
                &messages[..rows.len()],
                &[length as u8; WORDS_PER_BATCH][..rows.len()],
                out,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::{Protocol, Security};
    use vesica_testkit::two_party;

    use super::*;
    use crate::kkrt16::Kkrt16;
    use crate::tasks::BatchPrfRequest;

    fn binding() -> Binding {
        two_party(|ch, _| Ok(Binding::new(ch, "test")), |_, _| Ok(())).0
    }

    #[test]
    fn a_code_word_has_all_bits_of_the_width_and_none_beyond() {
        for width in [120, 128, 400, 448, 512] {
            let mut ones = [0; BLOCKS_PER_ROW];
            Code::new(binding(), width).words(&(0..300).collect::<Vec<u128>>(), |_, word| {
                ones.iter_mut().zip(word).for_each(|(ones, word)| *ones |= word);
            });
            // Of 300 words every bit is one in some.
            let expected: Row = std::array::from_fn(|quarter| {
                (0..128).filter(|bit| 128 * quarter + bit < width).map(|bit| 1 << bit).sum()
            });
            assert_eq!(ones, expected, "{width}");
        }
    }

    /// The proof has a function of its own for each instance, and the parties see more than one
    /// block.
    #[test]
    fn a_value_depends_on_the_row_and_the_instance_and_the_block() {
        let request = BatchPrfRequest {
            instances: 9,
            evaluations: 9,
            evaluations_in_all: 9,
            blocks: 2,
            security: Security::SemiHonest,
        };
        let hash = RowHash::new(binding(), &Kkrt16::derive(&request).unwrap());
        let mut seen = Vec::new();
        for row in [[0; BLOCKS_PER_ROW], [1, 0, 0, 0], [0, 0, 0, 1]] {
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
