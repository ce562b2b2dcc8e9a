//! Reduction in `B`, and elements of `F` from products in `B`, for all twins.

/// `theta = x^THETA_POWER`.
pub(super) const THETA_POWER: u32 = 61;

/// A product of two polynomials below `x^64`, reduced: its degree is at most 126, so that one
/// folding of the high half leaves at most two bits over, which `high >> 60` and `high >> 61` are.
#[inline(always)]
pub(crate) fn reduce(product: u128) -> u64 {
    let (low, high) = (product as u64, (product >> 64) as u64);
    // high * (x^4 + x^3 + x + 1) = high * (x + 1) * (x^3 + 1); what it pushes over x^64 is folded in at
    // once.
    let high = high ^ (high >> 60) ^ (high >> 61);
    let high = high ^ (high << 1);
    low ^ high ^ (high << 3)
}

/// From Karatsuba's three products of `a = a0 + a1 Y` and `b = b0 + b1 Y` (or sums of such
/// products) the element of `F`: with `Y^2 = Y + theta` it is `(a0 b0 + theta a1 b1) + (a0 b0 + (a0 +
/// a1) (b0 + b1)) Y`.
#[inline(always)]
pub(super) fn join(low: u128, high: u128, cross: u128) -> u128 {
    let theta_high = u128::from(reduce(high)) << THETA_POWER;
    u128::from(reduce(low ^ theta_high)) | u128::from(reduce(low ^ cross)) << 64
}

/// `theta * a` in `B`.
#[inline(always)]
fn theta_times(a: u64) -> u64 {
    reduce(u128::from(a) << THETA_POWER)
}

/// The four products of 64 bits of which `delta * (x0 + x1 Y)` is made, for a `delta = d0 + d1 Y`
/// that stays the same: the coefficient of 1 is `d0 x0 + (theta d1) x1`, that of `Y` is `d1 x0 +
/// (d0 + d1) x1`.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// `d0` and `theta d1`.
    pub ones: [u64; 2],
    /// `d1` and `d0 + d1`.
    pub ys: [u64; 2],
}

impl Scale {
    pub fn new(delta: u128) -> Self {
        let (d0, d1) = (delta as u64, (delta >> 64) as u64);
        Self { ones: [d0, theta_times(d1)], ys: [d1, d0 ^ d1] }
    }
}
