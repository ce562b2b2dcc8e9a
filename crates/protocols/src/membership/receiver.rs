//! The right column: whoever learns the bits.

use std::fmt;
use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagFinder;

use super::messages::Items;
use super::transfer::OtReceiver;
use super::{For, MembershipTest, Params};
use crate::tasks::{
    AggregateOutput, AggregateReceiverInput, AggregateRequest, Cardinality, Intersect, IntersectReceiverInput,
    IntersectReceiverOutput, Sum,
};

/// The receiver, set up.
pub struct Receiver<M: MembershipTest, T> {
    request: AggregateRequest,
    pub(super) test: M::Receiver,
    pub(super) ot_receiver: OtReceiver<M::Arrows>,
    task: PhantomData<fn() -> T>,
}

impl<M: MembershipTest, T> Receiver<M, T> {
    fn set_up(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // A test may leave some of its set-up to its run.
        let ot_receiver = OtReceiver::setup(params.transfers.as_ref(), ch, rng)?;
        let test = M::receiver(&params.test, ch, rng)?;
        Ok(Self { request: params.request, test, ot_receiver, task: PhantomData })
    }
}

impl<M: For<Cardinality>> Party for Receiver<M, Cardinality> {
    type Params = Params<M>;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(
        self,
        input: AggregateReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<AggregateOutput, Abort> {
        input.check(&self.request, false)?;
        let found = M::test(self.test, &input.items, ch, rng)?;
        Ok(AggregateOutput::one(vec![found.count_ones() as u64]))
    }
}

impl<M: For<Intersect>> Party for Receiver<M, Intersect> {
    type Params = Params<M>;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        input.check(self.request.receiver_items)?;
        let found = M::test(self.test, &input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let opened = self.ot_receiver.take_items(&found, ch)?;
        // What lies at all places is looked for, so that the work does not go by the number of common
        // items; where nothing is common, that is noise.
        let mut own = TagFinder::new(input.items.len(), u128::BITS, true);
        own.add(&input.items, 0..);
        own.find(&opened);
        let common = own.found();
        if common.firsts() != found.words() {
            let fault = "a common item that the receiver does not have, or that came twice";
            return Err(Abort::PeerMisbehaved(Items::<M::Arrows>::STEP, fault));
        }
        Ok(IntersectReceiverOutput { matches: common.list(), ..IntersectReceiverOutput::default() })
    }
}

impl<M: For<Sum>> Party for Receiver<M, Sum> {
    type Params = Params<M>;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(
        self,
        input: AggregateReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<AggregateOutput, Abort> {
        input.check(&self.request, false)?;
        let found = M::test(self.test, &input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        Ok(AggregateOutput::one(self.ot_receiver.take_sums(&found, self.request.columns, ch)?))
    }
}

impl<M: MembershipTest, T> fmt::Debug for Receiver<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver(..)")
    }
}
