//! Answering clients: what they may ask, and what is counted and logged of it.

use std::borrow::Cow;
use std::thread;
use std::time::Duration;

use vesica_party::Abort;
use vesica_party::service::{
    self, ClientIdentity, Conversation, Offer, Query, ServeEvents, ServeLimits, Standing, StateId, Stop,
};
use vesica_party::transport::tls::PublicKey;

use super::config::Clients;
use super::report::ServeLog;
use super::serving::Serving;
use crate::failure::{Failure, code};
use crate::handshake::printable_within;
use crate::log::{Offered, ServerLog, Why};
use crate::service::answers::Answers;
use crate::service::metrics::add;
use crate::service::quota::{Meter, OVER_QUOTA};
use crate::service::{Description, TableService};
use crate::threads::no_thread;

/// Longest fault of a client in the log of runs, in characters.
const MOST_FAULT: usize = 2048;

/// Least rate of a client's link, in bytes a second.
const LEAST_RATE: u64 = 128 << 10;

impl<S: TableService> Serving<S> {
    /// Answers clients until `stop`.
    pub(super) fn answer(&self, stop: &Stop, log: &dyn ServeLog) {
        let defaults = ServeLimits::default();
        let limits = ServeLimits {
            clients: self.config.max_clients,
            connections_per_client: self.config.connections_per_client,
            idle: self.config.idle,
            joining: defaults.joining.max(time_for(*S::enrolment_bytes(&self.params).end())),
            query: defaults.query.max(time_for(*S::query_bytes(&self.params).end())),
            ..defaults
        };
        let offer = Offer::<S> { state: &self.state, params: &self.params, description: &self.description_bytes };
        let watch = Watch { serve: self, log };
        thread::scope(|scope| {
            // Also where this thread panics: the scope waits for the one that writes.
            let _close = CloseWhenDropped(self.run_log.as_ref());
            if let Some(run_log) = &self.run_log {
                let writer = thread::Builder::new().name("vesica-run-log".into());
                if let Err(error) = writer.spawn_scoped(scope, move || run_log.write(&|text| log.warning(text))) {
                    run_log.give_up();
                    log.warning(&format!("nothing writes the log of runs: {}", Failure::from(no_thread(&error))));
                }
            }
            service::serve(&*self.acceptor, &offer, &limits, &watch, stop);
        });
        let settled = [self.meter.as_ref().map(Meter::settle), self.answers.as_ref().map(Answers::settle)];
        for failure in settled.into_iter().flatten().filter_map(Result::err) {
            log.warning(&failure.to_string());
        }
    }
}

struct CloseWhenDropped<'a>(Option<&'a ServerLog>);

impl Drop for CloseWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.into_iter().for_each(ServerLog::close);
    }
}

/// The time that so many bytes take over the slowest link that is served.
fn time_for(bytes: u64) -> Duration {
    Duration::from_secs(bytes / LEAST_RATE)
}

/// Whether a client has left because of what it was told of its quota.
fn is_over_quota(abort: &Abort) -> bool {
    matches!(abort, Abort::PeerAborted(peer) if peer.code == code::REFUSED && peer.fault == OVER_QUOTA)
}

/// Whether this server has turned the client away; not because it stops.
fn is_refusal(abort: &Abort) -> bool {
    matches!(abort, Abort::Local { code, .. } if *code != code::LINK)
}

/// Passes on what a server does to the log and the counters, and bounds what clients ask.
struct Watch<'a, S: TableService> {
    serve: &'a Serving<S>,
    log: &'a dyn ServeLog,
}

impl<S: TableService> Watch<'_, S> {
    /// What the log of runs says of a conversation with this client, beside what it came to.
    fn offered(&self, client: &ClientIdentity) -> Offered {
        let Serving { config, description, meter, .. } = self.serve;
        let left = meter.as_ref().map(|meter| meter.left(client));
        Offered { security: config.security, look_up: description.look_up(left) }
    }

    /// Logs the end of a conversation: of each in which the client asked for anything, or was refused.
    fn log_end(&self, conversation: &Conversation, outcome: &Result<(), Abort>) {
        let Some(run_log) = &self.serve.run_log else { return };
        // Where anybody may ask, whoever looks and leaves could fill the disk.
        if conversation.session.is_none() && self.serve.config.clients.are_anybody() {
            return;
        }
        let has_asked = conversation.described || conversation.session.is_some();
        let why = match outcome {
            Ok(()) if has_asked => None,
            // It has left because of what it was told.
            Err(abort) if conversation.session.is_none() && is_over_quota(abort) => {
                Some(Why { code: code::REFUSED, fault: OVER_QUOTA.into() })
            }
            Err(abort) if has_asked || is_refusal(abort) => {
                let fault = printable_within(&abort.to_string(), MOST_FAULT);
                Some(Why { code: abort.exit_code(), fault })
            }
            _ => return,
        };
        run_log.end(self.offered(&conversation.client), conversation, why);
    }

    /// Counts a query, or an enrolment as much as a query, and says so if a client has come to more than
    /// the threshold.
    fn count_volume(&self, client: &ClientIdentity) {
        if let (Some(volume), Some(threshold)) = (&self.serve.volume, self.serve.config.alert_volume)
            && let Some(all) = volume.count(client, self.serve.description.items_per_query)
        {
            add(&self.serve.counters.volume_alerts, 1);
            self.log.volume(client, all, threshold);
        }
    }
}

