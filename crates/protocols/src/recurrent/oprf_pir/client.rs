//! The right column of the figure.

use std::io;

use vesica_mpc::rfc9497::Output;
use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::pir::{Asked, Reader, Seed};
use vesica_structures::rng::SecretRng;

use super::buckets::{Found, Place};
use super::messages::{Answers, Blinded, Evaluated, Public, Queries};
use super::{Params, QUERIES_AN_ENROLMENT};
use crate::ecdh::ask;
use crate::recurrent::oprf::outputs;
use crate::recurrent::read_params;
use crate::recurrent::sizes::check_asked;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// A client that can ask for records of a server's set.
#[derive(Debug)]
pub struct Client {
    params: Params,
    seed: Seed,
    /// What came with the seed, as it is stored.
    public: Vec<u8>,
    reader: Reader,
    /// Queries so far.
    pub(super) asked: u64,
}

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        // Step 1.
        let mut seed = Seed::default();
        ch.recv_stream::<Public>(&mut seed)?;
        let mut public = vec![0; params.shape.public_bytes()];
        ch.recv_stream::<Public>(&mut public)?;
        let reader = Reader::new(params.shape, &seed, &public);
        let reader = reader.ok_or(Abort::PeerMisbehaved(Public::STEP, "another number of bytes than agreed"))?;
        Ok(Self { params: *params, seed, public, reader, asked: 0 })
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        query.check(self.params.query_items)?;
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
        // Steps 2 and 3.
        let outputs = outputs::<Blinded, Evaluated>(&query.items, ch, rng)?;
        let _phase = ch.phase(Phase::Match);
        let mut found = Found::new(&self.params);
        let send = |output: &Output, ch: &mut Channel| {
            // Step 4.
            let place = Place::of(&self.params, output);
            let (bytes, asked) = self.reader.query(place.bucket, rng);
            ch.send_stream::<Queries>(&bytes)?;
            Ok((place, asked))
        };
        // Nothing in an answer is a reason to stop: the server must not see by that what it said.
        let mut answer = vec![0; self.params.shape.answer_bytes()];
        let take = |(place, asked): (Place, Asked), ch: &mut Channel| {
            // Step 5.
            ch.recv_stream::<Answers>(&mut answer)?;
            let record = self.reader.open(&asked, &answer);
            let record = record.ok_or(Abort::PeerMisbehaved(Answers::STEP, "another number of bytes than agreed"))?;
            found.look(&place, &record);
            Ok(())
        };
        ask(self.params.items_in_flight(), outputs.iter(), ch, send, take)?;
        Ok(found.finish(query.items))
    }
}

impl State for Client {
    const FORMAT: &'static str = "oprf-pir client 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        out.bytes(&self.seed)?;
        out.bytes(&self.public)?;
        out.u64(self.asked)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        let seed = bytes.array()?;
        let public = bytes.elements(params.shape.public_bytes())?;
        let reader = Reader::new(params.shape, &seed, &public);
        let reader = reader.ok_or(StateError::Damaged("its public bytes are not of the shape"))?;
        Ok(Self { params, seed, public, reader, asked: bytes.u64()? })
    }
}
