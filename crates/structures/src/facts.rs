//! The numbers that every protocol shares, each with one home: security levels, the failure budget,
//! papers, refusals.

use std::fmt;

/// Computational security, in bits.
pub const KAPPA: u32 = 128;

/// Statistical security, in bits: all failure events of one run together have probability at most
/// `2^-LAMBDA`.
pub const LAMBDA: u32 = 40;

/// The failure events of a run. Their shares add up to `2^-LAMBDA`; where a bit costs most traffic,
/// the share is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureEvent {
    /// `Decode(P, x) = H_B(x)` for an item outside of the intersection.
    ZeroDifference,
    /// Two tags of different items are equal.
    TagCollision,
    /// The OKVS does not encode, a bin of it overflows.
    Encoding,
    /// A cuckoo or simple hash table overflows.
    HashTable,
}

impl FailureEvent {
    /// This event's share of the budget, as `-log2` of its probability. It is for the whole run: a
    /// protocol in which the event can happen in several places (two tables, say) divides it.
    pub const fn bits(self) -> u32 {
        match self {
            // Each bit is one more for every cell of the table.
            Self::ZeroDifference => LAMBDA + 1,
            // Each bit is one more for every tag.
            Self::TagCollision => LAMBDA + 2,
            Self::Encoding | Self::HashTable => LAMBDA + 3,
        }
    }
}

/// `ceil(log2(n))`, with 0 for `n <= 1`.
pub const fn ceil_log2(n: usize) -> u32 {
    if n <= 1 { 0 } else { usize::BITS - (n - 1).leading_zeros() }
}

/// Smallest `l` such that each of `evaluations` differences of `l` random bits has at least
/// [`KAPPA`] ones, except with probability `2^-LAMBDA` for all of them together: the width of an
/// OPRF whose output is masked by a bitwise AND with the sender's secret (KKRT16, PRTY19 Figure 6,
/// LTSXQ26 repaired). In a protocol with other failure events as well, that is one of them.
///
/// # Errors
/// Above `2^40` evaluations: outside of the table's proven range.
pub fn bitwise_and_width(evaluations: usize) -> Result<usize, Unsupported> {
    let found = AND_WIDTHS.get(ceil_log2(evaluations) as usize);
    let refusal = || {
        Unsupported::new(
            format_args!("{evaluations} evaluations of an OPRF by bitwise AND"),
            "the widths are derived up to 2^40; use smaller sets",
        )
    };
    found.map(|&width| width.into()).ok_or_else(refusal)
}

/// `AND_WIDTHS[e]` serves `2^e` evaluations; a test derives each from the binomial sum `2^e
/// Pr[Bin(l, 1/2) < KAPPA] <= 2^-LAMBDA`.
const AND_WIDTHS: [u16; 41] = [
    394, 396, 398, 400, 403, 405, 407, 409, 411, 413, 416, 418, 420, 422, 424, 426, 428, 430, 432, 434, 436, 438, 440,
    442, 444, 446, 448, 449, 451, 453, 455, 457, 459, 461, 463, 464, 466, 468, 470, 472, 474,
];

/// The paper that a protocol comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Short citation key, for example `RR22`.
    pub key: &'static str,
    /// Title of the paper.
    pub title: &'static str,
    /// Authors, venue and year, or an ePrint number.
    pub reference: &'static str,
}

/// A request that a protocol cannot serve: said before anything is sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {mend}")]
pub struct Unsupported {
    /// The request that is not supported.
    pub what: String,
    /// The action that the user can take.
    pub mend: String,
}

impl Unsupported {
    /// A refusal with its mend.
    pub fn new(what: impl fmt::Display, mend: impl fmt::Display) -> Self {
        Self { what: what.to_string(), mend: mend.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_the_failure_budget_add_up_to_it() {
        use FailureEvent::*;
        let shares =
            [ZeroDifference, TagCollision, Encoding, HashTable].map(|event| f64::exp2(-f64::from(event.bits())));
        assert_eq!(shares.iter().sum::<f64>(), f64::exp2(-f64::from(LAMBDA)));
    }

    /// A number of 512 bits, lowest word first: the sums are exact.
    type Wide = [u64; 8];

    fn add(a: &Wide, b: &Wide) -> Wide {
        let mut carry = false;
        let sum = std::array::from_fn(|i| {
            let (low, first) = a[i].overflowing_add(b[i]);
            let (low, second) = low.overflowing_add(carry.into());
            carry = first | second;
            low
        });
        assert!(!carry, "the sums stay below 2^512");
        sum
    }

    /// Whether `sum <= 2^bits`.
    fn at_most_a_power(sum: &Wide, bits: usize) -> bool {
        let len = (0..512).rev().find(|&i| sum[i / 64] >> (i % 64) & 1 == 1).map_or(0, |top| top + 1);
        let power = len == bits + 1 && sum.iter().map(|word| word.count_ones()).sum::<u32>() == 1;
        len <= bits || power
    }

    #[test]
    fn the_widths_of_bitwise_and_are_the_least_that_their_binomial_sums_allow() {
        // row[i] = C(l, i) for i < KAPPA.
        let mut row = vec![Wide::default(); KAPPA as usize];
        row[0][0] = 1;
        // 2^e evaluations that fail with 2^-80 take what 2^(e + 40) take that fail with 2^-LAMBDA.
        const MORE: usize = 80 - LAMBDA as usize;
        let mut widths = [0; AND_WIDTHS.len() + MORE];
        for l in 1..=600 {
            for i in (1..row.len()).rev() {
                row[i] = add(&row[i], &row[i - 1]);
            }
            let light = row.iter().fold(Wide::default(), |sum, term| add(&sum, term));
            for (log, width) in widths.iter_mut().enumerate().filter(|(_, width)| **width == 0) {
                let bits = log + LAMBDA as usize;
                if l >= bits && at_most_a_power(&light, l - bits) {
                    *width = l;
                }
            }
        }
        assert!(widths.iter().zip(AND_WIDTHS).all(|(&width, of_table)| width == usize::from(of_table)));
        // Figure 6 of PRTY19: its row for 2^-80, then that for 2^-40.
        let figure = [(10, 491), (12, 495), (14, 498), (16, 502), (18, 505), (20, 509), (22, 512), (24, 515)];
        assert_eq!(figure.map(|(log, _)| (log, widths[log + MORE])), figure);
        let figure =
            [(10, 416), (12, 420), (14, 424), (16, 428), (18, 432), (20, 436), (22, 440), (24, 444), (26, 448)];
        assert!(figure.iter().all(|&(log, width)| bitwise_and_width(1 << log).is_ok_and(|found| found == width)));
        assert!(bitwise_and_width((1 << 40) + 1).is_err());
    }
}
