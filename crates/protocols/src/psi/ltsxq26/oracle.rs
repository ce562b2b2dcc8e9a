//! The random oracles `H^b`, `H^o` and `H^k`, as the paper instantiates them.
//!
//! | oracle | SHA-256 | fixed-key AES (Appendix A) |
//! |---|---|---|
//! | `H^b(a, y)` | lowest bit of `SHA-256(a, y)` | lowest bit of `pi_a(y) + y` |
//! | `H^b(a, y, tau)` | lowest bit of `SHA-256(a, y, tau)` | lowest bit of `pi_a(y + tau) + y + tau` |
//! | `H^o(v, x, w)` (Figure 14) | `SHA-256(v, x, w, 1)` | `pi_w(pi_w(v) + x) + pi_w(v)` |
//! | `H^o(v + w, x)` (Figure 15) | `SHA-256(v + w, x, 1)` | the same, `w` a constant |
//! | `H^k(w)` | `SHA-256(w, 1)` | `pi(w) + w`, the key a constant |
//!
//! All arguments have 16 bytes, the lowest first, but for the byte 1, which keeps `H^o` and `H^k` apart from `H^b` by length; each call is one
//! compression. The lowest bit of a digest of SHA-256 is that of its last byte. The paper takes AES from Guo, Katz, Wang, Yu (IEEE S&P 2020),
//! without saying how `H^o` takes all its arguments; theirs with a tweak is what fits.

use rayon::prelude::*;
use sha2::Digest;
use vesica_party::Security;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::prf::DigestPrf;
use vesica_structures::secret::Secret;

/// Items hashed at a time.
const BATCH: usize = 128;

/// The key of fixed-key AES where the figure has none.
const FIXED_KEY: u128 = u128::from_le_bytes(*b"ltsxq26 constant");

/// The three oracles, and the strings of bits that go through them.
pub trait Oracle: Send + Sync + 'static {
    /// A string of `l` bits and zeros.
    type Bits: Value;
    /// What is made of the `l` keys of `H^b` beforehand.
    type Keys: Sync;

    /// Prepares for `H^b` under these keys, at most as many as a string has bits.
    fn keys(keys: &[u128]) -> Self::Keys;

    /// Bit `i` of `out[j]` is `H^b(keys[i], items[j])`, with `tau` behind where there is one; `out` is zero before.
    fn bits(keys: &Self::Keys, tau: Option<u128>, items: &[u128], out: &mut [Self::Bits]);

    /// `H^o(inputs[j], items[j])`, with `omega` behind where there is one.
    fn outer(omega: Option<u128>, inputs: &[Self::Bits], items: &[u128], out: &mut [u128]);

    /// `H^k(value)`.
    fn commit(value: u128) -> u128;
}

/// `H^b` of all items under all keys.
pub(super) fn bits<O: Oracle>(keys: &[u128], tau: Option<u128>, items: &[u128]) -> Secret<Vec<O::Bits>> {
    assert!(keys.len() <= O::Bits::BITS as usize, "a bit for each key");
    let keys = O::keys(keys);
    let mut out = Secret::new(vec![O::Bits::default(); items.len()]);
    items.par_chunks(BATCH).zip(out.par_chunks_mut(BATCH)).for_each(|(items, out)| O::bits(&keys, tau, items, out));
    out
}

/// `H^o` of `inputs`, which it uses up: in Figure 15 `w` is added to them.
pub(super) fn outer<O: Oracle>(security: Security, omega: u128, items: &[u128], inputs: &mut [O::Bits]) -> Secret<Vec<u128>> {
    let mut out = Secret::new(vec![0; items.len()]);
    let parts = inputs.par_chunks_mut(BATCH).zip(items.par_chunks(BATCH)).zip(out.par_chunks_mut(BATCH));
    parts.for_each(|((inputs, items), out)| match security {
        Security::SemiHonest => O::outer(Some(omega), inputs, items, out),
        Security::Malicious => {
            inputs.iter_mut().for_each(|input| *input += O::Bits::from_bits(omega));
            O::outer(None, inputs, items, out);
        }
    });
    out
}

/// A string of these bits.
pub(super) fn from_bits<B: Value>(bits: impl Iterator<Item = bool>) -> B {
    let mut string = B::default();
    let words: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut string));
    for (i, bit) in bits.enumerate() {
        words[i / 64] |= u64::from(bit) << (i % 64);
    }
    string
}

/// SHA-256, all of it.
#[derive(Clone, Copy, Debug)]
pub enum Sha256 {}

