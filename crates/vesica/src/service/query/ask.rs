//! Asking, over as many connections as it takes.

use std::fs;
use std::path::Path;

use vesica_party::service::{Client as _, Moved, ServiceClient, StateId};
use vesica_party::{Abort, Channel};
use vesica_protocols::tasks::{IntersectReceiverInput, SealedPayloads};

use super::Context;
use super::describe::{Inquiry, Unasked};
use super::kept::Kept;
use super::report::Enrolment;
use crate::failure::{Failure, code};
use crate::progress::{Gauge, Stage};
use crate::service::{TableService, WithService, prepared, randomness, with_service};
use crate::session::Events;
use crate::table::Position;

/// How often a query starts again because the server has replaced its set meanwhile.
const MOST_STARTS: usize = 5;

/// A query whose items all have their answer.
pub(super) struct Answered {
    pub inquiry: Inquiry,
    pub answers: AnswersSoFar,
    pub enrolment: Enrolment,
    /// Sent and received over all connections.
    pub bytes: [u64; 2],
}

/// What the server has answered.
#[derive(Default)]
pub(super) struct AnswersSoFar {
    /// The prepared set that all answers are about.
    set: Option<StateId>,
    /// How many sets the query was begun with.
    starts: usize,
    /// Queries that were answered.
    pub asked: usize,
    /// Places in the list of items of those that match.
    pub matches: Vec<u32>,
    /// The payloads of each query's matches. They are opened when the server is gone, since that takes
    /// time for each match.
    pub payloads: Vec<SealedPayloads>,
    /// Items, dummies among them, of which nothing is known.
    pub unread: usize,
}

impl Unasked {
    /// Asks about all items.
    pub fn ask(self, ctx: &Context<'_>, state: Option<&Path>) -> Result<Answered, Failure> {
        let protocol = self.inquiry.description.protocol.clone();
        with_service(&protocol, Ask { ctx, state, unasked: self })?
    }
}

/// What is done once the protocol is known.
struct Ask<'a> {
    ctx: &'a Context<'a>,
    state: Option<&'a Path>,
    unasked: Unasked,
}

impl WithService for Ask<'_> {
    type Output = Result<Answered, Failure>;

    fn with<S: TableService>(self) -> Self::Output {
        let Self { ctx, state, unasked: Unasked { inquiry, ch } } = self;
        let (answers, bytes) = (AnswersSoFar::default(), [0; 2]);
        Asking::<S> { ctx, state, inquiry, kept: None, answers, enrolment: None, bytes }.ask_all(ch)
    }
}

/// A query on its way.
struct Asking<'a, S: TableService> {
    ctx: &'a Context<'a>,
    /// The state file, whatever links lead to it.
    state: Option<&'a Path>,
    inquiry: Inquiry,
    /// What the last connection has left.
    kept: Option<Kept<S>>,
    answers: AnswersSoFar,
    enrolment: Option<Enrolment>,
    bytes: [u64; 2],
}

