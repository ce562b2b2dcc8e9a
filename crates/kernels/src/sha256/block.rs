//! The compression function of one block, and what of it depends on the key or the message alone.

use zeroize::Zeroize;

/// Keys of a group: a bit each in a word of the output.
pub const GROUP: usize = 16;

/// FIPS 180-4, section 5.3.3.
pub(super) const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// FIPS 180-4, section 4.2.2.
pub(super) const ROUND_CONSTANTS: [u32; 64] = [
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

/// A word of each of a group's keys.
#[derive(Clone, Copy, Default, Zeroize)]
#[repr(align(64))]
pub(super) struct Lanes(pub [u32; GROUP]);

/// What of sixteen keys' blocks depends on nothing else.
#[derive(Clone, Default, Zeroize)]
pub(super) struct Group {
    /// The state after four rounds.
    pub state: [Lanes; 8],
    /// Words 16 to 18 of the schedule, and of words 19 and 20 what the message has no part in.
    pub words: [Lanes; 5],
    /// A bit for each key.
    pub keys: u16,
}

impl Group {
    pub fn new(keys: &[u128], tail: &[u32; 8]) -> Self {
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

/// What of a block depends on the message: the same for all keys.
#[cfg(target_arch = "x86_64")]
pub(super) struct Message {
    /// Words 4 to 15 of the schedule, each with its round's constant.
    pub rounds: [u32; 12],
    /// What words 4 to 15 add to words 19 to 31.
    pub ahead: [u32; 13],
}

#[cfg(target_arch = "x86_64")]
impl Message {
    #[inline]
    pub fn new(message: u128, tail: &[u32; 8]) -> Self {
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

/// The digest of one block, on the machine's own instructions for SHA-256 where it has them.
pub(super) fn compress(first: u128, second: u128, tail: [u32; 8]) -> [u32; 8] {
    let mut block = [0; 64];
    let bytes = words(first).into_iter().chain(words(second)).chain(tail).flat_map(u32::to_be_bytes);
    block.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    let mut state = INITIAL;
    sha2::block_api::compress256(&mut state, &[block]);
    state
}

/// Words 8 to 15 of a block whose first 32 bytes are followed by `suffix`: that, the padding, the
/// length.
pub(super) fn tail(suffix: &[u8]) -> [u32; 8] {
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
