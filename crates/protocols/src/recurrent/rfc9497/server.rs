//! The left column of the figure.

use std::io;
use std::sync::OnceLock;

use rayon::prelude::*;
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
use crate::recurrent::items::refuse_twins;
use crate::recurrent::kept::{Evaluation, Keeper, Kept};
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
    fn outputs(&self, items: &[u128], keeper: Option<&dyn Keeper>) -> Result<Secret<Vec<filter::Output>>, Abort> {
        let mut all = Secret::new(Vec::with_capacity(items.len()));
        Evaluation::of_tags(&self.key, self.params.sizes.payload_bytes, keeper)
            .of(items, |outputs| all.extend_from_slice(&of_items(outputs)))?;
        Ok(all)
    }

    /// What it gives for `added`, and for `removed` in any order. An item that stands in both, with
    /// another payload, is evaluated once.
    fn outputs_of_change(
        &self,
        removed: &[u128],
        added: &[u128],
        keeper: Option<&dyn Keeper>,
    ) -> Result<[Secret<Vec<filter::Output>>; 2], Abort> {
        let new = self.outputs(added, keeper)?;
        let mut places: Vec<(u128, usize)> = added.iter().copied().zip(0..).collect();
        places.par_sort_unstable();
        let place_of = |item: &u128| {
            let found = places.binary_search_by_key(item, |&(item, _)| item).ok()?;
            places.get(found).map(|&(_, place)| place)
        };
        let gone_for_good: Vec<u128> = removed.iter().copied().filter(|item| place_of(item).is_none()).collect();
        let mut gone = Secret::new(Vec::with_capacity(removed.len()));
        gone.extend_from_slice(&self.outputs(&gone_for_good, keeper)?);
        gone.extend(removed.iter().filter_map(place_of).filter_map(|place| new.get(place)));
        Ok([gone, new])
    }

    /// The next version, under the same key.
    fn next(&self, filter: Filter, history: History, rng: &mut SecretRng) -> Option<Self> {
        Some(Self {
            id: StateId::random(rng),
            params: self.params,
            key: self.key.clone(),
            signer: self.signer.clone(),
            version: self.version.checked_add(1)?,
            filter,
            digest: OnceLock::new(),
            history,
        })
    }
}

/// The list of a set under a key.
fn filter_of(
    params: &Params,
    key: &SecretKey,
    set: &IntersectSenderInput,
    keeper: Option<&dyn Keeper>,
    rng: &mut SecretRng,
) -> Result<Filter, Abort> {
    set.check(params.sizes.set_items, params.sizes.payload_bytes)?;
    let evaluation = Evaluation::of_tags(key, params.sizes.payload_bytes, keeper);
    let outputs =
        |take: &mut dyn FnMut(&[filter::Output])| evaluation.of(&set.items, |outputs| take(&of_items(outputs)));
    Filter::collect(params.shape(), set, outputs, rng)
}

impl Server {
    /// [`prepare`](service::Server::prepare), which takes what earlier attempts have kept.
    pub fn prepare_kept(
        params: &Params,
        set: &IntersectSenderInput,
        mut kept: Kept<'_>,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let key = SecretKey::random(params.mode(), &mut kept.of_key);
        Self::under(params, key, set, Some(kept.keeper), rng)
    }

    /// A set under a key of its own.
    fn under(
        params: &Params,
        key: SecretKey,
        set: &IntersectSenderInput,
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let filter = filter_of(params, &key, set, keeper, rng)?;
        let mut seed = Secret::new([0; 32]);
        seed.chunks_exact_mut(16).for_each(|half| half.copy_from_slice(&rng.block().to_le_bytes()));
        let signer = Identity::of_seed(&seed).ok_or_else(no_signer)?;
        Ok(Self {
            id: StateId::random(rng),
            params: *params,
            key,
            signer,
            version: 0,
            filter,
            digest: OnceLock::new(),
            history: History::default(),
        })
    }

    /// [`update`](service::Server::update), which takes what earlier attempts have kept.
    pub fn update_kept(
        &self,
        removed: &IntersectSenderInput,
        added: &IntersectSenderInput,
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Option<Self>, Abort> {
        added.check(removed.items.len(), self.params.sizes.payload_bytes)?;
        refuse_twins(&removed.items)?;
        refuse_twins(&added.items)?;
        let shape = self.params.shape();
        let [gone, new] = self.outputs_of_change(&removed.items, &added.items, keeper)?;
        let delta = Delta::prepare(&shape, &gone, (&added.items, &new, &added.payloads), rng);
        let filter = self.filter.updated(&delta).map_err(|Malformed(what)| Abort::Local {
            code: exit_code::INTERNAL,
            fault: format!("the prepared set cannot be updated: {what}"),
            mend: "prepare it anew".into(),
        })?;
        let history = self.history.with(self.id, delta, &shape);
        Ok(self.next(filter, history, rng))
    }

    /// [`renew`](service::Server::renew), which takes what earlier attempts have kept.
    pub fn renew_kept(
        &self,
        set: &IntersectSenderInput,
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Option<Self>, Abort> {
        // New nonces for all payloads: one keystream each, as in an update.
        let filter = filter_of(&self.params, &self.key, set, keeper, rng)?;
        Ok(self.next(filter, History::default(), rng))
    }
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = ();
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        let key = SecretKey::random(params.mode(), rng);
        Self::under(params, key, &set, None, rng)
    }

    const IS_UPDATABLE: bool = true;

    fn update(
        &self,
        removed: IntersectSenderInput,
        added: IntersectSenderInput,
        rng: &mut SecretRng,
    ) -> Result<Option<Self>, Abort> {
        self.update_kept(&removed, &added, None, rng)
    }

    fn renew(&self, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Option<Self>, Abort> {
        self.renew_kept(&set, None, rng)
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
            match self.history.composed(known, &shape) {
                None => update::send_none(ch)?,
                Some(change) => {
                    let extent = Extent {
                        from: self.version.saturating_sub(change.steps),
                        to: self.version,
                        count: change.count,
                        bytes: change.bytes.len() as u64,
                        digest: *self.digest.get_or_init(|| self.filter.digest()),
                    };
                    if update::send(&extent, &change.bytes, (&self.params, &self.signer), ch)? {
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
        out.bytes(self.key.as_bytes())?;
        out.bytes(self.signer.seed())?;
        out.u64(self.version)?;
        self.history.write(&self.params.shape(), out)?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let mut key = Secret::new([0; 32]);
        bytes.fill(&mut key[..])?;
        let key = SecretKey::from_bytes(params.mode(), &key).ok_or(StateError::Damaged("its key is malformed"))?;
        let mut seed = Secret::new([0; 32]);
        bytes.fill(&mut seed[..])?;
        let signer = Identity::of_seed(&seed).ok_or_else(no_signer)?;
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
