//! Polynomials as they travel: each residue in as many bits as its prime has.

use zeroize::Zeroize;

use super::ciphertext::Ciphertext;
use super::poly::Poly;
use super::scheme::Scheme;
use crate::fields::Gf64;
use crate::packing::{pack, packed_len, unpack};

impl Scheme {
    /// Bits of a residue modulo the prime of this index.
    fn width(&self, prime: usize) -> u32 {
        u64::BITS - self.params.primes[prime].leading_zeros()
    }

    /// Bytes of a polynomial with so many primes.
    pub fn poly_bytes(&self, primes: usize) -> usize {
        (0..primes).map(|prime| packed_len(self.n, self.width(prime))).sum()
    }

    /// Appends a polynomial.
    pub fn write_poly<F>(&self, poly: &Poly<F>, out: &mut Vec<u8>) {
        for (prime, row) in poly.rows(self.n).enumerate() {
            pack::<Gf64>(bytemuck::cast_slice(row), self.width(prime), out);
        }
    }

    /// Reads a polynomial; nothing where the bytes are not [`poly_bytes`](Self::poly_bytes), a
    /// residue is not below its prime, or bits are set that belong to none.
    pub fn read_poly<F>(&self, bytes: &[u8], primes: usize) -> Option<Poly<F>> {
        if primes > self.all_primes() || bytes.len() != self.poly_bytes(primes) {
            return None;
        }
        let (mut poly, mut rest) = (self.zero(primes), bytes);
        for (prime, (ntt, row)) in self.rows_mut(&mut poly).enumerate() {
            let width = self.width(prime);
            let (own, others) = rest.split_at_checked(packed_len(row.len(), width))?;
            unpack::<Gf64>(own, width, bytemuck::cast_slice_mut(row))?;
            let largest = row.iter().fold(0, |largest: u64, &x| largest.max(x));
            if largest >= ntt.modulus().p() {
                return None;
            }
            rest = others;
        }
        Some(poly)
    }

    /// Bytes of a ciphertext with so many primes.
    pub fn ciphertext_bytes(&self, primes: usize) -> usize {
        2 * self.poly_bytes(primes)
    }

    /// Appends a ciphertext.
    pub fn write_ciphertext<F>(&self, ciphertext: &Ciphertext<F>, out: &mut Vec<u8>) {
        self.write_poly(&ciphertext.c0, out);
        self.write_poly(&ciphertext.c1, out);
    }

    /// Reads a ciphertext; nothing where [`read_poly`](Self::read_poly) gives nothing.
    pub fn read_ciphertext<F>(&self, bytes: &[u8], primes: usize) -> Option<Ciphertext<F>> {
        let (first, second) = bytes.split_at_checked(self.poly_bytes(primes.min(self.all_primes())))?;
        Some(Ciphertext { c0: self.read_poly(first, primes)?, c1: self.read_poly(second, primes)? })
    }
}

/// Secret keys in states: the residues of `s` as values, packed like any polynomial.
impl super::SecretKey {
    /// Appends the key.
    pub fn write(&self, scheme: &Scheme, out: &mut zeroize::Zeroizing<Vec<u8>>) {
        scheme.write_poly(&self.s, out);
    }

    /// Reads a key; nothing where the bytes are no ternary polynomial.
    pub fn read(scheme: &Scheme, bytes: &[u8]) -> Option<Self> {
        let s = crate::secret::Secret::new(scheme.read_poly(bytes, scheme.all_primes())?);
        let mut coefficients = crate::secret::Secret::new(scheme.coefficients((*s).clone()));
        let is_ternary = scheme.rows(&coefficients).all(|(ntt, row)| {
            let p = ntt.modulus().p();
            row.iter().fold(true, |all, &x| all & (x <= 1 || x == p - 1))
        });
        coefficients.zeroize();
        is_ternary.then_some(Self { s })
    }
}
