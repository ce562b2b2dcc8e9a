//! The right column of the figure, with its messages and its state.

use std::io;

use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{ClientKeys, Masks, Results, Seeds, Sums};
use super::params::ITEMS_AN_ENROLMENT;
use super::request::{KEY_BYTES, compressed};
use super::setup::Setup;
use super::{Answer, Keys, Question, Receiver, RowParams};
use vesica_protocols::bfv::ciphertexts::{read_key, receive_short, send_half, send_short};
use vesica_protocols::ecdh::ask;
use vesica_protocols::recurrent::{check_items_asked, matches_of, read_params};
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput, SealedPayloads};

/// A client that holds the encrypted tables of a server's set.
#[derive(Debug)]
pub struct Client {
    params: RowParams,
    /// The key of the compression.
    key: [u8; KEY_BYTES],
    pub(super) receiver: Receiver,
    /// Items asked about so far.
    pub(super) asked: u64,
}

impl service::Client for Client {
    type Params = RowParams;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &RowParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // Arrows 1 to 3.
        let mut key = [0; KEY_BYTES];
        ch.recv_stream::<Seeds>(&mut key)?;
        let setup = Setup::receive(&params.params, params.params.scheme(), ch)?;
        let receiver = Receiver::new(&params.params, setup, rng);
        let client = Self { params: params.clone(), key, receiver, asked: 0 };
        client.send_keys(ch, rng)?;
        Ok(client)
    }

    fn params(&self) -> &RowParams {
        &self.params
    }

    fn resume(&mut self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        self.send_keys(ch, rng)
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        query.check(self.params.query_items)?;
        check_items_asked(self.asked, self.params.query_items, ITEMS_AN_ENROLMENT)
    }

    fn query(
        &mut self,
        _: u64,
        query: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        self.check(&query)?;
        self.asked += self.params.query_items as u64;
        let _phase = ch.phase(Phase::Equality);
        let items = Secret::new(query.items);
        let items = compressed(&self.params.params, &self.key, &items);
        let (mut found, mut unread) = (Secret::new(Vec::with_capacity(items.len())), 0);
        let send = |&item: &u128, ch: &mut Channel| self.send_question(&self.receiver.ask(item, rng), ch);
        let take = |(), ch: &mut Channel| {
            let answer = self.receive_answer(ch)?;
            // Exhausted noise is no reason to stop: the server must not see by that what it said.
            let is_match = self.receiver.read(&answer);
            unread += usize::from(is_match.is_err());
            found.push(is_match.unwrap_or(false));
            Ok(())
        };
        ask(self.params.items_in_flight(), items.iter(), ch, send, take)?;
        Ok(IntersectReceiverOutput { matches: matches_of(&found), payloads: SealedPayloads::default(), unread })
    }
}

impl Client {
    /// Arrow 4, with keys of which only the secret one is the same each time.
    fn send_keys(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let Keys { seed, turns, public, product } = self.receiver.keys(rng);
        ch.send_stream::<ClientKeys>(&seed.to_bytes())?;
        let mut halves = turns.iter().chain([&public]).chain(&product);
        halves.try_for_each(|half| send_half::<ClientKeys>(self.receiver.scheme, half, ch))
    }

    /// Arrows 5 and 6.
    fn send_question(&self, question: &Question, ch: &mut Channel) -> Result<(), Abort> {
        let Question { sums, seed, masks } = question;
        sums.iter().flatten().try_for_each(|sum| send_short::<Sums>(self.receiver.tables.scheme, sum, ch))?;
        ch.send_stream::<Masks>(&seed.to_bytes())?;
        masks.iter().flatten().try_for_each(|half| send_half::<Masks>(self.receiver.scheme, half, ch))
    }

    /// Arrow 7.
    fn receive_answer(&self, ch: &mut Channel) -> Result<Answer, Abort> {
        let (scheme, params) = (self.receiver.scheme, &self.params.params);
        let primes = params.primes_of_e();
        let mut limbs = || (0..params.limbs).map(|_| receive_short::<Results>(scheme, primes, ch)).collect();
        Ok(Answer { results: (0..params.results() / params.limbs).map(|_| limbs()).collect::<Result<_, Abort>>()? })
    }
}

impl State for Client {
    const FORMAT: &'static str = "cm25 client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        out.u64(self.asked)?;
        out.bytes(&self.key)?;
        out.bytes(&self.receiver.key.to_bytes(self.receiver.scheme))?;
        self.receiver.tables.setup.write(self.receiver.tables.scheme, out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, RowParams::from_words)?;
        let asked = bytes.u64()?;
        if asked > ITEMS_AN_ENROLMENT {
            return Err(StateError::Damaged("it has asked more than a client may"));
        }
        let key = bytes.array()?;
        let secret = read_key(params.params.receivers(), bytes)?;
        let setup = Setup::read(&params.params, params.params.scheme(), bytes)?;
        let receiver = Receiver::with_key(&params.params, secret, setup);
        Ok(Self { params, key, receiver, asked })
    }
}
