//! The local halves of the OPRF: values `H_B` of items, and outputs from the decoded VOLE share. In batches over all threads.

use std::iter::Copied;
use std::ops::Range;
use std::slice::Iter;

use rayon::prelude::*;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::okvs::Arrangement;
use vesica_structures::prf::{DigestPrf, ideal_cipher_hash};
use vesica_structures::secret::Secret;

use super::salt::Keys;

/// Items of a batch: a few vectors of it stay in the first-level cache.
const BATCH: usize = 1024;

/// Outputs that are handed over at a time: enough for all threads.
const OUTPUTS_AT_A_TIME: usize = 1 << 15;

/// `H_B(x)`, of `width` bits, for each item.
pub(super) fn values<B: Value>(keys: &Keys, items: &[u128], width: u32) -> Secret<Vec<B>> {
    let prf = DigestPrf::new(keys.values);
    let low = u128::MAX >> (128 - width);
    let mut values = Secret::new(vec![B::default(); items.len()]);
    items.par_chunks(BATCH).zip(values.par_chunks_mut(BATCH)).for_each(|(items, values)| {
        let mut hashes = Secret::new([0; BATCH]);
        let hashes = &mut hashes[..items.len()];
        prf.eval(items, hashes);
        for (value, &hash) in values.iter_mut().zip(&*hashes) {
            *value = B::from_bits(hash & low);
        }
    });
    values
}

/// The sender's correction: `shares[i] += delta H_B(items[i])`, which turns `Decode(K, x)` into the OPRF's inner value.
pub(super) fn correct<B: Value>(keys: &Keys, items: &[u128], width: u32, delta: Gf128, shares: &mut [Gf128]) {
    let prf = DigestPrf::new(keys.values);
    let low = u128::MAX >> (128 - width);
    items.par_chunks(BATCH).zip(shares.par_chunks_mut(BATCH)).for_each(|(items, shares)| {
        let mut hashes = Secret::new([0; BATCH]);
        let hashes = &mut hashes[..items.len()];
        prf.eval(items, hashes);
        let mut values = Secret::new(vec![B::default(); items.len()]);
        for (value, &hash) in values.iter_mut().zip(&*hashes) {
            *value = B::from_bits(hash & low);
        }
        B::scale_add(shares, delta, &values);
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

/// The OPRF's inner values of a party's items, in the order of an [`Arrangement`], and the outputs that follow from them.
pub(super) struct Output<'a> {
    keys: &'a Keys,
    items: &'a Arrangement,
    /// `q` of each item.
    pub(super) inner: Secret<Vec<Gf128>>,
    /// `w`: 0 in the semi-honest mode, and until it is opened.
    pub(super) offset: u128,
}

impl<'a> Output<'a> {
    /// For the arranged items, whose inner values are yet to be filled in.
    pub(super) fn new(keys: &'a Keys, items: &'a Arrangement) -> Self {
        Self { keys, items, inner: Secret::new(vec![Gf128::default(); items.keys().len()]), offset: 0 }
    }

    /// Hands `part` of the outputs of a range of arranged items to `take`, some at a time, with their numbers among the items as given.
    ///
    /// The outer hash `H(q + w, x)` is Davies-Meyer with the salted item as the key of an ideal cipher and `q + w` as its input. Since each item has a
    /// cipher of its own, a query tests one mask and not all of them; a hash under one fixed key would give `log2(n_s)` bits away, also with the
    /// item as its tweak.
    pub(super) fn each(&self, part: Part, range: Range<usize>, mut take: impl FnMut(&[u128], Copied<Iter<'_, u32>>)) {
        let salted = DigestPrf::new(self.keys.outputs[part as usize]);
        let mut outputs = Secret::new(vec![0; range.len().min(OUTPUTS_AT_A_TIME)]);
        let inner: &[u128] = bytemuck::cast_slice(&self.inner[range.clone()]);
        let (items, places) = (&self.items.keys()[range.clone()], &self.items.places()[range]);
        let pieces = inner.chunks(OUTPUTS_AT_A_TIME).zip(items.chunks(OUTPUTS_AT_A_TIME)).zip(places.chunks(OUTPUTS_AT_A_TIME));
        for ((inner, items), places) in pieces {
            let outputs = &mut outputs[..inner.len()];
            let batches = inner.par_chunks(BATCH).zip(items.par_chunks(BATCH)).zip(outputs.par_chunks_mut(BATCH));
            batches.for_each(|((inner, items), out)| {
                let (mut keys, mut inputs) = (Secret::new([0; BATCH]), Secret::new([0; BATCH]));
                let (keys, inputs) = (&mut keys[..items.len()], &mut inputs[..items.len()]);
                salted.eval(items, keys);
                for (input, &inner) in inputs.iter_mut().zip(inner) {
                    *input = inner ^ self.offset;
                }
                ideal_cipher_hash(keys, inputs, out);
            });
            take(outputs, places.iter().copied());
        }
    }

    /// `part` of the outputs, by the items' own numbers.
    pub(super) fn by_item(&self, part: Part) -> Secret<Vec<u128>> {
        let mut by_item = Secret::new(vec![0; self.inner.len()]);
        self.each(part, 0..self.inner.len(), |outputs, places| {
            for (&output, place) in outputs.iter().zip(places) {
                by_item[place as usize] = output;
            }
        });
        by_item
    }
}

/// The keystream of a payload under its key: BLAKE3's extended output, keyed by the 128 bits of the key and 128 fixed ones, of the item, so
/// that a guess at a key tests one payload.
pub(super) fn fill_keystream(key: u128, item: u128, out: &mut [u8]) {
    let mut keyed = *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0vesica payload 2";
    keyed[..16].copy_from_slice(&key.to_le_bytes());
    blake3::Hasher::new_keyed(&keyed).update(&item.to_le_bytes()).finalize_xof().fill(out);
}
