//! What a server does for one request of a client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use vesica_structures::rng::SecretRng;

use super::events::Conversation;
use super::present::Stage;
use super::refusals::{local, panicked, stopped};
use super::serving::Serving;
use super::visit::{Joined, Visit};
use crate::service::conversation::{self, Answered, Description, Join, Next, Request, Welcome};
use crate::service::{Query, Server, Service, Standing, StateId};
use crate::{Abort, Channel, Fixed, exit_code};

/// Requests.
impl<S: Service> Serving<'_, S> {
    /// Answers a client that has a thread of its own until it leaves or fails, and closes the channel
    /// as the outcome asks.
    pub(super) fn stay(&self, mut visit: Visit<S>, welcome: Result<(), Abort>) {
        let attended = welcome.and_then(|()| {
            catch_unwind(AssertUnwindSafe(|| self.requests(&mut visit))).unwrap_or_else(|_| Err(panicked()))
        });
        let Visit { number, from, mut ch, canceller, conversation, .. } = visit;
        let outcome = match attended {
            Ok(()) => {
                ch.set_limit(Some(("the client to close the connection", self.limits.idle)));
                ch.finish().map(drop)
            }
            Err(failure) => {
                self.present.end(number);
                self.present.reach(number, Stage::Ending(canceller));
                self.cut_surplus();
                ch.abort(&failure);
                Err(failure)
            }
        };
        self.present.leave(number);
        self.events.ended(Some(&conversation), &from, &outcome);
    }

    fn requests(&self, visit: &mut Visit<S>) -> Result<(), Abort> {
        loop {
            // An abort would overtake the answer of one that is leaving. `close_down` bounds how long it
            // may take.
            if !visit.is_leaving() {
                let idle = self.present.reach(visit.number, Stage::Idle(visit.canceller.clone()));
                // `close_down` sees the client idle, or this sees that the server was stopped.
                if !idle || self.stop.is_stopped() {
                    return Err(stopped());
                }
            }
            let next = visit.ch.recv(())?;
            visit.ch.set_limit(None);
            if !self.present.reach(visit.number, Stage::Busy(visit.canceller.clone())) {
                return Err(stopped());
            }
            if !self.request(visit, next)? {
                return Ok(());
            }
            visit.await_next(self.limits.idle);
        }
    }

    /// Answers a request; false if the client leaves.
    pub(super) fn request(&self, visit: &mut Visit<S>, next: Next) -> Result<bool, Abort> {
        if visit.is_leaving() {
            return if next.parse() == Some(Request::Leave) { Ok(false) } else { Err(stopped()) };
        }
        let Visit { number, ch, rng, joined, query, conversation, .. } = visit;
        match next.parse() {
            Some(Request::Join) if joined.as_ref().is_some_and(|joined| !joined.told_of_another) => {
                return Err(Abort::PeerMisbehaved(Next::STEP, "it joined a state that it had joined"));
            }
            Some(Request::Join) => {
                // Before it waits for the client: a replaced state should not live on for that long.
                drop(joined.take());
                let join = |ch: &mut Channel| self.join(*number, conversation, ch, rng);
                *joined = Some(ch.within("joining", self.limits.joining, join)?);
            }
            Some(Request::Query) => {
                let joined = joined.as_mut().filter(|joined| !joined.told_of_another);
                let joined =
                    joined.ok_or(Abort::PeerMisbehaved(Next::STEP, "a query before it joined the server's state"))?;
                self.events.permit(query, joined.server.state_id())?;
                ch.within("a query", self.limits.query, |ch| self.query(joined, *query, ch, rng))?;
                query.number += 1;
                conversation.answered = query.number;
            }
            Some(Request::Leave) => return Ok(false),
            Some(Request::Describe) if conversation.described || joined.is_some() => {
                return Err(Abort::PeerMisbehaved(Next::STEP, "it asked for a description that it has"));
            }
            Some(Request::Describe) => {
                let told = self.events.describe(&query.client, self.offer.description);
                ch.within("joining", self.limits.joining, |ch| {
                    ch.send(&Description(told.to_vec()))?;
                    ch.send_all()
                })?;
                conversation::bind_description(ch, &told);
                conversation.described = true;
            }
            None => return Err(Abort::PeerMisbehaved(Next::STEP, "a request that does not exist")),
        }
        Ok(true)
    }

    fn join(
        &self,
        number: u64,
        conversation: &mut Conversation,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Joined<S>, Abort> {
        let client = &conversation.client;
        let join: Join = ch.recv(())?;
        if join.terms != conversation::terms::<S>(self.offer.params) {
            let mend = format!("ask for {} with the parameters that the server names", S::ENTRY.id);
            return Err(local(
                exit_code::REFUSED,
                "the client asks for another service, or for other parameters, than this server has",
                &mend,
            ));
        }
        let server = self.offer.state.current();
        if S::terms(server.params()) != S::terms(self.offer.params) {
            return Err(local(
                exit_code::INTERNAL,
                "the server's state was prepared for other parameters than the service has",
                "tell whoever runs the server to prepare the set anew",
            ));
        }
        let state = server.state_id();
        let welcome = Welcome { state: state.to_bytes(), nonce: rng.block().to_le_bytes() };
        ch.send(&welcome)?;
        conversation::bind(ch, &join, &welcome);
        let standing = Standing::new(StateId::from_bytes(join.known), state);
        self.events.permit_join(client, standing)?;
        if conversation.session.is_none() {
            conversation.session = Some(ch.session());
            self.events.begin(conversation, standing)?;
        }
        let client = &conversation.client;
        let session = server.admit(client, standing, ch, rng)?;
        ch.send_all()?;
        self.present.join(number, state);
        self.events.joined(client, state);
        Ok(Joined { server, session, told_of_another: false, told_of_stop: false })
    }

    fn query(&self, joined: &mut Joined<S>, query: Query, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let start = Instant::now();
        joined.server.answer(&mut joined.session, query, ch, rng)?;
        let state = joined.server.state_id();
        // One that is retired and still answered is as good as the present one.
        let present = if self.offer.state.is_answered(state) { state } else { self.offer.state.current().state_id() };
        joined.told_of_stop = self.stop.is_stopped();
        ch.send(&Answered { state: present.to_bytes(), stops: joined.told_of_stop.into() })?;
        ch.send_all()?;
        joined.told_of_another = present != state;
        self.events.answered(&query, start.elapsed());
        Ok(())
    }
}
