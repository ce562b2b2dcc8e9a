//! The functions of items, all keyed by the sender's salt.

use rand_core::Rng;
use vesica_party::{Abort, Channel};
use vesica_structures::ot_rows::hash_rows;
use vesica_structures::polynomial::LANES;
use vesica_structures::prf::DigestPrf;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::super::Params;
use super::super::keys::Keys;
use super::super::messages::Salt;
use super::super::mode::Functions;
use super::Row;
use crate::psi::row_outputs::{Collected, Tags};

/// Blocks of a value of `H_1`.
const BLOCKS_PER_VALUE: usize = 4;

/// The functions of a run.
#[derive(Debug)]
pub(in super::super) struct AesFunctions {
    /// The quarters of `H_1`.
    values: [DigestPrf; BLOCKS_PER_VALUE],
    /// The part of `H_2`'s input that the item gives.
    inputs: DigestPrf,
}

fn derive(params: &Params, ch: &Channel, salt: &[u8; 32]) -> Keys<AesFunctions> {
    let mut hasher = blake3::Hasher::new_derive_key("vesica v1 prty20 2026 salt to keys");
    let mut keys = hasher.update(&ch.session()).update(&params.fingerprint()).update(salt).finalize_xof();
    let mut blocks = [[0; 16]; 2 + BLOCKS_PER_VALUE];
    keys.fill(blocks.as_flattened_mut());
    let [okvs_seed, inputs, values @ ..] = blocks.map(u128::from_le_bytes);
    let mut outputs = [[0; 32]; 3];
    keys.fill(outputs.as_flattened_mut());
    let functions = AesFunctions { values: values.map(DigestPrf::new), inputs: DigestPrf::new(inputs) };
    Keys { okvs_seed, functions, outputs }
}

impl Functions for AesFunctions {
    type Value = Row;
    type Row = Row;

    /// Arrow 1.
    fn send_salt(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys<Self>, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        Ok(derive(params, ch, &salt))
    }

    fn receive_salt(params: &Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Keys<Self>, Abort> {
        let Salt(salt) = ch.recv(())?;
        Ok(derive(params, ch, &salt))
    }

    /// Of 512 bits, of which as many count as a row has.
    fn values(&self, items: &[u128]) -> Secret<Vec<Row>> {
        let mut values = Secret::new(vec![Row::default(); items.len()]);
        let mut blocks = Secret::new(vec![0; items.len()]);
        for (quarter, prf) in self.values.iter().enumerate() {
            prf.eval(items, &mut blocks);
            for (value, &block) in values.iter_mut().zip(blocks.iter()) {
                value.0[2 * quarter..][..2].copy_from_slice(&[block as u64, (block >> 64) as u64]);
            }
        }
        values
    }

    fn add<T: Tags>(&self, items: &[u128], rows: &mut [Row], numbers: &[u32], collected: &mut Collected<T>) {
        let mut inputs = Secret::new(vec![0; items.len()]);
        self.inputs.eval(items, &mut inputs);
        rows.iter_mut().zip(inputs.iter()).for_each(|(row, &input)| row.0[LANES] = input as u64);
        let rows = bytemuck::cast_slice(rows);
        collected.add(numbers.iter().copied(), |key, out| hash_rows(key, rows, out));
    }
}
