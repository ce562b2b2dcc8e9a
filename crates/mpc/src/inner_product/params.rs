//! Sizes of the ring, the errors and the flood.
//!
//! **Security.** Table 1 of the Homomorphic Encryption Security Standard (November 2018) has, for
//! 128 bits against classical attacks, ternary secrets and errors of deviation 3.2, `log q <= 218`
//! at `N = 8192` ([`MAX_MODULUS_BITS`]). `v` is such a secret too. What the primal attack takes there
//! is computed ([`RingLwe`]) and stated in docs/parameters/inner-products.md. Who wants 128 bits by
//! plain core-SVP must not use this (it would take `log q` of at most 177).
//!
//! **Errors.** A coefficient of `e_k` is at most [`ERROR`]; rounding in `E` adds 1/2. An entry of
//! `y` is at most `2^bits`, so that the error of `d` before the flood is, block 0 and `E(r)`
//! included, at most
//!
//! ```text
//! B = n 2^bits (ERROR + 1/2)  +  N ERROR (from e_0 v)  +  N ERROR (from e' s)  +  1/2
//! ```
//!
//! whatever the inputs are. The flood `f` is uniform in `[-2^flood, 2^flood)`; two results with
//! equal shares differ in `d` by at most `B` from the same point, so that each is within `B /
//! 2^(flood + 1)` of one distribution. With `2^flood >= 2^46 G B` for `G` results of all products
//! of a run they are together within `2^-47`: [`DISTANCE`] is what the run's budget is charged
//! with. Where several runs share one budget, `G` counts the results of all of them: floods are
//! independent, so that distances add up whichever run they are of.
//!
//! **Correctness.** `d` is read off rightly if `2^64 (B + 2^flood) / q + L 2^(b - 64) < 1/2`, where
//! the second term is from arithmetic of 128 bits (`Ring::scaled`) with `L` primes of `b` bits.
//! With `L b >= flood + 66` and primes above `63/64 2^b` the first term is below 0.28. It never
//! fails.

use vesica_party::fuzzing::NumberedShape;
use vesica_party::{Assumption, Attack, Effort, Security};
use vesica_structures::facts::{LAMBDA, Unsupported, ceil_log2};
use vesica_structures::packing::packed_len;
use vesica_structures::rlwe::RingLwe;

use crate::tasks::InnerProductRequest;

/// What is assumed; the attack is on the largest modulus that is taken.
pub(super) const RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 8192 coefficients, 218 bits at most and ternary secrets (inner products)",
)
.attacked(Attack {
    falls: "the receiver's values and shares in an inner product",
    takes: Effort::Primal(RingLwe { degree: DEGREE as u32, modulus_bits: MAX_MODULUS_BITS }),
    source: "docs/parameters/inner-products.md",
});

/// `N`.
pub const DEGREE: usize = 8192;

/// The most bits of `q`.
pub const MAX_MODULUS_BITS: u32 = 218;

/// Coins of each sign in an error, and so its largest size.
pub const ERROR: u32 = 21;

/// All results of a run, or of all runs that share one budget, together show something of the
/// receiver's vectors with probability at most `2^-DISTANCE`: little beside the budget of `2^-LAMBDA`, from which it is taken.
pub const DISTANCE: u32 = LAMBDA + 6;

/// The most elements of a vector.
const MAX_LEN: usize = 1 << 26;

const MAX_VECTORS: usize = 1 << 10;

/// The most products that share the bound on what all results show: 64 columns and a count in each of 2^17 runs.
const MAX_PRODUCTS: usize = 1 << 24;

/// What both sides agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n`.
    pub len: usize,
    /// `G`.
    pub vectors: usize,
    /// Entries of `y`, as signed numbers, lie between `-2^bits` and `2^bits`.
    pub bits: u32,
    /// The flood is uniform in `[-2^flood, 2^flood)`.
    pub flood: u32,
    /// `L`.
    pub primes: usize,
    /// `b`.
    pub prime_bits: u32,
}

impl Params {
    pub(super) fn derive(request: &InnerProductRequest) -> Result<Self, Unsupported> {
        let &InnerProductRequest { len, vectors, products, bits, security } = request;
        let refuse = |what: String, mend: String| Err(Unsupported { what, mend });
        if security != Security::SemiHonest {
            return refuse("inner products against malicious parties".into(), "ask for the semi-honest mode".into());
        }
        if bits > 63 {
            return refuse(
                format!("entries of {bits} bits and a sign"),
                "ask for at most 63, which holds all words".into(),
            );
        }
        if len > MAX_LEN || vectors > MAX_VECTORS {
            let mend = format!("ask for at most {MAX_VECTORS} of {MAX_LEN} at a time");
            return refuse(format!("inner products with {vectors} vectors of {len} elements"), mend);
        }
        if products > MAX_PRODUCTS {
            let mend = format!("ask for at most {MAX_PRODUCTS}");
            return refuse(format!("{products} inner products that share one bound"), mend);
        }
        let bound = error_bound(len, bits);
        let flood = (u128::BITS - (bound - 1).leading_zeros()) + DISTANCE + ceil_log2(vectors * products.max(1));
        let least = flood + 66;
        let primes = least.div_ceil(vesica_kernels::ntt::Modulus::NARROW_BITS);
        let prime_bits = least.div_ceil(primes);
        if primes * prime_bits > MAX_MODULUS_BITS {
            return refuse(
                format!("a modulus of {} bits", primes * prime_bits),
                "ask for fewer vectors, shorter ones, or fewer runs".into(),
            );
        }
        Ok(Self { len, vectors, bits, flood, primes: primes as usize, prime_bits })
    }

