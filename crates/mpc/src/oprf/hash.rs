//! The local halves of the OPRF: values `H_B` of items, and outputs from the decoded VOLE share. In
//! batches over all threads; all keys are public.

use rayon::prelude::*;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::prf::{DigestPrf, ideal_cipher_hash};
use vesica_structures::secret::Secret;

/// Items of a batch: a few vectors of it stay in the first-level cache.
const ITEMS_PER_BATCH: usize = 1024;

/// `H_B(x)`, of `width` bits, for each item.
pub fn values<B: Value>(key: u128, items: &[u128], width: u32) -> Secret<Vec<B>> {
    let prf = DigestPrf::new(key);
    let low = u128::MAX >> (128 - width);
    let mut values = Secret::new(vec![B::default(); items.len()]);
    items.par_chunks(ITEMS_PER_BATCH).zip(values.par_chunks_mut(ITEMS_PER_BATCH)).for_each(|(items, values)| {
        let mut hashes = Secret::new([0; ITEMS_PER_BATCH]);
        let hashes = &mut hashes[..items.len()];
        prf.eval(items, hashes);
        for (value, &hash) in values.iter_mut().zip(&*hashes) {
            *value = B::from_bits(hash & low);
        }
    });
    values
}

/// The sender's correction: `shares[i] += delta H_B(items[i])`, which turns `Decode(K, x)` into the
/// OPRF's inner value.
pub fn correct<B: Value>(key: u128, items: &[u128], width: u32, delta: Gf128, shares: &mut [Gf128]) {
    let prf = DigestPrf::new(key);
    let low = u128::MAX >> (128 - width);
    items.par_chunks(ITEMS_PER_BATCH).zip(shares.par_chunks_mut(ITEMS_PER_BATCH)).for_each(|(items, shares)| {
        let mut hashes = Secret::new([0; ITEMS_PER_BATCH]);
        let hashes = &mut hashes[..items.len()];
        prf.eval(items, hashes);
        let mut values = Secret::new(vec![B::default(); items.len()]);
        for (value, &hash) in values.iter_mut().zip(&*hashes) {
            *value = B::from_bits(hash & low);
        }
        B::scale_add(shares, delta, &values);
    });
}

/// The outer hash `H(q + w, x)` of each item `x`, `q` the inner value and `w` the offset:
/// Davies-Meyer with the salted item as the key of an ideal cipher and `q + w` as its input. Since
/// each item has a cipher of its own, a query tests one output and not all of them; a hash under
/// one fixed key would give `log2(n_s)` bits away, also with the item as its tweak.
///
/// # Panics
/// If the slices differ in length.
pub fn outer_hash(key: u128, items: &[u128], inner: &[Gf128], offset: u128, out: &mut [u128]) {
    assert!(items.len() == inner.len() && items.len() == out.len(), "an inner value and an output for each item");
    let salted = DigestPrf::new(key);
    inner
        .par_chunks(ITEMS_PER_BATCH)
        .zip(items.par_chunks(ITEMS_PER_BATCH))
        .zip(out.par_chunks_mut(ITEMS_PER_BATCH))
        .for_each(|((inner, items), out)| {
            let (mut keys, mut inputs) = (Secret::new([0; ITEMS_PER_BATCH]), Secret::new([0; ITEMS_PER_BATCH]));
            let (keys, inputs) = (&mut keys[..items.len()], &mut inputs[..items.len()]);
            salted.eval(items, keys);
            for (input, &inner) in inputs.iter_mut().zip(inner) {
                *input = inner.0 ^ offset;
            }
            ideal_cipher_hash(keys, inputs, out);
        });
}
