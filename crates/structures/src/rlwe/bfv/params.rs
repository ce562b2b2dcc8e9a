//! The numbers of a scheme.

use vesica_kernels::ntt::Modulus;

use crate::facts::Unsupported;

/// The numbers of a scheme, which are public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Coefficients of a polynomial, `n`.
    pub degree: usize,
    /// The primes of the ciphertext modulus `q`, in the order in which modulus switching keeps
    /// them.
    pub primes: Vec<u64>,
    /// The primes of the plaintext modulus `t`.
    pub plain: Vec<u64>,
    /// Bits of a digit of key switching.
    pub digit_bits: u32,
}

/// The most bits of `q` by degree for ternary secrets and 128 bits of security against classical
/// computers: table 1 of the homomorphic encryption standard (2018).
const MOST_BITS: [(usize, u32); 6] = [(1024, 27), (2048, 54), (4096, 109), (8192, 218), (16_384, 438), (32_768, 881)];

/// The most bits of `t`: fractions of 60 bits times `t` still tell plaintexts apart.
const MOST_PLAIN_BITS: u32 = 34;

/// The most primes of `q`.
const MOST_PRIMES: usize = 6;

impl Params {
    /// The parameters with the largest primes of these widths that are 1 modulo `2 n`; equal widths
    /// take primes one after the other.
    ///
    /// # Panics
    /// If there are no such primes.
    pub fn with_widths(degree: usize, widths: &[u32], plain: &[u64], digit_bits: u32) -> Self {
        let prime = |(i, &width): (usize, &u32)| {
            let before = widths[..i].iter().filter(|&&other| other == width).count();
            Modulus::largest(width, 2 * degree as u64, before + 1)[before].p()
        };
        let primes = widths.iter().enumerate().map(prime).collect();
        Self { degree, primes, plain: plain.to_vec(), digit_bits }
    }

    /// Bits of `q`, rounded up.
    pub fn modulus_bits(&self) -> u32 {
        let bits: f64 = self.primes.iter().map(|&p| (p as f64).log2()).sum();
        bits.ceil() as u32
    }

    /// Refuses what is not secure, or not served.
    pub fn check(&self) -> Result<(), Unsupported> {
        let refuse = |what: String, mend: &str| Err(Unsupported::new(what, mend.to_owned()));
        let Some(&(_, most)) = MOST_BITS.iter().find(|(degree, _)| *degree == self.degree) else {
            return refuse(
                format!("ring-LWE with {} coefficients", self.degree),
                "take a power of two from 2^10 to 2^15",
            );
        };
        if self.modulus_bits() > most {
            return refuse(
                format!("a modulus of {} bits with {} coefficients", self.modulus_bits(), self.degree),
                "take fewer bits or more coefficients",
            );
        }
        let is_fit = |&p: &u64| Modulus::is_prime(p) && p % (2 * self.degree as u64) == 1;
        let is_narrow = |&p: &u64| is_fit(&p) && p >> Modulus::NARROW_BITS == 0;
        let is_distinct = |primes: &[u64]| (1..primes.len()).all(|i| !primes[..i].contains(&primes[i]));
        if self.primes.is_empty()
            || self.primes.len() > MOST_PRIMES
            || !self.primes.iter().all(is_narrow)
            || !is_distinct(&self.primes)
        {
            return refuse(
                format!("a modulus of the primes {:?}", self.primes),
                "take up to 6 primes below 2^50 that fit",
            );
        }
        let t: u128 = self.plain.iter().map(|&t| u128::from(t)).product();
        if self.plain.is_empty()
            || !self.plain.iter().all(is_fit)
            || !is_distinct(&self.plain)
            || t >> MOST_PLAIN_BITS != 0
        {
            return refuse(
                format!("a plaintext modulus of the primes {:?}", self.plain),
                "take primes below 2^34 that fit",
            );
        }
        if self.plain.iter().any(|t| self.primes.contains(t)) {
            return refuse("a prime of both moduli".to_owned(), "take other primes");
        }
        // A digit is below 2^digit_bits in magnitude, and is to be below each prime.
        let narrowest = self.primes.iter().map(|p| p.ilog2()).min().unwrap_or(0);
        if !(2..=narrowest).contains(&self.digit_bits) {
            return refuse(
                format!("digits of {} bits", self.digit_bits),
                "take 2 bits, or more, and fewer than a prime has",
            );
        }
        Ok(())
    }
}
