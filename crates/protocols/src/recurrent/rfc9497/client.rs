//! The right column of the figure.

use std::io;

use vesica_mpc::rfc9497::{Binding, Blinds, Output, blind, finalize, is_public_key, verify};
use vesica_party::service::{self, Moved, Standing, State, StateError, StateReader, StateWriter, other_terms};
use vesica_party::transport::tls::PublicKey;
use vesica_party::{Abort, Channel, Malformed, Phase, Reader, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Edition, Evaluated, Key, Payloads, Proofs, Tags, Verdict};
use super::params::EDITION_BYTES;
use super::update::{self, Extent, REFUSED, TAKEN};
use super::{Params, of_items};
use crate::ecdh::{BAD_POINT, CHUNKS_IN_FLIGHT, POINT_BYTES, POINTS_PER_CHUNK, Point, ask};
use crate::recurrent::delta::Delta;
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
    /// The key that signs updates.
    signer: PublicKey,
    /// The version of the set.
    pub(super) version: u64,
    filter: Filter,
    /// Queries so far.
    pub(super) asked: u64,
    /// How it came to the set.
    moved: Moved,
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
        // Step 2.
        let mut edition = [0; EDITION_BYTES];
        ch.recv_stream::<Edition>(&mut edition)?;
        let mut edition = Reader::new(&edition);
        let malformed = |Malformed(what)| Abort::PeerMisbehaved(Edition::STEP, what);
        let signer = PublicKey::from_bytes(edition.array().map_err(malformed)?);
        let version = edition.u64().map_err(malformed)?;
        // Steps 3 and 4.
        let filter = Filter::receive::<Tags, Payloads>(params.shape(), ch)?;
        Ok(Self { params: *params, key, signer, version, filter, asked: 0, moved: Moved::Anew })
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn rejoin(
        &mut self,
        params: &Params,
        standing: Standing,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        if self.params != *params {
            return Err(other_terms());
        }
        let mut moved = match standing {
            Standing::Current => return Ok(()),
            Standing::New => Moved::Anew,
            Standing::Outdated(_) => self.take_update(ch)?,
        };
        if moved != Moved::Updated {
            let mut anew = Self::enrol(params, ch, rng)?;
            if anew.signer == self.signer {
                // Its queries were about tags under this key, too.
                anew.asked = self.asked;
                if moved == Moved::Anew && anew.version <= self.version {
                    moved = Moved::SetBack { from: self.version, to: anew.version };
                }
            }
            *self = anew;
        }
        self.moved = moved;
        Ok(())
    }

    fn moved(&self) -> Moved {
        self.moved
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
    /// Steps 8 to 10. Everything follows unless it updated the client.
    fn take_update(&mut self, ch: &mut Channel) -> Result<Moved, Abort> {
        let Some(extent) = update::receive_head(&self.params, &self.signer, ch)? else { return Ok(Moved::Anew) };
        let change = update::receive_change(&extent, ch)?;
        match self.updated(&extent, &change) {
            Ok(filter) => {
                ch.send_stream::<Verdict>(&[TAKEN])?;
                (self.filter, self.version) = (filter, extent.to);
                Ok(Moved::Updated)
            }
            Err(Malformed(why)) => {
                ch.send_stream::<Verdict>(&[REFUSED])?;
                Ok(Moved::Refused(why))
            }
        }
    }

    /// The list after an update.
    fn updated(&self, extent: &Extent, change: &[u8]) -> Result<Filter, Malformed> {
        if extent.from != self.version || extent.to <= extent.from {
            return Err(Malformed("it begins with another version than the client has, or leads to no later one"));
        }
        let count = usize::try_from(extent.count).map_err(|_| Malformed("it has too many tags"))?;
        let filter = self.filter.updated(&Delta::parse(&self.params.shape(), count, change)?)?;
        if filter.digest() != extent.digest {
            return Err(Malformed("it does not lead to the list of tags that the server has signed"));
        }
        Ok(filter)
    }

    /// Steps 5 to 7: the outputs for these items.
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

    /// Steps 6 and 7 for one chunk.
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
    const FORMAT: &'static str = "oprf-rfc9497 client 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        if let Some(key) = &self.key {
            out.bytes(key)?;
        }
        out.bytes(self.signer.as_bytes())?;
        out.u64(self.version)?;
        out.u64(self.asked)?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        let key = if params.is_verifiable { Some(bytes.array()?) } else { None };
        if key.as_ref().is_some_and(|key| !is_public_key(key)) {
            return Err(StateError::Damaged("the server's key is malformed"));
        }
        let (signer, version) = (PublicKey::from_bytes(bytes.array()?), bytes.u64()?);
        let asked = bytes.u64()?;
        let filter = Filter::read(params.shape(), bytes)?;
        Ok(Self { params, key, signer, version, asked, filter, moved: Moved::Anew })
    }
}
