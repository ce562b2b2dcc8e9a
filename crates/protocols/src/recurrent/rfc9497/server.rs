//! The left column of the figure.

use std::io;
use std::sync::OnceLock;

use vesica_mpc::rfc9497::{Binding, SecretKey};
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::transport::tls::Identity;
use vesica_party::{Abort, Channel, Malformed, Phase, Stream, exit_code};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Edition, Evaluated, Key, Payloads, Proofs, Tags};
use super::update::{self, Extent, History};
use super::{Params, of_items};
use crate::ecdh::{BAD_POINT, answer};
use crate::recurrent::delta::Delta;
use crate::recurrent::filter::{self, Filter};
use crate::recurrent::items::{inputs, refuse_twins};
use crate::recurrent::read_params;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    pub(super) params: Params,
    pub(super) key: SecretKey,
    /// Signs updates. As old as the key.
    pub(super) signer: Identity,
    /// How many updates came before.
    pub(super) version: u64,
    filter: Filter,
    /// Of the filter, once a client has asked for an update.
    digest: OnceLock<[u8; 32]>,
    pub(super) history: History,
}

impl Server {
    /// What the function gives for these items.
    fn outputs(&self, items: &[u128]) -> Secret<Vec<filter::Output>> {
        of_items(&self.key.evaluate(inputs(items)))
    }
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = ();
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        set.check(params.sizes.set_items, params.sizes.payload_bytes)?;
        let key = SecretKey::random(params.mode(), rng);
        let filter = Filter::prepare(params.shape(), &set, |items| of_items(&key.evaluate(inputs(items))), rng)?;
        let seed: [[u8; 16]; 2] = [rng.block(), rng.block()].map(u128::to_le_bytes);
        let signer = Identity::of_seed(&Secret::new(bytemuck::cast(seed))).ok_or_else(no_signer)?;
        let history = History::default();
        Ok(Self {
            id: StateId::random(rng),
            params: *params,
            key,
            signer,
            version: 0,
            filter,
            digest: OnceLock::new(),
            history,
        })
    }

    const IS_UPDATABLE: bool = true;

    fn update(
        &self,
        removed: IntersectSenderInput,
        added: IntersectSenderInput,
        rng: &mut SecretRng,
    ) -> Result<Option<Self>, Abort> {
        added.check(removed.items.len(), self.params.sizes.payload_bytes)?;
        refuse_twins(&removed.items)?;
        refuse_twins(&added.items)?;
        let shape = self.params.shape();
        let (gone, new) = (self.outputs(&removed.items), self.outputs(&added.items));
        let delta = Delta::prepare(&shape, &gone, (&added.items, &new, &added.payloads), rng);
        let filter = self.filter.updated(&delta).map_err(|Malformed(what)| Abort::Local {
            code: exit_code::INTERNAL,
            fault: format!("the prepared set cannot be updated: {what}"),
            mend: "prepare it anew".into(),
        })?;
        let key = SecretKey::from_bytes(self.params.mode(), &self.key.to_bytes());
        let (Some(key), Some(version)) = (key, self.version.checked_add(1)) else { return Ok(None) };
        let history = self.history.with(self.id, delta, &shape);
        let (params, signer) = (self.params, self.signer.clone());
        Ok(Some(Self {
            id: StateId::random(rng),
            params,
            key,
            signer,
            version,
            filter,
            digest: OnceLock::new(),
            history,
        }))
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
        if let Standing::Outdated(known) = standing {
            // Steps 8 to 10.
            let shape = self.params.shape();
            match self.history.since(known, &shape) {
                None => update::send_none(ch)?,
                Some((delta, steps)) => {
                    let change = delta.to_bytes(&shape);
                    let extent = Extent {
                        from: self.version.saturating_sub(steps),
                        to: self.version,
                        count: delta.len() as u64,
                        bytes: change.len() as u64,
                        digest: *self.digest.get_or_init(|| self.filter.digest()),
                    };
                    if update::send(&extent, &change, (&self.params, &self.signer), ch)? {
                        return Ok(());
                    }
                }
            }
        }
        // Step 1.
        if self.params.is_verifiable {
            ch.send_stream::<Key>(&[*self.key.public()])?;
        }
        // Step 2.
        let edition = [&self.signer.public().as_bytes()[..], &self.version.to_le_bytes()].concat();
        ch.send_stream::<Edition>(&edition)?;
        // Steps 3 and 4.
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
        // Step 5.
        answer::<Blinded>(self.params.sizes.query_items, ch, |blinded, ch| {
            // Step 6.
            let mut evaluated = blinded.clone();
            if !self.key.evaluate_blinded(&mut evaluated) {
                return Err(bad_point());
            }
            ch.send_stream::<Evaluated>(&evaluated)?;
            // Step 7.
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
    const FORMAT: &'static str = "oprf-rfc9497 server 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.bytes(&*self.key.to_bytes())?;
        out.bytes(&*self.signer.seed())?;
        out.u64(self.version)?;
        self.history.write(&self.params.shape(), out)?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let key = Secret::new(bytes.array()?);
        let key = SecretKey::from_bytes(params.mode(), &key).ok_or(StateError::Damaged("its key is malformed"))?;
        let signer = Identity::of_seed(&Secret::new(bytes.array()?)).ok_or_else(no_signer)?;
        let (version, shape) = (bytes.u64()?, params.shape());
        let history = History::read(&shape, bytes)?;
        Ok(Self {
            id,
            params,
            key,
            signer,
            version,
            history,
            filter: Filter::read(shape, bytes)?,
            digest: OnceLock::new(),
        })
    }
}

fn no_signer() -> StateError {
    StateError::Damaged("the key that signs updates cannot be used")
}
