//! BLAKE3 of many short messages at once, under one key.
//!
//! A message of at most 64 bytes is one compression (BLAKE3 paper, section 2.2: a root chunk of one
//! block), too little work for the usual vectors across chunks; here each lane of a vector is
//! another message.

#[cfg(target_arch = "x86_64")]
use bytemuck::must_cast;

use crate::dispatch::{backend, dispatch};

/// Initial values of the second half of the state: the first words of SHA-256's.
const IV: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];

/// `CHUNK_START | CHUNK_END | ROOT | KEYED_HASH`.
const FLAGS: u32 = 1 | 2 | 8 | 16;

/// Order of the message words in each round.
const SCHEDULE: [[usize; 16]; 7] = {
    let permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut schedule = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut i = 0;
    while i < 6 * 16 {
        schedule[i / 16 + 1][i % 16] = schedule[i / 16][permutation[i % 16]];
        i += 1;
    }
    schedule
};

/// `out[i]` = the first 128 bits of BLAKE3's keyed hash of the first `lengths[i]` bytes of
/// `messages[i]`, whose other bytes are zero.
///
/// # Panics
/// If the slices differ in length, or a length is above 64.
pub fn keyed_digests(key: &[u8; 32], messages: &[[u8; 64]], lengths: &[u8], out: &mut [u128]) {
    keyed(key, messages, lengths, [out]);
}

/// [`keyed_digests`] of 256 bits: the first 128 go to `low`, the others to `high`.
///
/// # Panics
/// If the slices differ in length, or a length is above 64.
pub fn keyed_digests_256(key: &[u8; 32], messages: &[[u8; 64]], lengths: &[u8], low: &mut [u128], high: &mut [u128]) {
    keyed(key, messages, lengths, [low, high]);
}

/// The first `HALVES` times 128 bits of each message's hash.
fn keyed<const HALVES: usize>(key: &[u8; 32], messages: &[[u8; 64]], lengths: &[u8], out: [&mut [u128]; HALVES]) {
    assert!(messages.len() == lengths.len(), "messages have a length each");
    assert!(out.iter().all(|out| out.len() == messages.len()), "messages have a digest each");
    assert!(lengths.iter().all(|&length| length <= 64), "messages are of one block");
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    dispatch!(
        backend(),
        portable: in_lanes(messages, lengths, out, |messages, lengths| portable(&words, messages, lengths)),
        avx2: avx2(&words, messages, lengths, out),
        avx512: avx512(&words, messages, lengths, out),
    );
}

/// Calls `compress` with `N` messages and their lengths at a time, and puts the digests in place.
#[inline(always)]
fn in_lanes<const N: usize, const HALVES: usize>(
    messages: &[[u8; 64]],
    lengths: &[u8],
    mut out: [&mut [u128]; HALVES],
    compress: impl Fn(&[[u8; 64]; N], [u32; N]) -> [[u128; N]; HALVES],
) {
    let whole = messages.len() / N * N;
    for ((messages, lengths), first) in messages.as_chunks().0.iter().zip(lengths.as_chunks().0).zip((0..).step_by(N)) {
        let digests = compress(messages, lengths.map(u32::from));
        for (half, out) in digests.iter().zip(&mut out) {
            out[first..][..N].copy_from_slice(half);
        }
    }
    let rest = messages.len() - whole;
    if rest > 0 {
        let (mut padded, mut padded_lengths) = ([[0; 64]; N], [0; N]);
        padded[..rest].copy_from_slice(&messages[whole..]);
        for (padded, &length) in padded_lengths.iter_mut().zip(&lengths[whole..]) {
            *padded = length.into();
        }
        for (half, out) in compress(&padded, padded_lengths).iter().zip(&mut out) {
            out[whole..].copy_from_slice(&half[..rest]);
        }
    }
}

/// Word `w` of message `i` at `[w][i]`.
#[inline(always)]
fn words_across<const N: usize>(messages: &[[u8; 64]; N]) -> [[u32; N]; 16] {
    let mut words = [[0; N]; 16];
    for (i, message) in messages.iter().enumerate() {
        for (words, word) in words.iter_mut().zip(message.as_chunks().0) {
            words[i] = u32::from_le_bytes(*word);
        }
    }
    words
}

/// The digest of message `i`, whose word `w` is at `[w][i]`.
#[inline(always)]
fn digests_along<const N: usize>(words: [[u32; N]; 4]) -> [u128; N] {
    std::array::from_fn(|i| (0..4).rev().fold(0, |digest, word| digest << 32 | u128::from(words[word][i])))
}

