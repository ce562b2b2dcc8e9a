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

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::dispatch::{Backend, backend};

/// Keys of a group: a bit each in a word of the output.
pub const GROUP: usize = 16;

/// FIPS 180-4, section 5.3.3.
const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// FIPS 180-4, section 4.2.2.
const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

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

/// A word of each of a group's keys.
#[derive(Clone, Copy, Default, Zeroize)]
#[repr(align(64))]
struct Lanes([u32; GROUP]);

/// What of sixteen keys' blocks depends on nothing else.
#[derive(Clone, Default, Zeroize)]
struct Group {
    /// The state after four rounds.
    state: [Lanes; 8],
    /// Words 16 to 18 of the schedule, and of words 19 and 20 what the message has no part in.
    words: [Lanes; 5],
    /// A bit for each key.
    keys: u16,
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

/// What of a block depends on the message: the same for all keys.
struct Message {
    /// Words 4 to 15 of the schedule, each with its round's constant.
    rounds: [u32; 12],
    /// What words 4 to 15 add to words 19 to 31.
    ahead: [u32; 13],
}

impl Message {
    #[inline]
    fn new(message: u128, tail: &[u32; 8]) -> Self {
        let mut w = [0; 16];
        w[4..8].copy_from_slice(&words(message));
        w[8..].copy_from_slice(tail);
        let mut ahead = [0u32; 13];
        for (t, ahead) in (19..32).zip(&mut ahead) {
            // Of w[t - 16] + s0(w[t - 15]) + w[t - 7] + s1(w[t - 2]) what lies in 4..16.
            for (at, rotated) in [(t - 16, false), (t - 15, true), (t - 7, false)] {
                if (4..16).contains(&at) {
                    *ahead = ahead.wrapping_add(if rotated { s0(w[at]) } else { w[at] });
                }
            }
        }
        Self { rounds: std::array::from_fn(|i| w[4 + i].wrapping_add(ROUND_CONSTANTS[4 + i])), ahead }
    }
}

impl Group {
    fn new(keys: &[u128], tail: &[u32; 8]) -> Self {
        let mut group = Self { keys: (u32::MAX >> (32 - keys.len())) as u16, ..Self::default() };
        for (i, &key) in keys.iter().enumerate() {
            let mut state = INITIAL;
            let w = words(key);
            for (word, constant) in w.iter().zip(ROUND_CONSTANTS) {
                state = round(state, word.wrapping_add(constant));
            }
            for (lanes, word) in group.state.iter_mut().zip(state) {
                lanes.0[i] = word;
            }
            let sum = |words: &[u32]| words.iter().fold(0u32, |sum, &word| sum.wrapping_add(word));
            // With words 9 to 11 and 14, 15 of the block in tail[1..4] and tail[6..8].
            let w16 = sum(&[w[0], s0(w[1]), tail[1], s1(tail[6])]);
            let w17 = sum(&[w[1], s0(w[2]), tail[2], s1(tail[7])]);
            let w18 = sum(&[w[2], s0(w[3]), tail[3], s1(w16)]);
            for (lanes, word) in group.words.iter_mut().zip([w16, w17, w18, w[3].wrapping_add(s1(w17)), s1(w18)]) {
                lanes.0[i] = word;
            }
        }
        group
    }
}

/// The digest of one block, on the machine's own instructions for SHA-256 where it has them.
fn compress(first: u128, second: u128, tail: [u32; 8]) -> [u32; 8] {
    let mut block = [0; 64];
    let bytes = words(first).into_iter().chain(words(second)).chain(tail).flat_map(u32::to_be_bytes);
    block.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    let mut state = INITIAL;
    sha2::block_api::compress256(&mut state, &[block]);
    state
}

/// Words 8 to 15 of a block whose first 32 bytes are followed by `suffix`: that, the padding, the
/// length.
fn tail(suffix: &[u8]) -> [u32; 8] {
    assert!(suffix.len() <= 23, "the message is one block");
    let mut bytes = [0; 32];
    bytes[..suffix.len()].copy_from_slice(suffix);
    bytes[suffix.len()] = 0x80;
    bytes[28..].copy_from_slice(&(8 * (32 + suffix.len() as u32)).to_be_bytes());
    std::array::from_fn(|i| u32::from_be_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
}

/// One round (FIPS 180-4, section 6.2.2); `word` has the round's constant in it.
fn round([a, b, c, d, e, f, g, h]: [u32; 8], word: u32) -> [u32; 8] {
    let choice = (e & f) ^ (!e & g);
    let majority = (a & b) ^ (a & c) ^ (b & c);
    let first = h
        .wrapping_add(e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
        .wrapping_add(choice)
        .wrapping_add(word);
    let second = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add(majority);
    [first.wrapping_add(second), a, b, c, d.wrapping_add(first), e, f, g]
}

fn s0(w: u32) -> u32 {
    w.rotate_right(7) ^ w.rotate_right(18) ^ (w >> 3)
}

fn s1(w: u32) -> u32 {
    w.rotate_right(17) ^ w.rotate_right(19) ^ (w >> 10)
}

/// The words of 16 bytes.
fn words(block: u128) -> [u32; 4] {
    let bytes = block.to_le_bytes();
    std::array::from_fn(|i| u32::from_be_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
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
