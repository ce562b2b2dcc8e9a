//! The left column of the figure.

use std::io;

use vesica_mpc::rfc9497::{Binding, SecretKey};
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Evaluated, Key, Payloads, Proofs, Tags};
use super::{Params, of_items};
use crate::ecdh::{BAD_POINT, answer};
use crate::recurrent::filter::Filter;
use crate::recurrent::items::inputs;
use crate::recurrent::read_params;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    pub(super) key: SecretKey,
    filter: Filter,
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = ();
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        set.check(params.sizes.set_items, params.sizes.payload_bytes)?;
        let key = SecretKey::random(params.mode(), rng);
        let filter = Filter::prepare(params.shape(), &set, |items| of_items(&key.evaluate(inputs(items))))?;
        Ok(Self { id: StateId::random(rng), params: *params, key, filter })
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn admit(&self, _: &ClientIdentity, standing: Standing, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        if standing == Standing::Current {
            return Ok(());
        }
        // Step 1.
        if self.params.is_verifiable {
            ch.send_stream::<Key>(&[*self.key.public()])?;
        }
        // Steps 2 and 3.
        self.filter.send::<Tags, Payloads>(ch)
    }

    fn answer(
        &self,
        (): &mut (),
        _: Query,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let bad_point = || Abort::PeerMisbehaved(Blinded::STEP, BAD_POINT);
        let session = ch.session();
        // Step 4.
        answer::<Blinded>(self.params.sizes.query_items, ch, |blinded, ch| {
            // Step 5.
            let mut evaluated = blinded.clone();
            if !self.key.evaluate_blinded(&mut evaluated) {
                return Err(bad_point());
            }
            ch.send_stream::<Evaluated>(&evaluated)?;
            // Step 6.
            if self.params.is_verifiable {
                let proof = self.key.prove(Binding::Batch(&session), &blinded, &evaluated, rng);
                ch.send_stream::<Proofs>(&proof.ok_or_else(bad_point)?)?;
            }
            Ok(())
        })?;
        Ok(IntersectSenderOutput { matches: None })
    }
}

impl State for Server {
    const FORMAT: &'static str = "oprf-rfc9497 server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.bytes(&*self.key.to_bytes())?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let key = Secret::new(bytes.array()?);
        let key = SecretKey::from_bytes(params.mode(), &key).ok_or(StateError::Damaged("its key is malformed"))?;
        Ok(Self { id, params, key, filter: Filter::read(params.shape(), bytes)? })
    }
}