/// The compression function (BLAKE3 paper, section 2.2) on vectors of words, up to the eight words
/// of a hash, in two halves.
macro_rules! compress {
    ($key:expr, $message:expr, $length:expr, $splat:expr, $add:expr, $xor:expr, $by16:expr, $by12:expr, $by8:expr, $by7:expr) => {{
        let (add, xor, message) = ($add, $xor, $message);
        let key = $key.map($splat);
        let [i0, i1, i2, i3] = IV.map($splat);
        let (zero, flags) = ($splat(0), $splat(FLAGS));
        let mut s = [
            key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7], i0, i1, i2, i3, zero, zero, $length, flags,
        ];
        for order in &SCHEDULE {
            macro_rules! mix {
                ($a:literal, $b:literal, $c:literal, $d:literal, $i:literal) => {
                    s[$a] = add(add(s[$a], s[$b]), message[order[$i]]);
                    s[$d] = $by16(xor(s[$d], s[$a]));
                    s[$c] = add(s[$c], s[$d]);
                    s[$b] = $by12(xor(s[$b], s[$c]));
                    s[$a] = add(add(s[$a], s[$b]), message[order[$i + 1]]);
                    s[$d] = $by8(xor(s[$d], s[$a]));
                    s[$c] = add(s[$c], s[$d]);
                    s[$b] = $by7(xor(s[$b], s[$c]));
                };
            }
            mix!(0, 4, 8, 12, 0);
            mix!(1, 5, 9, 13, 2);
            mix!(2, 6, 10, 14, 4);
            mix!(3, 7, 11, 15, 6);
            mix!(0, 5, 10, 15, 8);
            mix!(1, 6, 11, 12, 10);
            mix!(2, 7, 8, 13, 12);
            mix!(3, 4, 9, 14, 14);
        }
        [
            [xor(s[0], s[8]), xor(s[1], s[9]), xor(s[2], s[10]), xor(s[3], s[11])],
            [xor(s[4], s[12]), xor(s[5], s[13]), xor(s[6], s[14]), xor(s[7], s[15])],
        ]
    }};
}

/// The first of the two halves.
#[inline(always)]
fn first<T: Copy, const HALVES: usize>(both: [T; 2]) -> [T; HALVES] {
    std::array::from_fn(|half| both[half])
}

fn portable<const HALVES: usize>(key: &[u32; 8], messages: &[[u8; 64]; 1], [length]: [u32; 1]) -> [[u128; 1]; HALVES] {
    let message = words_across(messages).map(|[word]| word);
    let rotate = u32::rotate_right;
    let xor = |a, b| a ^ b;
    let digest = compress!(
        key,
        message,
        length,
        |word: u32| word,
        u32::wrapping_add,
        xor,
        |x| rotate(x, 16),
        |x| rotate(x, 12),
        |x| { rotate(x, 8) },
        |x| rotate(x, 7)
    );
    first(digest).map(|half: [u32; 4]| digests_along(half.map(|word| [word])))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<const HALVES: usize>(key: &[u32; 8], messages: &[[u8; 64]], lengths: &[u8], out: [&mut [u128]; HALVES]) {
    use std::arch::x86_64::*;
    let splat = |word: u32| _mm256_set1_epi32(word as i32);
    let (add, xor) = (|a, b| _mm256_add_epi32(a, b), |a, b| _mm256_xor_si256(a, b));
    // Rotations by whole bytes are shuffles of the bytes of each word.
    let by_bytes = |bytes: usize| -> __m256i {
        must_cast::<[u8; 32], _>(std::array::from_fn(|i| ((i / 4 % 4) * 4 + (i + bytes) % 4) as u8))
    };
    let (two_bytes, one_byte) = (by_bytes(2), by_bytes(1));
    in_lanes(messages, lengths, out, |messages: &[[u8; 64]; 8], lengths| {
        let digest = compress!(
            key,
            words_across_avx2(messages),
            must_cast::<_, __m256i>(lengths),
            splat,
            add,
            xor,
            |x| _mm256_shuffle_epi8(x, two_bytes),
            |x| _mm256_or_si256(_mm256_srli_epi32::<12>(x), _mm256_slli_epi32::<20>(x)),
            |x| _mm256_shuffle_epi8(x, one_byte),
            |x| _mm256_or_si256(_mm256_srli_epi32::<7>(x), _mm256_slli_epi32::<25>(x))
        );
        first(digest).map(|half: [__m256i; 4]| {
            let mut digests = [0u128; 8];
            for (i, pair) in quarters_avx2(half).into_iter().enumerate() {
                [digests[i], digests[i + 4]] = must_cast(pair);
            }
            digests
        })
    });
}

/// Vector `i` of the result has words `i` (low half) and `i + 4` (high half) of each of the four
/// vectors, in their order.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn quarters_avx2([a, b, c, d]: [std::arch::x86_64::__m256i; 4]) -> [std::arch::x86_64::__m256i; 4] {
    use std::arch::x86_64::*;
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// [`words_across`], by shuffles.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn words_across_avx2(messages: &[[u8; 64]; 8]) -> [std::arch::x86_64::__m256i; 16] {
    use std::arch::x86_64::*;
    let mut words = [_mm256_setzero_si256(); 16];
    let halves = messages.map(must_cast::<_, [__m256i; 2]>);
    for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let row = |i: usize| halves[i][half];
        let (top, bottom) =
            (quarters_avx2([row(0), row(1), row(2), row(3)]), quarters_avx2([row(4), row(5), row(6), row(7)]));
        for (i, (top, bottom)) in top.into_iter().zip(bottom).enumerate() {
            words[i] = _mm256_permute2x128_si256::<0x20>(top, bottom);
            words[i + 4] = _mm256_permute2x128_si256::<0x31>(top, bottom);
        }
    }
    words
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn avx512<const HALVES: usize>(key: &[u32; 8], messages: &[[u8; 64]], lengths: &[u8], out: [&mut [u128]; HALVES]) {
    use std::arch::x86_64::*;
    let splat = |word: u32| _mm512_set1_epi32(word as i32);
    let (add, xor) = (|a, b| _mm512_add_epi32(a, b), |a, b| _mm512_xor_si512(a, b));
    in_lanes(messages, lengths, out, |messages: &[[u8; 64]; 16], lengths| {
        let digest = compress!(
            key,
            words_across_avx512(messages),
            must_cast::<_, __m512i>(lengths),
            splat,
            add,
            xor,
            |x| _mm512_ror_epi32::<16>(x),
            |x| _mm512_ror_epi32::<12>(x),
            |x| _mm512_ror_epi32::<8>(x),
            |x| _mm512_ror_epi32::<7>(x)
        );
        first(digest).map(|half: [__m512i; 4]| {
            let mut digests = [0u128; 16];
            for (i, quarter) in quarters_avx512(half).into_iter().enumerate() {
                [digests[i], digests[i + 4], digests[i + 8], digests[i + 12]] = must_cast(quarter);
            }
            digests
        })
    });
}

