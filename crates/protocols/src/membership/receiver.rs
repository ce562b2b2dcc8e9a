//! The right column: whoever learns the bits.

use std::fmt;
use std::marker::PhantomData;

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagFinder;

use super::messages::{Counted, Items};
use super::transfer::OtReceiver;
use super::{For, MARK_OF_ITEM, MembershipTest, Params};
use crate::tasks::{
    Aggregate, AggregateOutput, AggregateReceiverInput, AggregateRequest, Intersect, IntersectReceiverInput,
    IntersectReceiverOutput, NewRecords, Over, Union, UnionReceiverInput, UnionReceiverOutput,
};

/// The receiver, set up.
pub struct Receiver<M: MembershipTest, T> {
    request: AggregateRequest,
    place_bytes: usize,
    /// None where a set is empty.
    pub test: Option<M::Receiver>,
    /// Its side of the transfers.
    pub ot_receiver: OtReceiver<M::Arrows>,
    task: PhantomData<fn() -> T>,
}

impl<M: MembershipTest, T> Receiver<M, T> {
    fn set_up(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // A test may leave some of its set-up to its run.
        let ot_receiver = OtReceiver::setup(params.transfers.as_ref(), ch, rng)?;
        let test = params.test.as_ref().map(|test| M::receiver(test, ch, rng)).transpose()?;
        Ok(Self { request: params.request, place_bytes: params.place_bytes, test, ot_receiver, task: PhantomData })
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
        let Some(test) = self.test else { return Ok(IntersectReceiverOutput::default()) };
        let found = M::test(test, &input.items, ch, rng)?;
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

impl<M: For<Union>> Party for Receiver<M, Union> {
    type Params = Params<M>;
    type Input = UnionReceiverInput;
    type Output = UnionReceiverOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(
        self,
        input: UnionReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<UnionReceiverOutput, Abort> {
        let Self { request, place_bytes, test, ot_receiver, .. } = self;
        input.check(request.receiver_items)?;
        let found = match test {
            Some(test) => M::test(test, &input.items, ch, rng)?,
            // All items of the sender are new.
            None => Bits::zeros(request.sender_items),
        };
        let _phase = ch.phase(Phase::Payload);
        let cells = ot_receiver.take_records(&found, place_bytes, ch)?;
        let new = new_places(&found, &cells, place_bytes, M::HAS_EMPTY_PLACES);
        let record_bytes = place_bytes - usize::from(M::HAS_EMPTY_PLACES);
        Ok(UnionReceiverOutput { records: NewRecords::new(record_bytes, place_bytes, cells, new) })
    }
}

/// The places of new items, by their marks if there are any. Every place takes the same work. Marks
/// that no honest sender sets are not complained of: the receiver sees a mark only where the item is
/// not common, so that a complaint would tell the sender that it is not.
fn new_places(found: &Bits, cells: &[u8], place_bytes: usize, are_marked: bool) -> Bits {
    let mut new = found.clone();
    new.flip();
    if !are_marked {
        return new;
    }
    let marks = cells.iter().skip(place_bytes - 1).step_by(place_bytes);
    marks.zip(new.iter()).map(|(&mark, is_new)| is_new & (mark == MARK_OF_ITEM)).collect()
}

/// Cardinalities and sums.
impl<M: For<T>, T: Aggregate> Party for Receiver<M, T> {
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
        let found = match self.test {
            Some(test) => M::test(test, &input.items, ch, rng)?,
            None => Bits::default(),
        };
        let results = match (self.request.columns, T::OVER) {
            (0, Over::Common) => vec![found.count_ones() as u64],
            (0, Over::New) => {
                let _phase = ch.phase(Phase::Payload);
                let mut counted = [0];
                ch.recv_stream::<Counted<M::Arrows>>(&mut counted)?;
                let [counted] = counted;
                let new = counted.checked_sub(found.count_ones() as u64);
                let fault = "a number of items that is less than that of the common ones, or more than agreed";
                let new = new.filter(|_| counted <= self.request.sender_items as u64);
                vec![new.ok_or(Abort::PeerMisbehaved(Counted::<M::Arrows>::STEP, fault))?]
            }
            (columns, over) => {
                let _phase = ch.phase(Phase::Payload);
                self.ot_receiver.take_sums(over, &found, columns, ch)?
            }
        };
        Ok(AggregateOutput::one(results))
    }
}

impl<M: MembershipTest, T> fmt::Debug for Receiver<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver(..)")
    }
}
