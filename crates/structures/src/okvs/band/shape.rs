//! The width of a row and the number of columns, in whole numbers only, so that both parties get
//! the same on every machine.

use crate::facts::{Unsupported, ceil_log2};

/// Columns of a line: rows start at lines.
const LINE: usize = vesica_kernels::band::LINE;

/// The widest row, in columns.
const WIDEST: usize = LINE * vesica_kernels::band::ROW_LINES;

/// The most pairs of one store. The bound holds beyond; evidence and tests end here.
const MAX_PAIRS: usize = 1 << 26;

/// The failure bounds for which there are rates.
const FAILURE_BITS: std::ops::RangeInclusive<u32> = 40..=64;

/// Row failures for which a rate is listed, in bits: 48, 56, ... 96.
const FIRST_BITS: u32 = 48;
const STEP_BITS: u32 = 8;

/// For a row of so many columns, the columns at which rows may start per 2^16 rows, such that one
/// row is dependent with probability at most 2^-48, 2^-56, ... 2^-96. From
/// [`super::model::row_failure`] at seven columns less, rounded up; between entries the line
/// through two of them lies above the curve. A test recomputes all of it.
const RATES: [(usize, [u64; 7]); 5] = [
    (128, [75764, 77675, 79655, 81707, 83841, 86065, 88401]),
    (192, [71928, 73072, 74242, 75437, 76657, 77905, 79181]),
    (256, [70185, 71001, 71831, 72673, 73529, 74398, 75281]),
    (384, [68544, 69063, 69587, 70116, 70651, 71191, 71737]),
    (512, [67759, 68139, 68522, 68908, 69297, 69688, 70083]),
];

/// A band system: rows start at one of `starts` lines and have random bits at the `width` lines
/// from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Lines (of eight columns) of a row, at most 64.
    pub width: usize,
    /// Lines at which a row may start.
    pub starts: usize,
}

impl Shape {
    /// The smallest table for `pairs` pairs whose rows are dependent with probability at most
    /// `2^-failure_bits`.
    ///
    /// # Errors
    /// More than 2^26 pairs, or failure bits outside of 40 to 64.
    pub fn derive(pairs: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        Self::at_most(WIDEST, pairs, failure_bits)
    }

    /// The smallest such table whose rows have at most `widest` columns: 512, or another
    /// width for which there are rates.
    ///
    /// # Errors
    /// As for [`Self::derive`].
    pub fn at_most(widest: usize, pairs: usize, failure_bits: u32) -> Result<Self, Unsupported> {
        if !FAILURE_BITS.contains(&failure_bits) {
            let (low, high) = (FAILURE_BITS.start(), FAILURE_BITS.end());
            let what = format!("a band OKVS that fails with probability 2^-{failure_bits}");
            return Err(Unsupported::new(what, format!("ask for {low} to {high} bits")));
        }
        if pairs > MAX_PAIRS {
            let what = format!("a band OKVS of {pairs} pairs");
            return Err(Unsupported::new(what, format!("split the set into buckets of at most {MAX_PAIRS}")));
        }
        // n random rows of m bits are dependent with probability below 2^(n - m).
        let dense = pairs + failure_bits as usize;
        if dense <= widest {
            return Ok(Self { width: dense.div_ceil(LINE), starts: 1 });
        }
        // Twice the sum over the rows.
        let row_bits = failure_bits + 1 + ceil_log2(pairs);
        let narrow = RATES.iter().filter(|(columns, _)| *columns <= widest);
        let shapes = narrow.map(|&(columns, ref rates)| Self {
            width: columns / LINE,
            starts: (pairs as u64 * rate(rates, row_bits)).div_ceil((LINE as u64) << 16) as usize,
        });
        Ok(shapes.min_by_key(Self::columns).expect("there are rates for this width"))
    }

    /// Length of the table.
    pub fn columns(&self) -> usize {
        LINE * (self.starts - 1 + self.width)
    }
}

/// The rate for a row failure of `2^-bits`, between two entries on the line through them.
fn rate(rates: &[u64; 7], bits: u32) -> u64 {
    let above = bits.saturating_sub(FIRST_BITS);
    let (entry, part) = ((above / STEP_BITS) as usize, u64::from(above % STEP_BITS));
    let step = u64::from(STEP_BITS);
    match part {
        0 => rates[entry],
        _ => (rates[entry] * (step - part) + rates[entry + 1] * part).div_ceil(step),
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::row_failure;
    use super::*;

    /// What the rounding of floating-point numbers may hide: the model's own error is far below.
    const SLACK: f64 = 0.999;

    #[test]
    fn rates_hold_the_model_and_no_more_than_needed() {
        let (least, most) =
            (FAILURE_BITS.start() + 1 + ceil_log2(WIDEST - 64), FAILURE_BITS.end() + 1 + ceil_log2(MAX_PAIRS));
        assert!(FIRST_BITS <= least && most <= FIRST_BITS + 6 * STEP_BITS);
        for (columns, rates) in &RATES {
            for bits in FIRST_BITS..=FIRST_BITS + 6 * STEP_BITS {
                let failure = |rate: u64| row_failure(columns - 7, 65536.0 / rate as f64);
                let allowed = SLACK * (-f64::from(bits)).exp2();
                let rate = rate(rates, bits);
                assert!(failure(rate) <= allowed, "{columns} columns, 2^-{bits}: rate {rate} is too low");
                if (bits - FIRST_BITS).is_multiple_of(STEP_BITS) {
                    assert!(failure(rate - 2) > allowed, "{columns} columns, 2^-{bits}: rate {rate} is too high");
                }
            }
        }
    }

    /// Prints the table: `cargo test --release -p vesica-structures print_rates -- --ignored
    /// --nocapture`.
    #[test]
    #[ignore = "prints the table of rates"]
    fn print_rates() {
        for (columns, _) in RATES {
            let rates: Vec<u64> = (0..7)
                .map(|entry| {
                    let allowed = SLACK * (-f64::from(FIRST_BITS + entry * STEP_BITS)).exp2();
                    let (mut low, mut high) = (1 << 16, 1000 << 16);
                    while high - low > 1 {
                        let middle = (low + high) / 2;
                        if row_failure(columns - 7, 65536.0 / middle as f64) <= allowed {
                            high = middle
                        } else {
                            low = middle
                        }
                    }
                    high
                })
                .collect();
            println!("    ({columns}, {rates:?}),");
        }
    }

    #[test]
    fn lengths_are_fixed_and_grow() {
        let mut before = 0;
        for pairs in (0..20_000).chain((20_000..1 << 26).step_by(99_991)) {
            let columns = Shape::derive(pairs, 42).unwrap().columns();
            assert!(before <= columns && pairs + 42 <= columns, "{pairs} pairs: {columns} columns after {before}");
            before = columns;
            assert!(columns <= Shape::derive(pairs, 43).unwrap().columns());
        }
        assert!(Shape::derive((1 << 26) + 1, 42).is_err());
        assert!(Shape::derive(10, 39).is_err() && Shape::derive(10, 65).is_err());
        for bits in FAILURE_BITS {
            assert!(Shape::derive(1 << 26, bits).is_ok());
        }
    }

    #[test]
    fn lengths_of_powers_of_two() {
        let lengths: Vec<usize> = (8..=26).map(|log| Shape::derive(1 << log, 42).unwrap().columns()).collect();
        let golden = [
            304, 720, 1320, 2464, 4680, 9016, 17552, 34624, 68792, 137168, 274024, 547920, 1096104, 2193208, 4389048,
            8783736, 17579256, 35182584, 70414840,
        ];
        assert_eq!(lengths, golden);
    }
}
