//! Which parts a request takes, and their numbers.

use std::ops::RangeInclusive;

use vesica_mpc::inner_product::{self, InnerProduct};
use vesica_mpc::share_conversion::{BitsParams, BitsToRing, MultiplexParams, Multiplexer};
use vesica_mpc::tasks::{BitsToRingRequest, InnerProductRequest, MultiplexRequest};
use vesica_mpc::{gmw, share_conversion};
use vesica_party::{Protocol, Role};
use vesica_structures::facts::Unsupported;

use super::threshold;
use crate::circuit_psi::{self, Exchangeable, Matching, MatchingRequest};
use crate::tasks::{AggregateRequest, Over};

/// Entries of the receiver's vectors: 8 bytes each are held at a time.
const MOST_ENTRIES: usize = 1 << 28;

/// What both sides agree on. The parts are absent where a set is empty, save for the circuit of a
/// threshold of new items.
#[derive(Clone, Debug)]
pub struct Params<P> {
    pub(super) request: AggregateRequest,
    /// Which items are aggregated.
    pub(super) over: Over,
    /// Whether the receiver brings values, which those of common items are multiplied by.
    pub(super) valued: bool,
    pub(super) matching: circuit_psi::Params<P>,
    /// Shares of the bits, if they are counted: as the result, or for the threshold.
    pub(super) count: Option<BitsParams>,
    /// The values of common items.
    pub(super) columns: Option<MultiplexParams<u64>>,
    /// The inner products, one for each of the [`totals`](Self::totals), where the receiver brings
    /// values or groups.
    pub(super) products: Vec<inner_product::Params>,
    /// The circuit of a threshold.
    pub(super) circuit: Option<gmw::Params>,
    /// Shares of a count are modulo `2^count_bits`.
    pub(super) count_bits: u32,
    /// Bits of a count that is compared.
    pub(super) threshold_bits: u32,
}

impl<P> Params<P> {
    /// Parameters of a row on the matching `M`.
    ///
    /// # Errors
    /// For sizes, groups and thresholds that are not served.
    pub fn derive<M: Matching<Parts = P>>(
        request: &AggregateRequest,
        over: Over,
        valued: bool,
        exchangeable: Exchangeable,
    ) -> Result<Self, Unsupported> {
        request.check_sizes_of_runs()?;
        let &AggregateRequest { sender_items, receiver_items, security, columns, groups, at_least, runs, .. } = request;
        if valued && columns == 0 {
            return Err(Unsupported::new(
                "products with no values of the sender",
                "give a column of values, or ask for a sum",
            ));
        }
        if over == Over::New && groups > 1 {
            return Err(Unsupported::new(
                format_args!("{groups} groups of new items, which are in no group of the receiver's"),
                "ask for one group",
            ));
        }
        let most = match over {
            Over::Common => sender_items.min(receiver_items),
            Over::New => sender_items,
        } as u64;
        let most = most.saturating_mul(runs as u64);
        if at_least > most.max(1) {
            return Err(Unsupported::new(
                format_args!("results from {at_least} {over} items on, of {most} at most"),
                "lower the threshold",
            ));
        }
        let carried_bytes = 8 * columns;
        let matching = MatchingRequest { sender_items, receiver_items, security, carried_bytes, exchangeable, runs };
        let matching = M::derive(&matching)?;
        let len = matching.bins;
        if (valued || groups > 1) && len * groups > MOST_ENTRIES {
            return Err(Unsupported::new(
                format_args!("{groups} groups of {receiver_items} items"),
                format_args!("use at most {} groups: merge rare ones into one", MOST_ENTRIES / len),
            ));
        }
        let threshold_bits = share_conversion::count_bits(match over {
            Over::Common => len,
            // The count is one of the sender's items, shares of it come from the bins.
            Over::New => len.max(sender_items),
        });
        // Noise may lead below zero, and a mask is uniform.
        let is_masked = request.is_masked() && (columns == 0 || request.withholds_over_runs());
        let count_bits = if is_masked { 64 } else { threshold_bits };
        let mut params = Self {
            request: *request,
            over,
            valued,
            matching,
            count: None,
            columns: None,
            products: Vec::new(),
            circuit: None,
            count_bits,
            threshold_bits,
        };
        let has_threshold = at_least > 1 && (over == Over::New || !params.matching.is_empty());
        // One over several runs is for what they give together.
        if has_threshold && runs == 1 {
            let results = vec![if columns == 0 { count_bits } else { 64 }; request.results()];
            params.circuit = Some(gmw::Params::new(threshold::circuit(&results, threshold_bits, at_least), groups)?);
        }
        if params.matching.is_empty() {
            return Ok(params);
        }
        if params.counts() {
            params.count = Some(BitsToRing::derive(&BitsToRingRequest { len, bits: count_bits, security })?);
        }
        if columns > 0 {
            params.columns = Some(Multiplexer::<u64>::derive(&MultiplexRequest {
                len,
                masked: columns,
                width: columns,
                bits: 64,
                security,
            })?);
        }
        if valued || groups > 1 {
            for total in 0..params.totals() {
                // Where a count is not the result, it is of items, whatever their values.
                let bits = if valued && total < request.results() { 63 } else { 0 };
                // What the results of all runs show is bounded together.
                let products = params.totals().saturating_mul(runs);
                let request = InnerProductRequest { len, vectors: groups, products, bits, security };
                params.products.push(InnerProduct::derive(&request)?);
            }
        }
        Ok(params)
    }

