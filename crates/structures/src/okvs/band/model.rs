//! The queue that bounds how often a band system has dependent rows. The rates of [`super::Shape`]
//! are read off it; nothing here runs in a protocol.
//!
//! Take rows in the order of their starts and reduce each by those before it. All earlier leading
//! columns lie left of the row's end, so of its `w` random bits those at columns that lead no row
//! stay uniform: with `q` leading columns in its band, a row is dependent with probability exactly
//! `2^-(w - q)` (1 if `q >= w`). Column by column, `q` is a queue: rows join it where they start,
//! and a column with `a` rows waiting takes one of them unless their `a` bits, uniform and
//! independent, are all zero: with probability `1 - 2^-a`. Those skipped columns are the extra
//! delay over a queue with deterministic service. So
//!
//! `Pr[dependent] <= sum over rows of E[min(1, 2^(q - w))]`,
//!
//! with the queue going on as if no row had been dependent. Three steps make this a bound that can
//! be computed for any `n`:
//! - starts multinomial -> independent Poisson per column: at most twice the probability, since it
//!   grows with the number of rows (Mitzenmacher and Upfal, *Probability and Computing*, section
//!   5.4);
//! - the queue is empty at the first column and monotone in its state, so it never exceeds its
//!   stationary law;
//! - rows start at lines of eight columns, while the model's start anywhere: a row of `w` columns
//!   from its line covers the `w - 7` columns from any start within that line, and widening a row
//!   never makes dependence more likely (given the span `V` of the others, the share of a row's
//!   values that lie in `V` at most stays equal when it gains a free bit).

/// Arrivals per column that are looked at: more have probability below `2^-270` for a load below 1.
const ARRIVALS: usize = 64;

/// Probability that one row is dependent, at most, in the stationary queue: `width` random bits a
/// row from any column on, `load` rows a column on average. 1 where the queue has no stationary
/// law.
pub fn row_failure(width: usize, load: f64) -> f64 {
    if load >= 1.0 {
        return 1.0;
    }
    let mut exactly = [(-load).exp(); ARRIVALS];
    for k in 1..ARRIVALS {
        exactly[k] = exactly[k - 1] * load / k as f64;
    }
    // at_least[k] = Pr[k arrivals or more], summed from the small end.
    let mut at_least = [0.0; ARRIVALS + 2];
    for k in (0..ARRIVALS).rev() {
        at_least[k] = at_least[k + 1] + exactly[k];
    }
    let taken = |waiting: usize| 1.0 - (-(waiting as f64)).exp2();

    // waiting[a], not yet normalised: a column that a rows wait for. The queue falls by one at most, so
    // the flow from above a to a or below passes through a + 1 alone, and equals the flow up. All
    // terms are positive: no precision is lost however small the tail.
    let top = width + 64;
    let mut waiting = vec![0.0; top + 1];
    waiting[0] = 1.0;
    for a in 0..top {
        let up: f64 = (a.saturating_sub(ARRIVALS - 2)..=a)
            .map(|i| waiting[i] * (taken(i) * at_least[a + 2 - i] + (1.0 - taken(i)) * at_least[a + 1 - i]))
            .sum();
        waiting[a + 1] = up / (taken(a + 1) * exactly[0]);
    }
    // The tail may underflow to zero, or overflow where it does not decay.
    let decay = if waiting[top] == 0.0 { 0.0 } else { waiting[top] / waiting[top - 1] };
    if decay.is_nan() || decay >= 1.0 {
        return 1.0;
    }
    let total = waiting.iter().sum::<f64>() + waiting[top] * decay / (1.0 - decay);

    // What a column leaves behind is what its successor's arrivals find: the first of them q rows, the
    // second q + 1, ...
    let mut failures = 0.0;
    for q in 0..top {
        let left = waiting[q] * (1.0 - taken(q)) + waiting[q + 1] * taken(q + 1);
        for k in 0..ARRIVALS {
            let found = (q + k) as f64;
            failures += left / total * at_least[k + 1] * (found - width as f64).min(0.0).exp2();
        }
    }
    // Rows that find more than `top` waiting: all fail.
    failures += waiting[top] / total / (1.0 - decay) * load;
    failures / load
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_decays_as_the_queue_with_deterministic_service() {
        // theta with load (e^theta - 1) = theta, by bisection.
        let load = 0.95;
        let (mut low, mut high) = (1e-6, 1.0);
        for _ in 0..100 {
            let theta: f64 = (low + high) / 2.0;
            if load * (theta.exp() - 1.0) < theta { low = theta } else { high = theta }
        }
        let measured = (row_failure(300, load) / row_failure(400, load)).ln() / 100.0;
        assert!((measured - low).abs() < 1e-6, "decay {measured} a column, theta {low}");
    }

    #[test]
    fn failures_grow_with_load_and_fall_with_width() {
        for (width, load) in [(32, 0.5), (121, 0.8), (505, 0.95)] {
            assert!(row_failure(width, load) < row_failure(width, load * 1.01));
            assert!(row_failure(width + 1, load) < row_failure(width, load));
        }
        assert_eq!(row_failure(505, 1.0), 1.0);
        // Almost no rows: what is left is that all bits are zero.
        let alone = row_failure(32, 1e-6).log2();
        assert!((alone + 32.0).abs() < 1e-3, "{alone}");
    }
}
