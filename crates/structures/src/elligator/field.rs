//! The field of `2^255 - 19` elements, in constant time: five limbs of 51 bits.

use std::ops::{Add, Mul, Neg, Sub};

use zeroize::Zeroize;

const LOW_51_BITS: u64 = (1 << 51) - 1;

/// An element. Each limb is below `2^52` between two operations.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(super) struct Element([u64; 5]);

impl Element {
    pub(super) const ONE: Self = Self([1, 0, 0, 0, 0]);

    /// `2^((p - 1) / 4)`, a square root of -1.
    const SQRT_MINUS_ONE: Self =
        Self([1718705420411056, 234908883556509, 2233514472574048, 2117202627021982, 765476049583133]);

    /// A number below `2^51`.
    pub(super) const fn small(number: u64) -> Self {
        Self([number & LOW_51_BITS, 0, 0, 0, 0])
    }

    /// The element of these little-endian bytes, without their highest bit.
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        Self([
            word(0) & LOW_51_BITS,
            word(6) >> 3 & LOW_51_BITS,
            word(12) >> 6 & LOW_51_BITS,
            word(19) >> 1 & LOW_51_BITS,
            word(24) >> 12 & LOW_51_BITS,
        ])
    }

    /// The least representative, little-endian.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let mut limbs = Self::carried(self.0).0;
        // Whether the number, below 2 p, is at least p: then adding 19 carries out of bit 255.
        let mut carry = (limbs[0] + 19) >> 51;
        for limb in &limbs[1..] {
            carry = (limb + carry) >> 51;
        }
        limbs[0] += 19 * carry;
        for i in 0..4 {
            limbs[i + 1] += limbs[i] >> 51;
            limbs[i] &= LOW_51_BITS;
        }
        limbs[4] &= LOW_51_BITS;
        let words = [
            limbs[0] | limbs[1] << 51,
            limbs[1] >> 13 | limbs[2] << 38,
            limbs[2] >> 26 | limbs[3] << 25,
            limbs[3] >> 39 | limbs[4] << 12,
        ];
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Limbs below `2^51 + 2^13 19` of a number whose limbs are any.
    fn carried(mut limbs: [u64; 5]) -> Self {
        let carries = limbs.map(|limb| limb >> 51);
        for i in 0..5 {
            limbs[i] = (limbs[i] & LOW_51_BITS) + if i == 0 { 19 * carries[4] } else { carries[i - 1] };
        }
        Self(limbs)
    }

    pub(super) fn square(self) -> Self {
        self * self
    }

    fn squared_times(mut self, times: u32) -> Self {
        for _ in 0..times {
            self = self.square();
        }
        self
    }

    /// `self^((p - 5) / 8)`, an exponent of `2^252 - 3`.
    fn power_of_p_minus_5_eighths(self) -> Self {
        // `ones_k` is the power of 2^k - 1.
        let ones_2 = self.square() * self;
        let ones_4 = ones_2.squared_times(2) * ones_2;
        let ones_5 = ones_4.square() * self;
        let ones_10 = ones_5.squared_times(5) * ones_5;
        let ones_20 = ones_10.squared_times(10) * ones_10;
        let ones_40 = ones_20.squared_times(20) * ones_20;
        let ones_50 = ones_40.squared_times(10) * ones_10;
        let ones_100 = ones_50.squared_times(50) * ones_50;
        let ones_200 = ones_100.squared_times(100) * ones_100;
        let ones_250 = ones_200.squared_times(50) * ones_50;
        ones_250.squared_times(2) * self
    }

    /// The inverse, and zero for zero.
    pub(super) fn inverse(self) -> Self {
        self.power_of_p_minus_5_eighths().squared_times(3) * self.square() * self
    }

    /// All ones if this is a square other than zero, else all zeros.
    pub(super) fn square_mask(self) -> u64 {
        // Euler's criterion.
        let power = self.power_of_p_minus_5_eighths().squared_times(2) * self.square();
        power.equal_mask(Self::ONE)
    }

    /// A square root of `numerator / denominator`, with a mask of ones if there is one. Neither is zero.
    pub(super) fn sqrt_ratio(numerator: Self, denominator: Self) -> (u64, Self) {
        let cube = denominator.square() * denominator;
        let seventh = cube.square() * denominator;
        let root = numerator * cube * (numerator * seventh).power_of_p_minus_5_eighths();
        let check = denominator * root.square();
        let (right, turned) = (check.equal_mask(numerator), check.equal_mask(-numerator));
        (right | turned, Self::select(turned, root * Self::SQRT_MINUS_ONE, root))
    }

    /// All ones if both are equal, else all zeros.
    pub(super) fn equal_mask(self, other: Self) -> u64 {
        let difference = self.to_bytes().iter().zip(other.to_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        // A difference of 0 borrows.
        std::hint::black_box(u64::from(difference).wrapping_sub(1) >> 63).wrapping_neg()
    }

    /// `chosen` where the mask has ones, else `other`.
    pub(super) fn select(mask: u64, chosen: Self, other: Self) -> Self {
        Self(std::array::from_fn(|i| chosen.0[i] & mask | other.0[i] & !mask))
    }

    /// Of the element and its negative the one that is at most `(p - 1) / 2`.
    pub(super) fn lower_half(self) -> Self {
        // Twice a number above (p - 1) / 2 wraps around to an odd one.
        let doubled = (self + self).to_bytes();
        Self::select(std::hint::black_box(u64::from(doubled[0] & 1)).wrapping_neg(), -self, self)
    }
}

impl Add for Element {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::carried(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl Sub for Element {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        // 16 p, so that no limb is negative.
        const MULTIPLE: [u64; 5] =
            [36028797018963664, 36028797018963952, 36028797018963952, 36028797018963952, 36028797018963952];
        Self::carried(std::array::from_fn(|i| self.0[i] + MULTIPLE[i] - other.0[i]))
    }
}

impl Neg for Element {
    type Output = Self;

    fn neg(self) -> Self {
        Self::small(0) - self
    }
}

impl Mul for Element {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.0.map(u128::from), other.0.map(u128::from));
        let wrapped = b.map(|limb| 19 * limb);
        let sums = [
            a[0] * b[0] + a[1] * wrapped[4] + a[2] * wrapped[3] + a[3] * wrapped[2] + a[4] * wrapped[1],
            a[0] * b[1] + a[1] * b[0] + a[2] * wrapped[4] + a[3] * wrapped[3] + a[4] * wrapped[2],
            a[0] * b[2] + a[1] * b[1] + a[2] * b[0] + a[3] * wrapped[4] + a[4] * wrapped[3],
            a[0] * b[3] + a[1] * b[2] + a[2] * b[1] + a[3] * b[0] + a[4] * wrapped[4],
            a[0] * b[4] + a[1] * b[3] + a[2] * b[2] + a[3] * b[1] + a[4] * b[0],
        ];
        let mut limbs = [0; 5];
        let mut carry = 0;
        for (limb, sum) in limbs.iter_mut().zip(sums) {
            let sum = sum + carry;
            *limb = sum as u64 & LOW_51_BITS;
            carry = sum >> 51;
        }
        // Limbs below 2^52 give sums below 2^112, and a last carry below 2^61.
        let first = u128::from(limbs[0]) + 19 * carry;
        limbs[0] = first as u64 & LOW_51_BITS;
        limbs[1] += (first >> 51) as u64;
        Self(limbs)
    }
}
