//! Steps 1 and 2 as an OPRF of their own, for what hashes its values further: `F(x) = H_2(C_1[v_1], .., C_w[v_w], x)`,
//! of 128 bits. The sender has the key, `s` and `C`; the receiver learns `F` at its own items. Elsewhere it lacks at
//! least 128 bits of the row, except with the probability that sets the number of columns.

use vesica_party::{Abort, Channel, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::hashed_columns::Places;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::columns;
use super::keys::{receive, send};
use super::params::Columns;

/// What both sides derive from the sizes; no set is empty.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    sender_items: usize,
    receiver_items: usize,
    /// The columns.
    pub columns: Columns,
}

impl Params {
    /// The parameters where the receiver lacks less than 128 bits of the row of some new item with probability
    /// `2^-failure_bits` at most.
    ///
    /// # Errors
    /// As [`Columns::derive`].
    pub fn derive(sender_items: usize, receiver_items: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        Ok(Self { sender_items, receiver_items, columns: Columns::derive(sender_items, receiver_items, failure_bits)? })
    }

    fn keys(&self, ch: &Channel, key: &[u8; 32]) -> ([u8; 32], Places) {
        let Self { sender_items, receiver_items, columns } = self;
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 cm20 2026 key to keys of the OPRF");
        hasher.update(&ch.session());
        for size in [*sender_items, *receiver_items, columns.cells, columns.width] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let ([outputs], places) = columns::keys(&mut hasher, columns, key);
        (outputs, places)
    }
}

fn outputs(key: &[u8; 32], bits: &[u128], items: &[u128], ch: &mut Channel) -> Secret<Vec<u128>> {
    let _phase = ch.phase(Phase::Masks);
    let mut outputs = Secret::new(vec![0; items.len()]);
    columns::hash(key, bits, items, &mut outputs);
    outputs
}

/// The side with the key.
#[derive(Debug)]
pub struct Sender {
    output_key: [u8; 32],
    columns: columns::Sender,
}

impl Sender {
    /// Step 1, and the OTs.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let key = receive(ch)?;
        let (output_key, places) = params.keys(ch, &key);
        Ok(Self { output_key, columns: columns::Sender::setup(&params.columns, places, ch, rng)? })
    }

    /// Step 2: the function at the sender's items.
    pub fn evaluate(self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let bits = self.columns.bits(items, ch)?;
        Ok(outputs(&self.output_key, &bits, items, ch))
    }
}

/// The side that asks.
#[derive(Debug)]
pub struct Receiver {
    output_key: [u8; 32],
    columns: columns::Receiver,
}

impl Receiver {
    /// Step 1, and the OTs.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let key = send(ch, rng)?;
        let (output_key, places) = params.keys(ch, &key);
        Ok(Self { output_key, columns: columns::Receiver::setup(&params.columns, places, ch, rng)? })
    }

    /// Step 2: the function at the receiver's items.
    pub fn ask(self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let bits = self.columns.bits(items, ch)?;
        Ok(outputs(&self.output_key, &bits, items, ch))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use vesica_testkit::two_party;

    /// Both sides compute one function, and it has other values at other items.
    #[test]
    fn the_oprf_is_one_function_on_both_sides() {
        let (n, common) = (300, 100);
        let params = Params::derive(n, n, 44).unwrap();
        let items: Vec<u128> = (0..n as u128).collect();
        let own: Vec<u128> = (0..common as u128).chain((1 << 64..).take(n - common)).collect();
        let (left, right) = two_party(
            |ch, rng| Sender::setup(&params, ch, rng)?.evaluate(&items, ch),
            |ch, rng| Receiver::setup(&params, ch, rng)?.ask(&own, ch),
        );
        assert_eq!(left[..common], right[..common]);
        let values: HashSet<u128> = left.iter().chain(right.iter()).copied().collect();
        assert_eq!(values.len(), 2 * n - common);
    }
}
