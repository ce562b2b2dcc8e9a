//! All numbers of a run, and the bounds that they follow from. docs/parameters/union.md has them in
//! one table.

use std::ops::RangeInclusive;

use vesica_mpc::silent::{self, SilentVole};
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::Protocol;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::packed_len;

use vesica_protocols::tasks::UnionRequest;

/// Items that the last table takes whatever they are.
pub const FEW: usize = 128;

/// `-log2` of the probability that a table leaves more items than it may, or takes more tests than
/// there are OTs: half of the share of [`FailureEvent::HashTable`], for each of the four such events.
pub(super) const TABLE_BITS: u32 = FailureEvent::HashTable.bits() + 1;

/// A table that is peeled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Hash functions, each with a part of the table for itself.
    pub parts: usize,
    /// Bins of a part.
    pub bins_per_part: usize,
    /// Rounds of peeling.
    pub rounds: usize,
}

impl Table {
    /// The table for all items of a union of up to `items`. Of every 10 items it has room for 17
    /// bins, and 128 more for small sets: `tests.rs` has the bound on what it leaves.
    pub(super) const fn of_all(items: usize) -> Self {
        Self { parts: 3, bins_per_part: (items.saturating_mul(17).div_ceil(10) + 128).div_ceil(3), rounds: 12 }
    }

    /// The table for at most [`FEW`] items. The last of its rounds shows that none is left.
    pub const OF_FEW: Self = Self { parts: 8, bins_per_part: 1024, rounds: 9 };

    /// Bins of all parts.
    pub const fn bins(&self) -> usize {
        self.parts * self.bins_per_part
    }

    /// A bound on the tests of all rounds for up to `items` items, but for a failure of
    /// [`TABLE_BITS`].
    ///
    /// The first round tests each bin. A bin is tested again only after a round that took an item out
    /// of it and left it other than empty, or empty by two items at once: less often than it has
    /// items. So there are `parts * items` more tests less one for each bin that has items. Putting
    /// one item elsewhere changes the number of these bins by `parts` at most: by McDiarmid's
    /// inequality it is below its mean by `t` with probability `exp(-2 t^2 / (items * parts^2))`.
    /// Fewer items take fewer tests. A round without tests makes one.
    fn most_tests(&self, items: usize) -> usize {
        let (parts, bins, count) = (self.parts as f64, self.bins_per_part as f64, items as f64);
        let occupied = parts * bins * -f64::exp_m1(count * f64::ln_1p(-1.0 / bins));
        let below = parts * f64::sqrt(count * f64::from(TABLE_BITS) * std::f64::consts::LN_2 / 2.0);
        let occupied = (occupied - below).max(0.0) as usize;
        self.bins() + (self.parts * items).saturating_sub(occupied) + self.rounds
    }
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`, `n_r`, and the width of a record.
    pub request: UnionRequest,
    /// The tables, in the order in which they are peeled; none where both sets are empty.
    pub tables: Vec<Table>,
    /// Tests that there are OTs and elements of the VOLE for.
    pub tests: usize,
    /// Width of an item's name: two items of the union have the same one, or one of those that mean
    /// something else, within the share of [`FailureEvent::TagCollision`].
    pub name_bits: u32,
    /// Width of a point: points are equal, or zero where there are items, within that share, over all
    /// tests.
    pub point_bits: u32,
    /// Width of a value: values at different points are equal within that share, over all tests.
    pub value_bits: u32,
    /// The building blocks, if there are tests.
    pub(super) parts: Option<Parts>,
}

/// The parameters of the building blocks.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) ots: <SilentOt as Protocol>::Params,
    pub(super) vole: silent::params::Params,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts, and where the sender is to learn nothing.
    pub(super) fn derive(request: &UnionRequest) -> Result<Self, Unsupported> {
        request.check_mutual()?;
        let security = request.security;
        let items = most_items(request);
        let mut tables: Vec<Table> = Vec::new();
        if items > FEW {
            tables.push(Table::of_all(items));
        }
        if items > 0 {
            tables.push(Table::OF_FEW);
        }
        let of_table = |table: &Table| table.most_tests(if table == &Table::OF_FEW { FEW } else { items });
        let tests = tables.iter().map(of_table).sum();
        let chance = FailureEvent::TagCollision.bits();
        let mut params = Self {
            request: *request,
            tables,
            tests,
            name_bits: chance + 2 * ceil_log2(items + 2) - 1,
            point_bits: chance + ceil_log2(tests) + 1,
            value_bits: chance + ceil_log2(tests),
            parts: None,
        };
        if tests > 0 {
            let ots = CorrelationRequest { len: tests, security, width: None };
            let vole = CorrelationRequest { width: Some(params.point_bits), ..ots };
            params.parts = Some(Parts { ots: SilentOt::derive(&ots)?, vole: SilentVole::<Gf128>::derive(&vole)? });
        }
        Ok(params)
    }

    /// Rounds of all tables.
    pub fn rounds(&self) -> usize {
        self.tables.iter().map(|table| table.rounds).sum()
    }

    /// Most items that the union may have.
    pub(super) fn most_items(&self) -> usize {
        most_items(&self.request)
    }

    /// Bytes of all messages: the salt, the OTs and the VOLE, and in each round a digest and what goes with
    /// each test; a record in each direction for each item of the union.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let Some(Parts { ots, vole }) = &self.parts else { return 0..=0 };
        let fixed = (32 + 16 * self.rounds() as u64)
            + SilentOt::predicted_bytes(ots).end()
            + SilentVole::<Gf128>::predicted_bytes(vole).end();
        let widths = [1, self.name_bits, self.point_bits, self.name_bits, self.value_bits, 1];
        let of_tests = |tests: usize| widths.map(|width| packed_len(tests, width)).into_iter().sum::<usize>();
        let UnionRequest { sender_items, receiver_items, record_bytes, .. } = self.request;
        let of_items = |items: usize| 2 * items * record_bytes;
        let least: usize =
            self.tables.iter().map(|table| of_tests(table.bins()) + (table.rounds - 1) * of_tests(1)).sum();
        // In each round the last byte of each arrow may be a part of one.
        let most = of_tests(self.tests) + widths.len() * self.rounds();
        let (least, most) =
            (least + of_items(sender_items.max(receiver_items)), most + of_items(most_items(&self.request)));
        fixed + least as u64..=fixed + most as u64
    }
}

/// Items of the union if nothing is common.
fn most_items(request: &UnionRequest) -> usize {
    request.sender_items.saturating_add(request.receiver_items)
}
