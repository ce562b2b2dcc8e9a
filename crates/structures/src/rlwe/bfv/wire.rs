//! Polynomials as they travel: each residue in as many bits as its prime has, or of one prime the highest
//! bits.

use vesica_kernels::ntt::Ntt;
use zeroize::Zeroizing;

use super::ciphertext::Ciphertext;
use super::keys::SecretKey;
use super::poly::{Coefficients, Poly};
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

/// Ciphertexts of one prime `p`, rounded to multiples of `p / 2^bits`: for those who decrypt them.
impl Scheme {
    /// Bytes of a ciphertext whose coefficients have so many bits.
    pub fn rounded_bytes(&self, bits: [u32; 2]) -> usize {
        bits.iter().map(|&bits| packed_len(self.n, bits)).sum()
    }

    /// Appends a ciphertext of one prime, each half in so many bits a coefficient. Noise grows: in the first half
    /// by at most half a multiple; in the second by roundings times the secret.
    ///
    /// # Panics
    /// If the ciphertext has several primes, or a prime and the bits do not fit a word together.
    pub fn write_rounded(&self, ciphertext: &Ciphertext<Coefficients>, bits: [u32; 2], out: &mut Vec<u8>) {
        let p = self.only_prime(bits);
        for (half, bits) in [&ciphertext.c0, &ciphertext.c1].into_iter().zip(bits) {
            assert_eq!(self.primes_of(half), 1, "a ciphertext of one prime");
            // `p` itself is rounded to zero: multiples count modulo `2^bits`.
            let round = |&x: &u64| Gf64((((x << bits) + p / 2) / p) & ((1 << bits) - 1));
            pack(&half.residues.iter().map(round).collect::<Vec<_>>(), bits, out);
        }
    }

    /// Reads what [`write_rounded`](Self::write_rounded) wrote; nothing where the bytes are not
    /// [`rounded_bytes`](Self::rounded_bytes). All of their values are multiples.
    ///
    /// # Panics
    /// As there.
    pub fn read_rounded(&self, bytes: &[u8], bits: [u32; 2]) -> Option<Ciphertext<Coefficients>> {
        let p = self.only_prime(bits);
        if bytes.len() != self.rounded_bytes(bits) {
            return None;
        }
        let (first, second) = bytes.split_at_checked(packed_len(self.n, bits[0]))?;
        let read = |bytes: &[u8], bits: u32| {
            let mut multiples = vec![Gf64::default(); self.n];
            unpack(bytes, bits, &mut multiples)?;
            let residue = |multiple: &Gf64| (multiple.0 * p + (1 << (bits - 1))) >> bits;
            Some(Poly::new(multiples.iter().map(residue).collect()))
        };
        Some(Ciphertext { c0: read(first, bits[0])?, c1: read(second, bits[1])? })
    }

    /// The first prime, of which a multiple by any of these powers of two fits a word.
    fn only_prime(&self, bits: [u32; 2]) -> u64 {
        let fits = bits.iter().all(|&bits| bits > 0 && bits < self.width(0) && self.width(0) + bits < u64::BITS);
        assert!(fits, "fewer bits than the prime has, and with them less than a word");
        self.params.primes[0]
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
