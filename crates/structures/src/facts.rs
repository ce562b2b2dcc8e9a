//! The numbers that every protocol shares, each with one home: security levels, the failure budget, papers, refusals.

use std::fmt;

/// Computational security, in bits.
pub const KAPPA: u32 = 128;

/// Statistical security, in bits: all failure events of one run together have probability at most `2^-LAMBDA`.
pub const LAMBDA: u32 = 40;

/// The failure events of a run. Their shares add up to `2^-LAMBDA`; where a bit costs most traffic, the share is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureEvent {
    /// `Decode(P, x) = H_B(x)` for an item outside of the intersection.
    ZeroDifference,
    /// Two masks of different items are equal.
    MaskCollision,
    /// The OKVS does not encode, a bin of it overflows.
    Encoding,
    /// A cuckoo or simple hash table overflows.
    HashTable,
}

impl FailureEvent {
    /// This event's share of the budget, as `-log2` of its probability. It is for the whole run: a protocol in which the event can happen in
    /// several places (two tables, say) divides it.
    pub const fn bits(self) -> u32 {
        match self {
            // Each bit is one more for every cell of the table.
            Self::ZeroDifference => LAMBDA + 1,
            // Each bit is one more for every mask.
            Self::MaskCollision => LAMBDA + 2,
            Self::Encoding | Self::HashTable => LAMBDA + 3,
        }
    }
}

/// `ceil(log2(n))`, with 0 for `n <= 1`.
pub const fn ceil_log2(n: usize) -> u32 {
    if n <= 1 { 0 } else { usize::BITS - (n - 1).leading_zeros() }
}

/// Where a protocol comes from.
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
    /// What is not supported.
    pub what: String,
    /// What the user can do about it.
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
        let shares = [ZeroDifference, MaskCollision, Encoding, HashTable].map(|event| f64::exp2(-f64::from(event.bits())));
        assert_eq!(shares.iter().sum::<f64>(), f64::exp2(-f64::from(LAMBDA)));
    }
}
