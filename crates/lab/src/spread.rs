//! Medians and how far the repeats lie around them.

use serde::{Deserialize, Serialize};

/// The least and the most of the repeats, and the quartiles between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// A quarter of the repeats lies below it.
    pub lower_quartile: f64,
    /// The middle of the repeats.
    pub median: f64,
    /// A quarter of the repeats lies above it.
    pub upper_quartile: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// Of these values; zeros for none. A quartile between two values is their weighted mean.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |quarters: f64| {
            let last = sorted.len().saturating_sub(1);
            let place = last as f64 * quarters / 4.0;
            let below = place as usize;
            match (sorted.get(below), sorted.get((below + 1).min(last))) {
                (Some(low), Some(high)) => low + (high - low) * place.fract(),
                _ => 0.0,
            }
        };
        Self { least: at(0.0), lower_quartile: at(1.0), median: at(2.0), upper_quartile: at(3.0), most: at(4.0) }
    }
}

/// The middle of the values; the mean of the two middle ones where their number is even; zero for
/// none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Spread::of(values).median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([]), 0.0);
        assert_eq!(median([3.0]), 3.0);
        assert_eq!(median([3.0, 1.0]), 2.0);
        assert_eq!(median([9.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn quartiles() {
        let spread = Spread::of([5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(spread, Spread { least: 1.0, lower_quartile: 2.0, median: 3.0, upper_quartile: 4.0, most: 5.0 });
        assert_eq!(
            Spread::of([4.0, 0.0]),
            Spread { least: 0.0, lower_quartile: 1.0, median: 2.0, upper_quartile: 3.0, most: 4.0 }
        );
        assert_eq!(Spread::of([7.0]).upper_quartile, 7.0);
    }
}
