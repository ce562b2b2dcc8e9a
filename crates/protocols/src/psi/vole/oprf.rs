//! The local halves of the OPRF: values `H_B` of items, and outputs from the decoded VOLE share. In batches over all threads.

use rayon::prelude::*;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::prf::{DigestPrf, ideal_cipher_hash};

use super::salt::Keys;

/// Items of a batch: a few vectors of it stay in the first-level cache.
const BATCH: usize = 1024;

/// `H_B(x)` for each item.
pub(super) fn values<B: Value>(keys: &Keys, items: &[u128]) -> Vec<B> {
    let prf = DigestPrf::new(keys.values);
    let mut values = vec![B::default(); items.len()];
    items.par_chunks(BATCH).zip(values.par_chunks_mut(BATCH)).for_each(|(items, values)| {
        let mut hashes = [0; BATCH];
        let hashes = &mut hashes[..items.len()];
        prf.eval(items, hashes);
        for (value, &hash) in values.iter_mut().zip(&*hashes) {
            *value = B::from_bits(hash);
        }
    });
    values
}

/// The sender's correction: `shares[i] += delta H_B(items[i])`, which turns `Decode(K, x)` into the OPRF's inner value.
pub(super) fn correct<B: Value>(keys: &Keys, items: &[u128], delta: Gf128, shares: &mut [Gf128]) {
    let prf = DigestPrf::new(keys.values);
    items.par_chunks(BATCH).zip(shares.par_chunks_mut(BATCH)).for_each(|(items, shares)| {
        let mut hashes = [0; BATCH];
        let hashes = &mut hashes[..items.len()];
        prf.eval(items, hashes);
        let mut values = [B::default(); BATCH];
        for (value, &hash) in values.iter_mut().zip(&*hashes) {
            *value = B::from_bits(hash);
        }
        B::scale_add(shares, delta, &values[..items.len()]);
    });
}

/// Which output of the OPRF.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// What the sender sends of each item.
    Mask = 0,
    /// What the receiver returns of each match.
    Proof = 1,
    /// What a payload's keystream is made of.
    PayloadKey = 2,
}

/// The outer hash `H(q, x)`: Davies-Meyer with the salted item as the key of an ideal cipher and `q + w` as its input. Since each item has a
/// cipher of its own, a query tests one mask and not all of them; a hash under one fixed key would give `log2(n_s)` bits away, also with the
/// item as its tweak.
pub(super) struct OuterHash {
    /// Salts the item.
    salted: DigestPrf,
    /// `w`.
    offset: u128,
}

impl OuterHash {
    /// The hash that gives `part`; `offset` is `w`, 0 in the semi-honest mode.
    pub(super) fn new(keys: &Keys, part: Part, offset: u128) -> Self {
        Self { salted: DigestPrf::new(keys.outputs[part as usize]), offset }
    }

    /// `out[i] = H(inner[i], items[i])`.
    pub(super) fn eval(&self, inner: &[Gf128], items: &[u128]) -> Vec<u128> {
        let mut out = vec![0; items.len()];
        let inner: &[u128] = bytemuck::cast_slice(inner);
        let batches = inner.par_chunks(BATCH).zip(items.par_chunks(BATCH)).zip(out.par_chunks_mut(BATCH));
        batches.for_each(|((inner, items), out)| {
            let (mut keys, mut inputs) = ([0; BATCH], [0; BATCH]);
            let (keys, inputs) = (&mut keys[..items.len()], &mut inputs[..items.len()]);
            self.salted.eval(items, keys);
            for (input, &inner) in inputs.iter_mut().zip(inner) {
                *input = inner ^ self.offset;
            }
            ideal_cipher_hash(keys, inputs, out);
        });
        out
    }
}

/// The keystream of a payload under its key: BLAKE3's extended output, keyed by the 128 bits of the key and 128 fixed ones, of the item, so
/// that a guess at a key tests one payload.
pub(super) fn fill_keystream(key: u128, item: u128, out: &mut [u8]) {
    let mut keyed = *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0vesica payload 2";
    keyed[..16].copy_from_slice(&key.to_le_bytes());
    blake3::Hasher::new_keyed(&keyed).update(&item.to_le_bytes()).finalize_xof().fill(out);
}
