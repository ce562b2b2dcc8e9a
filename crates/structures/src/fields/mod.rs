//! GF(2^64), its tower GF(2^128), strings of bits, and the traits that an OKVS or a VOLE asks of a
//! value.
//!
//! `B = GF(2)[x] / (x^64 + x^4 + x^3 + x + 1)` and `F = B[Y] / (Y^2 + Y + theta)`: the low 64 bits
//! of an element of `F` are its coefficient of 1, the high 64 bits that of `Y`, so that `B` really
//! is a subfield of `F` (the low half of the GHASH field is not).

use std::ops::{Add, AddAssign, Mul};

use bytemuck::{Pod, Zeroable};
use vesica_kernels::clmul;

/// An element of `B = GF(2^64)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, zeroize::Zeroize)]
#[repr(transparent)]
pub struct Gf64(pub u64);

/// An element of `F = GF(2^128)`, the tower over [`Gf64`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, zeroize::Zeroize)]
#[repr(transparent)]
pub struct Gf128(pub u128);

/// 256 bits that are only ever added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, zeroize::Zeroize)]
#[repr(transparent)]
pub struct Bits256(pub [u64; 4]);

/// 512 bits that are only ever added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, zeroize::Zeroize)]
#[repr(transparent)]
pub struct Bits512(pub [u64; 8]);

/// 1024 bits that are only ever added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, zeroize::Zeroize)]
#[repr(transparent)]
pub struct Bits1024(pub [u128; 8]);

/// A value that an OKVS stores: a string of bits. Addition is exclusive or.
pub trait Cell:
    Pod + Default + PartialEq + Send + Sync + std::fmt::Debug + Add<Output = Self> + AddAssign + zeroize::Zeroize + 'static
{
    /// Width in bits, a multiple of 64.
    const BITS: u32;

    /// The bits, the lowest first.
    fn words(&self) -> &[u64] {
        bytemuck::cast_slice(std::slice::from_ref(self))
    }

    /// The bits, the lowest first.
    fn words_mut(&mut self) -> &mut [u64] {
        bytemuck::cast_slice_mut(std::slice::from_mut(self))
    }
}

impl Cell for Bits256 {
    const BITS: u32 = 256;
}

impl Cell for Bits512 {
    const BITS: u32 = 512;
}

impl Cell for Bits1024 {
    const BITS: u32 = 1024;
}

impl Cell for Gf64 {
    const BITS: u32 = 64;
}

impl Cell for Gf128 {
    const BITS: u32 = 128;
}

/// A value that a VOLE's receiver holds: a subfield `B` of `F = GF(2^128)`, of size `2^BITS`.
pub trait Value: Cell {
    /// The low `BITS` bits of `bits`.
    fn from_bits(bits: u128) -> Self;

    /// The element as an element of `F`.
    fn embed(self) -> Gf128;

    /// `acc[i] += delta * x[i]`, both of one length.
    fn scale_add(acc: &mut [Gf128], delta: Gf128, x: &[Self]);
}

impl Value for Gf64 {
    #[inline]
    fn from_bits(bits: u128) -> Self {
        Self(bits as u64)
    }

    #[inline]
    fn embed(self) -> Gf128 {
        Gf128(u128::from(self.0))
    }

    fn scale_add(acc: &mut [Gf128], delta: Gf128, x: &[Self]) {
        clmul::gf128_scale_add_gf64(bytemuck::cast_slice_mut(acc), delta.0, bytemuck::cast_slice(x));
    }
}

impl Value for Gf128 {
    #[inline]
    fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    #[inline]
    fn embed(self) -> Gf128 {
        self
    }

    fn scale_add(acc: &mut [Gf128], delta: Gf128, x: &[Self]) {
        clmul::gf128_scale_add(bytemuck::cast_slice_mut(acc), delta.0, bytemuck::cast_slice(x));
    }
}

macro_rules! xor_addition {
    ($field:ident) => {
        impl Add for $field {
            type Output = Self;

            #[inline]
            #[allow(clippy::suspicious_arithmetic_impl, reason = "addition in characteristic two")]
            fn add(self, other: Self) -> Self {
                Self(self.0 ^ other.0)
            }
        }

        impl AddAssign for $field {
            #[inline]
            #[allow(clippy::suspicious_op_assign_impl, reason = "addition in characteristic two")]
            fn add_assign(&mut self, other: Self) {
                self.0 ^= other.0;
            }
        }
    };
}
xor_addition!(Gf64);
xor_addition!(Gf128);

macro_rules! xor_addition_of_words {
    ($strings:ident) => {
        impl Add for $strings {
            type Output = Self;

            #[inline]
            #[allow(clippy::suspicious_arithmetic_impl, reason = "addition in characteristic two")]
            fn add(self, other: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
            }
        }

        impl AddAssign for $strings {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
    };
}
xor_addition_of_words!(Bits256);
xor_addition_of_words!(Bits512);
xor_addition_of_words!(Bits1024);

impl Mul for Gf64 {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(clmul::gf64_mul(self.0, other.0))
    }
}

impl Mul for Gf128 {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(clmul::gf128_mul(self.0, other.0))
    }
}

#[cfg(test)]
pub(crate) fn random<C: Cell>(rng: &mut crate::rng::SecretRng) -> C {
    let mut cell = C::default();
    for words in cell.words_mut().chunks_mut(2) {
        let block = rng.block();
        words.iter_mut().zip([block as u64, (block >> 64) as u64]).for_each(|(word, bits)| *word = bits);
    }
    cell
}

#[cfg(test)]
mod tests;
