//! Sixteen blocks to a register.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::block::{GROUP, Group, INITIAL, Lanes, Message, ROUND_CONSTANTS};

/// Truth tables of three operands.
const XOR: i32 = 0x96;
const CHOICE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;

/// A round on named registers, up to `e` where `$whole` is not given: `d` becomes the new `e`, and
/// `h` the new `a`.
macro_rules! round {
    ([$a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident] $word:expr $(, $whole:ident)?) => {
        let rotated = _mm512_ternarylogic_epi32::<XOR>(_mm512_ror_epi32::<6>($e), _mm512_ror_epi32::<11>($e), _mm512_ror_epi32::<25>($e));
        let chosen = _mm512_ternarylogic_epi32::<CHOICE>($e, $f, $g);
        let first = _mm512_add_epi32(_mm512_add_epi32(_mm512_add_epi32($h, $word), chosen), rotated);
        $d = _mm512_add_epi32($d, first);
        $(
            let $whole = _mm512_ternarylogic_epi32::<MAJORITY>($a, $b, $c);
            let rotated = _mm512_ternarylogic_epi32::<XOR>(_mm512_ror_epi32::<2>($a), _mm512_ror_epi32::<13>($a), _mm512_ror_epi32::<22>($a));
            $h = _mm512_add_epi32(_mm512_add_epi32(first, $whole), rotated);
        )?
    };
}

/// Word `$t` of the schedule with its round's constant. `$w` holds sixteen words; from `$from` on
/// each takes the place of the one sixteen before it.
macro_rules! word {
    ($w:ident $from:literal $t:literal) => {{
        if $t >= $from {
            let old = _mm512_add_epi32($w[$t % 16], s0($w[($t + 1) % 16]));
            $w[$t % 16] = _mm512_add_epi32(_mm512_add_epi32(old, $w[($t + 9) % 16]), s1($w[($t + 14) % 16]));
        }
        _mm512_add_epi32($w[$t % 16], _mm512_set1_epi32(ROUND_CONSTANTS[$t] as i32))
    }};
}

/// Rounds by eights, after which each register has its own part of the state again.
macro_rules! eight_rounds {
    ($state:tt $w:ident $from:literal $($t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal $t7:literal)+) => {
        $(eight_rounds!(@ $state $w $from $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7);)+
    };
    (@ [$a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident] $w:ident $from:literal
        $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal $t7:literal) => {
        round!([$a $b $c $d $e $f $g $h] word!($w $from $t0), majority);
        round!([$h $a $b $c $d $e $f $g] word!($w $from $t1), majority);
        round!([$g $h $a $b $c $d $e $f] word!($w $from $t2), majority);
        round!([$f $g $h $a $b $c $d $e] word!($w $from $t3), majority);
        round!([$e $f $g $h $a $b $c $d] word!($w $from $t4), majority);
        round!([$d $e $f $g $h $a $b $c] word!($w $from $t5), majority);
        round!([$c $d $e $f $g $h $a $b] word!($w $from $t6), majority);
        round!([$b $c $d $e $f $g $h $a] word!($w $from $t7), majority);
    };
}

/// The first 16 bytes of the digests of sixteen blocks: 16 bytes of `first`, 16 of `second`, and
/// the words `tail`.
#[target_feature(enable = "avx512f,avx512bw")]
#[expect(unused_assignments, reason = "the last rounds give four words besides that are not asked for")]
pub(super) fn digests(first: &[u128; GROUP], second: &[u128; GROUP], tail: &[u32; 8]) -> [u128; GROUP] {
    let mut w = [_mm512_setzero_si512(); 16];
    w[..4].copy_from_slice(&transpose(swap_bytes(must_cast(*first))));
    w[4..8].copy_from_slice(&transpose(swap_bytes(must_cast(*second))));
    for (w, &word) in w[8..].iter_mut().zip(tail) {
        *w = _mm512_set1_epi32(word as i32);
    }
    let initial = INITIAL.map(|word| _mm512_set1_epi32(word as i32));
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = initial;
    eight_rounds!([a b c d e f g h] w 16
        0 1 2 3 4 5 6 7
        8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23
        24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39
        40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55
        56 57 58 59 60 61 62 63
    );
    let [i0, i1, i2, i3, ..] = initial;
    let words = [_mm512_add_epi32(a, i0), _mm512_add_epi32(b, i1), _mm512_add_epi32(c, i2), _mm512_add_epi32(d, i3)];
    must_cast(swap_bytes(transpose(words)))
}