/// Quarter `q` of vector `i` of the result has words `i + 4 q` of the four vectors, in their order.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn quarters_avx512([a, b, c, d]: [std::arch::x86_64::__m512i; 4]) -> [std::arch::x86_64::__m512i; 4] {
    use std::arch::x86_64::*;
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// [`words_across`], by shuffles.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn words_across_avx512(messages: &[[u8; 64]; 16]) -> [std::arch::x86_64::__m512i; 16] {
    use std::arch::x86_64::*;
    let row = |i: usize| must_cast::<[u8; 64], __m512i>(messages[i]);
    let fours: [[__m512i; 4]; 4] = std::array::from_fn(|four| {
        quarters_avx512([row(4 * four), row(4 * four + 1), row(4 * four + 2), row(4 * four + 3)])
    });
    let mut words = [_mm512_setzero_si512(); 16];
    for i in 0..4 {
        let [a, b, c, d] = fours.map(|four| four[i]);
        let (ab, cd) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0x44>(c, d));
        let (ab_high, cd_high) = (_mm512_shuffle_i32x4::<0xee>(a, b), _mm512_shuffle_i32x4::<0xee>(c, d));
        words[i] = _mm512_shuffle_i32x4::<0x88>(ab, cd);
        words[i + 4] = _mm512_shuffle_i32x4::<0xdd>(ab, cd);
        words[i + 8] = _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high);
        words[i + 12] = _mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_every_backend, words};
    use bytemuck::{cast_slice, must_cast};

    /// Against the reference implementation, at every length of a message and around every number
    /// of lanes.
    #[test]
    fn digests_are_those_of_blake3_on_every_backend() {
        let key: [u8; 32] = must_cast([words(1, 2)[0], words(1, 2)[1]]);
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 33, 65, 130] {
            let lengths: Vec<u8> = (0..count).map(|i| (i % 65) as u8).collect();
            let mut messages = vec![[0u8; 64]; count];
            for (i, (message, &length)) in messages.iter_mut().zip(&lengths).enumerate() {
                message[..length.into()].copy_from_slice(&cast_slice::<_, u8>(&words(i as u64, 4))[..length.into()]);
            }
            let [short, low, high] = on_every_backend(|| {
                let [mut short, mut low, mut high] = [(); 3].map(|()| vec![0; count]);
                keyed_digests(&key, &messages, &lengths, &mut short);
                keyed_digests_256(&key, &messages, &lengths, &mut low, &mut high);
                [short, low, high]
            });
            assert_eq!(short, low);
            for (((message, &length), low), high) in messages.iter().zip(&lengths).zip(low).zip(high) {
                let expected = blake3::keyed_hash(&key, &message[..length.into()]);
                let found: [u8; 32] = must_cast([low.to_le_bytes(), high.to_le_bytes()]);
                assert_eq!(found, *expected.as_bytes(), "{length} bytes of {count}");
            }
        }
    }
}
