//! The left column of the figure.

use std::io;

use curve25519_dalek::Scalar;
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, DoublyBlinded, Payloads, Tags};
use super::{DOMAIN, NO_SESSION, Params, outputs};
use vesica_protocols::ecdh::{BAD_POINT, answer, blind_items, blind_points, random_exponent};
use vesica_protocols::recurrent::filter::Filter;
use vesica_protocols::recurrent::read_params;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    /// The blinding `a`.
    exponent: Secret<Scalar>,
    filter: Filter,
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = ();
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        set.check(params.sizes.set_items, params.sizes.payload_bytes)?;
        let exponent = random_exponent(rng);
        let of_items = |items: &[u128]| outputs(&blind_items(DOMAIN, &NO_SESSION, items, &exponent));
        let filter = Filter::prepare(params.shape(), &set, of_items, rng)?;
        Ok(Self { id: StateId::random(rng), params: *params, exponent, filter })
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
        // Steps 1 and 2.
        self.filter.send::<Tags, Payloads>(ch)
    }

    fn answer(
        &self,
        (): &mut (),
        _: Query,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        // Steps 3 and 4.
        answer::<Blinded>(self.params.sizes.query_items, ch, |blinded, ch| {
            let doubly_blinded =
                blind_points(blinded, &self.exponent).ok_or(Abort::PeerMisbehaved(Blinded::STEP, BAD_POINT))?;
            ch.send_stream::<DoublyBlinded>(&doubly_blinded)
        })?;
        Ok(IntersectSenderOutput { matches: None })
    }
}

impl State for Server {
    const FORMAT: &'static str = "ra17 server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.bytes(self.exponent.as_bytes())?;
        self.filter.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let exponent = Secret::new(bytes.array()?);
        let exponent: Option<Scalar> = Scalar::from_canonical_bytes(*exponent).into();
        let exponent = exponent.filter(|exponent| *exponent != Scalar::ZERO).map(Secret::new);
        let exponent = exponent.ok_or(StateError::Damaged("its key is malformed"))?;
        Ok(Self { id, params, exponent, filter: Filter::read(params.shape(), bytes)? })
    }
}
