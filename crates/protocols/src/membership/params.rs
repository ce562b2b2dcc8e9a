//! All numbers of a run, those of the test apart.

use std::ops::RangeInclusive;

use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Entry, Protocol, Security};
use vesica_structures::facts::Unsupported;

use super::{Arrows, For, MembershipTest};
use crate::tasks::{
    Aggregate, AggregateOptions, AggregateRequest, Cardinality, Extent, Intersect, IntersectRequest, Over,
    SetFunctionality, Union, UnionRequest,
};

/// The protocol that random OTs come from.
type Ots<M> = <<M as MembershipTest>::Arrows as Arrows>::Ots;

/// The parameters that both sides derive from the request.
pub struct Params<M: MembershipTest> {
    /// `n_s`, `n_r`, the columns of a sum, and one group.
    pub request: AggregateRequest,
    /// The test's; none where a set is empty: then nothing is common.
    pub test: Option<M::Params>,
    /// Bytes of arrow II for a place; 0 where the protocol ends with the test.
    pub place_bytes: usize,
    /// Items that come without a test and without OTs: all of a union's sender whose receiver has
    /// none, and none otherwise.
    pub unasked: usize,
    /// Elements of arrow III.
    pub totals: usize,
    /// The OTs, one for each place; none where the protocol ends with the test, or there is no test.
    pub transfers: Option<<Ots<M> as Protocol>::Params>,
}

/// Sets of these sizes, without values.
fn without_values(sender_items: usize, receiver_items: usize, security: Security) -> AggregateRequest {
    Cardinality::request(&Extent::new(sender_items, receiver_items, security), &AggregateOptions::default())
}

impl<M: MembershipTest> Params<M> {
    /// Parameters for an intersection.
    pub fn intersect(request: &IntersectRequest, entry: &'static Entry) -> Result<Self, Unsupported>
    where
        M: For<Intersect>,
    {
        entry.require(request.security)?;
        request.check_sizes()?;
        if request.payload_bytes > 0 || request.both_learn {
            return Err(Unsupported::new(
                format_args!("payloads, and matches for the sender, are not served by protocol {}", entry.id),
                "choose another protocol, for example ecdh-hfh99",
            ));
        }
        let IntersectRequest { sender_items, receiver_items, security, .. } = *request;
        Self::new(without_values(sender_items, receiver_items, security), size_of::<u128>(), entry)
    }

    /// Parameters for a union.
    pub fn union(request: &UnionRequest, entry: &'static Entry) -> Result<Self, Unsupported>
    where
        M: For<Union>,
    {
        entry.require(request.security)?;
        request.check_sizes()?;
        let UnionRequest { sender_items, receiver_items, security, record_bytes, .. } = *request;
        let mark = usize::from(M::HAS_EMPTY_PLACES);
        let params = Self::new(without_values(sender_items, receiver_items, security), record_bytes + mark, entry)?;
        let unasked = if params.test.is_none() { sender_items } else { 0 };
        Ok(Self { unasked, ..params })
    }

    /// Parameters for the cardinality `T`.
    pub fn cardinality<T: Aggregate>(request: &AggregateRequest, entry: &'static Entry) -> Result<Self, Unsupported>
    where
        M: For<T>,
    {
        entry.require(request.security)?;
        request.check_one_count()?;
        Ok(Self { totals: usize::from(T::OVER == Over::New), ..Self::new(*request, 0, entry)? })
    }

    /// Parameters for the sum `T`.
    pub fn sum<T: Aggregate>(request: &AggregateRequest, entry: &'static Entry) -> Result<Self, Unsupported>
    where
        M: For<T>,
    {
        entry.require(request.security)?;
        request.check_one_total()?;
        if request.columns == 0 {
            return Err(Unsupported::new("a sum of no columns", "ask for a cardinality, or give values"));
        }
        Ok(Self { totals: request.columns, ..Self::new(*request, size_of::<u64>() * request.columns, entry)? })
    }

    fn new(request: AggregateRequest, place_bytes: usize, entry: &'static Entry) -> Result<Self, Unsupported> {
        let AggregateRequest { sender_items, receiver_items, security, .. } = request;
        let is_tested = sender_items > 0 && receiver_items > 0;
        let test = is_tested.then(|| M::derive_chosen(sender_items, receiver_items, entry)).transpose()?;
        let mut params = Self { request, test, place_bytes, unasked: 0, totals: 0, transfers: None };
        let len = params.transferred();
        if len > 0 {
            params.transfers = Some(Ots::<M>::derive(&CorrelationRequest { len, security, width: None })?);
        }
        Ok(params)
    }

    /// Places of arrow I.
    pub fn transferred(&self) -> usize {
        self.test.as_ref().filter(|_| self.place_bytes > 0).map_or(0, M::places)
    }

    /// The test, the OTs, a bit and what is carried for each place, totals.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let test = self.test.as_ref().map_or(0..=0, M::predicted_bytes);
        let transfers = self.transfers.as_ref().map_or(0..=0, Ots::<M>::predicted_bytes);
        let places = self.transferred();
        let carried = (places + self.unasked) * self.place_bytes + self.totals * size_of::<u64>();
        let fixed = (places.div_ceil(8) + carried) as u64;
        test.start() + transfers.start() + fixed..=test.end() + transfers.end() + fixed
    }
}
