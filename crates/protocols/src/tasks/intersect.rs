//! Intersection.

use std::collections::{HashMap, HashSet};

use vesica_party::{FalseMatches, Security, Task};
use vesica_structures::facts::Unsupported;

use super::{Extent, SealedPayloads, SetFunctionality, check_input, differ};

/// Intersection: the receiver learns which of its items the sender has, with the sender's payloads;
/// on request the sender learns its own matches too.
#[derive(Clone, Copy, Debug)]
pub enum Intersect {}

/// The public parameters of an intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntersectRequest {
    /// Number of distinct items of the sender, `n_s`.
    pub sender_items: usize,
    /// Number of distinct items of the receiver, `n_r`.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Width of the payload of each of the sender's items, in bytes; 0 for none.
    pub payload_bytes: usize,
    /// Whether the sender learns its matches too.
    pub both_learn: bool,
    /// Runs of this request that keep to one failure budget together, at least 1: see
    /// [`Extent::runs`]. In the malicious mode, run them in [passes](crate::passes): one run after the other lets a
    /// receiver choose its items of a run by what the earlier ones gave.
    pub runs: usize,
}

/// What both sides agree on for an intersection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntersectOptions {
    /// Width of the payload of each of the sender's items, in bytes; 0 for none.
    pub payload_bytes: usize,
    /// Whether the sender learns its matches too.
    pub both_learn: bool,
}

/// The sender's set. It must be fixed before the set-up begins: a salt is tossed there, and sets
/// that depend on it void the bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntersectSenderInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// `items.len() * payload_bytes` bytes; item `i` has those from `i * payload_bytes`.
    pub payloads: Vec<u8>,
}

/// The receiver's set, fixed before the set-up begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntersectReceiverInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
}

/// What the sender learns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntersectSenderOutput {
    /// Indices of its own items that the receiver has, ascending; only when both learn.
    pub matches: Option<Vec<u32>>,
}

/// What the receiver learns.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct IntersectReceiverOutput {
    /// Indices of its own items that the sender has, ascending.
    pub matches: Vec<u32>,
    /// The sender's payloads of the matches, in their order, to be opened when the conversation is
    /// over.
    pub payloads: SealedPayloads,
    /// How many of its items could not be looked up, because the sender's answer could not be read:
    /// nothing is known of these. The sender must not learn it before the conversation is over.
    pub unread: usize,
}

impl IntersectRequest {
    /// Most items of a side: indices of matches have 32 bits.
    pub const MOST_ITEMS: usize = u32::MAX as usize - 1;
    /// Widest payload, in bytes.
    pub const MOST_PAYLOAD_BYTES: usize = 1 << 16;

    /// Refuses sizes beyond the bounds above, and several runs: for protocols whose parameters are derived
    /// for one run.
    pub fn check_sizes(&self) -> Result<(), Unsupported> {
        if self.runs != 1 {
            return Err(Unsupported::new(
                format_args!(
                    "{} runs, one for each bucket, of a protocol whose failure bounds are derived for one run",
                    self.runs
                ),
                "name a protocol that runs in buckets, for example vole-fast, or omit --buckets",
            ));
        }
        self.check_sizes_of_runs()
    }

    /// Refuses sizes beyond the bounds above: for protocols that derive their parameters for
    /// [`Self::runs`] runs. Those of them with a malicious mode must run in [passes](crate::passes): from what one
    /// run gives, a malicious side may choose its input of the next.
    pub fn check_sizes_of_runs(&self) -> Result<(), Unsupported> {
        if self.runs == 0 {
            return Err(Unsupported::new("no run of the protocol", "say one, or one for each bucket"));
        }
        if self.sender_items.max(self.receiver_items) > Self::MOST_ITEMS {
            return Err(Unsupported::new(
                format_args!("a set has more than {} items", Self::MOST_ITEMS),
                "split the table by a public column",
            ));
        }
        if self.payload_bytes > Self::MOST_PAYLOAD_BYTES {
            return Err(Unsupported::new(
                format_args!("a payload of {} bytes is wider than {}", self.payload_bytes, Self::MOST_PAYLOAD_BYTES),
                "send fewer or narrower columns",
            ));
        }
        Ok(())
    }
}

impl IntersectSenderInput {
    /// Refuses an input that is not of the agreed sizes.
    pub fn check(&self, items: usize, payload_bytes: usize) -> Result<(), Unsupported> {
        check_input("the sender's input", &self.items, &self.payloads, items, payload_bytes)
    }
}

impl IntersectReceiverInput {
    /// Refuses an input that is not of the agreed size.
    pub fn check(&self, items: usize) -> Result<(), Unsupported> {
        if self.items.len() == items {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("the receiver's input has {} items", self.items.len()),
            format_args!("give {items} items, as agreed"),
        ))
    }
}

impl Task for Intersect {
    const NAME: &'static str = "intersect";
    type Request = IntersectRequest;
    type SenderInput = IntersectSenderInput;
    type ReceiverInput = IntersectReceiverInput;
    type SenderOutput = IntersectSenderOutput;
    type ReceiverOutput = IntersectReceiverOutput;

    fn holds(
        sent: &IntersectSenderInput,
        asked: &IntersectReceiverInput,
        sender_out: &IntersectSenderOutput,
        receiver_out: &IntersectReceiverOutput,
    ) -> Result<(), String> {
        differ("look-ups that could not be read", &[0], &[receiver_out.unread])?;
        compare(sent, asked, sender_out, &receiver_out.matches, &receiver_out.payloads.opened())
    }

