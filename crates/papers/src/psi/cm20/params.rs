//! All numbers of a run. Their derivation is in docs/parameters/cm20.md.

use std::f64::consts::LN_2;
use std::ops::RangeInclusive;

use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, KAPPA, Unsupported};
use vesica_structures::filters;
use vesica_structures::hashed_columns::{BITS_PER_BLOCK, COLUMNS_PER_GROUP, MAX_COLUMNS};

use vesica_protocols::psi::finish;
use vesica_protocols::tags::{self, TagCoding};
use vesica_protocols::tasks::IntersectRequest;

/// Most items of a side.
const MAX_ITEMS: usize = 1 << 26;

/// Groups of columns that are made at a time, however many threads there are: each takes as many bytes
/// as the receiver has items.
pub(super) const MOST_GROUPS_AT_ONCE: usize = 8;

/// Columns of the OPRF, and the OTs of their keys.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// Cells of a column, `m`.
    pub cells: usize,
    /// Columns, `w`.
    pub width: usize,
    /// An OT for each column.
    pub transfers: OtParams,
}

impl Columns {
    /// As many columns as it takes that each of the sender's items which the receiver lacks finds at least
    /// [`KAPPA`] ones, except with probability `2^-failure_bits`.
    ///
    /// # Errors
    /// For more than 2^26 items of a side, and for sizes that take more than [`MAX_COLUMNS`].
    pub fn derive(sender_items: usize, receiver_items: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        let most = sender_items.max(receiver_items);
        if most > MAX_ITEMS {
            return Err(Unsupported::new(
                format_args!("{most} items in the OPRF of cm20"),
                format_args!("use at most {MAX_ITEMS}, or another protocol"),
            ));
        }
        let cells = cells(receiver_items);
        let width = width(sender_items, receiver_items, cells, failure_bits).next_multiple_of(COLUMNS_PER_GROUP);
        if width > MAX_COLUMNS {
            return Err(Unsupported::new(
                format_args!("{most} items in the OPRF of cm20, which take {width} columns"),
                format_args!("use fewer, for {MAX_COLUMNS} columns, or another protocol"),
            ));
        }
        let correlation = CorrelationRequest { len: width, security: Security::SemiHonest, width: None };
        Ok(Self { cells, width, transfers: OtExtension::derive(&correlation)? })
    }

    /// Groups of columns.
    pub(super) fn groups(&self) -> usize {
        self.width / COLUMNS_PER_GROUP
    }

    /// Blocks of the columns of a group.
    pub(super) fn group_blocks(&self) -> usize {
        COLUMNS_PER_GROUP * self.cells / BITS_PER_BLOCK
    }

    /// The key, the OTs, a bit for each cell.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let base = OtExtension::predicted_bytes(&self.transfers);
        let fixed = 32 + (self.width * self.cells / 8) as u64;
        fixed + base.start()..=fixed + base.end()
    }
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// Steps 1 and 2.
    pub columns: Columns,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, .. } = request;
        let columns = Columns::derive(sender_items, receiver_items, FailureEvent::ZeroDifference.bits())?;
        let tag_bits = tags::tag_bits(sender_items, receiver_items);
        Ok(Self { columns, finish: finish::Params::new(request, tag_bits, TagCoding::SortedCoded) })
    }

    /// The same with a filter of the tags on arrow 3.
    pub(super) fn comparing(self, filter: Option<filters::Kind>) -> Result<Self, Unsupported> {
        Ok(Self { finish: self.finish.with_filter(filter)?, ..self })
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// Columns, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let (columns, finish) = (self.columns.predicted_bytes(), self.finish.predicted_bytes());
        columns.start() + finish.start()..=columns.end() + finish.end()
    }
}

/// Cells of a column: the paper's `m = n`, in whole blocks.
fn cells(receiver_items: usize) -> usize {
    receiver_items.next_multiple_of(BITS_PER_BLOCK).max(BITS_PER_BLOCK)
}

