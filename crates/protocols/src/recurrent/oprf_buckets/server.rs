//! The left column of the figure.

use std::io;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_mpc::rfc9497::{Mode, SecretKey};
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::{Secret, WipedStack};

use super::messages::{Blinded, Buckets, Evaluated, Prefixes};
use super::{Params, of_item, prefixes};
use crate::recurrent::buckets::Sorted;
use crate::recurrent::filter::Output;
use crate::recurrent::kept::{Evaluation, Keeper, Kept};
use crate::recurrent::oprf::evaluate;
use crate::recurrent::read_params;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// Buckets that are filled up from one generator.
const BUCKETS_A_GENERATOR: usize = 64;

/// Prefixes that the server makes room for before they have come.
const PREFIXES_AT_A_TIME: usize = 1 << 14;

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    pub(super) key: SecretKey,
    /// All buckets, filled up.
    pub(super) table: Vec<u8>,
}

impl Server {
    /// [`prepare`](service::Server::prepare), which takes what earlier attempts have kept.
    pub fn prepare_kept(params: &Params, set: &IntersectSenderInput, mut kept: Kept<'_>) -> Result<Self, Abort> {
        let key = SecretKey::random(Mode::Oprf, &mut kept.of_key);
        Self::under(params, key, set, Some(kept.keeper), &mut kept.of_rest)
    }

    fn under(
        params: &Params,
        key: SecretKey,
        set: &IntersectSenderInput,
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        set.check(params.sizes.set_items, params.sizes.payload_bytes)?;
        let evaluation = Evaluation::of_tags(&key, params.sizes.payload_bytes, keeper);
        let sorted = Sorted::new(params.shape(), set, params.buckets(), |take| {
            let mut rest = &set.items[..];
            evaluation.of(&set.items, |outputs| {
                let (items, behind) = rest.split_at(outputs.len());
                rest = behind;
                let prefixes = Secret::new(prefixes(items, params.prefix_bits));
                let outputs: Secret<Vec<(u32, Output)>> =
                    Secret::new(prefixes.iter().copied().zip(outputs.iter().map(of_item)).collect());
                take(&outputs);
            })
        })?;
        let width = params.bucket_bytes();
        let mut table = vec![0; params.table_bytes()];
        let parts = table.par_chunks_mut(BUCKETS_A_GENERATOR * width).enumerate();
        let generators: Vec<SecretRng> =
            (0..params.buckets().div_ceil(BUCKETS_A_GENERATOR)).map(|_| rng.child()).collect();
        parts.zip(generators).for_each(|((part, buckets), mut rng)| {
            let _wiped = WipedStack;
            for (bucket, out) in (part * BUCKETS_A_GENERATOR..).zip(buckets.chunks_exact_mut(width)) {
                sorted.write(bucket, |bytes| rng.fill_bytes(bytes), out);
            }
        });
        Ok(Self { id: StateId::random(rng), params: *params, key, table })
    }
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = ();
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        let key = SecretKey::random(Mode::Oprf, rng);
        Self::under(params, key, &set, None, rng)
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn admit(&self, _: &ClientIdentity, _: Standing, _: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        Ok(())
    }

    fn answer(
        &self,
        (): &mut (),
        _: Query,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let phase = ch.phase(Phase::HashItems);
        // Step 1.
        let mut prefixes = Vec::new();
        while prefixes.len() < self.params.sizes.query_items {
            // Memory follows what has come, and not what the client declared.
            let known = prefixes.len();
            prefixes.resize((known + PREFIXES_AT_A_TIME).min(self.params.sizes.query_items), 0);
            ch.recv_stream::<Prefixes>(&mut prefixes[known..])?;
        }
        if prefixes.iter().any(|&prefix| prefix as usize >= self.params.buckets()) {
            return Err(Abort::PeerMisbehaved(Prefixes::STEP, "a prefix with more bits than agreed"));
        }
        // Steps 2 and 3.
        evaluate::<Blinded, Evaluated>(&self.key, prefixes.len(), ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Match);
        // Step 4.
        let width = self.params.bucket_bytes();
        for prefix in prefixes {
            ch.send_stream::<Buckets>(&self.table[prefix as usize * width..][..width])?;
        }
        Ok(IntersectSenderOutput { matches: None })
    }
}

impl State for Server {
    const FORMAT: &'static str = "oprf-buckets server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.bytes(self.key.as_bytes())?;
        out.bytes(&self.table)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let mut key = Secret::new([0; 32]);
        bytes.fill(&mut key[..])?;
        let key = SecretKey::from_bytes(Mode::Oprf, &key).ok_or(StateError::Damaged("its key is malformed"))?;
        let table = bytes.elements(params.table_bytes())?;
        Ok(Self { id, params, key, table })
    }
}
