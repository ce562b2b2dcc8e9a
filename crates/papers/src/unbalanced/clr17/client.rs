//! The right column of the figure.

use std::io;

use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rlwe::bfv::SecretKey;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Answers, ClientKeys, HashSeeds, Question};
use super::params::{HASH_SEED_BYTES, ring};
use super::{Params, QUERIES_AN_ENROLMENT};
use vesica_protocols::bfv::keys;
use vesica_protocols::recurrent::items::refuse_twins;
use vesica_protocols::recurrent::read_params;
use vesica_protocols::recurrent::sizes::check_asked;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};
use vesica_protocols::unbalanced::query::Slots;

/// A client with the key of its ciphertexts, and the hash functions of a server's set.
#[derive(Debug)]
pub struct Client {
    params: Params,
    pub(super) key: SecretKey,
    /// Arrow 1.
    pub(super) seeds: [u8; HASH_SEED_BYTES],
    /// Queries so far.
    pub(super) asked: u64,
}

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // Step 1.
        let mut seeds = [0; HASH_SEED_BYTES];
        ch.recv_stream::<HashSeeds>(&mut seeds)?;
        let client = Self { params: *params, key: SecretKey::new(&ring().scheme, rng), seeds, asked: 0 };
        client.send_keys(ch, rng)?;
        Ok(client)
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn resume(&mut self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        self.send_keys(ch, rng)
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        query.check(self.params.query_items)?;
        // No cuckoo table holds an item four times: the client would stop where the server sees it.
        refuse_twins(&query.items)?;
        check_asked(self.asked, QUERIES_AN_ENROLMENT)
    }

    fn query(
        &mut self,
        _: u64,
        query: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        self.check(&query)?;
        self.asked += 1;
        if query.items.is_empty() {
            return Ok(IntersectReceiverOutput::default());
        }
        let _phase = ch.phase(Phase::Match);
        let items = Secret::new(query.items);
        let (positions, limbs) = self.params.hash(&self.seeds, &items);
        let slots = Slots::new(&ring().scheme, self.params.shape, &positions, &limbs)?;
        // Steps 3 and 4.
        Ok(slots.ask::<Question, Answers>(&self.key, ch, rng)?.membership())
    }
}

impl Client {
    /// Step 2, with keys of which only the secret one is the same each time.
    fn send_keys(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        keys::send::<ClientKeys>(&ring().scheme, &self.key, ch, rng)
    }
}

impl State for Client {
    const FORMAT: &'static str = "clr17 client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        out.u64(self.asked)?;
        out.bytes(&self.seeds)?;
        out.bytes(&self.key.to_bytes(&ring().scheme))
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        let asked = bytes.u64()?;
        let seeds = bytes.array()?;
        let key = Secret::new(bytes.elements::<u8>(ring().half_bytes())?);
        let key = SecretKey::from_bytes(&ring().scheme, &key).ok_or(StateError::Damaged("its key is malformed"))?;
        Ok(Self { params, key, seeds, asked })
    }
}
