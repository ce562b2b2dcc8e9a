//! The AES-NI twin: eight blocks in flight, one to a 128-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::lanes;

/// The round constants of the key expansion (FIPS 197, table 5).
pub(super) const ROUND_CONSTANTS: [u32; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// Blocks in flight.
const LANES: usize = 8;

type Vectors = [__m128i; LANES];

#[inline]
#[target_feature(enable = "aes,avx2")]
fn load(x: &[u128; LANES]) -> Vectors {
    must_cast(*x)
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn store(x: Vectors) -> [u128; LANES] {
    must_cast(x)
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn xor(a: Vectors, b: Vectors) -> Vectors {
    let mut out = a;
    for i in 0..LANES {
        out[i] = _mm_xor_si128(a[i], b[i]);
    }
    out
}

/// The eleven round keys of `key` (FIPS 197, section 5.2).
#[target_feature(enable = "aes,avx2")]
pub(super) fn round_keys(key: u128) -> [u128; 11] {
    let mut keys = [key; 11];
    let mut current: __m128i = must_cast(key);
    for (key, rcon) in keys[1..].iter_mut().zip(ROUND_CONSTANTS) {
        current = next_round_key(current, rcon);
        *key = must_cast(current);
    }
    keys
}

/// The round key that follows `key`.
///
/// The last word, rotated, is put in all four columns; there AESENCLAST's ShiftRows changes
/// nothing, which leaves its SubBytes and the xor of its round key: here the round constant. It is
/// several times as fast as AESKEYGENASSIST where many schedules run at once.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn next_round_key(key: __m128i, rcon: u32) -> __m128i {
    let rotate_last_word = _mm_set1_epi32(0x0c0f_0e0d);
    let word = _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotate_last_word), _mm_set1_epi32(rcon as i32));
    let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
    let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
    _mm_xor_si128(key, word)
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn permute(keys: &[u128; 11], mut x: Vectors) -> Vectors {
    let keys: [__m128i; 11] = must_cast(*keys);
    for x in &mut x {
        *x = _mm_xor_si128(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut x {
            *x = _mm_aesenc_si128(*x, *key);
        }
    }
    for x in &mut x {
        *x = _mm_aesenclast_si128(*x, keys[10]);
    }
    x
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn encrypt(keys: &[u128; 11], x: &mut [u128]) {
    lanes::map_in_place(x, |x| *x = store(permute(keys, load(x))));
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn mmo_vectors(keys: &[u128; 11], x: Vectors) -> Vectors {
    xor(permute(keys, x), x)
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn mmo(keys: &[u128; 11], x: &[u128], out: &mut [u128]) {
    lanes::map(x, out, |x, out| *out = store(mmo_vectors(keys, load(x))));
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn mmo_in_place(keys: &[u128; 11], x: &mut [u128]) {
    lanes::map_in_place(x, |x| *x = store(mmo_vectors(keys, load(x))));
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn tmmo(keys: &[u128; 11], x: &[u128], tweak: &[u128], out: &mut [u128]) {
    lanes::map_pairs(x, tweak, out, |x, tweak, out| {
        let inner = permute(keys, load(x));
        *out = store(xor(permute(keys, xor(inner, load(tweak))), inner));
    });
}

/// The lowest bit of each block, that of the first one lowest.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn low_bits(x: Vectors) -> u32 {
    let pairs: [__m128i; 4] = std::array::from_fn(|i| _mm_unpacklo_epi8(x[2 * i], x[2 * i + 1]));
    let fours: [__m128i; 2] = std::array::from_fn(|i| _mm_unpacklo_epi16(pairs[2 * i], pairs[2 * i + 1]));
    let bytes = _mm_unpacklo_epi32(fours[0], fours[1]);
    _mm_movemask_epi8(_mm_slli_epi64::<7>(bytes)) as u32 & 0xff
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn mmo_bits(keys: &[u128; 11], x: &[u128; 128]) -> u128 {
    let (groups, _) = x.as_chunks();
    groups.iter().rev().fold(0, |bits, x| bits << LANES | u128::from(low_bits(mmo_vectors(keys, load(x)))))
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn tables<const ELEMENTS: usize, const PLACES: usize>(
    keys: &[u128; 11],
    x: &[u128],
    offsets: &[u128; PLACES],
    out: &mut [u16],
) {
    let offsets: [__m128i; PLACES] = offsets.map(must_cast);
    lanes::map(x, out, |x: &[u128; ELEMENTS], out| {
        let x: [__m128i; LANES] =
            std::array::from_fn(|lane| _mm_xor_si128(must_cast(x[lane / PLACES]), offsets[lane % PLACES]));
        lanes::tables(low_bits(mmo_vectors(keys, x)), PLACES, out);
    });
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn mmo_tables(keys: &[u128; 11], x: &[u128], offsets: &[u128], out: &mut [u16]) {
    lanes::by_places!(tables::<8, 4, 2, 1>(keys, x, offsets, out));
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn ctr(keys: &[u128; 11], first: u128, out: &mut [u128]) {
    lanes::count(first, out, |first, out| {
        *out = store(permute(keys, load(&lanes::counters(first))));
    });
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn expand(left: &[u128; 11], right: &[u128; 11], parents: &[u128], children: &mut [u128]) -> [u128; 2] {
    lanes::double(parents, children, |parents, children| {
        let parents = load(parents);
        let lefts = store(mmo_vectors(left, parents));
        let rights = store(mmo_vectors(right, parents));
        for i in 0..LANES {
            children[i] = [lefts[i], rights[i]];
        }
    })
}

#[target_feature(enable = "aes,avx2")]
pub(super) fn davies_meyer(keys: &[u128], messages: &[u128], out: &mut [u128]) {
    lanes::map_pairs(keys, messages, out, |keys, messages, out| {
        let (mut keys, messages) = (load(keys), load(messages));
        let mut x = xor(keys, messages);
        for (round, rcon) in ROUND_CONSTANTS.into_iter().enumerate() {
            for (x, key) in x.iter_mut().zip(&mut keys) {
                *key = next_round_key(*key, rcon);
                *x = if round < 9 { _mm_aesenc_si128(*x, *key) } else { _mm_aesenclast_si128(*x, *key) };
            }
        }
        *out = store(xor(x, messages));
    });
}
