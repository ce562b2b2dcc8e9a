//! The right column of the figure.

use std::io;

use vesica_mpc::rfc9497::{Blinds, Mode, Output, blind, finalize};
use vesica_party::service::{self, Standing, State, StateError, StateReader, StateWriter, other_terms};
use vesica_party::{Abort, Channel, Phase, Stream, exit_code};
use vesica_structures::pir::{Asked, Reader, Seed};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::buckets::{Found, Place};
use super::messages::{Answers, Blinded, Evaluated, Public, Queries};
use super::{Params, QUERIES_AN_ENROLMENT};
use crate::ecdh::{BAD_POINT, CHUNKS_IN_FLIGHT, POINT_BYTES, POINTS_PER_CHUNK, Point, ask};
use crate::recurrent::items::inputs;
use crate::recurrent::read_params;
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

    fn rejoin(
        &mut self,
        params: &Params,
        standing: Standing,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        if standing != Standing::Current {
            *self = Self::enrol(params, ch, rng)?;
        } else if self.params != *params {
            return Err(other_terms());
        }
        Ok(())
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        query.check(self.params.query_items)?;
        if self.asked < QUERIES_AN_ENROLMENT {
            return Ok(());
        }
        Err(Abort::Local {
            code: exit_code::REFUSED,
            fault: format!("this client has asked {QUERIES_AN_ENROLMENT} times since it enrolled"),
            mend: "have the server prepare its set again, and enrol anew".into(),
        })
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
        let outputs = outputs(&query.items, ch, rng)?;
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

/// Steps 2 and 3: the outputs for these items.
fn outputs(items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<Output>>, Abort> {
    let _phase = ch.phase(Phase::HashItems);
    let mut outputs = Secret::new(Vec::with_capacity(items.len()));
    let send = |inputs, ch: &mut Channel| {
        let (blinds, blinded): (Blinds, Vec<Point>) = blind(Mode::Oprf, inputs, rng);
        ch.send_stream::<Blinded>(&blinded)?;
        Ok((inputs, blinds))
    };
    let take = |(inputs, blinds): (&[[u8; 16]], Blinds), ch: &mut Channel| {
        let mut evaluated = vec![[0; POINT_BYTES]; inputs.len()];
        ch.recv_stream::<Evaluated>(&mut evaluated)?;
        let part = finalize(inputs, &blinds, &evaluated);
        outputs.extend_from_slice(&part.ok_or(Abort::PeerMisbehaved(Evaluated::STEP, BAD_POINT))?);
        Ok(())
    };
    ask(CHUNKS_IN_FLIGHT, inputs(items).chunks(POINTS_PER_CHUNK), ch, send, take)?;
    Ok(outputs)
}

impl State for Client {
    const FORMAT: &'static str = "oprf-pir client 1";

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
