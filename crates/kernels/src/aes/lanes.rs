//! Slices cut into groups of `N` blocks, which is what a twin has in flight at once.
//!
//! The last, shorter group runs on a copy padded with zeros. All of these inline into their callers, so that the closures compile with
//! the callers' target features.

/// `f` over the groups of `x`, into `out`.
#[inline(always)]
pub(super) fn map<const N: usize>(x: &[u128], out: &mut [u128], f: impl Fn(&[u128; N], &mut [u128; N])) {
    let (x, x_tail) = x.as_chunks::<N>();
    let (out, out_tail) = out.as_chunks_mut::<N>();
    for (x, out) in x.iter().zip(out) {
        f(x, out);
    }
    if !x_tail.is_empty() {
        let mut padded = [0; N];
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
pub(super) fn map_pairs<const N: usize>(x: &[u128], y: &[u128], out: &mut [u128], f: impl Fn(&[u128; N], &[u128; N], &mut [u128; N])) {
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

/// `f` over the groups of `out`, with the counter of each group's first block, counted from `first`.
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

/// `f` over the groups of `x`, each block of which gives a pair in `out` (twice as long).
#[inline(always)]
pub(super) fn double<const N: usize>(x: &[u128], out: &mut [u128], f: impl Fn(&[u128; N], &mut [[u128; 2]; N])) {
    let (x, x_tail) = x.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<2>();
    let (out, out_tail) = out.as_chunks_mut::<N>();
    for (x, out) in x.iter().zip(out) {
        f(x, out);
    }
    if !x_tail.is_empty() {
        let mut padded = [[0; 2]; N];
        f(&pad(x_tail), &mut padded);
        out_tail.copy_from_slice(&padded[..out_tail.len()]);
    }
}

/// `tail` followed by zeros.
#[inline(always)]
fn pad<const N: usize>(tail: &[u128]) -> [u128; N] {
    let mut padded = [0; N];
    padded[..tail.len()].copy_from_slice(tail);
    padded
}
