//! What the formulas of [`super::points`] need of the field of p = 2^255 - 19, several elements side
//! by side.

use super::encoded::Encoded;

/// An element as four words, lowest first.
pub(super) type Words = [u64; 4];

pub(super) const ZERO: Words = [0; 4];
pub(super) const ONE: Words = [1, 0, 0, 0];
/// A square root of -1: 2^((p - 1) / 4).
pub(super) const SQRT_M1: Words =
    [0xc4ee_1b27_4a0e_a0b0, 0x2f43_1806_ad2f_e478, 0x2b4d_0099_3dfb_d7a7, 0x2b83_2480_4fc1_df0b];

/// Elements of the field side by side, an element a lane. Masks have a bit for each lane, and none
/// beyond.
///
/// Factors may be sums or differences of up to three elements that [`load`](Self::load) counts twice
/// of, and [`splat`](Self::splat), products and squares once.
///
/// Only [`splat`](Self::splat) and [`load`](Self::load) ask for the instructions that a type is
/// written for: whoever has a value has them. All functions are inlined, at last into those that
/// [`compiled!`](super::points::compiled) makes: there, the compiler may use the instructions.
pub(super) trait Field: Copy {
    /// Elements side by side, at most [`MOST_LANES`](super::points::MOST_LANES).
    const LANES: usize;

    /// One element in all lanes.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn splat(words: &Words) -> Self;

    /// An element a lane, from 32 little-endian bytes whose highest bit is dropped; all values
    /// below 2^255 are taken. Zero in lanes for which there are no bytes.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn load(bytes: &[Encoded]) -> Self;

    /// The canonical bytes of the first lanes, as many as `bytes` has room for.
    fn store(&self, bytes: &mut [Encoded]);

    fn add(&self, other: &Self) -> Self;

    fn sub(&self, other: &Self) -> Self;

    fn mul(&self, other: &Self) -> Self;

    fn square(&self) -> Self;

    /// Twice the square.
    fn square_twice(&self) -> Self;

    /// `other` in the lanes of `mask`.
    fn select(&self, mask: u8, other: &Self) -> Self;

    /// In each lane the element of the lane whose number differs in the bit `distance`.
    fn exchanged(&self, distance: usize) -> Self;

    /// Lanes whose canonical representative is odd: the "negative" ones of RFC 9496.
    fn is_negative(&self) -> u8;

    /// Lanes that are zero.
    fn is_zero(&self) -> u8;

    /// The mask of all lanes.
    const ALL: u8 = u8::MAX >> (8 - Self::LANES);

    /// Another element in all lanes.
    #[inline(always)]
    fn constant(&self, words: &Words) -> Self {
        // SAFETY: there is a value.
        unsafe { Self::splat(words) }
    }

    #[inline(always)]
    fn negated(&self) -> Self {
        self.constant(&ZERO).sub(self)
    }

    /// Negated in the lanes of `mask`.
    #[inline(always)]
    fn negated_where(&self, mask: u8) -> Self {
        self.select(mask, &self.negated())
    }

    /// The representative that is not negative, of each lane or its negation.
    #[inline(always)]
    fn abs(&self) -> Self {
        self.negated_where(self.is_negative())
    }
}

/// `SQRT_RATIO_M1(u, v)` of RFC 9496, section 4.2: the root of `u / v` that is not negative, and the
/// lanes that have one (others get that of `sqrt(-1) u / v`).
#[inline(always)]
pub(super) fn sqrt_ratio<F: Field>(u: &F, v: &F) -> (u8, F) {
    let v3 = v.square().mul(v);
    let v7 = v3.square().mul(v);
    let root = u.mul(&v3).mul(&root_power(&u.mul(&v7)));
    let check = v.mul(&root.square());
    let i = u.constant(&SQRT_M1);
    let correct = check.sub(u).is_zero();
    let flipped = check.add(u).is_zero();
    let flipped_by_i = check.add(&u.mul(&i)).is_zero();
    let root = root.select(flipped | flipped_by_i, &root.mul(&i));
    (correct | flipped, root.abs())
}

/// To the power (p - 5) / 8 = 2^252 - 3.
#[inline(always)]
fn root_power<F: Field>(x: &F) -> F {
    // ones_k is the power of 2^k - 1.
    let squared = x.square();
    let ninth = squares(&squared, 2).mul(x);
    let ones_5 = ninth.mul(&squared).square().mul(&ninth);
    let ones_10 = squares(&ones_5, 5).mul(&ones_5);
    let ones_20 = squares(&ones_10, 10).mul(&ones_10);
    let ones_40 = squares(&ones_20, 20).mul(&ones_20);
    let ones_50 = squares(&ones_40, 10).mul(&ones_10);
    let ones_100 = squares(&ones_50, 50).mul(&ones_50);
    let ones_200 = squares(&ones_100, 100).mul(&ones_100);
    let ones_250 = squares(&ones_200, 50).mul(&ones_50);
    squares(&ones_250, 2).mul(x)
}

/// Squared `times` times.
#[inline(always)]
fn squares<F: Field>(x: &F, times: usize) -> F {
    let mut x = *x;
    for _ in 0..times {
        x = x.square();
    }
    x
}

/// `$body` for each of these limbs, `$i` a constant in it: the compiler leaves loops of this length
/// as they are, at half the speed.
macro_rules! unrolled {
    ($i:ident in $($limb:literal)+, $body:block) => {$({
        const $i: usize = $limb;
        $body
    })+};
}
pub(super) use unrolled;
