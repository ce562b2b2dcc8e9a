//! The right column of the figure.

use std::io;

use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Buckets, Evaluated, Prefixes};
use super::{Params, of_items, prefixes};
use crate::recurrent::buckets::Found;
use crate::recurrent::items::refuse_twins;
use crate::recurrent::oprf::outputs;
use crate::recurrent::read_params;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// A client that knows nothing of a server's set but its sizes.
#[derive(Debug)]
pub struct Client {
    params: Params,
    /// Queries so far.
    pub(super) asked: u64,
}

/// Items in the order in which they are asked about.
pub(super) struct Ordered {
    /// Their prefixes, ascending.
    pub prefixes: Vec<u32>,
    /// Which of the query's items each is.
    pub places: Secret<Vec<usize>>,
    pub items: Secret<Vec<u128>>,
}

impl Ordered {
    /// The items by their prefixes: their own order does not show.
    pub fn of(params: &Params, items: &[u128]) -> Self {
        let own = prefixes(items, params.prefix_bits);
        let mut places = Secret::new((0..items.len()).collect::<Vec<_>>());
        places.sort_by_key(|&place| own[place]);
        let prefixes = places.iter().map(|&place| own[place]).collect();
        let items = Secret::new(places.iter().map(|&place| items[place]).collect());
        Self { prefixes, places, items }
    }
}

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: *params, asked: 0 })
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        // Two prefixes of one item would tell that it is there twice.
        refuse_twins(&query.items)?;
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
        let Ordered { prefixes, places, items } = Ordered::of(&self.params, &query.items);
        // Step 1.
        ch.send_stream::<Prefixes>(&prefixes)?;
        // Steps 2 and 3.
        let outputs = of_items(&outputs::<Blinded, Evaluated>(&items, ch, rng)?);
        let _phase = ch.phase(Phase::Match);
        let mut found = Found::new(self.params.shape(), query.items.len());
        let mut bucket = vec![0; self.params.bucket_bytes()];
        for (&place, output) in places.iter().zip(outputs.iter()) {
            // Step 4.
            ch.recv_stream::<Buckets>(&mut bucket)?;
            if !found.look(place, output, &bucket) {
                return Err(Abort::PeerMisbehaved(Buckets::STEP, "a bucket with bits left over"));
            }
        }
        Ok(found.finish(query.items, 0))
    }
}

impl State for Client {
    const FORMAT: &'static str = "oprf-buckets client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        out.u64(self.asked)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        Ok(Self { params, asked: bytes.u64()? })
    }
}