impl<S: TableService> Asking<'_, S> {
    /// Asks about all items, first over the connection `ch` if there is one: a server that restarts ends one.
    fn ask_all(mut self, mut ch: Option<Channel>) -> Result<Answered, Failure> {
        let ctx = self.ctx;
        loop {
            let answered = self.answers.asked;
            let joined = match ch.take() {
                Some(ch) => Ok(ch),
                None => {
                    let connection = ctx.reach()?;
                    ctx.open(connection, |ch| self.inquiry.hear_again(ch)).map(|(ch, ())| ch)
                }
            };
            let outcome = joined.and_then(|ch| self.converse(ch));
            ctx.let_go();
            let failure = match outcome {
                Ok(enrolment) => {
                    let Self { inquiry, answers, bytes, .. } = self;
                    return Ok(Answered { inquiry, answers, enrolment, bytes });
                }
                Err(failure) => failure,
            };
            if let Some(reason) = ctx.interrupt.reason() {
                return Err(reason);
            }
            // One that answered something before it went away is worth another try.
            let is_lost = failure.code == code::LINK
                || ["shutting down", "has wiped the set"].iter().any(|why| failure.fault.contains(why));
            if !is_lost || self.answers.asked == answered {
                return Err(failure);
            }
            ctx.events.notice(&format!("the connection was lost ({failure}); connecting again"));
        }
    }

    /// Asks over one connection, and keeps what it enrolled with.
    fn converse(&mut self, ch: Channel) -> Result<Enrolment, Failure> {
        let (mut client, joined_by) = self.join(ch)?;
        let mut enrolment = self.enrolment.unwrap_or(joined_by);
        let begun = self.ctx.begin(client.session()).map_err(|failure| match &self.ctx.config.policy {
            Some(policy) => policy.still_counted(failure, "the server had let it join"),
            None => failure,
        });
        let outcome = begun.and_then(|()| self.ask_rest(&mut client, &mut enrolment));
        self.ctx.log.answered(client.asked());
        self.enrolment = Some(enrolment);
        let total = client.tally().total();
        self.bytes = [self.bytes[0] + total.sent(), self.bytes[1] + total.received()];
        let (enrolled, left) = client.leave();
        let Inquiry { description, warnings, .. } = &mut self.inquiry;
        let kept = Kept::<S> { description: description.clone(), enrolled };
        // What was enrolled outlives a failure: it need not be fetched again.
        if let Some(path) = self.state
            && let Err(failure) = prepared::save(&kept, path)
        {
            // The file before counts fewer queries than were asked.
            let gone = fs::remove_file(path).map_or_else(|fault| format!(" ({fault})"), |()| String::new());
            warnings.push(format!("the next query has to enrol again{gone}: {failure}"));
        }
        self.kept = Some(kept);
        if outcome.is_ok()
            && let Err(abort) = left
        {
            warnings.push(format!("the connection did not close cleanly: {abort}"));
        }
        outcome.map(|()| enrolment)
    }

    /// Joins with what was kept, if it is of this server and this set; enrols otherwise.
    fn join(&mut self, ch: Channel) -> Result<(ServiceClient<S>, Enrolment), Failure> {
        let prepared = (|| Ok((self.inquiry.description.params::<S>()?, self.kept()?, randomness()?)))();
        let (params, kept, rng) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                let failure: Failure = failure;
                ch.abort(&failure.for_peer());
                return Err(failure);
            }
        };
        let Inquiry { description, questions, warnings, .. } = &mut self.inquiry;
        let queries = questions.queries().saturating_sub(self.answers.asked) as u64;
        // Another quota is no other set: the client goes on counting its queries. If this run would be refused
        // in its middle, it enrols anew.
        let is_of_use = |kept: &Kept<S>| {
            kept.description.differences(description).is_empty() && S::has_left(&kept.enrolled.client, queries)
        };
        match kept.filter(is_of_use) {
            Some(Kept { enrolled, .. }) => {
                let before = enrolled.state;
                match ServiceClient::rejoin(ch, params, enrolled, rng) {
                    Ok(client) => {
                        let is_same = client.enrolled().state == before;
                        let enrolment = if is_same { Enrolment::Kept } else { moved(&client, warnings) };
                        Ok((client, enrolment))
                    }
                    Err((abort, enrolled)) => {
                        self.kept = Some(Kept { description: description.clone(), enrolled });
                        Err(refused_by_server(abort))
                    }
                }
            }
            None => {
                self.ctx.watch.enter(Stage::Enrolling, Gauge::Nothing);
                let client = ServiceClient::enrol(ch, params, rng).map_err(refused_by_server)?;
                Ok((client, Enrolment::New))
            }
        }
    }

    /// What an earlier connection or run has left.
    fn kept(&mut self) -> Result<Option<Kept<S>>, Failure> {
        match (self.kept.take(), self.state) {
            (None, Some(path)) => Kept::load(path),
            (kept, _) => Ok(kept),
        }
    }

    /// Asks what has no answer yet.
    fn ask_rest(&mut self, client: &mut ServiceClient<S>, enrolment: &mut Enrolment) -> Result<(), Failure> {
        let Self { ctx, inquiry: Inquiry { description, questions, warnings, .. }, answers, .. } = self;
        let position = Position::of(questions.queries() as u64);
        position.set(answers.asked as u64);
        ctx.watch.enter(Stage::Asking, Gauge::of(position.clone()));
        answers.begin_with(client.enrolled().state, ctx.events)?;
        while let Some((first, own, items)) = questions.query(answers.asked) {
            let mut output = client.query(IntersectReceiverInput { items }).map_err(refused_by_server)?;
            if answers.begin_with(client.enrolled().state, ctx.events)? {
                // Whatever else was fetched counts for more than an update.
                let moved = moved(client, warnings);
                if !matches!((moved, *enrolment), (Enrolment::Updated, Enrolment::New | Enrolment::Renewed)) {
                    *enrolment = moved;
                }
                continue;
            }
            if description.integer_bits.is_some() {
                output.matches.retain(|&place| (place as usize) < own);
            }
            if output.matches.last().is_some_and(|&last| last as usize >= own) {
                let mend = "do not trust this server's software";
                return Err(Failure::new(code::PEER_MISBEHAVED, "a dummy item matched", mend));
            }
            answers.matches.extend(output.matches.iter().map(|&place| first as u32 + place));
            answers.payloads.push(output.payloads);
            answers.unread += output.unread;
            answers.asked += 1;
            position.set(answers.asked as u64);
        }
        Ok(())
    }
}

impl AnswersSoFar {
    /// Starts with the first item again if the server has another set than the answers so far are
    /// about. Whether it does.
    fn begin_with(&mut self, set: StateId, events: &dyn Events) -> Result<bool, Failure> {
        let before = self.set.replace(set);
        if before == Some(set) {
            return Ok(false);
        }
        self.starts += 1;
        if self.starts > MOST_STARTS {
            return Err(Failure::new(
                code::REFUSED,
                format_args!("the server replaced its set {MOST_STARTS} times during the query"),
                "ask again later, or about fewer keys at a time",
            ));
        }
        if before.is_some() {
            events.notice("the server has replaced its set; asking again about all keys");
        }
        (self.asked, self.unread, self.matches, self.payloads) = (0, 0, Vec::new(), Vec::new());
        Ok(true)
    }
}

/// How the client has come to a set that is not the one that it had.
fn moved<S: TableService>(client: &ServiceClient<S>, warnings: &mut Vec<String>) -> Enrolment {
    match client.enrolled().client.moved() {
        Moved::Updated => Enrolment::Updated,
        Moved::Anew => Enrolment::Renewed,
        Moved::Refused(why) => {
            warnings.push(format!("the server's update of its set was refused, and the whole set was fetched: {why}"));
            Enrolment::Renewed
        }
        Moved::SetBack { from, to } => {
            warnings.push(format!(
                "the server has version {to} of its set, and had version {from} before: it was started with an \
                 older state file, or it shows different sets to different clients"
            ));
            Enrolment::Renewed
        }
    }
}

/// A refusal by the server as one of this side's query, with the server's mend, which is written for
/// clients.
fn refused_by_server(abort: Abort) -> Failure {
    match abort {
        Abort::PeerAborted(peer) if peer.code == code::REFUSED => Failure::new(
            code::REFUSED,
            format_args!("the server refused to answer: {}; nothing was written", peer.fault),
            peer.mend,
        ),
        other => other.into(),
    }
}
