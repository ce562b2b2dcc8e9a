//! The right column of the figure.

use std::io;

use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rlwe::bfv::SecretKey;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Answers, Blinded, Evaluated, ProductKey, Question};
use super::params::{fill_payload_keystream, ring};
use super::{Params, QUERIES_AN_ENROLMENT};
use crate::bfv::ciphertexts::send_half;
use crate::recurrent::items::refuse_twins;
use crate::recurrent::oprf::outputs;
use crate::recurrent::sizes::check_asked;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};
use crate::unbalanced::query::Slots;

/// A client with the key of its ciphertexts.
#[derive(Debug)]
pub struct Client {
    params: Params,
    pub(super) key: SecretKey,
    /// Queries so far.
    pub(super) asked: u64,
}

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let client = Self { params: *params, key: SecretKey::new(&ring().scheme, rng), asked: 0 };
        client.send_key(ch, rng)?;
        Ok(client)
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn resume(&mut self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        self.send_key(ch, rng)
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
        let items = Secret::new(query.items);
        // Steps 2 and 3.
        let outputs = outputs::<Blinded, Evaluated>(&items, ch, rng)?;
        let _phase = ch.phase(Phase::Match);
        let (positions, limbs) = (self.params.positions(&outputs), self.params.limbs(&outputs));
        let slots = Slots::new(&ring().scheme, self.params.shape, &positions, &limbs)?;
        // Steps 4 and 5.
        let answer = slots.ask::<Question, Answers>(&self.key, ch, rng)?;
        Ok(answer.with_payloads(move |own, out| fill_payload_keystream(&outputs[own], items[own], out)))
    }
}

impl Client {
    /// Step 1, with a key for products of which only the secret is the same each time.
    fn send_key(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let scheme = &ring().scheme;
        let mut keys = self.key.encryptor(scheme, rng);
        ch.send_stream::<ProductKey>(&keys.seed().to_bytes())?;
        keys.product_key(rng).iter().try_for_each(|half| send_half::<ProductKey>(scheme, half, ch))
    }
}

impl State for Client {
    const FORMAT: &'static str = "cmdg21 client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        self.params.write(out)?;
        out.u64(self.asked)?;
        out.bytes(&self.key.to_bytes(&ring().scheme))
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = Params::read(bytes)?;
        let asked = bytes.u64()?;
        let key = Secret::new(bytes.elements::<u8>(ring().half_bytes())?);
        let key = SecretKey::from_bytes(&ring().scheme, &key).ok_or(StateError::Damaged("its key is malformed"))?;
        Ok(Self { params, key, asked })
    }
}
