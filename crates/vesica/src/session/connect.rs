//! The first step: a side makes ready, and reaches its partner.

use std::cell::RefCell;

use vesica_party::{Channel, ChannelOptions};

use super::Protection;
use super::context::Context;
use super::link::{self, Bound, Reached, RetryPolicy};
use super::on_cluster::Driver;
use super::prepare::Preparation;
use super::ready::Ready;
use super::tell::{self, tell_partner};
use crate::cluster::{Inside, Machines};
use crate::failure::Failure;
use crate::handshake::{self, Hello};
use crate::progress::{Gauge, Stage};
use crate::threads;

/// Who reads the own table and runs the protocol on it.
pub(super) enum Executor<'m> {
    /// This process, on all items at once or on one bucket after the other.
    ThisProcess,
    /// The machines of a cluster, each on some buckets. This process is their driver, and talks to the partner's.
    Cluster {
        /// Where workers find this process.
        inside: &'m Inside,
        /// The machines.
        machines: &'m mut dyn Machines,
    },
}

/// Who reads the own table, once the partner is there.
pub(super) enum Reader<'m> {
    /// This process: a thread of it began while the partner was waited for.
    ThisProcess(Box<Preparation>),
    /// The machines of a cluster, whose rendezvous takes the end at which the partner was met.
    Cluster(Box<Driver<'m>>, Bound),
}

/// A partner that is there, of whom nothing is known but its key.
pub(super) struct Connected<'m> {
    pub ready: Ready,
    pub reader: Reader<'m>,
}

/// Makes ready and reaches the partner, who is told if this side cannot start.
pub(super) fn connect<'m>(ctx: &Context<'_>, executor: Executor<'m>) -> Result<(Channel, Connected<'m>), Failure> {
    let prepared = match executor {
        Executor::ThisProcess => Ready::new(ctx).map(|ready| (ready, None)),
        Executor::Cluster { inside, machines } => {
            Driver::prepare(ctx, inside, machines).map(|(ready, driver)| (ready, Some(driver)))
        }
    };
    let (mut ready, driver) =
        prepared.map_err(|failure| tell_partner(&ctx.meeting(), failure, ctx.interrupt, ctx.events))?;
    let bound = link::bind(&ctx.config.end, ctx.config.proxy.as_ref(), ctx.events)?;
    let (reached, reader) = match driver {
        None => {
            let mut preparation = Preparation::start(ctx.config, &*ready.job, &ready.hello);
            let reached = ctx.reach_while_reading(&bound, &mut preparation)?;
            drop(bound);
            (reached, Reader::ThisProcess(Box::new(preparation)))
        }
        Some(driver) => {
            let reached = ctx.reach(&bound, &|| ctx.interrupt.reason())?;
            (reached, Reader::Cluster(Box::new(driver), bound))
        }
    };
    let ch = ctx.open(reached, &mut ready.hello)?;
    Ok((ch, Connected { ready, reader }))
}

impl Context<'_> {
    /// Waits for the partner, until `stop` gives a reason not to.
    pub fn reach(&self, bound: &Bound, stop: &dyn Fn() -> Option<Failure>) -> Result<Reached, Failure> {
        self.watch.enter(Stage::Waiting, Gauge::Nothing);
        let (wait, flag) = self.meeting().wait_and_flag();
        link::reach(bound, &self.config.protection, &RetryPolicy { wait, flag, stop }, self.events)
    }

    /// Waits for the partner while the own table is read. The partner is to hear of a failure of that.
    fn reach_while_reading(&self, bound: &Bound, preparation: &mut Preparation) -> Result<Reached, Failure> {
        let meeting = self.meeting();
        let reached = {
            let preparation = RefCell::new(&mut *preparation);
            let announce = |failure| tell::announce(&meeting, failure, self.events);
            self.reach(bound, &|| {
                let overdue = || preparation.borrow_mut().overdue_failure(meeting.tell_for(), announce);
                self.interrupt.reason().or_else(overdue)
            })
        };
        reached.map_err(|failure| match preparation.failure() {
            // Whether the peer never came matters less than an own failure that could not be told.
            Some(own) => {
                tell::not_told(Some(&failure).filter(|failure| *failure != own), self.events);
                own.clone()
            }
            None => failure,
        })
    }

    /// Opens the channel to a partner that was reached.
    pub fn open(&self, reached: Reached, hello: &mut Hello) -> Result<Channel, Failure> {
        self.events.connected();
        hello.clock = handshake::clock::now();
        let options = ChannelOptions {
            deadline: self.config.deadline,
            elapsed: self.started.elapsed(),
            // Either side may ask for a receipt, and both sign it: over TLS there is always a transcript.
            // Without TLS there is no receipt.
            transcript: matches!(self.config.protection, Protection::Tls { .. }),
            ..self.limits.channel.clone()
        };
        // Roles of the task are not agreed yet, so the channel's are those of the connection; the
        // protocol's call turns them if need be.
        let ch = threads::open_channel(reached.connection, reached.role, options)?;
        self.log.meet(ch.authenticated_peer().map(|peer| peer.key));
        self.interrupt.attach(ch.canceller());
        self.watch.count(ch.meter());
        Ok(ch)
    }
}
