//! The right column of the figure.

use std::io;

use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rng::SecretRng;

use super::messages::{Blinded, DoublyBlinded, Payloads, Tags};
use super::{DOMAIN, NO_SESSION, Params, outputs};
use vesica_protocols::ecdh::{evaluate, random_exponent};
use vesica_protocols::recurrent::filter::Filter;
use vesica_protocols::recurrent::read_params;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// A client that knows the tags of a server's set.
#[derive(Debug)]
pub struct Client {
    params: Params,
    filter: Filter,
    /// Queries so far.
    pub(super) asked: u64,
}

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        // Steps 1 and 2.
        Ok(Self { params: *params, filter: Filter::receive::<Tags, Payloads>(params.shape(), ch)?, asked: 0 })
    }

    fn params(&self) -> &Params {
        &self.params
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
        // Steps 3 and 4.
        let phase = ch.phase(Phase::HashItems);
        let exponent = random_exponent(rng);
        let points = evaluate::<Blinded, DoublyBlinded, _>(DOMAIN, &NO_SESSION, &query.items, &exponent, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Match);
        Ok(self.filter.find(query.items, &outputs(&points)))
    }
}

impl State for Client {
    const FORMAT: &'static str = "ra17 client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        out.u64(self.asked)?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        let asked = bytes.u64()?;
        Ok(Self { params, asked, filter: Filter::read(params.shape(), bytes)? })
    }
}
