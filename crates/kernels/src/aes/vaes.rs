//! The VAES twin: sixteen blocks in flight, four to a 512-bit register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::{aesni, lanes};

/// Blocks in flight.
const LANES: usize = 16;

type Vectors = [__m512i; LANES / 4];

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn load(x: &[u128; LANES]) -> Vectors {
    must_cast(*x)
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn store(x: Vectors) -> [u128; LANES] {
    must_cast(x)
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn xor(a: Vectors, b: Vectors) -> Vectors {
    let mut out = a;
    for i in 0..LANES / 4 {
        out[i] = _mm512_xor_si512(a[i], b[i]);
    }
    out
}

/// Each round key four times, once for each block of a register.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn broadcast(keys: &[u128; 11]) -> [__m512i; 11] {
    let mut out = [_mm512_setzero_si512(); 11];
    for (out, key) in out.iter_mut().zip(keys) {
        *out = _mm512_broadcast_i32x4(must_cast(*key));
    }
    out
}

/// [`super::aesni::round_keys`]'s step, for four keys at once.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn next_round_key(key: __m512i, rcon: u32) -> __m512i {
    let rotate_last_word = _mm512_set1_epi32(0x0c0f_0e0d);
    let word = _mm512_aesenclast_epi128(_mm512_shuffle_epi8(key, rotate_last_word), _mm512_set1_epi32(rcon as i32));
    let key = _mm512_xor_si512(key, _mm512_bslli_epi128::<4>(key));
    let shifted = _mm512_bslli_epi128::<8>(key);
    // 0x96: the xor of all three.
    _mm512_ternarylogic_epi64::<0x96>(key, shifted, word)
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn permute(keys: &[__m512i; 11], mut x: Vectors) -> Vectors {
    for x in &mut x {
        *x = _mm512_xor_si512(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut x {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in &mut x {
        *x = _mm512_aesenclast_epi128(*x, keys[10]);
    }
    x
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn mmo_vectors(keys: &[__m512i; 11], x: Vectors) -> Vectors {
    xor(permute(keys, x), x)
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn encrypt(keys: &[u128; 11], x: &mut [u128]) {
    let keys = broadcast(keys);
    lanes::map_in_place(x, |x| *x = store(permute(&keys, load(x))));
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn mmo(keys: &[u128; 11], x: &[u128], out: &mut [u128]) {
    let keys = broadcast(keys);
    lanes::map(x, out, |x, out| *out = store(mmo_vectors(&keys, load(x))));
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn mmo_in_place(keys: &[u128; 11], x: &mut [u128]) {
    let keys = broadcast(keys);
    lanes::map_in_place(x, |x| *x = store(mmo_vectors(&keys, load(x))));
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn tmmo(keys: &[u128; 11], x: &[u128], tweak: &[u128], out: &mut [u128]) {
    let keys = broadcast(keys);
    lanes::map_pairs(x, tweak, out, |x, tweak, out| {
        let inner = permute(&keys, load(x));
        *out = store(xor(permute(&keys, xor(inner, load(tweak))), inner));
    });
}

/// The lowest bit of each block, that of the first one lowest.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn low_bits(x: Vectors) -> u32 {
    let low = _mm512_set_epi64(0, 1, 0, 1, 0, 1, 0, 1);
    let mut bits = 0;
    for (i, x) in x.into_iter().enumerate() {
        let lanes = u32::from(_mm512_test_epi64_mask(x, low));
        // Of eight bits, those at even places.
        let pairs = (lanes | lanes >> 1) & 0x33;
        bits |= ((pairs | pairs >> 2) & 0x0f) << (4 * i);
    }
    bits
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn mmo_bits(keys: &[u128; 11], x: &[u128; 128]) -> u128 {
    let (keys, (groups, _)) = (broadcast(keys), x.as_chunks());
    groups.iter().rev().fold(0, |bits, x| bits << LANES | u128::from(low_bits(mmo_vectors(&keys, load(x)))))
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn tables<const ELEMENTS: usize, const PLACES: usize>(
    keys: &[__m512i; 11],
    x: &[u128],
    offsets: &[u128; PLACES],
    out: &mut [u16],
) {
    lanes::map(x, out, |x: &[u128; ELEMENTS], out| {
        let x = load(&lanes::shifted(x, offsets));
        lanes::tables(low_bits(mmo_vectors(keys, x)), PLACES, out);
    });
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn mmo_tables(keys: &[u128; 11], x: &[u128], offsets: &[u128], out: &mut [u16]) {
    let keys = broadcast(keys);
    lanes::by_places!(tables::<16, 8, 4, 2>(&keys, x, offsets, out));
}

/// The counters from `first`, by additions to the low halves alone.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
fn counters_without_carry(first: u128) -> Vectors {
    let first = _mm512_broadcast_i32x4(_mm_set_epi64x((first >> 64) as i64, first as i64));
    let mut out = [_mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0)); LANES / 4];
    for i in 1..LANES / 4 {
        out[i] = _mm512_add_epi64(out[i - 1], _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4));
    }
    out
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn ctr(keys: &[u128; 11], first: u128, out: &mut [u128]) {
    let keys = broadcast(keys);
    // Where the low half of the counter wraps, a new run starts; what a padded group computes beyond it
    // is dropped.
    let until_wrap = (1 << 64) - u128::from(first as u64);
    let wraps_at = usize::try_from(until_wrap).map_or(out.len(), |until| until.min(out.len()));
    let (before, after) = out.split_at_mut(wraps_at);
    for (first, out) in [(first, before), (first.wrapping_add(until_wrap), after)] {
        lanes::count(first, out, |first, out| {
            *out = store(permute(&keys, counters_without_carry(first)));
        });
    }
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn expand(left: &[u128; 11], right: &[u128; 11], parents: &[u128], children: &mut [u128]) -> [u128; 2] {
    let (left, right) = (broadcast(left), broadcast(right));
    // Of four left and four right children, the first and the last two pairs.
    let first_pairs = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    let last_pairs = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    lanes::double(parents, children, |parents, children| {
        let parents = load(parents);
        let lefts = mmo_vectors(&left, parents);
        let rights = mmo_vectors(&right, parents);
        let mut pairs = [[_mm512_setzero_si512(); 2]; LANES / 4];
        for i in 0..LANES / 4 {
            pairs[i] = [
                _mm512_permutex2var_epi64(lefts[i], first_pairs, rights[i]),
                _mm512_permutex2var_epi64(lefts[i], last_pairs, rights[i]),
            ];
        }
        *children = must_cast(pairs);
    })
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn davies_meyer(keys: &[u128], messages: &[u128], out: &mut [u128]) {
    lanes::map_pairs(keys, messages, out, |keys, messages, out| {
        let (mut keys, messages) = (load(keys), load(messages));
        let mut x = xor(keys, messages);
        for (round, rcon) in aesni::ROUND_CONSTANTS.into_iter().enumerate() {
            for (x, key) in x.iter_mut().zip(&mut keys) {
                *key = next_round_key(*key, rcon);
                *x = if round < 9 { _mm512_aesenc_epi128(*x, *key) } else { _mm512_aesenclast_epi128(*x, *key) };
            }
        }
        *out = store(xor(x, messages));
    });
}
