//! The discrete Laplace distribution, exactly and without floats: Canonne, Kamath, Steinke, "The
//! discrete Gaussian for differential privacy" (2020), Algorithms 1 and 2. How long a sample takes
//! depends on it; the peer sees only how long all of them took together with what is done before the first bucket, or on
//! whole tables with the rest.

use vesica_structures::rng::SecretRng;

/// The integer `y` with probability proportional to `exp(-|y| denominator / numerator)`; both
/// positive, the numerator below `2^120`.
pub(super) fn discrete_laplace(numerator: u128, denominator: u128, rng: &mut SecretRng) -> i64 {
    loop {
        let low = below(numerator, rng);
        if !bernoulli_exp(low, numerator, rng) {
            continue;
        }
        let mut high = 0u128;
        while bernoulli_exp(1, 1, rng) {
            high += 1;
        }
        // Beyond 64 bits with a probability that nobody lives to see; then it is drawn again.
        let Some(magnitude) = numerator.checked_mul(high).and_then(|whole| whole.checked_add(low)) else { continue };
        let Ok(magnitude) = i64::try_from(magnitude / denominator) else { continue };
        match rng.block() & 1 == 1 {
            // Zero has one sign only.
            true if magnitude == 0 => {}
            true => return -magnitude,
            false => return magnitude,
        }
    }
}

/// True with probability `exp(-numerator / denominator)`, for a fraction of at most 1.
fn bernoulli_exp(numerator: u128, denominator: u128, rng: &mut SecretRng) -> bool {
    let mut k = 1u128;
    // Bernoulli(fraction / k): first `fraction`, then `1 / k`, so that no product leaves 128 bits.
    while below(denominator, rng) < numerator && below(k, rng) == 0 {
        k += 1;
    }
    k % 2 == 1
}

/// A uniform number below `bound`, which is positive.
fn below(bound: u128, rng: &mut SecretRng) -> u128 {
    let mask = u128::MAX.checked_shr((bound - 1).leading_zeros()).unwrap_or(0);
    loop {
        let candidate = rng.block() & mask;
        if candidate < bound {
            return candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(samples: usize, mut hit: impl FnMut(&mut SecretRng) -> bool) -> f64 {
        let mut rng = SecretRng::insecure_from_seed(5);
        (0..samples).filter(|_| hit(&mut rng)).count() as f64 / samples as f64
    }

    #[test]
    fn coins_fall_as_the_exponential_says() {
        for (numerator, denominator) in [(0, 1), (1, 1), (1, 3), (7, 10), (u128::MAX >> 10, u128::MAX >> 8)] {
            let expected = (-(numerator as f64) / denominator as f64).exp();
            let got = share(100_000, |rng| bernoulli_exp(numerator, denominator, rng));
            assert!((got - expected).abs() < 0.01, "{numerator}/{denominator}: {got}, not {expected}");
        }
    }

    #[test]
    fn numbers_below_a_bound_are_below_it_and_reach_it() {
        let mut rng = SecretRng::insecure_from_seed(6);
        for bound in [1, 2, 3, 5, 64, u128::MAX] {
            let seen: Vec<u128> = (0..300).map(|_| below(bound, &mut rng)).collect();
            assert!(seen.iter().all(|&number| number < bound));
            if bound < 10 {
                assert!((0..bound).all(|number| seen.contains(&number)), "{bound}");
            }
        }
    }

    /// Each probability of the definition, for a scale below one and one above.
    #[test]
    fn samples_have_the_probabilities_of_the_definition() {
        for (numerator, denominator) in [(1, 2), (7, 2)] {
            let ratio = (-(denominator as f64) / numerator as f64).exp();
            let zero = (1.0 - ratio) / (1.0 + ratio);
            for value in [-3i64, -1, 0, 1, 2, 5] {
                let expected = zero * ratio.powi(value.unsigned_abs() as i32);
                let got = share(100_000, |rng| discrete_laplace(numerator, denominator, rng) == value);
                assert!((got - expected).abs() < 0.007, "{value} at {numerator}/{denominator}: {got}, not {expected}");
            }
        }
    }

    #[test]
    fn wide_noise_has_its_mean_size() {
        let mut rng = SecretRng::insecure_from_seed(7);
        let scale = 1u128 << 55;
        let mean =
            (0..2000).map(|_| discrete_laplace(scale * 3, 3, &mut rng).unsigned_abs() as f64 / 2000.0).sum::<f64>();
        assert!((mean / scale as f64 - 1.0).abs() < 0.1, "{mean}");
    }
}
