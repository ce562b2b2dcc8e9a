//! All numbers of a run, those of the test apart.

use std::ops::RangeInclusive;

use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::Unsupported;

use super::{Arrows, For, Membership, MembershipTest};
use crate::tasks::{Aggregate, AggregateRequest, Intersect, IntersectRequest, Over, Union, UnionRequest};

/// The protocol that random OTs come from.
type Ots<M> = <<M as MembershipTest>::Arrows as Arrows>::Ots;

/// The parameters that both sides derive from the request.
pub struct Params<M: MembershipTest> {
    /// `n_s`, `n_r`, the columns of a sum, and one group.
    pub request: AggregateRequest,
    /// The test's.
    pub test: M::Params,
    /// Bytes of arrow II for a place; 0 where the protocol ends with the test.
    pub place_bytes: usize,
    /// Items that come without a test and without OTs: all of a union's sender whose receiver has
    /// none, and none otherwise.
    pub unasked: usize,
    /// Elements of arrow III.
    pub totals: usize,
    /// The OTs, one for each place; none where the protocol ends with the test, or either set is
    /// empty.
    pub(super) transfers: Option<<Ots<M> as Protocol>::Params>,
}

/// Sets of these sizes, without values.
fn without_values(sender_items: usize, receiver_items: usize, security: Security) -> AggregateRequest {
    AggregateRequest { sender_items, receiver_items, security, columns: 0, groups: 1, at_least: 0, noisy: false }
}

impl<M: MembershipTest> Params<M> {
    /// Parameters for an intersection.
    pub(super) fn intersect(request: &IntersectRequest) -> Result<Self, Unsupported>
    where
        M: For<Intersect>,
    {
        <Membership<M, Intersect>>::ENTRY.require(request.security)?;
        request.check_sizes()?;
        if request.payload_bytes > 0 || request.both_learn {
            return Err(Unsupported::new(
                format_args!("payloads, and matches for the sender, are not served by protocol {}", M::ENTRY.id),
                "choose another protocol, for example ecdh-hfh99",
            ));
        }
        let IntersectRequest { sender_items, receiver_items, security, .. } = *request;
        Self::new(without_values(sender_items, receiver_items, security), size_of::<u128>())
    }

    /// Parameters for a union.
    pub(super) fn union(request: &UnionRequest) -> Result<Self, Unsupported>
    where
        M: For<Union>,
    {
        <Membership<M, Union>>::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let UnionRequest { sender_items, receiver_items, security, record_bytes, both_learn: _ } = *request;
        let mark = usize::from(M::HAS_EMPTY_PLACES);
        let params = Self::new(without_values(sender_items, receiver_items, security), record_bytes + mark)?;
        let unasked = if params.transfers.is_none() { sender_items } else { 0 };
        Ok(Self { unasked, ..params })
    }

    /// Parameters for the cardinality `T`.
    pub(super) fn cardinality<T: Aggregate>(request: &AggregateRequest) -> Result<Self, Unsupported>
    where
        M: For<T>,
    {
        <M as For<T>>::ENTRY.require(request.security)?;
        request.check_one_count()?;
        Ok(Self { totals: usize::from(T::OVER == Over::New), ..Self::new(*request, 0)? })
    }

    /// Parameters for the sum `T`.
    pub(super) fn sum<T: Aggregate>(request: &AggregateRequest) -> Result<Self, Unsupported>
    where
        M: For<T>,
    {
        <M as For<T>>::ENTRY.require(request.security)?;
        request.check_one_total()?;
        if request.columns == 0 {
            return Err(Unsupported::new("a sum of no columns", "ask for a cardinality, or give values"));
        }
        Ok(Self { totals: request.columns, ..Self::new(*request, size_of::<u64>() * request.columns)? })
    }

    fn new(request: AggregateRequest, place_bytes: usize) -> Result<Self, Unsupported> {
        let test = M::derive(request.sender_items, request.receiver_items)?;
        let len = M::places(&test);
        let is_transferred = place_bytes > 0 && len > 0;
        let correlation = CorrelationRequest { len, security: request.security, width: None };
        let transfers = is_transferred.then(|| Ots::<M>::derive(&correlation)).transpose()?;
        Ok(Self { request, test, place_bytes, unasked: 0, totals: 0, transfers })
    }

    /// Places of arrow I.
    pub fn transferred(&self) -> usize {
        if self.transfers.is_some() { M::places(&self.test) } else { 0 }
    }

    /// Bytes of arrow II.
    pub(super) fn carried_bytes(&self) -> usize {
        (self.transferred() + self.unasked) * self.place_bytes
    }

    /// The test, the OTs, a bit and what is carried for each place, totals.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (places, test) = (self.transferred(), M::predicted_bytes(&self.test));
        let transfers = self.transfers.as_ref().map_or(0..=0, Ots::<M>::predicted_bytes);
        let totals = self.totals * size_of::<u64>();
        let carried = (places.div_ceil(8) + self.carried_bytes() + totals) as u64;
        test.start() + transfers.start() + carried..=test.end() + transfers.end() + carried
    }
}
