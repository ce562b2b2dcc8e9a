//! The figure in full: exclusive-or shares of membership and of both payloads.

use std::ops::RangeInclusive;

use vesica_mpc::share_conversion::{MultiplexParams, MultiplexReceiver, MultiplexSender, Multiplexer};
use vesica_mpc::tasks::{MultiplexRequest, SharedRows};
use vesica_party::{Abort, Channel, Party, Phase, Protocol, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::matching::masked;
use super::{Exchangeable, Matching, MatchingRequest, params};
use crate::tasks::{ReceiverShares, SenderShares, SharesInput, SharesRequest};

/// The agreed parameters.
#[derive(Clone, Debug)]
pub struct Params<P> {
    matching: params::Params<P>,
    sender_payload_bytes: usize,
    receiver_payload_bytes: usize,
    /// `None` where there is no payload, or a set is empty.
    multiplexer: Option<MultiplexParams<u8>>,
}

impl<P> Params<P> {
    /// What the matching takes.
    pub fn further_memory<M: Matching<Parts = P>>(&self, role: Role) -> u64 {
        M::further_memory(&self.matching, role)
    }

    /// Parameters of a row on the matching `M`.
    pub fn derive<M: Matching<Parts = P>>(
        request: &SharesRequest,
        exchangeable: Exchangeable,
    ) -> Result<Self, Unsupported> {
        request.check_sizes()?;
        let &SharesRequest { sender_items, receiver_items, security, sender_payload_bytes, receiver_payload_bytes } =
            request;
        let carried_bytes = sender_payload_bytes;
        let matching = MatchingRequest { sender_items, receiver_items, security, carried_bytes, exchangeable, runs: 1 };
        let matching = M::derive(&matching)?;
        let width = sender_payload_bytes + receiver_payload_bytes;
        let multiplexer = match width {
            0 => None,
            _ if matching.is_empty() => None,
            _ => {
                let (len, masked) = (matching.bins, sender_payload_bytes);
                let rows = MultiplexRequest { len, masked, width, bits: 8, security };
                Some(MultiplexParams::with_ots_from(&rows, exchangeable.ots)?)
            }
        };
        Ok(Self { matching, sender_payload_bytes, receiver_payload_bytes, multiplexer })
    }

    /// Bytes of all messages.
    pub fn predicted_bytes<M: Matching<Parts = P>>(&self) -> RangeInclusive<u64> {
        let matching = M::predicted_bytes(&self.matching);
        let multiplexer = self.multiplexer.as_ref().map_or(0..=0, Multiplexer::<u8>::predicted_bytes);
        matching.start() + multiplexer.start()..=matching.end() + multiplexer.end()
    }

    /// Bins of the receiver's table.
    pub fn bins(&self) -> usize {
        self.matching.bins
    }

    /// Bytes of a bin's payloads.
    fn width(&self) -> usize {
        self.sender_payload_bytes + self.receiver_payload_bytes
    }
}

/// The sender, set up.
pub struct Sender<M: Matching> {
    params: Params<M::Parts>,
    multiplexer: Option<MultiplexSender<u8>>,
    matching: M::Sender,
}

impl<M: Matching> Party for Sender<M> {
    type Params = Params<M::Parts>;
    type Input = SharesInput;
    type Output = SenderShares;

    fn setup(params: &Params<M::Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let multiplexer =
            params.multiplexer.as_ref().map(|multiplexer| MultiplexSender::setup(multiplexer, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), multiplexer, matching: M::sender(&params.matching, ch, rng)? })
    }

    fn run(self, input: SharesInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<SenderShares, Abort> {
        let Self { params, multiplexer, matching } = self;
        let own = params.sender_payload_bytes;
        input.check(params.matching.sender_items, own)?;
        let masks = multiplexer.as_ref().map_or(&[][..], MultiplexSender::masks);
        // Step 5.
        let membership = M::send(matching, &input.items, &masked(&input.payloads, own, masks), ch, rng)?;
        let bits: Vec<bool> = membership.iter().collect();
        let Some(multiplexer) = multiplexer else {
            return Ok(SenderShares { payloads: vec![0; bits.len() * params.width()], membership: bits });
        };
        // Step 8.
        let _phase = ch.phase(Phase::Payload);
        let shares = multiplexer.multiply(&bits, ch)?;
        Ok(SenderShares { membership: bits, payloads: shares.values.clone() })
    }
}

/// The receiver, set up.
pub struct Receiver<M: Matching> {
    params: Params<M::Parts>,
    multiplexer: Option<MultiplexReceiver<u8>>,
    matching: M::Receiver,
}

impl<M: Matching> Party for Receiver<M> {
    type Params = Params<M::Parts>;
    type Input = SharesInput;
    type Output = ReceiverShares;

    fn setup(params: &Params<M::Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let multiplexer = params
            .multiplexer
            .as_ref()
            .map(|multiplexer| MultiplexReceiver::setup(multiplexer, ch, rng))
            .transpose()?;
        Ok(Self { params: params.clone(), multiplexer, matching: M::receiver(&params.matching, ch, rng)? })
    }

    fn run(self, input: SharesInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<ReceiverShares, Abort> {
        let Self { params, multiplexer, matching } = self;
        let own = params.receiver_payload_bytes;
        input.check(params.matching.receiver_items, own)?;
        let matched = M::receive(matching, &input.items, ch, rng)?;
        let bits: Vec<bool> = matched.membership.iter().collect();
        let Some(multiplexer) = multiplexer else {
            return Ok(ReceiverShares {
                items: matched.items,
                payloads: vec![0; bits.len() * params.width()],
                membership: bits,
            });
        };
        // Step 8.
        let _phase = ch.phase(Phase::Payload);
        let theirs = params.sender_payload_bytes;
        let mut values = vec![0; params.matching.bins * params.width()];
        for (bin, (row, item)) in values.chunks_exact_mut(params.width()).zip(&matched.items).enumerate() {
            row[..theirs].copy_from_slice(&matched.carried[bin * theirs..][..theirs]);
            if let Some(item) = item {
                row[theirs..].copy_from_slice(&input.payloads[*item as usize * own..][..own]);
            }
        }
        let shares = multiplexer.run(SharedRows { bits: bits.clone(), values }, ch, rng)?;
        Ok(ReceiverShares { items: matched.items, membership: bits, payloads: shares.values.clone() })
    }
}
