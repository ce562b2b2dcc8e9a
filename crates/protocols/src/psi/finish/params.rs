//! All numbers of the figure.

use std::ops::RangeInclusive;

use super::{compare, proofs};
use crate::tags::TagCoding;
use crate::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput, IntersectSenderOutput};
use vesica_party::{Role, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::filters;

/// What both sides have agreed on, as far as it concerns tags, payloads and proofs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// Tags that the sender sends of each of its items.
    pub tags_per_item: usize,
    /// Width of a tag, in bits.
    pub tag_bits: u32,
    /// How a list of tags travels.
    pub coding: TagCoding,
    /// The filter that travels instead of the list.
    pub filter: Option<compare::Filter>,
    /// Width of a payload, in bytes.
    pub payload_bytes: usize,
    /// Whether arrow 3 is sent.
    pub both_learn: bool,
    /// What the run withstands.
    security: Security,
}

impl Params {
    /// Parameters of a request, with one tag an item.
    pub fn new(request: &IntersectRequest, tag_bits: u32, coding: TagCoding) -> Self {
        let &IntersectRequest { sender_items, receiver_items, payload_bytes, both_learn, security, .. } = request;
        Self {
            sender_items,
            receiver_items,
            tags_per_item: 1,
            tag_bits,
            coding,
            filter: None,
            payload_bytes,
            both_learn,
            security,
        }
    }

    /// The same with `tags` tags an item.
    ///
    /// # Errors
    /// If the sender is to learn its matches too: a proof names the tag, and with it the bin in which
    /// the receiver placed its item. Or if the tags are more than have a number of 32 bits.
    pub fn with_tags_per_item(self, tags: usize) -> Result<Self, Unsupported> {
        if tags > 1 && self.both_learn {
            return Err(Unsupported::new(
                "a sender that learns its matches, from a protocol with several tags an item",
                "choose another protocol, or let only the receiver learn",
            ));
        }
        let most_items = IntersectRequest::MOST_ITEMS / tags.max(1);
        if self.sender_items > most_items {
            return Err(Unsupported::new(
                format_args!("a sender with {} items, from a protocol with {tags} tags an item", self.sender_items),
                format_args!("use at most {most_items} items, or choose another protocol"),
            ));
        }
        Ok(Self { tags_per_item: tags, ..self })
    }

    /// The same with a filter of the tags on arrow 1, if there is a `kind`. Tags have all of their 128
    /// bits then: all that can go wrong is the filter's own error.
    ///
    /// # Errors
    /// If payloads or proofs are asked for, which go by the places of a list; if the run is to withstand a
    /// malicious partner, whose filter may serve items that it does not have; or if no filter is derived for these
    /// sizes.
    pub fn with_filter(self, kind: Option<filters::Kind>) -> Result<Self, Unsupported> {
        let Some(kind) = kind else { return Ok(self) };
        let refused = [
            (self.payload_bytes > 0, "payloads"),
            (self.both_learn, "a sender that learns its matches"),
            (self.security != Security::SemiHonest, "security against a malicious partner"),
        ];
        if let Some((_, what)) = refused.iter().find(|(asked, _)| *asked) {
            return Err(Unsupported::new(
                format_args!("{what}, from a protocol that sends a filter of its tags"),
                "compare lists of tags (compare=list), or let only the receiver learn, in the semi-honest mode and without payloads",
            ));
        }
        let filter = compare::Filter::new(kind, self.tags(), self.receiver_items)?;
        Ok(Self { tag_bits: u128::BITS, filter: Some(filter), ..self })
    }

    /// Whether a set is empty, so that nothing matches.
    pub fn is_empty(&self) -> bool {
        self.sender_items == 0 || self.receiver_items == 0
    }

    /// Tags of arrow 1.
    pub fn tags(&self) -> usize {
        self.tags_per_item * self.sender_items
    }

    /// The most matches there can be.
    pub fn most_matches(&self) -> usize {
        self.sender_items.min(self.receiver_items)
    }

    /// Bytes of the three arrows.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let tags = match &self.filter {
            None => self.coding.predicted_bytes(self.tags(), self.tag_bits),
            Some(filter) => filter.predicted_bytes(),
        };
        let payloads = (self.tags() * self.payload_bytes) as u64;
        let proofs =
            if self.both_learn { proofs::predicted_bytes(self.sender_items, self.receiver_items) } else { 0..=0 };
        payloads + tags.start() + proofs.start()..=payloads + tags.end() + proofs.end()
    }

    /// A filter at the receiver is there twice while its space grows.
    pub fn further_memory(&self, role: Role) -> u64 {
        match &self.filter {
            Some(filter) if role == Role::Receiver => 2 * filter.bytes(),
            _ => 0,
        }
    }

    /// Refuses an input of the sender that is not of the agreed sizes.
    pub fn check_sender(&self, input: &IntersectSenderInput) -> Result<(), Unsupported> {
        input.check(self.sender_items, self.payload_bytes)
    }

    /// Refuses an input of the receiver that is not of the agreed size.
    pub fn check_receiver(&self, input: &IntersectReceiverInput) -> Result<(), Unsupported> {
        input.check(self.receiver_items)
    }

    /// Refuses a list of matches that is no receiver's of the agreed sizes.
    pub fn check_matches(&self, matches: &[u32]) -> Result<(), Unsupported> {
        let are_its = matches.last().is_none_or(|&last| (last as usize) < self.receiver_items);
        if are_its && matches.len() <= self.most_matches() && matches.is_sorted_by(|one, next| one < next) {
            return Ok(());
        }
        Err(Unsupported::new("matches that no run of these sizes gives", "give those of the run"))
    }

    /// The sender's output where nothing was sent because a set is empty.
    pub fn no_matches(&self) -> IntersectSenderOutput {
        IntersectSenderOutput { matches: self.both_learn.then(Vec::new) }
    }
}
