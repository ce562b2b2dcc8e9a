//! The right column of the figure.

use std::collections::HashMap;
use std::marker::PhantomData;

use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::tasks::OtChosen;
use vesica_party::{Abort, Channel, Party, Phase, Protocol, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Arrows, Digests, Flips, Items, Totals, Values};
use super::params::Params;
use super::{DIGEST_CONTEXT, PIECE, add, fill_pad, pad_key};
use crate::ecdh::digests::{self, digests};
use crate::ecdh::{exchange, random_exponent};
use crate::tasks::{AggregateOutput, AggregateReceiverInput, Cardinality, Intersect, IntersectReceiverInput, IntersectReceiverOutput, Sum};

/// The receiver, with its mask `b` and its half of the OTs.
#[derive(Debug)]
pub struct Receiver<T> {
    params: Params,
    exponent: Secret<Scalar>,
    pads: OtChosen,
    task: PhantomData<fn() -> T>,
}

impl<T> Receiver<T> {
    fn set_up(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let exponent = random_exponent(rng);
        let pads = match &params.transfers {
            Some(transfers) => <OtExtension as Protocol>::Receiver::setup(transfers, ch, rng)?.run((), ch, rng)?,
            None => OtChosen { choices: Vec::new(), chosen: Vec::new() },
        };
        Ok(Self { params: params.clone(), exponent, pads, task: PhantomData })
    }

    /// Steps 1 to 3; which of the sender's items are common, in its order, ascending.
    fn test(&self, items: &[u128], ch: &mut Channel) -> Result<Vec<u32>, Abort> {
        let points = exchange::receiver::<Arrows>(items, self.params.request.sender_items, &self.exponent, ch)?;
        let own = digests(DIGEST_CONTEXT, &ch.session(), &points);
        digests::find::<Digests>(&own, self.params.digests(), self.params.digest_bits, ch)
    }

    /// Step 4; the bits `e`, one for each OT.
    fn choose(&self, found: &[u32], ch: &mut Channel) -> Result<Vec<bool>, Abort> {
        let mut common = vec![false; self.params.transferred()];
        for &place in found {
            common[place as usize] = true;
        }
        if !common.is_empty() {
            let turned: Vec<bool> = common.iter().zip(&self.pads.choices).map(|(common, choice)| common ^ choice).collect();
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
            ch.send_stream::<Flips>(&turned.chunks(8).map(byte).collect::<Vec<u8>>())?;
        }
        Ok(common)
    }
}

impl Party for Receiver<Cardinality> {
    type Params = Params;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateReceiverInput, ch: &mut Channel, _rng: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        input.check(&self.params.request, false)?;
        let found = self.test(&input.items, ch)?;
        Ok(AggregateOutput::one(vec![found.len() as u64]))
    }
}

impl Party for Receiver<Intersect> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: IntersectReceiverInput, ch: &mut Channel, _rng: &mut SecretRng) -> Result<IntersectReceiverOutput, Abort> {
        input.check(self.params.request.receiver_items)?;
        let found = self.test(&input.items, ch)?;
        let _phase = ch.phase(Phase::Payload);
        self.choose(&found, ch)?;

        // Step 5.
        let mut padded = vec![0; self.params.transferred()];
        if !padded.is_empty() {
            ch.recv_stream::<Items>(&mut padded)?;
        }
        let index: HashMap<u128, u32> = input.items.iter().copied().zip(0..).collect();
        let item = |&place: &u32| index.get(&(padded[place as usize] ^ self.pads.chosen[place as usize])).copied();
        let matches: Option<Vec<u32>> = found.iter().map(item).collect();
        let mut matches = matches.ok_or(Abort::PeerMisbehaved(Items::STEP, "a common item that the receiver does not have"))?;
        matches.sort_unstable();
        if !matches.is_sorted_by(|one, next| one < next) {
            return Err(Abort::PeerMisbehaved(Items::STEP, "a common item that came twice"));
        }
        Ok(IntersectReceiverOutput { matches, payloads: Vec::new() })
    }
}

impl Party for Receiver<Sum> {
    type Params = Params;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateReceiverInput, ch: &mut Channel, _rng: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        let columns = self.params.request.columns;
        input.check(&self.params.request, false)?;
        let found = self.test(&input.items, ch)?;
        let _phase = ch.phase(Phase::Payload);
        let common = self.choose(&found, ch)?;

        // Step 5.
        let mut padded = vec![0; self.params.transferred() * columns];
        if !padded.is_empty() {
            ch.recv_stream::<Values>(&mut padded)?;
        }
        let key = pad_key(&ch.session());
        let pieces = padded.par_chunks(PIECE * columns).zip(self.pads.chosen.par_chunks(PIECE)).zip(common.par_chunks(PIECE));
        let masked = pieces
            .map(|((padded, pads), common)| {
                let mut sums = vec![0u64; columns];
                let mut pad = Secret::new(vec![0; columns]);
                for ((padded, &chosen), &common) in padded.chunks_exact(columns).zip(pads).zip(common) {
                    fill_pad(&key, chosen, &mut pad);
                    let taken = u64::from(common).wrapping_neg();
                    for ((sum, pad), padded) in sums.iter_mut().zip(pad.iter()).zip(padded) {
                        *sum = sum.wrapping_add(*pad).wrapping_add(padded & taken);
                    }
                }
                sums
            })
            .reduce(|| vec![0; columns], add);

        // Step 6.
        let mut totals = vec![0; columns];
        ch.recv_stream::<Totals>(&mut totals)?;
        Ok(AggregateOutput::one(add(masked, totals)))
    }
}
