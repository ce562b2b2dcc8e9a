//! Elements of the ring `Z_q[X] / (X^n + 1)`, by their residues modulo the primes of `q`.

use std::marker::PhantomData;

use zeroize::Zeroize;

/// The form of a polynomial given by its coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coefficients {}

/// The form of a polynomial given by its values at the odd powers of a root of unity, where
/// products are element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {}

/// A ring element in one of the forms [`Coefficients`] and [`Values`]: `n` residues modulo each of
/// the first so many primes of a [`Scheme`](super::Scheme), those of one prime after the other.
#[derive(Clone, PartialEq, Eq)]
pub struct Poly<F> {
    pub(super) residues: Vec<u64>,
    form: PhantomData<F>,
}

impl<F> Poly<F> {
    pub(super) fn new(residues: Vec<u64>) -> Self {
        Self { residues, form: PhantomData }
    }

    /// The residues modulo each prime.
    pub(super) fn rows(&self, n: usize) -> std::slice::ChunksExact<'_, u64> {
        self.residues.chunks_exact(n)
    }

    /// The residues modulo each prime.
    pub(super) fn rows_mut(&mut self, n: usize) -> std::slice::ChunksExactMut<'_, u64> {
        self.residues.chunks_exact_mut(n)
    }
}

impl<F> Zeroize for Poly<F> {
    fn zeroize(&mut self) {
        self.residues.zeroize();
    }
}

impl<F> std::fmt::Debug for Poly<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Poly({} residues)", self.residues.len())
    }
}
