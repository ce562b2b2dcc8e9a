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
//! All arguments have 16 bytes, the lowest first, but for the byte 1, which keeps `H^o` and `H^k`
//! apart from `H^b` by length; each call is one compression. The lowest bit of a digest of SHA-256
//! is that of its last byte. The paper takes AES from Guo, Katz, Wang, Yu (IEEE S&P 2020),
//! without saying how `H^o` takes all its arguments; theirs with a tweak is what fits.

use rayon::prelude::*;
use sha2::Digest;
use vesica_party::Security;
use vesica_structures::bit_prf::{AesBits, Sha256Bits};
use vesica_structures::fields::{Bits512, Cell, Gf128};
use vesica_structures::prf::{DigestPrf, sha256_digests};
use vesica_structures::secret::Secret;

/// Items hashed at a time.
const ITEMS_PER_BATCH: usize = 1 << 10;

/// The key of fixed-key AES where the figure has none.
const FIXED_KEY: u128 = u128::from_le_bytes(*b"ltsxq26 constant");

/// The three oracles, and the strings of bits that go through them.
pub trait Oracle: Send + Sync + 'static {
    /// A string of `l` bits and zeros.
    type Bits: Cell;
    /// The prepared form of the `l` keys of `H^b`.
    type Keys: Sync;

    /// Prepares for `H^b` under these keys, with `tau` behind each item where there is one.
    fn keys(keys: &[u128], tau: Option<u128>) -> Self::Keys;

    /// Bit `i` of `out[j]` is `H^b` of key `i` and `items[j]`.
    fn bits(keys: &Self::Keys, items: &[u128], out: &mut [Self::Bits]);

    /// `H^o(inputs[j], items[j])`, with `omega` behind where there is one.
    fn outer(omega: Option<u128>, inputs: &[Self::Bits], items: &[u128], out: &mut [u128]);

    /// `H^k(value)`.
    fn commit(value: u128) -> u128;
}

/// `H^b` of all items under all keys.
pub(super) fn bits<O: Oracle>(keys: &[u128], tau: Option<u128>, items: &[u128]) -> Secret<Vec<O::Bits>> {
    let keys = O::keys(keys, tau);
    let mut out = Secret::new(vec![O::Bits::default(); items.len()]);
    items
        .par_chunks(ITEMS_PER_BATCH)
        .zip(out.par_chunks_mut(ITEMS_PER_BATCH))
        .for_each(|(items, out)| O::bits(&keys, items, out));
    out
}

/// `H^o` of `inputs`, which it uses up: in Figure 15 `w` is added to them.
pub(crate) fn outer<O: Oracle>(
    security: Security,
    omega: u128,
    items: &[u128],
    inputs: &mut [O::Bits],
) -> Secret<Vec<u128>> {
    let mut out = Secret::new(vec![0; items.len()]);
    let parts = inputs
        .par_chunks_mut(ITEMS_PER_BATCH)
        .zip(items.par_chunks(ITEMS_PER_BATCH))
        .zip(out.par_chunks_mut(ITEMS_PER_BATCH));
    parts.for_each(|((inputs, items), out)| match security {
        Security::SemiHonest => O::outer(Some(omega), inputs, items, out),
        Security::Malicious => {
            for input in &mut *inputs {
                input
                    .words_mut()
                    .iter_mut()
                    .zip([omega as u64, (omega >> 64) as u64])
                    .for_each(|(word, omega)| *word ^= omega);
            }
            O::outer(None, inputs, items, out);
        }
    });
    out
}

/// A string of these bits.
pub(crate) fn from_bits<C: Cell>(bits: impl Iterator<Item = bool>) -> C {
    let mut string = C::default();
    for (i, bit) in bits.enumerate() {
        string.words_mut()[i / 64] |= u64::from(bit) << (i % 64);
    }
    string
}

/// `strings[j] += s & added[j]`.
pub(crate) fn add_masked<C: Cell>(strings: &mut [C], s: &C, added: &[C]) {
    for (string, added) in strings.iter_mut().zip(added) {
        for ((word, added), s) in string.words_mut().iter_mut().zip(added.words()).zip(s.words()) {
            *word ^= added & s;
        }
    }
}

/// SHA-256, all of it.
#[derive(Clone, Copy, Debug)]
pub enum Sha256 {}

impl Oracle for Sha256 {
    type Bits = Gf128;
    type Keys = Sha256Bits;

    fn keys(keys: &[u128], tau: Option<u128>) -> Sha256Bits {
        Sha256Bits::new(keys, tau)
    }

    fn bits(keys: &Sha256Bits, items: &[u128], out: &mut [Gf128]) {
        keys.eval(items, out);
    }

    fn outer(omega: Option<u128>, inputs: &[Gf128], items: &[u128], out: &mut [u128]) {
        let mut suffix: Vec<u8> = omega.into_iter().flat_map(u128::to_le_bytes).collect();
        suffix.push(1);
        sha256_digests(bytemuck::cast_slice(inputs), items, &suffix, out);
    }

    fn commit(value: u128) -> u128 {
        let digest = sha2::Sha256::new().chain_update(value.to_le_bytes()).chain_update([1]).finalize();
        digest.first_chunk().map_or(0, |first| u128::from_le_bytes(*first))
    }
}

/// Fixed-key AES, all ten rounds.
#[derive(Clone, Copy, Debug)]
pub enum FixedKeyAes {}

impl Oracle for FixedKeyAes {
    type Bits = Gf128;
    type Keys = AesBits;

    fn keys(keys: &[u128], tau: Option<u128>) -> AesBits {
        AesBits::new(keys, tau.unwrap_or(0))
    }

    fn bits(keys: &AesBits, items: &[u128], out: &mut [Gf128]) {
        keys.eval(items, out);
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

/// The repair's: AES for `H^b`, as a PRF under keys of which one party misses half; BLAKE3 for
/// `H^o`, keyed by `w` and the item, on a string in which at least 128 bits are unknown.
#[derive(Clone, Copy, Debug)]
pub enum Wide {}

impl Oracle for Wide {
    type Bits = Bits512;
    type Keys = AesBits;

    fn keys(keys: &[u128], tau: Option<u128>) -> AesBits {
        FixedKeyAes::keys(keys, tau)
    }

    fn bits(keys: &AesBits, items: &[u128], out: &mut [Bits512]) {
        keys.eval(items, out);
    }

    fn outer(omega: Option<u128>, inputs: &[Bits512], items: &[u128], out: &mut [u128]) {
        for ((input, &item), out) in inputs.iter().zip(items).zip(out) {
            let key: [u8; 32] = bytemuck::cast([omega.unwrap_or(0), item]);
            let digest = blake3::keyed_hash(&key, bytemuck::bytes_of(input));
            *out = digest.as_bytes().first_chunk().map_or(0, |first| u128::from_le_bytes(*first));
        }
    }

    fn commit(value: u128) -> u128 {
        FixedKeyAes::commit(value)
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
