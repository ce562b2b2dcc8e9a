//! The left column: whoever asks about its items.

use std::fmt;
use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::Counted;
use super::transfer::OtSender;
use super::{For, MARK_OF_ITEM, MembershipTest, NO_ITEM, Params};
use crate::tasks::{
    Aggregate, AggregateRequest, AggregateSenderInput, Intersect, IntersectSenderInput, IntersectSenderOutput, Over,
    Union, UnionSenderInput, UnionSenderOutput,
};

/// The sender, set up.
pub struct Sender<M: MembershipTest, T> {
    request: AggregateRequest,
    place_bytes: usize,
    /// None where a set is empty.
    pub test: Option<M::Sender>,
    /// Its side of the transfers.
    pub ot_sender: OtSender<M::Arrows>,
    task: PhantomData<fn() -> T>,
}

impl<M: MembershipTest, T> Sender<M, T> {
    fn set_up(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // A test may leave some of its set-up to its run.
        let ot_sender = OtSender::setup(params.transfers.as_ref(), ch, rng)?;
        let test = params.test.as_ref().map(|test| M::sender(test, ch, rng)).transpose()?;
        Ok(Self { request: params.request, place_bytes: params.place_bytes, test, ot_sender, task: PhantomData })
    }
}

impl<M: For<Intersect>> Party for Sender<M, Intersect> {
    type Params = Params<M>;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        input.check(self.request.sender_items, 0)?;
        let Some(test) = self.test else { return Ok(IntersectSenderOutput::default()) };
        let order = M::ask(test, &input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        // A place without an item is never opened.
        self.ot_sender.give_items(|place| input.items.get(order[place] as usize).copied().unwrap_or(0), ch)?;
        Ok(IntersectSenderOutput::default())
    }
}

impl<M: For<Union>> Party for Sender<M, Union> {
    type Params = Params<M>;
    type Input = UnionSenderInput;
    type Output = UnionSenderOutput;

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: UnionSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<UnionSenderOutput, Abort> {
        let record_bytes = self.place_bytes - usize::from(M::HAS_EMPTY_PLACES);
        input.check(self.request.sender_items, record_bytes)?;
        let order = match self.test {
            Some(test) => M::ask(test, &input.items, ch, rng)?,
            // All items are new.
            None => Secret::new(random_order(input.items.len(), rng)),
        };
        let _phase = ch.phase(Phase::Payload);
        let mut cells = Vec::with_capacity(order.len() * self.place_bytes);
        for &item in order.iter() {
            let filled = cells.len() + self.place_bytes;
            if item != NO_ITEM {
                cells.extend_from_slice(&input.records[item as usize * record_bytes..][..record_bytes]);
                // The mark, where there is one.
                cells.resize(filled, MARK_OF_ITEM);
            }
            cells.resize(filled, 0);
        }
        self.ot_sender.give_records(cells, self.place_bytes, ch)?;
        Ok(UnionSenderOutput::default())
    }
}

/// Cardinalities and sums.
impl<M: For<T>, T: Aggregate> Party for Sender<M, T> {
    type Params = Params<M>;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params<M>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Self::set_up(params, ch, rng)
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let columns = self.request.columns;
        input.check(&self.request)?;
        let order = match self.test {
            Some(test) => M::ask(test, &input.items, ch, rng)?,
            None => Secret::new(Vec::new()),
        };
        match (columns, T::OVER) {
            (0, Over::Common) => Ok(()),
            (0, Over::New) => {
                let _phase = ch.phase(Phase::Payload);
                ch.send_stream::<Counted<M::Arrows>>(&[input.counted()])
            }
            (_, over) => {
                let _phase = ch.phase(Phase::Payload);
                let nothing = vec![0; columns];
                let rows =
                    |place: usize| input.values.chunks_exact(columns).nth(order[place] as usize).unwrap_or(&nothing);
                self.ot_sender.give_values(over, &input.sums(columns), rows, ch)
            }
        }
    }
}

impl<M: MembershipTest, T> fmt::Debug for Sender<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender(..)")
    }
}
