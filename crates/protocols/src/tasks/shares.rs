//! Circuit PSI: both sides get secret shares of what matched.

use std::collections::HashMap;

use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;

use super::{Extent, IntersectRequest, SetFunctionality, check_input};

/// Circuit PSI (LTSXQ26, Figure 9): the receiver's items lie in bins, and for each bin the parties
/// get exclusive-or shares of whether its item is common, and of both payloads if it is, else of
/// zeros.
#[derive(Clone, Copy, Debug)]
pub enum Shares {}

/// The public parameters of a circuit PSI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharesRequest {
    /// Number of distinct items of the sender, `n_s`.
    pub sender_items: usize,
    /// Number of distinct items of the receiver, `n_r`.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Width of the payload of each of the sender's items, in bytes; 0 for none.
    pub sender_payload_bytes: usize,
    /// Width of the payload of each of the receiver's items, in bytes; 0 for none.
    pub receiver_payload_bytes: usize,
}

/// What both sides agree on for a circuit PSI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharesOptions {
    /// Width of the payload of each of the sender's items, in bytes; 0 for none.
    pub sender_payload_bytes: usize,
    /// Width of the payload of each of the receiver's items, in bytes; 0 for none.
    pub receiver_payload_bytes: usize,
}

/// A party's set and payloads. It must be fixed before the set-up begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharesInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// The items' payloads, each as wide as this side's payload.
    pub payloads: Vec<u8>,
}

/// The sender's shares, one for each bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderShares {
    /// A share of a bit for each bin: whether its item is common.
    pub membership: Vec<bool>,
    /// A share of a payload for each bin: the sender's and, behind it, the receiver's.
    pub payloads: Vec<u8>,
}

/// The receiver's shares, and which item is in which bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverShares {
    /// The index of the receiver's item in each bin; `None` for an empty bin.
    pub items: Vec<Option<u32>>,
    /// A share of a bit for each bin: whether its item is common.
    pub membership: Vec<bool>,
    /// A share of a payload for each bin: the sender's and, behind it, the receiver's.
    pub payloads: Vec<u8>,
}

impl SharesRequest {
    /// Refuses sizes beyond those of an intersection.
    pub fn check_sizes(&self) -> Result<(), Unsupported> {
        let Self { sender_items, receiver_items, security, sender_payload_bytes, receiver_payload_bytes } = *self;
        let payload_bytes = sender_payload_bytes.max(receiver_payload_bytes);
        IntersectRequest { sender_items, receiver_items, security, payload_bytes, both_learn: false, runs: 1 }
            .check_sizes()
    }
}

impl SharesInput {
    /// Refuses an input that is not of the agreed sizes.
    pub fn check(&self, items: usize, payload_bytes: usize) -> Result<(), Unsupported> {
        check_input("the input", &self.items, &self.payloads, items, payload_bytes)
    }
}

impl Task for Shares {
    const NAME: &'static str = "shares";
    type Request = SharesRequest;
    type SenderInput = SharesInput;
    type ReceiverInput = SharesInput;
    type SenderOutput = SenderShares;
    type ReceiverOutput = ReceiverShares;

    fn holds(
        sent: &SharesInput,
        asked: &SharesInput,
        sender_out: &SenderShares,
        receiver_out: &ReceiverShares,
    ) -> Result<(), String> {
        let bins = receiver_out.items.len();
        if sender_out.membership.len() != bins || receiver_out.membership.len() != bins {
            return Err(format!(
                "{bins} bins, {} and {} shares",
                sender_out.membership.len(),
                receiver_out.membership.len()
            ));
        }
        let mut placed: Vec<u32> = receiver_out.items.iter().flatten().copied().collect();
        placed.sort_unstable();
        if !placed.iter().copied().eq(0..asked.items.len() as u32) {
            return Err("not every item of the receiver is in one bin".into());
        }
        let width = |input: &SharesInput| input.payloads.len().checked_div(input.items.len()).unwrap_or(0);
        let (of_sender, of_receiver) = (width(sent), width(asked));
        let both = of_sender + of_receiver;
        // Where a set is empty nobody can tell how wide its payloads were to be.
        let wide = if bins == 0 || sent.items.is_empty() || asked.items.is_empty() {
            sender_out.payloads.len() / bins.max(1)
        } else {
            both
        };
        if sender_out.payloads.len() != bins * wide || receiver_out.payloads.len() != bins * wide {
            return Err(format!(
                "{bins} bins with {wide} bytes, {} and {}",
                sender_out.payloads.len(),
                receiver_out.payloads.len()
            ));
        }
        let at_sender: HashMap<u128, usize> = sent.items.iter().enumerate().map(|(i, &x)| (x, i)).collect();
        for (bin, item) in receiver_out.items.iter().enumerate() {
            let own = item.map(|item| item as usize);
            let theirs = own.and_then(|own| at_sender.get(&asked.items[own]).copied());
            let member = sender_out.membership[bin] ^ receiver_out.membership[bin];
            if member != theirs.is_some() {
                return Err(format!("the shares of bin {bin} say {member}"));
            }
            let shares =
                sender_out.payloads[bin * wide..][..wide].iter().zip(&receiver_out.payloads[bin * wide..][..wide]);
            let payload: Vec<u8> = shares.map(|(a, b)| a ^ b).collect();
            let expected = match (own, theirs) {
                (Some(own), Some(theirs)) => [
                    &sent.payloads[theirs * of_sender..][..of_sender],
                    &asked.payloads[own * of_receiver..][..of_receiver],
                ]
                .concat(),
                _ => vec![0; wide],
            };
            if payload != expected {
                return Err(format!(
                    "the shares of the payload in bin {bin} are those of {payload:?}, not of {expected:?}"
                ));
            }
        }
        Ok(())
    }
}

impl SetFunctionality for Shares {
    const SUMMARY: &'static str =
        "Both sides get shares of which items are common and of the items' payloads. A share alone says nothing.";
    type Options = SharesOptions;

    fn request(extent: &Extent, options: &SharesOptions) -> SharesRequest {
        let Extent { sender_items, receiver_items, security, .. } = *extent;
        let SharesOptions { sender_payload_bytes, receiver_payload_bytes } = *options;
        SharesRequest { sender_items, receiver_items, security, sender_payload_bytes, receiver_payload_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_checked_bit_by_bit() {
        let sent = SharesInput { items: vec![10, 11], payloads: vec![1, 2] };
        let asked = SharesInput { items: vec![11, 7], payloads: vec![5, 6] };
        let sender = SenderShares { membership: vec![true, false, true], payloads: vec![9, 9, 8, 8, 7, 7] };
        let receiver = ReceiverShares {
            items: vec![None, Some(0), Some(1)],
            membership: vec![true, true, true],
            payloads: vec![9, 9, 8 ^ 2, 8 ^ 5, 7, 7],
        };
        Shares::holds(&sent, &asked, &sender, &receiver).unwrap();
        let wrong = |change: &dyn Fn(&mut ReceiverShares)| {
            let mut receiver = receiver.clone();
            change(&mut receiver);
            Shares::holds(&sent, &asked, &sender, &receiver).unwrap_err()
        };
        assert!(wrong(&|r| r.membership[0] = false).contains("bin 0"));
        assert!(wrong(&|r| r.payloads[3] ^= 1).contains("payload in bin 1"));
        assert!(wrong(&|r| r.payloads[4] ^= 1).contains("payload in bin 2"));
        assert!(wrong(&|r| r.items[2] = None).contains("one bin"));
        assert!(wrong(&|r| r.membership.truncate(2)).contains("3 bins"));
    }
}
