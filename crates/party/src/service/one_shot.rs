//! A service as a protocol of one query.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::{Client, ClientIdentity, Query, Server, Service, Standing};
use crate::{Abort, Channel, Entry, Party, Phase, Protocol, Role, Task};

/// The protocol in which a server prepares its set, enrols one client and answers one query.
///
/// All but the query is in [`Phase::Precompute`] (phases that the service enters meanwhile count
/// for themselves). It needs the inputs, so that it comes in [`Party::run`], not in
/// [`Party::setup`], which does nothing here.
/// [`Tally::precompute_seconds`](crate::Tally::precompute_seconds) says how long it took, and
/// benchmarks add that to the set-up. Predicted bytes are those of the enrolment and of one query;
/// `prepare` sends none.
pub struct OneShot<S>(PhantomData<fn() -> S>);

impl<S: Service> Protocol for OneShot<S> {
    const ENTRY: Entry = S::ENTRY;
    type Task = S::Task;
    type Params = S::Params;
    type Sender = OneShotServer<S>;
    type Receiver = OneShotClient<S>;

    fn derive(request: &<S::Task as Task>::Request) -> Result<S::Params, Unsupported> {
        S::derive(request)
    }

    fn derive_chosen(request: &<S::Task as Task>::Request, entry: &'static Entry) -> Result<S::Params, Unsupported> {
        S::derive_chosen(request, entry)
    }

    fn predicted_bytes(params: &S::Params) -> RangeInclusive<u64> {
        let (enrolment, query) = (S::enrolment_bytes(params), S::query_bytes(params));
        enrolment.start() + query.start()..=enrolment.end() + query.end()
    }

    fn further_memory(params: &S::Params, role: Role) -> u64 {
        S::further_memory(params, role)
    }
}

/// The server of a service, as the sender of a protocol.
pub struct OneShotServer<S: Service>(S::Params);

impl<S: Service> Party for OneShotServer<S> {
    type Params = S::Params;
    type Input = <S::Task as Task>::SenderInput;
    type Output = <S::Task as Task>::SenderOutput;

    fn setup(params: &S::Params, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(params.clone()))
    }

    fn run(self, set: Self::Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Output, Abort> {
        let client = ClientIdentity::of(ch);
        let precompute = ch.phase(Phase::Precompute);
        let server = S::Server::prepare(&self.0, set, rng)?;
        let mut session = server.admit(&client, Standing::New, ch, rng)?;
        drop(precompute);
        server.answer(&mut session, Query { client, number: 0 }, ch, rng)
    }
}

/// The client of a service, as the receiver of a protocol.
pub struct OneShotClient<S: Service>(S::Params);

impl<S: Service> Party for OneShotClient<S> {
    type Params = S::Params;
    type Input = <S::Task as Task>::ReceiverInput;
    type Output = <S::Task as Task>::ReceiverOutput;

    fn setup(params: &S::Params, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(params.clone()))
    }

    fn run(self, query: Self::Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Output, Abort> {
        let precompute = ch.phase(Phase::Precompute);
        let mut client = S::Client::enrol(&self.0, ch, rng)?;
        drop(precompute);
        client.query(0, query, ch, rng)
    }
}
