//! Two recordings of the same runs, side by side.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use crate::Report;
use crate::programs::ProgramReport;
use crate::report_page::Recording;

/// How the times of a run compare: the second recording over the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio of the geometric means of all repeats.
    pub middle: f64,
    /// The interval that holds the true ratio with 95 % confidence, if times are log-normal and
    /// repeats independent (Welch's interval over logarithms). Without end in either direction where
    /// a side has one repeat only.
    pub interval: [f64; 2],
}

/// A run that is in both recordings.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Seconds: the medians of both.
    pub seconds: [f64; 2],
    /// Bytes of both, where they were counted.
    pub bytes: [Option<u64>; 2],
    /// How the times compare.
    pub ratio: Ratio,
}

/// Two recordings, compared.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Runs of both, in the order of the first.
    pub pairs: Vec<Pair>,
    /// Names that only the first has.
    pub only_first: Vec<String>,
    /// Names that only the second has.
    pub only_second: Vec<String>,
    /// Names that both have and that cannot be compared, with the reason.
    pub not_compared: Vec<(String, String)>,
}

/// What is compared of a run, or why it has no times.
type Times = Result<(f64, Vec<f64>, Option<u64>), String>;

/// The runs of some recordings by name: protocols first, then programs.
fn times(recordings: &[Recording]) -> Vec<(&str, Times)> {
    let protocols = recordings.iter().flat_map(|recording| &recording.runs).map(|(name, report)| {
        let Report { total_seconds, samples, total_bytes, .. } = report;
        let samples = samples.iter().map(|sample| sample.total_seconds).collect();
        (name.as_str(), Ok((*total_seconds, samples, Some(*total_bytes))))
    });
    let programs = recordings.iter().flat_map(|recording| &recording.programs);
    let programs = programs.map(|(name, report)| (name.as_str(), program_times(report)));
    protocols.chain(programs).collect()
}

fn program_times(report: &ProgramReport) -> Times {
    let Some(figures) = report.outcome.figures() else { return Err(report.outcome.words().into()) };
    Ok((figures.total_seconds, figures.samples.clone(), figures.total_bytes()))
}

/// Compares the runs of the same name.
pub fn compare(first: &[Recording], second: &[Recording]) -> Difference {
    let [first, second] = [times(first), times(second)];
    let find = |runs: &'_ [(&str, Times)], name: &str| runs.iter().position(|(other, _)| *other == name);
    let mut difference = Difference::default();
    for (name, before) in &first {
        let Some((_, after)) = find(&second, name).and_then(|place| second.get(place)) else {
            difference.only_first.push((*name).to_owned());
            continue;
        };
        match (before, after) {
            (Ok((median, samples, bytes)), Ok((median_after, samples_after, bytes_after))) => {
                difference.pairs.push(Pair {
                    name: (*name).to_owned(),
                    seconds: [*median, *median_after],
                    bytes: [*bytes, *bytes_after],
                    ratio: Ratio::of(samples, samples_after),
                });
            }
            _ => {
                let why = [("first", before), ("second", after)]
                    .into_iter()
                    .filter_map(|(which, times)| Some(format!("{} in the {which}", times.as_ref().err()?)))
                    .collect::<Vec<_>>();
                difference.not_compared.push(((*name).to_owned(), why.join(", ")));
            }
        }
    }
    let missing = second.iter().filter(|(name, _)| find(&first, name).is_none());
    difference.only_second = missing.map(|(name, _)| (*name).to_owned()).collect();
    difference
}

impl Ratio {
    /// Of the seconds of the repeats, which are all above zero.
    pub fn of(before: &[f64], after: &[f64]) -> Self {
        let (before, after) = (Logs::of(before), Logs::of(after));
        let middle = after.mean - before.mean;
        let variance = before.variance_of_mean + after.variance_of_mean;
        let half = match Logs::freedom(&before, &after) {
            Some(freedom) => t_975(freedom) * variance.sqrt(),
            None => f64::INFINITY,
        };
        Self { middle: middle.exp(), interval: [(middle - half).exp(), (middle + half).exp()] }
    }
}

/// Logarithms of one side's seconds.
struct Logs {
    count: f64,
    mean: f64,
    /// Of the mean: the variance over the number.
    variance_of_mean: f64,
}

impl Logs {
    fn of(seconds: &[f64]) -> Self {
        let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.max(f64::MIN_POSITIVE).ln()).collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Self { count, mean, variance_of_mean: squares / (count - 1.0) / count }
    }

    /// Welch's degrees of freedom, rounded down; `None` where a side has less than two repeats.
    fn freedom(before: &Self, after: &Self) -> Option<usize> {
        if before.count < 2.0 || after.count < 2.0 {
            return None;
        }
        let part = |side: &Self| side.variance_of_mean.powi(2) / (side.count - 1.0);
        let parts = part(before) + part(after);
        if parts == 0.0 {
            return Some((before.count + after.count) as usize - 2);
        }
        let freedom = (before.variance_of_mean + after.variance_of_mean).powi(2) / parts;
        Some((freedom as usize).max(1))
    }
}

/// The quantile 0.975 of Student's t with so many degrees of freedom, to two places, rounded up;
/// between entries of the table the one of fewer degrees, which is the wider interval.
fn t_975(freedom: usize) -> f64 {
    const TABLE: [(usize, f64); 17] = [
        (1, 12.71),
        (2, 4.31),
        (3, 3.19),
        (4, 2.78),
        (5, 2.58),
        (6, 2.45),
        (7, 2.37),
        (8, 2.31),
        (9, 2.27),
        (10, 2.23),
        (12, 2.18),
        (15, 2.14),
        (20, 2.09),
        (30, 2.05),
        (60, 2.01),
        (120, 1.98),
        (1000, 1.97),
    ];
    TABLE.iter().rev().find(|(degrees, _)| *degrees <= freedom).map_or(f64::INFINITY, |(_, quantile)| *quantile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_repeats_give_their_ratio_and_few_repeats_no_interval() {
        let twice = Ratio::of(&[1.0, 1.0, 1.0], &[2.0, 2.0]);
        assert!((twice.middle - 2.0).abs() < 1e-12 && (twice.interval[0] - 2.0).abs() < 1e-12);
        assert_eq!(Ratio::of(&[1.0], &[1.0, 1.0]).interval, [0.0, f64::INFINITY]);
        // Logarithms 0, 0.1, 0.2 and the same: mean 0.1, variance 0.01 of three each; Welch's freedom is 4.
        let seconds = [0.0, 0.1, 0.2].map(f64::exp);
        let same = Ratio::of(&seconds, &seconds);
        let half = 2.78 * (2.0f64 * 0.01 / 3.0).sqrt();
        assert!((same.interval[1].ln() - half).abs() < 1e-9, "{same:?}");
    }

    /// With noise of 10 % on five repeats, a true ratio lies in the interval about 95 times of 100.
    #[test]
    fn intervals_hold_the_true_ratio() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
        let mut repeats = |scale: f64| -> Vec<f64> {
            // A sum of 12 uniform numbers is nearly normal, with a variance of one.
            let mut normal = || (0..12).map(|_| rng.random_range(0.0..1.0)).sum::<f64>() - 6.0;
            (0..5).map(|_| scale * (0.1 * normal()).exp()).collect()
        };
        let holds = (0..2000)
            .filter(|_| {
                let [least, most] = Ratio::of(&repeats(1.0), &repeats(1.3)).interval;
                (least..=most).contains(&1.3)
            })
            .count();
        assert!((1860..=1960).contains(&holds), "{holds} of 2000");
    }
}
