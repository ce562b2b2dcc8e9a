//! All numbers of a run. Their derivation is in docs/parameters/gbf.md.

use std::ops::RangeInclusive;

use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::OtParams;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, KAPPA, Unsupported, ceil_log2};
use vesica_structures::okvs::gbf::{Shape, half_full};

use super::Rr16;
use crate::psi::gbf::{Groups, transfer_bytes, transfers};
use vesica_protocols::psi::finish;
use vesica_protocols::tags::TagCoding;
use vesica_protocols::tasks::IntersectRequest;

/// Width of a tag, in bits: the simulator finds a corrupt sender's items by their tags.
pub const TAG_BITS: u32 = 128;

/// The least number of items in a filter; a smaller set is filled up with random ones. Below, the number of
/// ones in so few transfers varies so much that hash functions would have to be many more.
pub const LEAST_ITEMS: usize = 32;

/// The unit of [`CutAndChoose::opened_in_65536`].
pub const OPENED_UNIT: usize = 1 << 16;

/// The most hash functions that are tried.
const MOST_SEGMENTS: usize = 4096;

/// A receiver's false abort: it may open more ones than are tolerated.
const ONES_BITS: f64 = FailureEvent::HashTable.bits() as f64;

/// Zeros or ones of a group may not suffice for the filter.
const SHORTAGE_BITS: f64 = FailureEvent::Encoding.bits() as f64;

/// A corrupt receiver may keep more ones than the bound.
const CHEATING_BITS: f64 = FailureEvent::ZeroDifference.bits() as f64;

/// The numbers of the cut-and-choose, which follow from the number of the receiver's items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutAndChoose {
    /// Items in the filter.
    pub items: usize,
    /// `k` and `N_bf / k`: the filter.
    pub shape: Shape,
    /// The cells whose transfers are made together.
    pub groups: Groups,
    /// Transfers of a group; `N_ot` is that times the number of groups.
    pub transfers: usize,
    /// `p_chk`: each transfer is opened with a probability of so many in 65536.
    pub opened_in_65536: u32,
    /// Most transfers of a group that are opened.
    pub most_opened: usize,
    /// `N_maxones`: most ones in all opened transfers.
    pub most_ones: usize,
    /// Unopened zeros and ones that every group must have, whatever the filter is.
    pub needed: [usize; 2],
    /// Most ones that a corrupt receiver keeps unopened, in all groups together.
    pub ones_kept: usize,
}

impl CutAndChoose {
    /// The numbers for so many items of the receiver, with the fewest hash functions that bound false
    /// positives by `2^-128`.
    ///
    /// # Errors
    /// If no number of hash functions does, which happens at no size of the task.
    pub fn derive(receiver_items: usize) -> Result<Self, Unsupported> {
        let items = receiver_items.max(LEAST_ITEMS);
        Self::with_opened(items, opened_in_65536(items)).ok_or_else(|| {
            Unsupported::new(format_args!("a filter of {items} items against malicious parties"), "use another size")
        })
    }

    /// The numbers where so many transfers in 65536 are opened.
    fn with_opened(items: usize, opened_in_65536: u32) -> Option<Self> {
        let mut segments = 1..MOST_SEGMENTS + 1;
        let mut found = None;
        while !segments.is_empty() {
            let middle = segments.start + segments.len() / 2;
            let numbers = Self::with_segments(items, opened_in_65536, middle);
            if numbers.log2_false_positive() <= -f64::from(KAPPA) {
                (segments.end, found) = (middle, Some(numbers));
            } else {
                segments.start = middle + 1;
            }
        }
        found
    }

