//! Noise that hides single keys of the sender in aggregates: discrete Laplace, exact, from a budget
//! for each partner.
//!
//! The sender, who learns nothing, adds all of it. With scale `b` a result gets the integer `y`
//! with probability proportional to `exp(-|y| / b)`. One key more or less of the sender changes the
//! results of one group, each by at most that column's sensitivity `d` (in a cardinality 1; in a
//! sum the largest absolute value in the clamp's range; in join-and-compute the product of both
//! ranges' largest), so `b = columns * d / epsilon` gives epsilon-differential privacy for the whole run.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod budget;
mod sample;

pub use budget::{Moment, check as check_budget, debit};
pub(crate) use budget::{left, take_from_budget_text};

use std::fmt;
use std::path::PathBuf;

use vesica_structures::rng::SecretRng;

use crate::failure::{Failure, code};
use crate::table::{ValueColumn, decimal};

/// Digits behind the point of an epsilon and of a budget.
const SCALE: u8 = 9;
/// `10^SCALE`.
const UNIT: u128 = 1_000_000_000;

/// Widest noise: beyond it, noise itself leaves 64 bits.
const WIDEST: u128 = 1 << 56;

/// How many times its scale noise stays below, but with probability `2^-92`.
const TAIL: u128 = 64;

/// A positive decimal with at most nine digits after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epsilon(i64);

/// What the sender wants added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoiseConfig {
    /// For all results of the run together.
    pub epsilon: Epsilon,
    /// The budget file.
    pub budget: PathBuf,
}

impl Epsilon {
    /// Reads a decimal.
    ///
    /// # Errors
    /// If it is none, or not positive, or too fine.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        match decimal::parse(text, SCALE) {
            Ok(units) if units > 0 => Ok(Self(units)),
            _ => Err(Failure::new(
                code::USAGE,
                format_args!("{text:?} is no epsilon"),
                format_args!("give a positive decimal with at most {SCALE} digits after the point, for example 0.5"),
            )),
        }
    }
}

/// What several runs have spent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spent(i64);

impl FromIterator<Epsilon> for Spent {
    /// A sum beyond what a number holds is as good as the largest one.
    fn from_iter<I: IntoIterator<Item = Epsilon>>(each: I) -> Self {
        Self(each.into_iter().fold(0, |sum, Epsilon(units)| sum.saturating_add(units)))
    }
}

impl From<Epsilon> for Spent {
    fn from(Epsilon(units): Epsilon) -> Self {
        Self(units)
    }
}

impl Spent {
    /// With one run more; `None` if no number holds it.
    pub fn checked_add(self, Epsilon(units): Epsilon) -> Option<Self> {
        self.0.checked_add(units).map(Self)
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short(self.0))
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short(self.0))
    }
}

/// A number of budget units without zeros at its end.
fn short(units: i64) -> String {
    let text = decimal::show(units, SCALE);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A column's scale of noise, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseScale {
    numerator: u128,
    denominator: u128,
}

impl NoiseScale {
    /// The scales of the results of a group, one a column of the sender; where it has none, that of
    /// a count.
    ///
    /// # Errors
    /// If a column has no range, or the noise would not fit 64 bits.
    pub fn of(epsilon: Epsilon, senders: &[ValueColumn], receivers: &[ValueColumn]) -> Result<Vec<Self>, Failure> {
        if let Some(open) = senders.iter().chain(receivers).find(|column| column.clamp.is_none()) {
            return Err(Failure::new(
                code::REFUSED,
                format_args!(
                    "noise needs to know how much a key can change a result, and column `{}` has no range",
                    crate::handshake::printable(&open.name)
                ),
                "give every column of values a range with --clamp, on the side that has it",
            ));
        }
        let factor = receivers.iter().map(|column| u128::from(column.bound())).max().unwrap_or(1);
        let sensitivities: Vec<u128> = match senders {
            [] => vec![1],
            columns => columns.iter().map(|column| u128::from(column.bound()) * factor).collect(),
        };
        let columns = sensitivities.len() as u128;
        let scale = |&sensitivity: &u128| {
            let numerator = sensitivity.checked_mul(columns * UNIT)?;
            let denominator = u128::try_from(epsilon.0).ok()?;
            (numerator / denominator < WIDEST).then_some(Self { numerator, denominator })
        };
        sensitivities.iter().map(scale).collect::<Option<_>>().ok_or_else(|| {
            Failure::new(
                code::REFUSED,
                "the noise would be too wide for 64 bits",
                "clamp the columns to narrower ranges, use fewer digits or columns, or a larger epsilon",
            )
        })
    }

    /// What noise stays below, but with probability `2^-92`.
    pub fn bound(&self) -> u128 {
        TAIL * (self.numerator / self.denominator + 1)
    }

    /// Noise of this scale.
    pub fn sample(&self, rng: &mut SecretRng) -> i64 {
        match self.numerator {
            // Values that are all zero need none.
            0 => 0,
            numerator => sample::discrete_laplace(numerator, self.denominator, rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Clamp;

    fn column(least: i64, most: i64) -> ValueColumn {
        ValueColumn { name: "a".into(), scale: 0, clamp: Some(Clamp { least, most }) }
    }

    fn epsilon(text: &str) -> Epsilon {
        Epsilon::parse(text).expect("an epsilon")
    }

    #[test]
    fn epsilons_are_positive_decimals() {
        assert_eq!(
            (epsilon("0.5").to_string(), epsilon("2.000").to_string(), epsilon("10").to_string()),
            ("0.5".into(), "2".into(), "10".into())
        );
        for bad in ["0", "-1", "", "1e-3", "inf", "0.0000000001"] {
            assert!(Epsilon::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn scales_follow_from_the_ranges() {
        let of = |senders: &[ValueColumn], receivers: &[ValueColumn]| {
            let scales = NoiseScale::of(epsilon("0.5"), senders, receivers)?;
            Ok::<_, Failure>(scales.iter().map(|scale| scale.numerator / scale.denominator).collect::<Vec<_>>())
        };
        assert_eq!(of(&[], &[]), Ok(vec![2]));
        assert_eq!(of(&[column(-30, 20)], &[]), Ok(vec![60]));
        // Two columns share the epsilon.
        assert_eq!(of(&[column(0, 30), column(0, 5)], &[]), Ok(vec![120, 20]));
        assert_eq!(of(&[column(0, 30)], &[column(-7, 0)]), Ok(vec![420]));
        let open = ValueColumn { clamp: None, ..column(0, 1) };
        assert_eq!(of(&[open], &[]).expect_err("no range").code, code::REFUSED);
        assert_eq!(of(&[column(0, 1 << 60)], &[]).expect_err("too wide").code, code::REFUSED);
        assert!(of(&[column(i64::MIN, 0)], &[column(i64::MIN, 0)]).is_err());
    }
}