    /// Whether bits are counted.
    fn counts(&self) -> bool {
        self.request.columns == 0 || self.request.at_least > 1
    }

    /// Sums that are made for each group: the results, and the count for a threshold where it is
    /// none of them.
    pub(super) fn totals(&self) -> usize {
        self.request.results() + usize::from(self.request.columns > 0 && self.counts())
    }

    /// Numbers that are opened, of all groups.
    pub(super) fn opened(&self) -> usize {
        self.request.groups * self.request.opened()
    }

    /// Numbers that are opened are modulo `2^result_bits`.
    pub(super) fn result_bits(&self) -> u32 {
        if self.request.columns == 0 { self.count_bits } else { 64 }
    }

    /// Bits of what a circuit compares and shows.
    pub(super) fn bits(&self) -> threshold::Widths {
        threshold::Widths { results: self.result_bits(), count: self.threshold_bits }
    }

    /// Whether nothing is sent: a set is empty, so that nothing is common, and the sender adds nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.matching.is_empty() && !self.request.is_masked() && self.over == Over::Common
    }

    /// What the matching takes.
    pub fn further_memory<M: Matching<Parts = P>>(&self, role: Role) -> u64 {
        M::further_memory(&self.matching, role)
    }

    /// Bytes of all parts and of what is opened.
    pub fn predicted_bytes<M: Matching<Parts = P>>(&self) -> RangeInclusive<u64> {
        if self.is_silent() {
            return 0..=0;
        }
        let opened = match &self.circuit {
            None => {
                let bytes = 8 * self.opened() as u64;
                bytes..=bytes
            }
            Some(circuit) => {
                let (evaluation, opening) = (circuit.predicted_bytes(), threshold::opening_bytes(circuit));
                evaluation.start() + opening..=evaluation.end() + opening
            }
        };
        let products = self.products.iter().map(InnerProduct::predicted_bytes);
        let count = self.count.as_ref().map(BitsToRing::predicted_bytes);
        let columns = self.columns.as_ref().map(Multiplexer::<u64>::predicted_bytes);
        let parts =
            [M::predicted_bytes(&self.matching), opened].into_iter().chain(count).chain(columns).chain(products);
        parts.fold(0..=0, |sum, part| sum.start() + part.start()..=sum.end() + part.end())
    }
}
