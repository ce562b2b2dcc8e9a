//! The left column of the figure.

use std::io;

use rand_core::Rng;
use vesica_mpc::rfc9497::{Mode, SecretKey};
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::pir::{self, Database, Seed};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Answers, Blinded, Evaluated, Public, Queries};
use super::{ITEMS_AT_A_TIME, Params, buckets};
use crate::recurrent::kept::{Keeper, Kept};
use crate::recurrent::oprf::evaluate;
use crate::recurrent::read_params;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    key: SecretKey,
    database: Database,
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
        set.check(params.set_items, params.payload_bytes)?;
        let records = buckets::records(params, &key, set, keeper)?;
        let mut seed = Seed::default();
        rng.fill_bytes(&mut seed);
        let database = Database::new(params.shape, seed, &records);
        Ok(Self { id: StateId::random(rng), params: *params, key, database })
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

    fn admit(&self, _: &ClientIdentity, standing: Standing, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        if standing == Standing::Current {
            return Ok(());
        }
        // Step 1.
        ch.send_stream::<Public>(self.database.seed())?;
        ch.send_stream::<Public>(self.database.public())
    }

    fn answer(
        &self,
        (): &mut (),
        _: Query,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let phase = ch.phase(Phase::HashItems);
        // Steps 2 and 3.
        evaluate::<Blinded, Evaluated>(&self.key, self.params.query_items, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Match);
        let mut left = self.params.query_items;
        let mut bytes = vec![0; self.params.shape.query_bytes()];
        while left > 0 {
            // Step 4.
            let count = left.min(ITEMS_AT_A_TIME);
            left -= count;
            let mut queries = Vec::with_capacity(count);
            for _ in 0..count {
                ch.recv_stream::<Queries>(&mut bytes)?;
                let query = pir::Query::read(self.params.shape, &bytes);
                queries
                    .push(query.ok_or(Abort::PeerMisbehaved(Queries::STEP, "a query that is no element of the ring"))?);
            }
            // Step 5.
            self.database.answer(&queries).iter().try_for_each(|answer| ch.send_stream::<Answers>(answer))?;
        }
        Ok(IntersectSenderOutput { matches: None })
    }
}

/// What is computed from the records is not written, and computed again by whoever reads them: that
/// takes seconds, where the outputs took minutes.
impl State for Server {
    const FORMAT: &'static str = "oprf-pir server 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.bytes(self.key.as_bytes())?;
        out.bytes(self.database.seed())?;
        out.elements(self.database.pieces())
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let mut key = Secret::new([0; 32]);
        bytes.fill(&mut key[..])?;
        let key = SecretKey::from_bytes(Mode::Oprf, &key).ok_or(StateError::Damaged("its key is malformed"))?;
        let seed = bytes.array()?;
        let pieces = bytes.elements(params.shape.pieces())?;
        let database = Database::from_pieces(params.shape, seed, pieces);
        let database = database.ok_or(StateError::Damaged("its records are not of the shape"))?;
        Ok(Self { id, params, key, database })
    }
}