    /// The numbers with `k` hash functions, whatever they are good for.
    fn with_segments(items: usize, opened_in_65536: u32, segments: usize) -> Self {
        let shape = Shape { segments, cells: half_full(items) };
        let groups = Groups::new(shape.len());
        let (size, load) = (groups.size() as u64, shape.load(items));
        // Two shortages a group, each of what the filter takes and of what the transfers leave.
        let bits = SHORTAGE_BITS + 2.0 + (groups.count as f64).log2();
        let ones = most(size, load, bits);
        let zeros = size - least(size, load, bits);
        let opened = f64::from(opened_in_65536) / OPENED_UNIT as f64;
        // Choices are uniform: a transfer is an unopened zero, or an unopened one, with this probability.
        let unopened = (1.0 - opened) / 2.0;
        let needed = ones.max(zeros);
        let transfers = smallest(size, |transfers| least(transfers, unopened, bits) >= needed);
        let all = transfers * groups.count as u64;
        let most_ones = most(all, opened / 2.0, ONES_BITS);
        let keeps_with = |kept: u64| log2_at_most(kept + 1 + most_ones, opened, most_ones);
        let ones_kept = smallest(0, |kept| keeps_with(kept) <= -CHEATING_BITS);
        Self {
            items,
            shape,
            groups,
            transfers: transfers as usize,
            opened_in_65536,
            most_opened: most(transfers, opened, ONES_BITS) as usize,
            most_ones: most_ones as usize,
            needed: [zeros as usize, ones as usize],
            ones_kept: ones_kept as usize,
        }
    }

    /// `log2` of the probability that a receiver with as many ones as it can keep has them at all cells of
    /// an item. Its ones are spread over segments as it likes: by the inequality of the means, evenly is
    /// best for it.
    pub fn log2_false_positive(&self) -> f64 {
        self.shape.segments as f64 * (self.ones_kept as f64 / self.shape.len() as f64).log2()
    }

    /// Bits of a transfer's number in arrow 6.
    pub(super) fn index_bits(&self) -> u32 {
        ceil_log2(self.transfers).max(1)
    }

    /// Bytes of arrow 5, in each group.
    pub(super) fn choice_bytes(&self) -> usize {
        self.most_opened.div_ceil(8)
    }
}

/// The share of transfers to open, in 65536: about the one that takes the fewest transfers. Transfers that
/// are opened are lost, and the fewer are opened, the more ones a receiver can keep.
fn opened_in_65536(items: usize) -> u32 {
    let share = 0.61 * (items as f64).powf(-0.28);
    (share * OPENED_UNIT as f64).round().max(1.0) as u32
}

/// `n` times the divergence, in bits, of a share `t / n` from `p`: by Chernoff's bound, `2^-that` is at least
/// the probability that a binomial variable, or a sum of negatively associated ones, is as far off.
fn divergence(n: u64, p: f64, t: u64) -> f64 {
    let (n, t) = (n as f64, t as f64);
    let term = |count: f64, expected: f64| if count > 0.0 { count * (count / expected).log2() } else { 0.0 };
    term(t, n * p) + term(n - t, n * (1.0 - p))
}

/// The least `t` such that a binomial variable of `n` and `p` exceeds it with probability at most `2^-bits`.
fn most(n: u64, p: f64, bits: f64) -> u64 {
    let mean = (n as f64 * p).ceil() as u64;
    smallest(mean, |t| t >= n || divergence(n, p, t) >= bits)
}

/// The largest `t` such that a binomial variable of `n` and `p` is below it with probability at most
/// `2^-bits`.
fn least(n: u64, p: f64, bits: f64) -> u64 {
    n - most(n, 1.0 - p, bits)
}

/// `log2` of a bound on the probability that a binomial variable of `n` and `p` is at most `t`.
fn log2_at_most(n: u64, p: f64, t: u64) -> f64 {
    if t as f64 >= n as f64 * p { 0.0 } else { -divergence(n, p, t) }
}

