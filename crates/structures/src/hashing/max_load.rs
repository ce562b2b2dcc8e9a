//! The load of the fullest of many bins: the exact binomial tail, and a union bound over the bins.

/// The least capacity that `balls` balls, each in `choices` distinct uniform bins out of `bins`,
/// exceed in some bin with probability at most `2^-failure_bits`.
///
/// A bin's load is binomial, `Bin(balls, choices / bins)`; its tail is the exact first term times a
/// geometric series that dominates the rest (within a few per cent of the sum), and the union bound
/// multiplies by `bins`.
///
/// # Panics
/// If `choices` is 0 or more than `bins`.
pub fn max_load(balls: usize, choices: usize, bins: usize, failure_bits: u32) -> usize {
    assert!((1..=bins).contains(&choices), "{choices} distinct bins out of {bins}");
    let p = choices as f64 / bins as f64;
    // The last term is room for rounding: differences of ln(n!) carry an error of about 1e-6 at n =
    // 2^26.
    let ln_limit = -f64::from(failure_bits) * std::f64::consts::LN_2 - (bins as f64).ln() - 1e-5;
    // The tail falls in the capacity, and at `balls` nothing is above.
    let (mut below, mut enough) = ((balls as f64 * p) as usize, balls);
    while enough > below {
        let middle = below + (enough - below) / 2;
        if ln_tail(balls, p, middle) <= ln_limit {
            enough = middle;
        } else {
            below = middle + 1;
        }
    }
    enough
}

/// An upper bound of `ln Pr[Bin(balls, p) > capacity]`.
pub(super) fn ln_tail(balls: usize, p: f64, capacity: usize) -> f64 {
    if capacity >= balls {
        return f64::NEG_INFINITY;
    }
    let first = capacity + 1;
    let (n, k) = (balls as f64, first as f64);
    // Each further term is at most this times the one before it.
    let ratio = (n - k) / (k + 1.0) * p / (1.0 - p);
    if p >= 1.0 || ratio >= 1.0 {
        return 0.0;
    }
    let ln_choices = ln_factorial(balls) - ln_factorial(first) - ln_factorial(balls - first);
    ln_choices + k * p.ln() + (n - k) * (-p).ln_1p() - (-ratio).ln_1p()
}

/// `ln(n!)`, by Stirling's series where its next term is below `10^-16`.
pub(super) fn ln_factorial(n: usize) -> f64 {
    if n < 128 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let n = n as f64;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * n * n)) / (n * n)) / n;
    n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tail summed term by term, each from the one before it.
    fn plain_tail(balls: usize, p: f64, capacity: usize) -> f64 {
        let mut term = (1.0 - p).powi(balls as i32);
        let mut tail = 0.0;
        for k in 0..=balls {
            if k > capacity {
                tail += term;
            }
            term *= (balls - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        tail
    }

    #[test]
    fn the_tail_is_the_binomial_sum() {
        for (balls, bins) in [(10, 2), (100, 3), (500, 16), (1000, 1000), (3000, 7)] {
            let p = 1.0 / bins as f64;
            for capacity in balls / bins..(balls / bins * 3 + 20).min(balls) {
                let (bound, exact) = (ln_tail(balls, p, capacity).exp(), plain_tail(balls, p, capacity));
                if exact < 1e-300 {
                    break;
                }
                assert!(
                    bound >= exact * (1.0 - 1e-9),
                    "{balls} balls, {bins} bins, above {capacity}: {bound} < {exact}"
                );
                if capacity > balls / bins * 3 / 2 + 5 {
                    assert!(bound <= exact * 1.6, "{balls} balls, {bins} bins, above {capacity}: {bound} >> {exact}");
                }
            }
        }
    }

    #[test]
    fn capacities_are_least() {
        for (balls, bins, bits) in
            [(1 << 20, 21, 43), (1 << 16, 1 << 16, 40), (1000, 10, 42)] as [(usize, usize, u32); 3]
        {
            let limit = -f64::from(bits) * std::f64::consts::LN_2 - (bins as f64).ln() - 1e-5;
            let capacity = max_load(balls, 1, bins, bits);
            let p = 1.0 / bins as f64;
            assert!(ln_tail(balls, p, capacity) <= limit && ln_tail(balls, p, capacity - 1) > limit);
        }
    }

    #[test]
    fn corner_cases() {
        assert_eq!(max_load(0, 1, 5, 40), 0);
        assert_eq!(max_load(7, 1, 1, 40), 7);
        assert_eq!(max_load(3, 1, 2, 40), 3, "three balls may all meet");
        assert_eq!(max_load(9, 3, 3, 40), 9, "each ball is in each bin");
    }
}