    fn holds_but_for_false_matches(
        sent: &IntersectSenderInput,
        asked: &IntersectReceiverInput,
        sender_out: &IntersectSenderOutput,
        receiver_out: &IntersectReceiverOutput,
    ) -> Result<FalseMatches, String> {
        let at_sender: HashSet<u128> = sent.items.iter().copied().collect();
        let is_common = |&&own: &&u32| asked.items.get(own as usize).is_none_or(|item| at_sender.contains(item));
        let (common, others): (Vec<u32>, Vec<u32>) = receiver_out.matches.iter().partition(is_common);
        differ("look-ups that could not be read", &[0], &[receiver_out.unread])?;
        compare(sent, asked, sender_out, &common, &receiver_out.payloads.opened())?;
        if at_sender.is_empty() && !others.is_empty() {
            return Err("matches with a set that is empty".to_owned());
        }
        let among = asked.items.iter().filter(|item| !at_sender.contains(item)).count();
        Ok(FalseMatches { found: others.len(), among })
    }
}

/// Whether `found` are the receiver's matches, with these payloads, and the sender's output is right.
fn compare(
    sent: &IntersectSenderInput,
    asked: &IntersectReceiverInput,
    sender_out: &IntersectSenderOutput,
    found: &[u32],
    found_payloads: &[u8],
) -> Result<(), String> {
    let width = sent.payloads.len().checked_div(sent.items.len()).unwrap_or(0);
    let at_sender: HashMap<u128, usize> = sent.items.iter().enumerate().map(|(i, &x)| (x, i)).collect();
    let mut matches = Vec::new();
    let mut payloads = Vec::new();
    let mut sender_matches = Vec::new();
    for (j, y) in asked.items.iter().enumerate() {
        if let Some(&i) = at_sender.get(y) {
            matches.push(j as u32);
            payloads.extend_from_slice(&sent.payloads[i * width..][..width]);
            sender_matches.push(i as u32);
        }
    }
    sender_matches.sort_unstable();
    differ("the receiver's matches", &matches[..], found)?;
    differ("the payloads", &payloads[..], found_payloads)?;
    match &sender_out.matches {
        Some(learned) => differ("the sender's matches", &sender_matches, learned),
        None => Ok(()),
    }
}

impl SetFunctionality for Intersect {
    const SUMMARY: &'static str =
        "The receiver learns which of its items the sender has as well, with the sender's payload of these on request.";
    type Options = IntersectOptions;

    fn request(extent: &Extent, options: &IntersectOptions) -> IntersectRequest {
        let Extent { sender_items, receiver_items, security, runs } = *extent;
        let IntersectOptions { payload_bytes, both_learn } = *options;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes, both_learn, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (IntersectSenderInput, IntersectReceiverInput, IntersectSenderOutput, IntersectReceiverOutput) {
        (
            IntersectSenderInput { items: vec![10, 11, 12], payloads: b"aabbcc".to_vec() },
            IntersectReceiverInput { items: vec![12, 7, 10] },
            IntersectSenderOutput { matches: Some(vec![0, 2]) },
            IntersectReceiverOutput { matches: vec![0, 2], payloads: b"ccaa".to_vec().into(), unread: 0 },
        )
    }

    #[test]
    fn the_right_outputs_hold() {
        let (sent, asked, sender_out, receiver_out) = example();
        Intersect::holds(&sent, &asked, &sender_out, &receiver_out).unwrap();
        Intersect::holds(&sent, &asked, &IntersectSenderOutput { matches: None }, &receiver_out).unwrap();
    }

    #[test]
    fn false_matches_are_counted_and_a_missing_one_is_an_error() {
        let (sent, asked, sender_out, _) = example();
        let payloads = b"ccaa".to_vec();
        let found = |matches: &[u32]| {
            let out =
                IntersectReceiverOutput { matches: matches.to_vec(), payloads: payloads.clone().into(), unread: 0 };
            assert_eq!(Intersect::holds(&sent, &asked, &sender_out, &out).is_ok(), matches == [0, 2]);
            Intersect::holds_but_for_false_matches(&sent, &asked, &sender_out, &out)
        };
        assert_eq!(found(&[0, 2]), Ok(FalseMatches { found: 0, among: 1 }));
        assert_eq!(found(&[0, 1, 2]), Ok(FalseMatches { found: 1, among: 1 }));
        assert!(found(&[0, 1]).unwrap_err().contains("receiver's matches"));
        assert!(found(&[0, 2, 3]).is_err(), "no item of the receiver");
    }

    #[test]
    fn a_missing_match_a_wrong_payload_and_a_wrong_sender_match_do_not() {
        let (sent, asked, sender_out, receiver_out) = example();
        let fewer = IntersectReceiverOutput { matches: vec![0], payloads: b"cc".to_vec().into(), unread: 0 };
        assert!(Intersect::holds(&sent, &asked, &sender_out, &fewer).unwrap_err().contains("receiver's matches"));
        let swapped = IntersectReceiverOutput { matches: vec![0, 2], payloads: b"aacc".to_vec().into(), unread: 0 };
        assert!(Intersect::holds(&sent, &asked, &sender_out, &swapped).unwrap_err().contains("payloads"));
        let wrong = IntersectSenderOutput { matches: Some(vec![0, 1]) };
        assert!(Intersect::holds(&sent, &asked, &wrong, &receiver_out).unwrap_err().contains("sender's matches"));
    }
}