/// The least number from `start` on for which `holds`, which holds for all larger ones too.
fn smallest(start: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let mut step = 1;
    while !holds(start + step) && step < 1 << 60 {
        step *= 2;
    }
    let mut range = start..start + step;
    while !range.is_empty() {
        let middle = range.start + (range.end - range.start) / 2;
        if holds(middle) {
            range.end = middle;
        } else {
            range.start = middle + 1;
        }
    }
    range.start
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The filter and the cut-and-choose.
    pub numbers: CutAndChoose,
    /// The transfers of a group.
    pub(super) transfers: OtParams,
    /// Arrows 8 to 10, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    ///
    /// # Errors
    /// Without a malicious mode in the request, or beyond the sizes of the task.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        Rr16::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let numbers = CutAndChoose::derive(request.receiver_items)?;
        let transfers = transfers(numbers.transfers, Security::Malicious)?;
        Ok(Self { numbers, transfers, finish: finish::Params::new(request, TAG_BITS, TagCoding::SortedCoded) })
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rr16 2026 parameters");
        let (finish, numbers) = (&self.finish, &self.numbers);
        hasher.update(&[u8::from(finish.both_learn)]);
        for size in [
            finish.sender_items,
            finish.receiver_items,
            finish.payload_bytes,
            numbers.shape.segments,
            numbers.shape.cells,
            numbers.transfers,
            numbers.opened_in_65536 as usize,
            numbers.most_ones,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt; for each group its transfers, the challenge, the choices and the injection; the opened sum;
    /// tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.finish.is_empty() {
            return 0..=0;
        }
        let numbers = &self.numbers;
        let per_group = transfer_bytes(&self.transfers) + 16 + numbers.choice_bytes() as u64;
        let injections: u64 =
            numbers.groups.ranges().map(|cells| table::predicted_bytes(&[cells], numbers.index_bits())).sum();
        let fixed = 3 * 32 + numbers.groups.count as u64 * per_group + injections + 16;
        let finish = self.finish.predicted_bytes();
        fixed + finish.start()..=fixed + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `log2` of the exact probability that a binomial variable is at most `t`, below its mean: the terms
    /// fall by a factor each, going down.
    fn exact_log2_at_most(n: usize, p: f64, t: usize) -> f64 {
        let log_choose: f64 = (0..t).map(|i| ((n - i) as f64 / (t - i) as f64).log2()).sum();
        let (mut term, mut sum) = (1.0, 0.0);
        for i in (0..=t).rev() {
            sum += term;
            if term < 1e-18 {
                break;
            }
            term *= i as f64 * (1.0 - p) / ((n - i + 1) as f64 * p);
        }
        log_choose + t as f64 * p.log2() + (n - t) as f64 * (1.0 - p).log2() + f64::log2(sum)
    }

    fn derived(items: usize) -> CutAndChoose {
        CutAndChoose::derive(items).expect("served")
    }

    /// Each number against the exact sums, of which Chernoff's bound is the upper one.
    #[test]
    fn the_exact_sums_stay_within_the_budget() {
        for items in [1, 32, 100, 1 << 8, 1 << 12, 40_000, 1 << 16, 1 << 20] {
            let numbers = derived(items);
            let opened = f64::from(numbers.opened_in_65536) / 65536.0;
            let all = numbers.transfers * numbers.groups.count;
            // A receiver with one more unopened one than the bound.
            let drawn = numbers.ones_kept + 1 + numbers.most_ones;
            let cheats = exact_log2_at_most(drawn, opened, numbers.most_ones);
            assert!((-48.0..=-41.0).contains(&cheats), "{items}: 2^{cheats}");
            // An honest one with more opened ones than are tolerated.
            let aborts = exact_log2_at_most(all, 1.0 - opened / 2.0, all - numbers.most_ones - 1);
            assert!((-50.0..=-43.0).contains(&aborts), "{items}: 2^{aborts}");
            // A group in which zeros or ones do not suffice.
            let needed = numbers.needed[0].max(numbers.needed[1]);
            let short = exact_log2_at_most(numbers.transfers, (1.0 - opened) / 2.0, needed - 1);
            assert!(short + 2.0 + (numbers.groups.count as f64).log2() <= -43.0, "{items}: 2^{short}");
            assert!(numbers.log2_false_positive() <= -128.0, "{items}");
            assert!(numbers.ones_kept > all / 2 - numbers.most_ones, "{items}: an honest receiver has its half");
        }
    }

    /// The table of the paper, as the code of its authors has it (osu-crypto/libPSI, `computeAknBfParams`):
    /// items, `N_ot`, `N_bf`, `k`.
    const PAPER: [(usize, usize, usize, usize); 4] = [
        (1 << 8, 99_372, 88_627, 94),
        (1 << 12, 1_187_141, 1_121_959, 94),
        (1 << 16, 16_992_857, 16_579_297, 91),
        (1 << 20, 260_252_093, 257_635_123, 90),
    ];

    /// Fewer transfers than the paper's: it counts `n k` ones in a filter, and here they are those that are
    /// expected and a tail; so half of the cells are ones, at which a filter has the fewest cells.
    #[test]
    fn transfers_are_fewer_than_the_papers() {
        for (items, transfers, cells, segments) in PAPER {
            let numbers = derived(items);
            let all = numbers.transfers * numbers.groups.count;
            assert!(all < transfers && 4 * all > 3 * transfers, "{items}: {all}, and the paper's {transfers}");
            assert!(numbers.shape.len() < cells && numbers.shape.segments > segments, "{items}: {numbers:?}");
        }
    }

    /// The paper's `k` bounds false positives by `2^-128` for the ones that its numbers tolerate, by the same
    /// computation.
    #[test]
    fn the_papers_numbers_hold_by_this_computation() {
        // `p_chk` in thousandths, `N_maxones`.
        let thresholds = [(99, 3_182), (53, 22_958), (24, 150_181), (10, 962_092)];
        for ((items, _, cells, segments), (thousandths, most_ones)) in PAPER.into_iter().zip(thresholds) {
            let opened = f64::from(thousandths) / 1000.0;
            let kept = smallest(0, |kept| log2_at_most(kept + 1 + most_ones, opened, most_ones) <= -40.0);
            let bits = segments as f64 * (kept as f64 / cells as f64).log2();
            assert!((-134.0..=-128.0).contains(&bits), "{items}: 2^{bits}, {kept} ones kept");
        }
    }

    #[test]
    fn known_numbers() {
        let numbers = derived(1 << 16);
        assert_eq!((numbers.shape.segments, numbers.shape.cells, numbers.groups.count), (139, 94_549, 14));
        assert_eq!((numbers.transfers, numbers.opened_in_65536), (981_683, 1791));
        assert_eq!((numbers.most_ones, numbers.ones_kept), (191_128, 6_922_229));
    }

    /// No other share of transfers to open takes many fewer.
    #[test]
    fn the_share_that_is_opened_is_near_the_best() {
        let all = |numbers: &CutAndChoose| (numbers.transfers * numbers.groups.count) as f64;
        for items in [LEAST_ITEMS, 1 << 8, 1 << 12, 1 << 16, 1 << 20] {
            let numbers = derived(items);
            for factor in [0.5, 0.7, 0.85, 1.2, 1.5, 2.0] {
                let other = (f64::from(numbers.opened_in_65536) * factor) as u32;
                let Some(other) = CutAndChoose::with_opened(items, other) else { continue };
                assert!(all(&numbers) < 1.01 * all(&other), "{items}, {factor}: {numbers:?}, {other:?}");
            }
        }
    }

    #[test]
    fn what_is_not_served_is_refused() {
        let request = |security, receiver_items| IntersectRequest {
            sender_items: 1,
            receiver_items,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let refusal = Params::derive(&request(Security::SemiHonest, 1)).expect_err("refused").to_string();
        assert!(refusal.contains("semi-honest"), "{refusal}");
        assert!(Params::derive(&request(Security::Malicious, usize::MAX / 2)).is_err());
        assert!(Params::derive(&request(Security::Malicious, IntersectRequest::MOST_ITEMS)).is_ok());
    }
}
