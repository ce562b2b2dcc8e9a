//! The right column: whoever learns the bits.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;

use super::messages::Items;
use super::transfer::Taker;
use super::{For, MembershipTest, Params};
use crate::tasks::{
    AggregateOutput, AggregateReceiverInput, AggregateRequest, Cardinality, Intersect, IntersectReceiverInput, IntersectReceiverOutput, Sum,
};

/// The receiver, set up.
pub struct Receiver<M: MembershipTest, T> {
    request: AggregateRequest,
    pub(super) test: M::Receiver,
    pub(super) taker: Taker<M::Arrows>,
    task: PhantomData<fn() -> T>,
}

impl<M: MembershipTest, T> Receiver<M, T> {
    fn set_up(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // A test may leave some of its set-up to its run.
        let taker = Taker::setup(params.transfers.as_ref(), ch, rng)?;
        let test = M::receiver(&params.test, ch, rng)?;
        Ok(Self { request: params.request, test, taker, task: PhantomData })
    }
}

impl<M: For<Cardinality>> Party for Receiver<M, Cardinality> {
    type Params = Params<M>;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateReceiverInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        input.check(&self.request, false)?;
        let found = M::test(self.test, &input.items, ch, rng)?;
        Ok(AggregateOutput::one(vec![found.len() as u64]))
    }
}

impl<M: For<Intersect>> Party for Receiver<M, Intersect> {
    type Params = Params<M>;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: IntersectReceiverInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<IntersectReceiverOutput, Abort> {
        input.check(self.request.receiver_items)?;
        let found = M::test(self.test, &input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let opened = self.taker.take_items(&found, ch)?;
        let index: HashMap<u128, u32> = input.items.iter().copied().zip(0..).collect();
        let matches: Option<Vec<u32>> = found.iter().map(|&place| index.get(&opened[place as usize]).copied()).collect();
        let misbehaved = |what| Abort::PeerMisbehaved(Items::<M::Arrows>::STEP, what);
        let mut matches = matches.ok_or_else(|| misbehaved("a common item that the receiver does not have"))?;
        matches.sort_unstable();
        if !matches.is_sorted_by(|one, next| one < next) {
            return Err(misbehaved("a common item that came twice"));
        }
        Ok(IntersectReceiverOutput { matches, payloads: Vec::new() })
    }
}

impl<M: For<Sum>> Party for Receiver<M, Sum> {
    type Params = Params<M>;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateReceiverInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        input.check(&self.request, false)?;
        let found = M::test(self.test, &input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        Ok(AggregateOutput::one(self.taker.take_sums(&found, self.request.columns, ch)?))
    }
}

impl<M: MembershipTest, T> fmt::Debug for Receiver<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver(..)")
    }
}