    /// Whether there is nothing to do; then nothing is sent.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 || self.vectors == 0
    }

    /// Blocks of `u`; block 0 is another.
    pub(super) fn blocks(&self) -> usize {
        self.len.div_ceil(DEGREE)
    }

    /// Bytes of a polynomial modulo one of the primes.
    pub(super) fn part_bytes(&self) -> usize {
        packed_len(DEGREE, self.prime_bits)
    }

    /// Bytes of a polynomial, packed: a part for each prime.
    pub fn polynomial_bytes(&self) -> usize {
        self.primes * self.part_bytes()
    }

    /// Bytes of one number modulo `q`.
    pub fn number_bytes(&self) -> usize {
        packed_len(self.primes, self.prime_bits)
    }

    pub(super) fn predicted_bytes(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let polynomials = 1 + self.blocks() + self.vectors;
        (32 + polynomials * self.polynomial_bytes() + self.vectors * self.number_bytes()) as u64
    }
}

/// `B`, rounded up.
pub(super) fn error_bound(len: usize, bits: u32) -> u128 {
    let (error, degree) = (u128::from(ERROR), DEGREE as u128);
    ((len as u128) << bits) * (error + 1) + 2 * degree * error + 1
}

impl NumberedShape for Params {
    fn numbered(number: u8) -> Option<Self> {
        let (len, bits) = (usize::from(number), u32::from(number) % 64);
        Self::derive(&InnerProductRequest { len, vectors: 1, products: 1, bits, security: Security::SemiHonest }).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(len: usize, vectors: usize, bits: u32) -> Params {
        Params::derive(&InnerProductRequest { len, vectors, products: 1, bits, security: Security::SemiHonest })
            .unwrap()
    }

    #[test]
    fn the_modulus_holds_errors_and_flood_and_is_secure_over_the_whole_range() {
        for len in [1, 2, 8192, 1 << 20, 1_331_693, MAX_LEN] {
            for vectors in [1, 2, 3, MAX_VECTORS] {
                for bits in [0, 1, 32, 63] {
                    if (len, vectors, bits) == (MAX_LEN, MAX_VECTORS, 63) {
                        // The one corner that does not fit.
                        let request =
                            InnerProductRequest { len, vectors, products: 1, bits, security: Security::SemiHonest };
                        assert!(Params::derive(&request).is_err());
                        continue;
                    }
                    let params = derived(len, vectors, bits);
                    let (bound, modulus_bits) = (error_bound(len, bits), params.primes as u32 * params.prime_bits);
                    assert!(modulus_bits <= MAX_MODULUS_BITS);
                    // 2^flood >= 2^46 G B, and no more than needed of either.
                    let room = params.flood - DISTANCE;
                    assert!(bound * vectors as u128 <= 1 << room && 1 << room < 4 * bound * vectors as u128);
                    assert!(
                        modulus_bits >= params.flood + 66 && modulus_bits < params.flood + 66 + params.primes as u32
                    );
                    assert!(params.prime_bits <= 50);
                }
            }
        }
    }

    /// What all results of all runs show is bounded as that of one run.
    #[test]
    fn several_runs_share_one_bound() {
        let derive = |len, vectors, products, bits| {
            let security = Security::SemiHonest;
            Params::derive(&InnerProductRequest { len, vectors, products, bits, security })
        };
        for (len, vectors, products, runs, bits) in
            [(1 << 18, 1, 1, 2, 63), (340_000, 1, 64, 1 << 11, 63), (1 << 19, 1 << 10, 2, 1 << 17, 0)]
        {
            let (one, all) = (derive(len, vectors, products, bits), derive(len, vectors, products * runs, bits));
            let (one, all) = (one.expect("served"), all.expect("served"));
            assert_eq!(all.flood, one.flood + ceil_log2(runs));
            // The distance of one result, and those of all.
            let each = error_bound(len, bits) as f64 / f64::exp2(f64::from(all.flood) + 1.0);
            let results = (vectors * products * runs) as f64;
            assert!(results * each <= f64::exp2(-f64::from(DISTANCE)), "{len} {runs}");
            assert!(all.primes as u32 * all.prime_bits <= MAX_MODULUS_BITS);
        }
        let refused = [derive(1 << 20, 1 << 10, 64 << 17, 63), derive(5, 1, MAX_PRODUCTS + 1, 0)];
        assert!(refused.iter().all(Result::is_err), "no modulus, or too many");
    }

    #[test]
    fn join_and_compute_at_a_million_takes_34_megabytes() {
        let params = derived(1_331_693, 1, 63);
        assert_eq!((params.primes, params.prime_bits, params.flood), (4, 50, 134));
        assert_eq!(params.predicted_bytes(), 32 + 165 * 204_800 + 25);
        assert_eq!(derived(0, 3, 63).predicted_bytes() + derived(3, 0, 63).predicted_bytes(), 0);
    }
}
