//! The right column of the figure.

use std::io;

use vesica_mpc::rfc9497::{Binding, Blinds, Output, blind, finalize, is_public_key, verify};
use vesica_party::service::{self, Standing, State, StateError, StateReader, StateWriter, other_terms};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Evaluated, Key, Payloads, Proofs, Tags};
use super::{Params, of_items};
use crate::ecdh::{BAD_POINT, CHUNKS_IN_FLIGHT, POINT_BYTES, POINTS_PER_CHUNK, Point, ask};
use crate::recurrent::filter::Filter;
use crate::recurrent::items::inputs;
use crate::recurrent::read_params;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// A client that knows the tags of a server's set.
#[derive(Debug)]
pub struct Client {
    params: Params,
    /// `pkS`, where the server proves that it used its key.
    key: Option<Point>,
    filter: Filter,
    /// Queries so far.
    pub(super) asked: u64,
}

/// A chunk of a query that was sent.
struct Asked<'a> {
    inputs: &'a [[u8; 16]],
    blinds: Blinds,
    blinded: Vec<Point>,
}

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        // Step 1.
        let mut key = None;
        if params.is_verifiable {
            let mut stated = [[0; POINT_BYTES]];
            ch.recv_stream::<Key>(&mut stated)?;
            let [stated] = stated;
            if !is_public_key(&stated) {
                return Err(Abort::PeerMisbehaved(Key::STEP, BAD_POINT));
            }
            key = Some(stated);
        }
        // Steps 2 and 3.
        let filter = Filter::receive::<Tags, Payloads>(params.shape(), ch)?;
        Ok(Self { params: *params, key, filter, asked: 0 })
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
        self.params.sizes.check_query(query, self.asked)
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
        let outputs = self.outputs(&query.items, ch, rng)?;
        let _phase = ch.phase(Phase::Match);
        Ok(self.filter.find(query.items, &of_items(&outputs)))
    }
}

impl Client {
    /// Steps 4 to 6: the outputs for these items.
    fn outputs(&self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<Output>>, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let mut outputs = Secret::new(Vec::with_capacity(items.len()));
        let send = |inputs, ch: &mut Channel| {
            let (blinds, blinded) = blind(self.params.mode(), inputs, rng);
            ch.send_stream::<Blinded>(&blinded)?;
            Ok(Asked { inputs, blinds, blinded })
        };
        let take = |asked: Asked<'_>, ch: &mut Channel| {
            outputs.extend_from_slice(&self.receive(&asked, ch)?);
            Ok(())
        };
        ask(CHUNKS_IN_FLIGHT, inputs(items).chunks(POINTS_PER_CHUNK), ch, send, take)?;
        Ok(outputs)
    }

    /// Steps 5 and 6 for one chunk.
    fn receive(&self, asked: &Asked<'_>, ch: &mut Channel) -> Result<Secret<Vec<Output>>, Abort> {
        let mut evaluated = vec![[0; POINT_BYTES]; asked.inputs.len()];
        ch.recv_stream::<Evaluated>(&mut evaluated)?;
        if let Some(key) = &self.key {
            let mut proof = [[0; POINT_BYTES]; 2];
            ch.recv_stream::<Proofs>(&mut proof)?;
            if !verify(Binding::Batch(&ch.session()), key, &asked.blinded, &evaluated, &proof) {
                return Err(Abort::PeerMisbehaved(Proofs::STEP, "the answers are not under the server's key"));
            }
        }
        finalize(asked.inputs, &asked.blinds, &evaluated).ok_or(Abort::PeerMisbehaved(Evaluated::STEP, BAD_POINT))
    }
}

impl State for Client {
    const FORMAT: &'static str = "oprf-rfc9497 client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        if let Some(key) = &self.key {
            out.bytes(key)?;
        }
        out.u64(self.asked)?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        let key = if params.is_verifiable { Some(bytes.array()?) } else { None };
        if key.as_ref().is_some_and(|key| !is_public_key(key)) {
            return Err(StateError::Damaged("the server's key is malformed"));
        }
        let asked = bytes.u64()?;
        Ok(Self { params, key, asked, filter: Filter::read(params.shape(), bytes)? })
    }
}