/// The least number of columns such that each of `sender_items` items outside of the receiver's set
/// finds at least [`KAPPA`] ones, except with probability `2^-failure_bits` for all of them
/// together.
///
/// A cell is an item's place with probability at most `1 / cells + 2^-32`, so that it stays one with
/// at least the probability below, whatever it is; columns are independent.
fn width(sender_items: usize, receiver_items: usize, cells: usize, failure_bits: u32) -> usize {
    let place = 1.0 / cells as f64 + f64::exp2(-32.0);
    // Where the receiver has no items nothing is sent, but there is a width.
    let one = (receiver_items.max(1) as f64 * (-place).ln_1p()).exp();
    // Rounding errors of the logarithms are far below the margin.
    let ln_limit = -f64::from(failure_bits) * LN_2 - (sender_items.max(1) as f64).ln() - 1e-6;
    let enough = |width: &usize| ln_fewer_ones(*width, one) <= ln_limit;
    (KAPPA as usize..=2 * MAX_COLUMNS).find(enough).unwrap_or(usize::MAX / 2)
}

/// `ln Pr[Bin(width, one) < KAPPA]`, the exact sum; `width` is at least [`KAPPA`].
fn ln_fewer_ones(width: usize, one: f64) -> f64 {
    let ln_odds = one.ln() - (-one).ln_1p();
    let mut ln_terms = [0.0; KAPPA as usize];
    let mut ln_term = width as f64 * (-one).ln_1p();
    for (ones, term) in ln_terms.iter_mut().enumerate() {
        *term = ln_term;
        ln_term += ((width - ones) as f64 / (ones + 1) as f64).ln() + ln_odds;
    }
    let most = ln_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + ln_terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        let security = Security::SemiHonest;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    /// The paper's own widths, for the whole of the budget.
    #[test]
    fn widths_are_those_of_the_paper() {
        for (log, expected) in [(8, 585), (10, 591), (12, 597), (14, 603), (16, 609), (18, 615), (20, 621)] {
            let items = 1 << log;
            assert_eq!(width(items, items, cells(items), 40), expected, "2^{log} items");
        }
    }

    /// The sum, term by term from binomial coefficients, and the estimate of Chernoff above it.
    #[test]
    fn the_tail_is_the_binomial_sum() {
        for (width, one) in [(128, 0.5), (143, 0.99), (600, 0.36), (624, 0.37)] {
            let mut coefficient = vec![1.0f64];
            for _ in 0..width {
                let next = std::iter::once(1.0).chain(coefficient.windows(2).map(|pair| pair[0] + pair[1]));
                coefficient = next.chain([1.0]).take(129).collect();
            }
            let terms = (0..128)
                .map(|ones| coefficient[ones as usize] * f64::powi(one, ones) * f64::powi(1.0 - one, width - ones));
            let sum: f64 = terms.sum();
            assert!((ln_fewer_ones(width as usize, one) - sum.ln()).abs() < 1e-9, "{width} columns");
        }
    }

    #[test]
    fn a_million_items_take_what_the_paper_says() {
        let params = Params::derive(&request(1 << 20, 1 << 20)).expect("served");
        assert_eq!((params.columns.cells, params.columns.width), (1 << 20, 624));
        let bytes = *params.predicted_bytes().end();
        assert!((89_000_000..92_940_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_not_served_is_refused() {
        for (bad, said) in [
            (IntersectRequest { security: Security::Malicious, ..request(1, 1) }, "malicious"),
            (request((1 << 26) + 1, 1), "cm20"),
            (request(1, (1 << 26) + 1), "cm20"),
        ] {
            let refusal = Params::derive(&bad).expect_err("refused").to_string();
            assert!(refusal.contains(said), "{refusal}");
        }
        for (sender, receiver) in [(0, 0), (5, 0), (0, 5), (1, 1), (1 << 26, 1), (1, 1 << 26), (1 << 26, 1 << 26)] {
            let width = Params::derive(&request(sender, receiver)).expect("served").columns.width;
            assert!((KAPPA as usize..=MAX_COLUMNS).contains(&width), "{width}");
        }
    }
}
