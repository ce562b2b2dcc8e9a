//! Numbers and polynomials modulo `q`, one prime at a time.

use vesica_kernels::aes::Aes128;
use vesica_kernels::ntt::{Factor, Modulus, Ntt, dot};
use vesica_party::Malformed;
use vesica_structures::fields::Gf64;
use vesica_structures::packing::{pack, unpack};

use super::params::{DEGREE, Params};
use crate::binding::Binding;

/// `q`, as its primes.
pub(super) struct Ring {
    pub primes: Vec<Prime>,
}

/// One of the primes, and what numbers modulo `q` are modulo it.
pub(super) struct Prime {
    /// The index of the prime.
    index: usize,
    bits: u32,
    pub ntt: Ntt,
    pub modulus: Modulus,
    /// `q` modulo `2^64`.
    q: u64,
    /// `2^-64`.
    word_inverse: Factor,
    /// `1/2`.
    half: u64,
    /// `p / q`.
    others_inverse: Factor,
    /// `2^128 / p`, rounded down.
    reciprocal: u128,
    /// The last coefficient of a polynomial is the sum of its values times these.
    pub last: Vec<u64>,
}

impl Ring {
    pub fn new(params: &Params) -> Self {
        let moduli = Modulus::largest(params.prime_bits, 2 * DEGREE as u64, params.primes);
        let q = moduli.iter().fold(1, |q: u64, modulus| q.wrapping_mul(modulus.p()));
        let prime = |(index, &modulus): (usize, &Modulus)| {
            let p = modulus.p();
            let others = moduli.iter().filter(|other| other.p() != p);
            let others = others.fold(1, |product, other| modulus.product(product, other.p() % p));
            let ntt = Ntt::new(modulus, DEGREE);
            // It is the constant coefficient of the product with -X^-(N - 1) X^N = -X, and that is the mean of
            // all values.
            let scale = modulus.inverse(p - DEGREE as u64);
            let mut last = vec![0; DEGREE];
            last[1] = scale;
            ntt.forward(&mut last);
            Prime {
                index,
                bits: params.prime_bits,
                ntt,
                modulus,
                q,
                word_inverse: modulus.factor(modulus.inverse(modulus.reduce(1 << 64))),
                half: p.div_ceil(2),
                others_inverse: modulus.factor(modulus.inverse(others)),
                reciprocal: u128::MAX / u128::from(p),
                last,
            }
        };
        Self { primes: moduli.iter().enumerate().map(prime).collect() }
    }

    /// The nearest integer to `2^64 d / q`, modulo `2^64`, from the residues of `d`.
    pub fn decode(&self, d: &[u64]) -> u64 {
        (self.scaled(d).wrapping_add(1 << 63) >> 64) as u64
    }

    /// `2^128 d / q` modulo `2^128`, too small by less than `L 2^b`.
    ///
    /// By the Chinese remainder theorem `d / q` is the sum of `t / p` over the primes, up to an
    /// integer, with `t = d p / q` modulo `p`.
    pub fn scaled(&self, d: &[u64]) -> u128 {
        self.primes.iter().zip(d).fold(0, |sum: u128, (prime, &d)| {
            let t = prime.modulus.below(prime.modulus.times(d, prime.others_inverse));
            sum.wrapping_add(u128::from(t).wrapping_mul(prime.reciprocal))
        })
    }

    /// Unpacks a number modulo `q`.
    pub fn read_number(&self, bytes: &[u8]) -> Result<Vec<u64>, Malformed> {
        let mut residues = vec![Gf64::default(); self.primes.len()];
        unpack(bytes, self.primes[0].bits, &mut residues).ok_or(Malformed("bits beyond the last residue"))?;
        let below = |(residue, prime): (&Gf64, &Prime)| (residue.0 < prime.modulus.p()).then_some(residue.0);
        let residues: Option<Vec<u64>> = residues.iter().zip(&self.primes).map(below).collect();
        residues.ok_or(Malformed(NOT_BELOW))
    }

    /// Packs a number modulo `q`.
    pub fn write_number(residues: &[u64], bits: u32, out: &mut Vec<u8>) {
        pack::<Gf64>(bytemuck::cast_slice(residues), bits, out);
    }
}

const NOT_BELOW: &str = "a residue that is not below its prime";

impl Prime {
    /// `E(x)`, the integer nearest to `q x / 2^64`, below `3 p`.
    ///
    /// `2^64 E(x) = q x + 2^63 - rest`, where `rest` is `q x + 2^63` modulo `2^64`; modulo `p` the
    /// first term is zero.
    #[inline(always)]
    pub fn encode(&self, x: u64) -> u64 {
        let rest = self.q.wrapping_mul(x).wrapping_add(1 << 63);
        self.half + 2 * self.modulus.p() - self.modulus.times(rest, self.word_inverse)
    }

    /// A number of three words, less `2^bits`.
    pub fn wide(&self, words: &[u64; 3], bits: u32) -> u64 {
        let (modulus, two) = (self.modulus, self.modulus.power(2, u64::from(bits)));
        let low = modulus.reduce(u128::from(words[1]) << 64 | u128::from(words[0]));
        let high = modulus.times(words[2], modulus.factor(modulus.power(2, 128)));
        modulus.below(low + high + modulus.p() - two)
    }

    /// The values of a polynomial with small coefficients.
    pub fn small(&self, coefficients: &[i8], out: &mut [u64]) {
        for (out, &coefficient) in out.iter_mut().zip(coefficients) {
            *out = self.modulus.signed(i64::from(coefficient));
        }
        self.ntt.forward(out);
    }

    /// The values of the `block`-th uniform polynomial of a seed.
    pub fn uniform(&self, seed: &Binding, block: usize, out: &mut [u64]) {
        let cipher = Aes128::new(seed.key("uniform polynomial", &[&block.to_le_bytes(), &self.index.to_le_bytes()]));
        let mask = u64::MAX >> (64 - self.bits);
        let mut words = vec![0u128; out.len().div_ceil(2)];
        let (mut filled, mut counter) = (0, 0);
        // All are public. Primes are so close to a power of two that the first round mostly suffices.
        while filled < out.len() {
            cipher.ctr(counter, &mut words);
            counter += words.len() as u128;
            for word in bytemuck::cast_slice::<u128, u64>(&words) {
                let Some(place) = out.get_mut(filled) else { break };
                *place = word & mask;
                filled += usize::from(*place < self.modulus.p());
            }
        }
    }

    /// The last coefficient of a product, by the values of its factors; `x` is spent.
    pub fn last_coefficient(&self, x: &mut [u64], y: &[u64]) -> u64 {
        x.iter_mut().zip(&self.last).for_each(|(x, &last)| *x = self.modulus.product(*x, last));
        self.modulus.reduce(dot(x, y))
    }

    /// Packs residues.
    pub fn write(&self, residues: &[u64], out: &mut Vec<u8>) {
        pack::<Gf64>(bytemuck::cast_slice(residues), self.bits, out);
    }

    /// Unpacks residues.
    pub fn read(&self, bytes: &[u8], residues: &mut [u64]) -> Result<(), Malformed> {
        unpack::<Gf64>(bytes, self.bits, bytemuck::cast_slice_mut(residues))
            .ok_or(Malformed("bits beyond the last residue"))?;
        let largest = residues.iter().fold(0, |largest: u64, &residue| largest.max(residue));
        if largest < self.modulus.p() { Ok(()) } else { Err(Malformed(NOT_BELOW)) }
    }
}
