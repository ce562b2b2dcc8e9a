//! What the primal attack on ring-LWE takes.

use std::f64::consts::{E, PI, TAU};

/// Variance of errors: centred binomial of two times 21 coins, as everywhere in this project.
const ERROR_VARIANCE: f64 = 10.5;

/// Variance of the coefficients of a ternary secret.
const SECRET_VARIANCE: f64 = 2.0 / 3.0;

/// The smallest block whose reduction the formula for the root Hermite factor describes.
const LEAST_BLOCK: u32 = 50;

/// Ring-LWE with ternary secrets and errors of deviation 3.24, which is taken to be as hard as LWE without a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLwe {
    /// Coefficients of a polynomial.
    pub degree: u32,
    /// Bits of the modulus.
    pub modulus_bits: u32,
}

/// The cheapest primal attack: BKZ finds a short vector of the secret and the errors in a lattice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrimalAttack {
    /// Dimension of a block.
    pub block: u32,
    /// Dimension of the lattice.
    pub dimension: u32,
}

impl PrimalAttack {
    /// `log2` of its work in the strictest model, plain core-SVP: one call of a sieve, which takes `2^(0.292 b)` in blocks
    /// of `b`.
    pub fn core_svp_bits(&self) -> f64 {
        0.292 * f64::from(self.block)
    }

    /// `log2` of its work in the model of this project's choice: `8 d` calls in dimension `d`, and `2^(0.292 b + 16.4)` a
    /// call.
    pub fn bits(&self) -> f64 {
        self.core_svp_bits() + 16.4 + (8.0 * f64::from(self.dimension)).log2()
    }
}

impl RingLwe {
    /// The primal attack with the number of samples that lets it take the smallest blocks.
    pub fn primal_attack(&self) -> PrimalAttack {
        let step = (self.degree as usize / 256).max(1);
        let samples = (step as u32..=2 * self.degree).step_by(step);
        let attacks =
            samples.map(|samples| PrimalAttack { block: self.block(samples), dimension: samples + self.degree + 1 });
        attacks.min_by_key(|attack| attack.block).unwrap_or(PrimalAttack { block: u32::MAX, dimension: u32::MAX })
    }

    /// The least block of an attack on so many samples: one with `sqrt(b) s <= delta(b)^(2b - d - 1) V^(1/d)`, where `s` is
    /// the deviation of errors, and `V` the volume of the lattice in which secrets are scaled to that deviation.
    fn block(&self, samples: u32) -> u32 {
        let dimension = f64::from(samples + self.degree + 1);
        let log_error = ERROR_VARIANCE.ln() / 2.0;
        let log_scale = (ERROR_VARIANCE / SECRET_VARIANCE).ln() / 2.0;
        let log_modulus = f64::from(self.modulus_bits) * 2f64.ln();
        let log_volume = f64::from(samples) * log_modulus + f64::from(self.degree) * log_scale + log_error;
        let finds = |block: u32| {
            let block = f64::from(block);
            let log_short = block.ln() / 2.0 + log_error;
            log_short <= (2.0 * block - dimension - 1.0) * log_root_hermite(block) + log_volume / dimension
        };
        let (mut below, mut found) = (LEAST_BLOCK, samples + self.degree);
        while below < found {
            let middle = below + (found - below) / 2;
            if finds(middle) {
                found = middle;
            } else {
                below = middle + 1;
            }
        }
        found
    }
}

/// `ln` of the root Hermite factor `((b / 2 pi e) (pi b)^(1/b))^(1 / 2(b - 1))`.
fn log_root_hermite(block: f64) -> f64 {
    ((block / (TAU * E)).ln() + (PI * block).ln() / block) / (2.0 * (block - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(degree: u32, modulus_bits: u32) -> (u32, String, String) {
        let attack = RingLwe { degree, modulus_bits }.primal_attack();
        (attack.block, format!("{:.1}", attack.core_svp_bits()), format!("{:.1}", attack.bits()))
    }

    /// Figures that readers of the parameter pages found with estimators of others.
    #[test]
    fn attacks_take_what_others_found() {
        assert_eq!(work(4096, 108), (332, "96.9".into(), "129.3".into()));
        assert_eq!(work(8192, 218), (325, "94.9".into(), "128.2".into()));
        assert_eq!(work(8192, 214), (334, "97.5".into(), "130.9".into()));
        assert_eq!(work(2048, 50), (377, "110.1".into(), "141.4".into()));
        assert_eq!(work(8192, 124).1, "209.1");
    }

    #[test]
    fn wider_moduli_are_weaker_and_larger_rings_stronger() {
        let bits = |degree, modulus_bits| RingLwe { degree, modulus_bits }.primal_attack().bits();
        assert!(bits(4096, 100) > bits(4096, 109) && bits(8192, 109) > bits(4096, 109));
    }

    /// What the pages derive is what this computes; a test of `protocols` looks for the figures of entries.
    #[test]
    fn pages_state_the_figures() {
        let page = |name: &str| {
            let path = format!("{}/../../docs/parameters/{name}.md", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).expect("a page").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let core = |degree, modulus_bits| work(degree, modulus_bits).1;
        let model = |degree, modulus_bits| work(degree, modulus_bits).2;
        for (name, sentences) in [
            (
                "inner-products",
                vec![
                    format!(
                        "2^{} at 218 bits, 2^{} at 215, 2^{} at 210",
                        model(8192, 218),
                        model(8192, 215),
                        model(8192, 210)
                    ),
                    format!("these are 2^{}, 2^{} and 2^{}", core(8192, 218), core(8192, 215), core(8192, 210)),
                ],
            ),
            (
                "pir",
                vec![
                    format!("gives 2^{} for 50 bits and 2^{} for 54", model(2048, 50), model(2048, 54)),
                    format!("these are 2^{} and 2^{}", core(2048, 50), core(2048, 54)),
                ],
            ),
            ("pepsi", vec![format!("it takes 2^{} by core-SVP", core(16384, 245))]),
        ] {
            for sentence in sentences {
                assert!(page(name).contains(&sentence), "docs/parameters/{name}.md lacks: {sentence}");
            }
        }
    }
}