/// The bytes of each word in the other order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn swap_bytes(x: [__m512i; 4]) -> [__m512i; 4] {
    let order = _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
    x.map(|x| _mm512_shuffle_epi8(x, order))
}

/// Word `i` of each of sixteen blocks in register `i`, or back: it is its own inverse. Where a
/// block's words lie does not matter.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose([x0, x1, x2, x3]: [__m512i; 4]) -> [__m512i; 4] {
    let (low0, low1) = (_mm512_unpacklo_epi32(x0, x1), _mm512_unpacklo_epi32(x2, x3));
    let (high0, high1) = (_mm512_unpackhi_epi32(x0, x1), _mm512_unpackhi_epi32(x2, x3));
    [
        _mm512_unpacklo_epi64(low0, low1),
        _mm512_unpackhi_epi64(low0, low1),
        _mm512_unpacklo_epi64(high0, high1),
        _mm512_unpackhi_epi64(high0, high1),
    ]
}

/// A bit of each key of each group for one message.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn bits(groups: &[Group], message: &Message, out: &mut [u16]) {
    for (group, out) in groups.iter().zip(out) {
        *out = group_bits(group, message) & group.keys;
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn group_bits(group: &Group, message: &Message) -> u16 {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = group.state.each_ref().map(|lanes| load(lanes));
    let given = |t: usize| _mm512_set1_epi32(message.rounds[t - 4] as i32);
    round!([a b c d e f g h] given(4), majority);
    round!([h a b c d e f g] given(5), majority);
    round!([g h a b c d e f] given(6), majority);
    round!([f g h a b c d e] given(7), majority);
    round!([e f g h a b c d] given(8), majority);
    round!([d e f g h a b c] given(9), majority);
    round!([c d e f g h a b] given(10), majority);
    round!([b c d e f g h a] given(11), majority);
    round!([a b c d e f g h] given(12), majority);
    round!([h a b c d e f g] given(13), majority);
    round!([g h a b c d e f] given(14), majority);
    round!([f g h a b c d e] given(15), majority);

    // Words 16 to 31.
    let ahead = |t: usize| _mm512_set1_epi32(message.ahead[t - 19] as i32);
    let mut w = [_mm512_setzero_si512(); 16];
    for (w, lanes) in w.iter_mut().zip(&group.words) {
        *w = load(lanes);
    }
    w[3] = _mm512_add_epi32(w[3], ahead(19));
    w[4] = _mm512_add_epi32(w[4], ahead(20));
    w[5] = _mm512_add_epi32(ahead(21), s1(w[3]));
    w[6] = _mm512_add_epi32(ahead(22), s1(w[4]));
    macro_rules! words_after {
        ($($i:literal)+) => { $(w[$i] = _mm512_add_epi32(_mm512_add_epi32(ahead(16 + $i), w[$i - 7]), s1(w[$i - 2]));)+ };
    }
    words_after!(7 8 9 10 11 12 13 14 15);
    w[15] = _mm512_add_epi32(w[15], s0(w[0]));

    eight_rounds!([e f g h a b c d] w 32
        16 17 18 19 20 21 22 23
        24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39
        40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55
    );
    round!([e f g h a b c d] word!(w 32 56), majority);
    round!([d e f g h a b c] word!(w 32 57));
    round!([c d e f g h a b] word!(w 32 58));
    round!([b c d e f g h a] word!(w 32 59));
    round!([a b c d e f g h] word!(w 32 60));
    // The last word of the digest is d plus the initial 0x5be0cd19, whose lowest bit is 1.
    !_mm512_test_epi32_mask(d, _mm512_set1_epi32(1))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn s0(w: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<XOR>(_mm512_ror_epi32::<7>(w), _mm512_ror_epi32::<18>(w), _mm512_srli_epi32::<3>(w))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn s1(w: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<XOR>(_mm512_ror_epi32::<17>(w), _mm512_ror_epi32::<19>(w), _mm512_srli_epi32::<10>(w))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(lanes: &Lanes) -> __m512i {
    // SAFETY: `lanes` is 64 readable bytes, and aligned to as many.
    unsafe { _mm512_load_si512(std::ptr::from_ref(lanes).cast()) }
}
