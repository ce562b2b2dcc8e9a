//! SHA-256 of one block in bulk: [`digests`], and [`KeyedBits`] for the lowest bit of the digest of
//! a key and a message, for many keys and many messages.
//!
//! A key has 16 bytes and comes first, a message has 16, and 16 fixed bytes may follow: one block
//! of the compression function. All of the function is computed that the bit depends on, and no
//! more. What depends on the key alone (four rounds, five words of the schedule) is computed once;
//! the lowest bit of the digest is that of `e` after 61 of the 64 rounds, and the last four of
//! these need no `a`.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

#[cfg(target_arch = "x86_64")]
use self::block::Message;
use self::block::{Group, compress, tail};
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Backend;
use crate::dispatch::backend;
pub use block::GROUP;

/// `out[i]` = the first 16 bytes of SHA-256 of `first[i]`, `second[i]` and `suffix`; all have 16
/// bytes, the lowest first.
///
/// # Panics
/// If the slices differ in length, or the suffix has more than 23 bytes.
pub fn digests(first: &[u128], second: &[u128], suffix: &[u8], out: &mut [u128]) {
    assert!(first.len() == out.len() && second.len() == out.len(), "digests takes slices of one length");
    let tail = tail(suffix);
    match backend() {
        #[cfg(target_arch = "x86_64")]
        on if on >= Backend::Avx512 => {
            for ((first, second), out) in first.chunks(GROUP).zip(second.chunks(GROUP)).zip(out.chunks_mut(GROUP)) {
                let (mut firsts, mut seconds) = ([0; GROUP], [0; GROUP]);
                firsts[..out.len()].copy_from_slice(first);
                seconds[..out.len()].copy_from_slice(second);
                // SAFETY: the twin is safe but for its target features, which a backend of `Avx512` and above has.
                let digests = unsafe { avx512::digests(&firsts, &seconds, &tail) };
                out.copy_from_slice(&digests[..out.len()]);
            }
        }
        _ => {
            for ((&first, &second), out) in first.iter().zip(second).zip(out) {
                let mut digest = [0; 16];
                for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(compress(first, second, tail)) {
                    *bytes = word.to_be_bytes();
                }
                *out = u128::from_le_bytes(digest);
            }
        }
    }
}

/// Keys, and what follows the message.
#[derive(Clone)]
pub struct KeyedBits {
    keys: Vec<u128>,
    groups: Vec<Group>,
    /// Words 8 to 15 of every block: what follows the message, the padding, the length.
    tail: [u32; 8],
}

impl fmt::Debug for KeyedBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedBits(..)")
    }
}

impl Drop for KeyedBits {
    fn drop(&mut self) {
        self.keys.zeroize();
        self.groups.zeroize();
    }
}

impl ZeroizeOnDrop for KeyedBits {}

impl KeyedBits {
    /// For these keys; `suffix` follows each message.
    pub fn new(keys: &[u128], suffix: Option<u128>) -> Self {
        let suffix = suffix.map(u128::to_le_bytes);
        let tail = tail(suffix.as_ref().map_or(&[], |suffix| suffix));
        let groups = keys.chunks(GROUP).map(|keys| Group::new(keys, &tail)).collect();
        Self { keys: keys.to_vec(), groups, tail }
    }

    /// Words of [`GROUP`] bits that a message gives.
    pub fn words(&self) -> usize {
        self.groups.len()
    }

    /// Bit `i % 16` of word `i / 16` of `out[j * stride..]` is the lowest bit of the last byte of
    /// `SHA-256(keys[i], messages[j], suffix)`; bits and words for which there is no key are
    /// zero.
    ///
    /// # Panics
    /// If there are not `stride` words for each message, or fewer than [`Self::words`].
    pub fn eval(&self, messages: &[u128], stride: usize, out: &mut [u16]) {
        assert!(stride >= self.words() && out.len() == stride * messages.len(), "words for each message");
        if stride == 0 {
            return;
        }
        for (message, out) in messages.iter().zip(out.chunks_exact_mut(stride)) {
            let (bits, rest) = out.split_at_mut(self.words());
            rest.fill(0);
            match backend() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the twin is safe but for its target features, which a backend of `Avx512` and above has.
                on if on >= Backend::Avx512 => unsafe {
                    avx512::bits(&self.groups, &Message::new(*message, &self.tail), bits)
                },
                _ => self.portable(*message, bits),
            }
        }
    }

    /// Block by block.
    fn portable(&self, message: u128, out: &mut [u16]) {
        for (keys, out) in self.keys.chunks(GROUP).zip(out) {
            *out = 0;
            for (i, &key) in keys.iter().enumerate() {
                *out |= ((compress(key, message, self.tail)[7] & 1) as u16) << i;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;
    use crate::testing;

    #[test]
    fn digests_are_those_of_sha_256_on_every_backend() {
        for (seed, len) in testing::lengths().take(70).chain([1000]).enumerate() {
            let (first, second) = (testing::words(seed as u64, len), testing::words(1000 + seed as u64, len));
            let suffix =
                &[0x80, 1, 0xff, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22][..seed % 24];
            let got = testing::on_every_backend(|| {
                let mut out = vec![u128::MAX; len];
                digests(&first, &second, suffix, &mut out);
                out
            });
            for ((first, second), got) in first.iter().zip(&second).zip(got) {
                let message = [&first.to_le_bytes(), &second.to_le_bytes(), suffix].concat();
                assert_eq!(got.to_le_bytes(), sha2::Sha256::digest(&message)[..16], "{len} messages, {suffix:?}");
            }
        }
    }

    #[test]
    fn all_backends_give_the_bits_of_whole_digests() {
        for (count, messages) in [(0, 3), (1, 1), (15, 2), (16, 0), (17, 5), (72, 20), (128, 3), (438, 2)] {
            for suffix in [None, Some(u128::MAX / 5)] {
                let keys = testing::words(count as u64, count);
                let messages = testing::words(77, messages);
                let stride = count.div_ceil(16) + 3;
                let got = testing::on_every_backend(|| {
                    let mut out = vec![0xffff; stride * messages.len()];
                    KeyedBits::new(&keys, suffix).eval(&messages, stride, &mut out);
                    out
                });
                for (message, words) in messages.iter().zip(got.chunks_exact(stride)) {
                    for bit in 0..16 * stride {
                        let expected = keys.get(bit).map_or(0, |key| {
                            let mut bytes = [key.to_le_bytes(), message.to_le_bytes()].concat();
                            bytes.extend(suffix.iter().flat_map(|suffix| suffix.to_le_bytes()));
                            sha2::Sha256::digest(&bytes)[31] & 1
                        });
                        assert_eq!(words[bit / 16] >> (bit % 16) & 1, u16::from(expected), "{count} keys, bit {bit}");
                    }
                }
            }
        }
    }
}
