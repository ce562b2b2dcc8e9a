//! The functions of items, all keyed by a salt that both sides toss. They are BLAKE3, as random oracles: a corrupt
//! receiver looks for tables that encode more items than it declared, and a corrupt sender's items are those that
//! it asked `H_2` of.

use vesica_mpc::code_oprf::LongBch;
use vesica_party::{Abort, Channel};
use vesica_structures::fields::{Bits256 as Value, Bits1024 as Row};
use vesica_structures::ot_rows::{hash_items, hash_rows, shorten_rows};
use vesica_structures::polynomial::Row as ShortRow;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::super::Params;
use super::super::keys::Keys;
use super::super::messages::{Salt, SaltCommitment, SaltShare};
use super::super::mode::Functions;
use crate::psi::row_outputs::{Collected, Tags};
use crate::psi::toss::{self, Share, bound};

/// Blocks of 128 bits that a row is hashed in: the last one is the item.
const ROW_BLOCKS: usize = 8;

const _: () = assert!(LongBch::WIDTH <= 128 * (ROW_BLOCKS - 1), "the item has a block to itself");

/// The functions of a run.
#[derive(Debug)]
pub(in super::super) struct Blake3Functions {
    /// The key of `H_1`.
    values: [u8; 32],
    /// The key of the hash by which `H_2` shortens a row and its item.
    rows: [u8; 32],
}

/// Arrows 6, 7 and 1.
pub(in super::super) enum SaltArrows {}

impl toss::Arrows for SaltArrows {
    type Commitment = SaltCommitment;
    type Share = SaltShare;
    type Opening = Salt;

    fn commit(ch: &Channel, share: &Share) -> Share {
        *bound("vesica v1 prty20 2026 commitment to the salt", ch).update(share).finalize().as_bytes()
    }
}

fn derive(params: &Params, ch: &Channel, shares: &[Share; 2]) -> Keys<Blake3Functions> {
    let mut hasher = bound("vesica v1 prty20 2026 tossed salt to keys", ch);
    let mut keys = hasher.update(&params.fingerprint()).update(shares.as_flattened()).finalize_xof();
    let mut okvs_seed = [0; 16];
    keys.fill(&mut okvs_seed);
    let mut blocks = [[0; 32]; 5];
    keys.fill(blocks.as_flattened_mut());
    let [values, rows, outputs @ ..] = blocks;
    Keys { okvs_seed: u128::from_le_bytes(okvs_seed), functions: Blake3Functions { values, rows }, outputs }
}

impl Functions for Blake3Functions {
    type Value = Value;
    type Row = Row;

    fn send_salt(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys<Self>, Abort> {
        let shares = toss::as_sender::<SaltArrows>(ch, rng)?;
        Ok(derive(params, ch, &shares))
    }

    fn receive_salt(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys<Self>, Abort> {
        let shares = toss::as_receiver::<SaltArrows>(ch, rng)?;
        Ok(derive(params, ch, &shares))
    }

    /// Of 256 bits, of which the code takes 192.
    fn values(&self, items: &[u128]) -> Secret<Vec<Value>> {
        let mut values = Secret::new(vec![Value::default(); items.len()]);
        hash_items(&self.values, items, &mut values);
        values.iter_mut().for_each(|value| value.0[LongBch::WORD_BITS / 64..].fill(0));
        values
    }

    /// `H_2(x, row)` hashes each half of the row and the item to 256 bits, and then both under the key of an output.
    fn add<T: Tags>(&self, items: &[u128], rows: &mut [Row], numbers: &[u32], collected: &mut Collected<T>) {
        rows.iter_mut().zip(items).for_each(|(row, &item)| row.0[ROW_BLOCKS - 1] = item);
        let mut short = Secret::new(vec![ShortRow::default(); rows.len()]);
        shorten_rows(&self.rows, rows, &mut short);
        collected.add(numbers.iter().copied(), |key, out| hash_rows(key, &short, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tagged(Vec<u128>);

    impl Tags for Tagged {
        fn add(&mut self, outputs: &[u128], _: impl Iterator<Item = u32>) {
            self.0.extend_from_slice(outputs);
        }
    }

    fn functions() -> Blake3Functions {
        Blake3Functions { values: [1; 32], rows: [2; 32] }
    }

    #[test]
    fn values_have_as_many_bits_as_the_code_takes() {
        let items: Vec<u128> = (0..300).collect();
        let values = functions().values(&items);
        let union = values.iter().fold(Value::default(), |mut union, value| {
            union.0.iter_mut().zip(value.0).for_each(|(union, word)| *union |= word);
            union
        });
        assert_eq!(union.0, [u64::MAX, u64::MAX, u64::MAX, 0]);
    }

    #[test]
    fn outputs_are_hashes_of_all_of_the_row_and_of_the_item() {
        let items: Vec<u128> = (0..300).map(|item| item << 64 | 9).collect();
        let mut rows: Vec<Row> = (0..300).map(|i| Row(std::array::from_fn(|block| 1000 * i + block as u128))).collect();
        let request = crate::tasks::IntersectRequest {
            sender_items: 300,
            receiver_items: 300,
            security: vesica_party::Security::Malicious,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let finish = crate::psi::finish::Params::new(&request, 128, crate::tags::TagCoding::SortedCoded);
        let mut collected =
            Collected::new(&finish, Tagged(Vec::new()), [[3; 32], [4; 32], [5; 32]], 300, b"test            ");
        let numbers: Vec<u32> = (0..300).collect();
        let before = rows.clone();
        functions().add(&items, &mut rows, &numbers, &mut collected);
        assert_eq!(collected.tags.0.len(), 300);
        for ((row, item), tag) in before.iter().zip(&items).zip(&collected.tags.0) {
            let mut bytes: [u8; 128] = bytemuck::cast(row.0);
            bytes[112..].copy_from_slice(&item.to_le_bytes());
            let digests = [&bytes[..64], &bytes[64..]].map(|half| *blake3::keyed_hash(&[2; 32], half).as_bytes());
            let expected = blake3::keyed_hash(&[3; 32], digests.as_flattened());
            assert_eq!(expected.as_bytes()[..16], tag.to_le_bytes());
        }
    }
}
