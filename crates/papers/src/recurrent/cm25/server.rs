//! The left column of the figure, with its messages and its state.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients};
use vesica_structures::rng::SecretRng;

use super::messages::{ClientKeys, Masks, Results, Seeds, Sums};
use super::params::ITEMS_OF_A_SET;
use super::request::{KEY_BYTES, compressed};
use super::setup::Setup;
use super::turns::Turns;
use super::{Keys, Question, ReceiverKeys, RowParams, Sender};
use vesica_protocols::bfv::ciphertexts::{
    exhausted, read_key, receive_half, receive_halves, receive_seed, receive_short, send_short,
};
use vesica_protocols::recurrent::{count_answered, read_params};
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: RowParams,
    /// The key of the compression.
    pub(super) key: [u8; KEY_BYTES],
    pub(super) sender: Sender,
    /// Items answered, of all clients.
    pub(super) answered: AtomicU64,
}

/// What the server keeps of a client on one connection.
#[derive(Debug)]
pub struct Session {
    pub(super) keys: ReceiverKeys,
}

impl service::Server for Server {
    type Params = RowParams;
    type Set = IntersectSenderInput;
    type Session = Session;
    type Output = IntersectSenderOutput;

    fn prepare(params: &RowParams, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        set.check(params.params.set_items, 0)?;
        let mut key = [0; KEY_BYTES];
        rng.fill_bytes(&mut key);
        let mut items = compressed(&params.params, &key, &set.items);
        // Equal items, and those that are compressed to the same, are one.
        items.sort_unstable();
        items.dedup();
        let sender = Sender::prepare(&params.params, &items, rng)
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        let id = StateId::random(rng);
        Ok(Self { id, params: params.clone(), key, sender, answered: AtomicU64::new(0) })
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &RowParams {
        &self.params
    }

    fn admit(
        &self,
        _: &ClientIdentity,
        standing: Standing,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<Session, Abort> {
        let scheme = self.sender.scheme;
        if standing != Standing::Current {
            // Arrows 1 to 3.
            ch.send_stream::<Seeds>(&self.key)?;
            self.sender.setup.send(scheme, ch)?;
        }
        // Arrow 4.
        let theirs = self.params.params.receivers();
        let seed = receive_seed::<ClientKeys>(ch)?;
        let turns = receive_halves::<ClientKeys>(theirs, Turns::count(theirs), ch)?;
        let (_, public) = receive_half::<ClientKeys>(theirs, ch)?;
        let products = if self.params.params.has_senders_products() { theirs.digits() } else { 0 };
        let product = receive_halves::<ClientKeys>(theirs, products, ch)?;
        Ok(Session { keys: self.sender.receive(Keys { seed, turns, public, product }) })
    }

    fn answer(
        &self,
        session: &mut Session,
        _: Query,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let _phase = ch.phase(Phase::Equality);
        count_answered(&self.answered, self.params.query_items, ITEMS_OF_A_SET)?;
        for _ in 0..self.params.query_items {
            let question = self.receive_question(ch)?;
            let answer = self.sender.answer(&session.keys, &question, rng).map_err(|_| exhausted::<Sums>())?;
            // Arrow 7.
            let mut results = answer.results.iter().flatten();
            results.try_for_each(|result| send_short::<Results>(self.params.params.receivers(), result, ch))?;
        }
        Ok(IntersectSenderOutput { matches: None })
    }
}

impl Server {
    /// Arrow 5.
    pub(super) fn receive_sums(&self, ch: &mut Channel) -> Result<Vec<Vec<Ciphertext<Coefficients>>>, Abort> {
        let (scheme, params) = (self.sender.scheme, &self.params.params);
        let mut limbs = || (0..params.limbs).map(|_| receive_short::<Sums>(scheme, params.primes_of_d(), ch)).collect();
        (0..params.partitions[0]).map(|_| limbs()).collect()
    }

    /// Arrows 5 and 6.
    pub(super) fn receive_question(&self, ch: &mut Channel) -> Result<Question, Abort> {
        let params = &self.params.params;
        let sums = self.receive_sums(ch)?;
        let seed = receive_seed::<Masks>(ch)?;
        let limbs = params.limbs * params.chunks();
        let masks = sums.iter().map(|_| receive_halves::<Masks>(params.receivers(), limbs, ch));
        Ok(Question { masks: masks.collect::<Result<_, Abort>>()?, sums, seed })
    }
}

impl State for Server {
    const FORMAT: &'static str = "cm25 server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.u64(self.answered.load(Ordering::Relaxed))?;
        out.bytes(&self.key)?;
        out.bytes(&self.sender.key.to_bytes(self.sender.scheme))?;
        self.sender.setup.write(self.sender.scheme, out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, RowParams::from_words)?;
        let answered = bytes.u64()?;
        if answered > ITEMS_OF_A_SET {
            return Err(StateError::Damaged("it has answered more than a set may"));
        }
        let key = bytes.array()?;
        let scheme = params.params.scheme();
        let secret = read_key(scheme, bytes)?;
        let setup = Setup::read(&params.params, scheme, bytes)?;
        let sender = Sender { params: params.params.clone(), scheme, key: secret, setup };
        Ok(Self { id, params, key, sender, answered: AtomicU64::new(answered) })
    }
}
