//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::Protocol;
use vesica_structures::facts::Unsupported;

use crate::ecdh::exchange;
use crate::masks;
use crate::tasks::AggregateRequest;

/// What both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`, `n_r`, the columns of a sum (arrow 6), and one group.
    pub request: AggregateRequest,
    /// Width of a digest of arrow 3.
    pub digest_bits: u32,
    /// Bytes of arrow 5 for an item of the sender; 0 where the protocol ends with arrow 3.
    pub item_bytes: usize,
    /// The OTs; none where the protocol ends with arrow 3, or either set is empty.
    pub(super) transfers: Option<OtParams>,
}

impl Params {
    /// The parameters of a row that ends with arrow 3 if `item_bytes == 0`.
    pub(super) fn new(request: AggregateRequest, item_bytes: usize) -> Result<Self, Unsupported> {
        let AggregateRequest { sender_items, receiver_items, security, .. } = request;
        let transfers = if item_bytes > 0 && sender_items.min(receiver_items) > 0 {
            Some(OtExtension::derive(&CorrelationRequest { len: sender_items, security, width: None })?)
        } else {
            None
        };
        let digest_bits = masks::mask_bits(sender_items, receiver_items);
        Ok(Self { request, digest_bits, item_bytes, transfers })
    }

    /// Digests of arrow 3: one for each item of the receiver, none where the sender has no items.
    pub fn digests(&self) -> usize {
        if self.request.sender_items == 0 { 0 } else { self.request.receiver_items }
    }

    /// Bytes of arrow 4: a bit for each item of the sender.
    pub fn flip_bytes(&self) -> usize {
        if self.transfers.is_some() { self.request.sender_items.div_ceil(8) } else { 0 }
    }

    /// Items of arrow 5.
    pub fn transferred(&self) -> usize {
        if self.transfers.is_some() { self.request.sender_items } else { 0 }
    }

    /// `32 (n_s + n_r)` for the points, then digests, OTs and what they carry.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let digests = masks::predicted_bytes(self.digests(), self.digest_bits);
        let transfers = self.transfers.as_ref().map_or(0, |transfers| *OtExtension::predicted_bytes(transfers).end());
        let carried = self.flip_bytes() + self.transferred() * self.item_bytes + self.request.columns * size_of::<u64>();
        let others = exchange::predicted_bytes(self.request.sender_items, self.request.receiver_items) + transfers + carried as u64;
        others + digests.start()..=others + digests.end()
    }
}