impl<S: TableService> ServeEvents for Watch<'_, S> {
    fn joined(&self, client: &ClientIdentity, _: StateId) {
        add(&self.serve.counters.joined, 1);
        self.log.joined(client);
    }

    fn describe<'a>(&self, client: &ClientIdentity, description: &'a [u8]) -> Cow<'a, [u8]> {
        let told = self.serve.meter.as_ref().and_then(|meter| {
            let quota_left = Some(meter.left(client));
            Description { quota_left, ..self.serve.description.clone() }.to_bytes().ok()
        });
        told.map_or(Cow::Borrowed(description), Cow::Owned)
    }

    fn permit_join(&self, client: &ClientIdentity, standing: Standing) -> Result<(), Abort> {
        // Whoever has the present set takes no work.
        if standing == Standing::Current {
            return Ok(());
        }
        if let Some(enrolments) = &self.serve.enrolments {
            enrolments.take(client).inspect_err(|_| add(&self.serve.counters.over_enrolments, 1))?;
        }
        self.count_volume(client);
        Ok(())
    }

    fn begin(&self, conversation: &Conversation, standing: Standing) -> Result<(), Abort> {
        let Some(run_log) = &self.serve.run_log else { return Ok(()) };
        run_log.begin(self.offered(&conversation.client), conversation).inspect_err(|_| {
            // It gets nothing for that.
            if let Some(enrolments) = self.serve.enrolments.as_ref().filter(|_| standing != Standing::Current) {
                enrolments.give_back(&conversation.client);
            }
        })
    }

    fn permit(&self, query: &Query, set: StateId) -> Result<(), Abort> {
        let items = self.serve.description.items_per_query;
        if let Some(meter) = &self.serve.meter {
            meter.take(&query.client, items).inspect_err(|_| add(&self.serve.counters.over_quota, 1))?;
        }
        if let Some(answers) = &self.serve.answers {
            let taken = answers.take(set, items);
            if let Some(warning) = taken.warning {
                self.log.warning(&warning);
            }
            taken.outcome.inspect_err(|_| add(&self.serve.counters.over_set, 1))?;
        }
        self.count_volume(&query.client);
        Ok(())
    }

    fn may_stay(&self, client: &ClientIdentity, key: Option<PublicKey>) -> bool {
        match (&self.serve.config.clients, client, key) {
            // The key may be past its last day: the handshake has looked at that.
            (Clients::Keys(_, accepted), ClientIdentity::Key(first), Some(key)) => accepted.knows(&key, first),
            (Clients::Keys(..), ..) => false,
            (Clients::InsecurePlaintext, ..) => true,
        }
    }

    fn answered(&self, query: &Query, took: Duration) {
        add(&self.serve.counters.items, self.serve.description.items_per_query);
        self.serve.counters.answered(took);
        self.log.answered(query, took);
    }

    fn ended(&self, conversation: Option<&Conversation>, from: &str, outcome: &Result<(), Abort>) {
        add(&self.serve.counters.ended, 1);
        if let Err(abort) = outcome {
            add(&self.serve.counters.failed, 1);
            if is_over_quota(abort) {
                add(&self.serve.counters.over_quota, 1);
            }
        }
        self.log.ended(conversation.map(|conversation| &conversation.client), from, outcome);
        if let Some(conversation) = conversation {
            self.log_end(conversation, outcome);
        }
    }

    fn not_accepted(&self, fault: &std::io::Error) {
        self.log.warning(&format!(
            "a client could not be accepted: {fault}; raise the limit of open files (`ulimit -n`), if that is what ran \
             out"
        ));
    }
}