/// The first 16 bytes of a digest, and its last one.
fn digest(parts: &[&[u8]]) -> (u128, u8) {
    let mut hasher = sha2::Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    let digest = hasher.finalize();
    let mut first = [0; 16];
    first.copy_from_slice(&digest[..16]);
    (u128::from_le_bytes(first), digest[31])
}

impl Oracle for Sha256 {
    type Bits = Gf128;
    type Keys = Secret<Vec<u128>>;

    fn keys(keys: &[u128]) -> Self::Keys {
        Secret::new(keys.to_vec())
    }

    fn bits(keys: &Self::Keys, tau: Option<u128>, items: &[u128], out: &mut [Gf128]) {
        let tau = tau.map(u128::to_le_bytes);
        for (item, out) in items.iter().zip(out) {
            for (i, key) in keys.iter().enumerate() {
                let (_, last) = digest(&[&key.to_le_bytes(), &item.to_le_bytes(), tau.as_slice().as_flattened()]);
                out.0 |= u128::from(last & 1) << i;
            }
        }
    }

    fn outer(omega: Option<u128>, inputs: &[Gf128], items: &[u128], out: &mut [u128]) {
        let omega = omega.map(u128::to_le_bytes);
        for ((input, item), out) in inputs.iter().zip(items).zip(out) {
            *out = digest(&[&input.0.to_le_bytes(), &item.to_le_bytes(), omega.as_slice().as_flattened(), &[1]]).0;
        }
    }

    fn commit(value: u128) -> u128 {
        digest(&[&value.to_le_bytes(), &[1]]).0
    }
}

/// Fixed-key AES, all ten rounds.
#[derive(Clone, Copy, Debug)]
pub enum FixedKeyAes {}

impl Oracle for FixedKeyAes {
    type Bits = Gf128;
    type Keys = Vec<DigestPrf>;

    fn keys(keys: &[u128]) -> Vec<DigestPrf> {
        keys.iter().map(|&key| DigestPrf::new(key)).collect()
    }

    fn bits(keys: &Vec<DigestPrf>, tau: Option<u128>, items: &[u128], out: &mut [Gf128]) {
        let (mut salted, mut hashes) = (Secret::new([0; BATCH]), Secret::new([0; BATCH]));
        let (salted, hashes) = (&mut salted[..items.len()], &mut hashes[..items.len()]);
        for (salted, item) in salted.iter_mut().zip(items) {
            *salted = item ^ tau.unwrap_or(0);
        }
        for (i, key) in keys.iter().enumerate() {
            key.eval(salted, hashes);
            for (out, &hash) in out.iter_mut().zip(&*hashes) {
                out.0 |= (hash & 1) << i;
            }
        }
    }

    fn outer(omega: Option<u128>, inputs: &[Gf128], items: &[u128], out: &mut [u128]) {
        DigestPrf::new(omega.unwrap_or(FIXED_KEY)).eval_tweaked(bytemuck::cast_slice(inputs), items, out);
    }

    fn commit(value: u128) -> u128 {
        let mut out = [0];
        DigestPrf::new(FIXED_KEY).eval(&[value], &mut out);
        out[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the definition, one call at a time.
    #[test]
    fn strings_are_the_bits_of_the_definition() {
        let keys: Vec<u128> = (1..=80).map(|i| i * 0x1234_5678_9abc_def0_1357).collect();
        let items: Vec<u128> = (0..300).map(|i| i * i + 7).collect();
        for tau in [None, Some(99)] {
            let sha = bits::<Sha256>(&keys, tau, &items);
            let aes = bits::<FixedKeyAes>(&keys, tau, &items);
            for (j, item) in items.iter().enumerate() {
                for (i, key) in keys.iter().enumerate() {
                    let mut message = [key.to_le_bytes(), item.to_le_bytes()].concat();
                    message.extend(tau.iter().flat_map(|tau| tau.to_le_bytes()));
                    assert_eq!(sha[j].0 >> i & 1, u128::from(sha2::Sha256::digest(&message)[31] & 1), "{i}, {j}");
                    let mut hash = [0];
                    DigestPrf::new(*key).eval(&[item ^ tau.unwrap_or(0)], &mut hash);
                    assert_eq!(aes[j].0 >> i & 1, hash[0] & 1, "{i}, {j}");
                }
            }
            assert!(sha.iter().chain(&*aes).all(|string| string.0 >> 80 == 0));
        }
    }

    #[test]
    fn a_string_takes_its_bits_from_the_lowest() {
        assert_eq!(from_bits::<Gf128>([true, false, true].into_iter()).0, 5);
        assert_eq!(from_bits::<Gf128>((0..128).map(|i| i == 127)).0, 1 << 127);
    }
}
