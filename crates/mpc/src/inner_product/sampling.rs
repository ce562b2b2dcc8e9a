//! Secrets and errors, without branches.

use rand_core::Rng;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::params::{DEGREE, ERROR, Params};

/// Coefficients of a polynomial, small and signed.
pub(super) type Small = Secret<Vec<i8>>;

/// Uniform in -1, 0, 1, up to `2^-64`.
pub(super) fn ternary(rng: &mut SecretRng) -> Small {
    sample(rng, |word| ((u128::from(word) * 3) >> 64) as i8 - 1)
}

/// The difference of two times [`ERROR`] fair coins: deviation `sqrt(ERROR / 2)`, 3.24.
pub(super) fn error(rng: &mut SecretRng) -> Small {
    const COINS: u64 = (1 << ERROR) - 1;
    sample(rng, |word| (word & COINS).count_ones() as i8 - (word >> 32 & COINS).count_ones() as i8)
}

fn sample(rng: &mut SecretRng, value: impl Fn(u64) -> i8) -> Small {
    let mut words = Secret::new(vec![0u64; DEGREE]);
    rng.fill_bytes(bytemuck::cast_slice_mut(&mut words));
    Secret::new(words.iter().map(|&word| value(word)).collect())
}

/// What drowns the errors of a result, `2^flood` too large: `Prime::wide` takes that off.
pub(super) fn flood(params: &Params, rng: &mut SecretRng) -> Secret<[u64; 3]> {
    uniform(rng, params.flood + 1)
}

/// A number that is uniform below `2^bits`, at most `2^192`, by its words.
fn uniform(rng: &mut SecretRng, bits: u32) -> Secret<[u64; 3]> {
    let mut words = Secret::new([0; 3]);
    rng.fill_bytes(bytemuck::cast_slice_mut(&mut *words));
    for (word, start) in words.iter_mut().zip([0, 64, 128]) {
        *word &= u64::MAX.checked_shr(64 - bits.saturating_sub(start).min(64)).unwrap_or(0);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_errors_have_their_deviations() {
        let rng = &mut SecretRng::insecure_from_seed(8);
        let moments = |sample: &mut dyn FnMut() -> Small| {
            let all: Vec<f64> =
                (0..20).flat_map(|_| sample().iter().map(|&x| f64::from(x)).collect::<Vec<_>>()).collect();
            let count = all.len() as f64;
            (all.iter().sum::<f64>() / count, all.iter().map(|x| x * x).sum::<f64>() / count)
        };
        let (mean, square) = moments(&mut || ternary(rng));
        assert!(mean.abs() < 0.02 && (square - 2.0 / 3.0).abs() < 0.01, "{mean}, {square}");
        let (mean, square) = moments(&mut || error(rng));
        assert!(mean.abs() < 0.06 && (square - f64::from(ERROR) / 2.0).abs() < 0.3, "{mean}, {square}");
        assert!(error(rng).iter().all(|x| u32::from(x.unsigned_abs()) <= ERROR));
    }

    #[test]
    fn a_uniform_number_has_exactly_its_bits() {
        let rng = &mut SecretRng::insecure_from_seed(9);
        for bits in [0, 1, 63, 64, 65, 127, 128, 129, 191, 192] {
            let union = (0..200).fold([0; 3], |union: [u64; 3], _| {
                let words = uniform(rng, bits);
                std::array::from_fn(|i| union[i] | words[i])
            });
            let expected = |start: u32| (0..64).filter(|i| start + i < bits).fold(0u64, |word, i| word | 1 << i);
            assert_eq!(union, [expected(0), expected(64), expected(128)], "{bits} bits");
        }
    }
}
