//! Polynomials as they travel: each residue in as many bits as its prime has.

use vesica_kernels::ntt::Ntt;
use zeroize::Zeroizing;

use super::ciphertext::Ciphertext;
use super::keys::SecretKey;
use super::poly::Poly;
use super::scheme::Scheme;
use crate::fields::Gf64;
use crate::packing::{pack, packed_len, unpack};
use crate::secret::Secret;

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

impl SecretKey {
    /// The key in the bytes of a polynomial with all primes.
    pub fn to_bytes(&self, scheme: &Scheme) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(scheme.poly_bytes(scheme.all_primes())));
        scheme.write_poly(&self.s, &mut bytes);
        bytes
    }

    /// The key in these bytes; nothing where they are no ternary polynomial.
    pub fn from_bytes(scheme: &Scheme, bytes: &[u8]) -> Option<Self> {
        let s = Secret::new(scheme.read_poly(bytes, scheme.all_primes())?);
        let coefficients = Secret::new(scheme.coefficients((*s).clone()));
        let is_ternary = |(ntt, row): (&Ntt, &[u64])| {
            let most = ntt.modulus().p() - 1;
            row.iter().fold(true, |all, &x| all & (x <= 1 || x == most))
        };
        scheme.rows(&coefficients).all(is_ternary).then_some(Self { s })
    }
}
