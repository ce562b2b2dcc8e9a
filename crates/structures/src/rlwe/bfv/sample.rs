//! Random polynomials.

use rand_core::Rng;
use zeroize::Zeroizing;

use super::poly::{Coefficients, Poly, Values};
use super::scheme::Scheme;
use crate::rng::SecretRng;
use crate::secret::Secret;

/// Domain of the public polynomials.
const PUBLIC_CONTEXT: &str = "vesica v1 bfv 2026 public polynomials";

/// What public uniform polynomials are expanded from: as many as wanted, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Bytes of a seed.
    pub const BYTES: usize = 32;

    /// A fresh seed.
    pub fn random(rng: &mut SecretRng) -> Self {
        let mut bytes = [0; Self::BYTES];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// The seed with these bytes.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes, which are public.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// Bits of the draws of [`Scheme::flood`], at most: four of them fit a word of 128 bits.
pub const MOST_FLOOD_BITS: u32 = 124;

impl Scheme {
    /// The public polynomial of this number, with all primes, by values: those of a uniform
    /// polynomial are uniform.
    pub(super) fn uniform(&self, seed: &Seed, number: u64) -> Poly<Values> {
        let key = blake3::derive_key(PUBLIC_CONTEXT, &seed.0);
        let mut poly = self.zero(self.all_primes());
        for (i, (ntt, row)) in self.rows_mut(&mut poly).enumerate() {
            let p = ntt.modulus().p();
            let mut hasher = blake3::Hasher::new_keyed(&key);
            let mut stream = hasher.update(&number.to_le_bytes()).update(&(i as u64).to_le_bytes()).finalize_xof();
            stream.fill(bytemuck::cast_slice_mut(row));
            let mask = u64::MAX >> p.leading_zeros();
            for draw in row {
                *draw = u64::from_le(*draw) & mask;
                while *draw >= p {
                    let mut again = [0; 8];
                    stream.fill(&mut again);
                    *draw = u64::from_le_bytes(again) & mask;
                }
            }
        }
        poly
    }

    /// Coefficients uniform in -1..=1.
    pub(super) fn ternary(&self, rng: &mut SecretRng) -> Secret<Poly<Coefficients>> {
        let mut small = Zeroizing::new(vec![0i64; self.n]);
        for c in small.iter_mut() {
            // Two bits give 0, 1, 2, or another try.
            let mut draw = 3;
            while draw == 3 {
                draw = rng.next_u32() & 3;
            }
            *c = i64::from(draw) - 1;
        }
        Secret::new(self.small(&small, self.all_primes()))
    }

    /// Centred binomial coefficients, of variance 10.5 and magnitude at most 21.
    pub(super) fn noise(&self, primes: usize, rng: &mut SecretRng) -> Secret<Poly<Coefficients>> {
        let mut draws = Zeroizing::new(vec![0u64; self.n]);
        rng.fill_bytes(bytemuck::cast_slice_mut(&mut draws));
        let ones = |bits: u64| i64::from((bits & 0x1f_ffff).count_ones());
        let small: Zeroizing<Vec<i64>> =
            Zeroizing::new(draws.iter().map(|&draw| ones(draw) - ones(draw >> 21)).collect());
        Secret::new(self.small(&small, primes))
    }

    /// Sums of four uniform numbers of `bits` bits each, less their mean: magnitudes of at most
    /// `2^(bits + 1) - 2`.
    ///
    /// # Panics
    /// If there are more than [`MOST_FLOOD_BITS`].
    pub(super) fn flood_noise(&self, bits: u32, primes: usize, rng: &mut SecretRng) -> Secret<Poly<Coefficients>> {
        assert!((1..=MOST_FLOOD_BITS).contains(&bits), "1 to {MOST_FLOOD_BITS} bits of flood");
        let mut draws = Zeroizing::new(vec![0u128; 4 * self.n]);
        rng.fill_bytes(bytemuck::cast_slice_mut(&mut draws));
        let mask = u128::MAX >> (u128::BITS - bits);
        let sums = Zeroizing::new(
            draws
                .as_chunks::<4>()
                .0
                .iter()
                .map(|draws| draws.iter().map(|draw| draw & mask).sum())
                .collect::<Vec<u128>>(),
        );
        let mut poly = Secret::new(self.zero(primes));
        for (ntt, row) in self.rows_mut(&mut poly) {
            let modulus = ntt.modulus();
            let mean = modulus.reduce(2 * mask);
            row.iter_mut().zip(&*sums).for_each(|(x, &sum)| *x = modulus.difference(modulus.reduce(sum), mean));
        }
        poly
    }
}
