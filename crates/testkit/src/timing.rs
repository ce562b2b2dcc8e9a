//! Whether times of two classes differ: Welch's t-test on times without the slowest (Reparaz, Balasch, Verbauwhede, "Dude, is
//! my code constant time?", 2017).

/// What part of the runs, the fastest ones, a test goes by: interruptions fall on the slow ones.
const PARTS: [f64; 5] = [1.0, 0.95, 0.9, 0.75, 0.5];

/// A part that leaves out fewer times than this shows a difference about as large as it is.
const MOST_TIMES: f64 = 0.75;

/// Times of a class below which a test says nothing.
const LEAST_TIMES: usize = 15;

/// Above this |t| times differ: by chance one part of them comes above it 7 times in a million.
pub const DIFFERS: f64 = 4.5;

/// Above this |t| times differ beyond doubt.
pub const DIFFERS_BEYOND_DOUBT: f64 = 10.0;

/// Times of two classes, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<(bool, f64)>);

/// A comparison of the times of two classes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comparison {
    /// Times of both classes.
    pub runs: usize,
    /// The medians of the classes `true` and `false`, in nanoseconds.
    pub medians: [f64; 2],
    /// By how much the mean of the class `true` is above that of `false`, in nanoseconds, among the part of the times that
    /// has the largest |t|; 0 where there are too few times.
    pub difference: f64,
    /// The standard error of that.
    pub error: f64,
    /// The least standard error of a part that leaves out few times.
    pub least_error: f64,
}

impl Times {
    /// Adds a time of a class.
    pub fn add(&mut self, class: bool, nanoseconds: f64) {
        self.0.push((class, nanoseconds));
    }

    /// How many times there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no time.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares the classes, by the part of the fastest times that has the largest |t|.
    pub fn compare(&self) -> Comparison {
        let mut sorted: Vec<f64> = self.0.iter().map(|(_, time)| *time).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let limit = |part: f64| sorted.get(((sorted.len() as f64 * part) as usize).max(1) - 1).copied();
        let of_parts: Vec<_> = PARTS.iter().filter_map(|&part| Some((part, self.up_to(limit(part)?)?))).collect();
        let most = of_parts.iter().map(|(_, of)| *of).max_by(|a, b| t(*a).total_cmp(&t(*b)));
        let (difference, error) = most.unwrap_or_default();
        let of_most_times = of_parts.iter().filter(|(part, _)| *part >= MOST_TIMES).map(|(_, (_, error))| *error);
        Comparison {
            runs: self.0.len(),
            medians: [true, false].map(|class| self.median(class)),
            difference,
            error,
            least_error: of_most_times.reduce(f64::min).unwrap_or_default(),
        }
    }

    /// The difference of the classes' means among times up to `limit`, and its standard error; none where there are too few.
    fn up_to(&self, limit: f64) -> Option<(f64, f64)> {
        let of = |class: bool| -> Vec<f64> {
            self.0.iter().filter(|(is, time)| *is == class && *time <= limit).map(|(_, time)| *time).collect()
        };
        let [first, second] = [true, false].map(of);
        if first.len().min(second.len()) < LEAST_TIMES {
            return None;
        }
        let ((mean, variance), (other_mean, other_variance)) = (moments(&first), moments(&second));
        let error = (variance / first.len() as f64 + other_variance / second.len() as f64).sqrt();
        Some((mean - other_mean, error))
    }

    fn median(&self, class: bool) -> f64 {
        let mut of: Vec<f64> = self.0.iter().filter(|(is, _)| *is == class).map(|(_, time)| *time).collect();
        of.sort_unstable_by(f64::total_cmp);
        of.get(of.len() / 2).copied().unwrap_or_default()
    }
}

impl Comparison {
    /// Welch's |t|; 0 where there are too few times.
    pub fn t(&self) -> f64 {
        t((self.difference, self.error))
    }

    /// The least difference, in nanoseconds, that so many times of this spread would show.
    pub fn least_seen(&self) -> f64 {
        DIFFERS * self.least_error
    }
}

fn t((difference, error): (f64, f64)) -> f64 {
    if error == 0.0 { 0.0 } else { (difference / error).abs() }
}

/// Mean and variance of a class.
fn moments(times: &[f64]) -> (f64, f64) {
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    (mean, times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (times.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;

    /// Times of 1,000 to 1,256 ns, of which every tenth is interrupted; those of the class `true` are `longer`.
    fn times(runs: usize, longer: f64) -> Comparison {
        let mut rng = SecretRng::insecure_from_seed(5);
        let mut times = Times::default();
        for run in 0..runs {
            let draw = rng.block() as u64;
            let (class, noise) = (draw & 1 == 1, (draw >> 8 & 0xff) as f64);
            let interrupted = if run % 10 == 0 { (draw >> 16 & 0xf_ffff) as f64 } else { 0.0 };
            times.add(class, 1000.0 + noise + interrupted + if class { longer } else { 0.0 });
        }
        times.compare()
    }

    #[test]
    fn a_difference_is_seen_beside_interruptions_and_none_is_not() {
        let (none, some) = (times(4000, 0.0), times(4000, 30.0));
        assert!(none.t() < DIFFERS && none.least_seen() < 30.0, "{none:?}");
        assert!(some.t() > DIFFERS_BEYOND_DOUBT && (10.0..40.0).contains(&some.difference), "{some:?}");
        assert!((some.medians[0] - some.medians[1] - 30.0).abs() < 15.0, "{some:?}");
        assert!(times(4000, -30.0).difference < -10.0);
    }

    #[test]
    fn few_times_say_nothing() {
        assert_eq!((times(20, 900.0).t(), times(0, 0.0).t()), (0.0, 0.0));
    }
}
