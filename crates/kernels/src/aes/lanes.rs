//! Slices cut into groups of `N` blocks, which is what a twin has in flight at once.
//!
//! The last, shorter group runs on a copy padded with zeros. All of these inline into their
//! callers, so that the closures compile with the callers' target features.

/// `f` over the groups of `x`, into `out`.
#[inline(always)]
pub(super) fn map<const N: usize, T: Copy + Default>(x: &[u128], out: &mut [T], f: impl Fn(&[u128; N], &mut [T; N])) {
    let (x, x_tail) = x.as_chunks::<N>();
    let (out, out_tail) = out.as_chunks_mut::<N>();
    for (x, out) in x.iter().zip(out) {
        f(x, out);
    }
    if !x_tail.is_empty() {
        let mut padded = [T::default(); N];
        f(&pad(x_tail), &mut padded);
        out_tail.copy_from_slice(&padded[..out_tail.len()]);
    }
}

/// `f` over the groups of `x`, in place.
#[inline(always)]
pub(super) fn map_in_place<const N: usize>(x: &mut [u128], f: impl Fn(&mut [u128; N])) {
    let (x, tail) = x.as_chunks_mut::<N>();
    for x in x {
        f(x);
    }
    if !tail.is_empty() {
        let mut padded = pad(tail);
        f(&mut padded);
        tail.copy_from_slice(&padded[..tail.len()]);
    }
}

/// `f` over the groups of `x` and `y` together, into `out`.
#[inline(always)]
pub(super) fn map_pairs<const N: usize>(
    x: &[u128],
    y: &[u128],
    out: &mut [u128],
    f: impl Fn(&[u128; N], &[u128; N], &mut [u128; N]),
) {
    let (x, x_tail) = x.as_chunks::<N>();
    let (y, y_tail) = y.as_chunks::<N>();
    let (out, out_tail) = out.as_chunks_mut::<N>();
    for ((x, y), out) in x.iter().zip(y).zip(out) {
        f(x, y, out);
    }
    if !x_tail.is_empty() {
        let mut padded = [0; N];
        f(&pad(x_tail), &pad(y_tail), &mut padded);
        out_tail.copy_from_slice(&padded[..out_tail.len()]);
    }
}

/// `f` over the groups of `out`, with the counter of each group's first block, counted from
/// `first`.
#[inline(always)]
pub(super) fn count<const N: usize>(mut first: u128, out: &mut [u128], f: impl Fn(u128, &mut [u128; N])) {
    let (out, tail) = out.as_chunks_mut::<N>();
    for out in out {
        f(first, out);
        first = first.wrapping_add(N as u128);
    }
    if !tail.is_empty() {
        let mut padded = [0; N];
        f(first, &mut padded);
        tail.copy_from_slice(&padded[..tail.len()]);
    }
}

/// `first, first + 1, ...` modulo 2^128.
#[inline(always)]
pub(super) fn counters<const N: usize>(first: u128) -> [u128; N] {
    std::array::from_fn(|i| first.wrapping_add(i as u128))
}

/// `f` over the groups of `x`, each block of which gives a pair in `out` (twice as long); the sums
/// of the pairs' first and of their second blocks.
#[inline(always)]
pub(super) fn double<const N: usize>(
    x: &[u128],
    out: &mut [u128],
    f: impl Fn(&[u128; N], &mut [[u128; 2]; N]),
) -> [u128; 2] {
    let mut sums = [0; 2];
    let mut sum = |pairs: &[[u128; 2]]| pairs.iter().for_each(|pair| sums = [sums[0] ^ pair[0], sums[1] ^ pair[1]]);
    let (x, x_tail) = x.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<2>();
    let (out, out_tail) = out.as_chunks_mut::<N>();
    for (x, out) in x.iter().zip(out) {
        f(x, out);
        sum(out);
    }
    if !x_tail.is_empty() {
        let mut padded = [[0; 2]; N];
        f(&pad(x_tail), &mut padded);
        out_tail.copy_from_slice(&padded[..out_tail.len()]);
        sum(out_tail);
    }
    sums
}

/// What each lane of a pass over tables works on: the group's elements, each as often as there are
/// `offsets`, each time plus one of them.
#[inline(always)]
pub(super) fn shifted<const ELEMENTS: usize, const PLACES: usize, const N: usize>(
    x: &[u128; ELEMENTS],
    offsets: &[u128; PLACES],
) -> [u128; N] {
    const { assert!(ELEMENTS * PLACES == N, "a lane for each place of each element") };
    std::array::from_fn(|lane| x[lane / PLACES] ^ offsets[lane % PLACES])
}

/// The tables of a group from the bits of its lanes.
#[inline(always)]
pub(super) fn tables<const ELEMENTS: usize>(bits: u32, places: usize, out: &mut [u16; ELEMENTS]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = (bits >> (i * places)) as u16 & ((1u32 << places) - 1) as u16;
    }
}

/// Runs a twin's pass over tables of 1, 2, 4, 8 or 16 places; the literals are the elements of a
/// group in each case but the last.
macro_rules! by_places {
    ($pass:ident::<$one:literal, $two:literal, $four:literal, $eight:literal>($key:expr, $x:expr, $offsets:expr, $out:expr)) => {{
        let (x, offsets, out): (&[u128], &[u128], &mut [u16]) = ($x, $offsets, $out);
        match offsets.len() {
            1 => $pass::<$one, 1>($key, x, offsets.try_into().expect("one offset"), out),
            2 => $pass::<$two, 2>($key, x, offsets.try_into().expect("two offsets"), out),
            4 => $pass::<$four, 4>($key, x, offsets.try_into().expect("four offsets"), out),
            8 => $pass::<$eight, 8>($key, x, offsets.try_into().expect("eight offsets"), out),
            _ => {
                let mut upper = [0; 64];
                let (low, high) = offsets.split_at(8);
                for (x, out) in x.chunks(64).zip(out.chunks_mut(64)) {
                    $pass::<$eight, 8>($key, x, low.try_into().expect("eight offsets"), out);
                    $pass::<$eight, 8>($key, x, high.try_into().expect("eight offsets"), &mut upper[..x.len()]);
                    out.iter_mut().zip(&upper).for_each(|(out, upper)| *out |= upper << 8);
                }
            }
        }
    }};
}
pub(super) use by_places;

/// `tail` followed by zeros.
#[inline(always)]
fn pad<const N: usize>(tail: &[u128]) -> [u128; N] {
    let mut padded = [0; N];
    padded[..tail.len()].copy_from_slice(tail);
    padded
}
