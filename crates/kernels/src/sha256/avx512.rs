//! Sixteen keys to a register.

use std::arch::x86_64::*;

use super::{Group, Lanes, Message, ROUND_CONSTANTS};

/// Truth tables of three operands.
const XOR: i32 = 0x96;
const CHOICE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;

/// A round on named registers, up to `e` where `$whole` is not given: `d` becomes the new `e`, and `h` the new `a`.
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

    let with_constant = |t: usize, w: __m512i| _mm512_add_epi32(w, _mm512_set1_epi32(ROUND_CONSTANTS[t] as i32));
    macro_rules! word {
        ($t:literal) => {{
            if $t >= 32 {
                let old = _mm512_add_epi32(w[$t % 16], s0(w[($t + 1) % 16]));
                w[$t % 16] = _mm512_add_epi32(_mm512_add_epi32(old, w[($t + 9) % 16]), s1(w[($t + 14) % 16]));
            }
            with_constant($t, w[$t % 16])
        }};
    }
    macro_rules! eight_rounds {
        ($($t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal $t7:literal)+) => {$(
            round!([e f g h a b c d] word!($t0), majority);
            round!([d e f g h a b c] word!($t1), majority);
            round!([c d e f g h a b] word!($t2), majority);
            round!([b c d e f g h a] word!($t3), majority);
            round!([a b c d e f g h] word!($t4), majority);
            round!([h a b c d e f g] word!($t5), majority);
            round!([g h a b c d e f] word!($t6), majority);
            round!([f g h a b c d e] word!($t7), majority);
        )+};
    }
    eight_rounds!(
        16 17 18 19 20 21 22 23
        24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39
        40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55
    );
    round!([e f g h a b c d] word!(56), majority);
    round!([d e f g h a b c] word!(57));
    round!([c d e f g h a b] word!(58));
    round!([b c d e f g h a] word!(59));
    round!([a b c d e f g h] word!(60));
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
