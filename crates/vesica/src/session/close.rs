//! The last steps with the partner: goodbye, and the end of the connection.

use std::time::Duration;

use vesica_party::transport::tls::PublicKey;
use vesica_party::{Abort, Channel, Role, Tally};

use super::Protection;
use super::agree::Carried;
use super::context::Context;
use super::parting::{Parted, Parting, Signing};
use super::revealed::revealed;
use super::tell;
use super::work::{ProtocolEnded, ProtocolOutcome};
use crate::failure::{Failure, code};
use crate::handshake::WIRE_VERSION;
use crate::progress::{Gauge, Stage};
use crate::receipt::{Receipt, Statement, to_hex};

/// A conversation that has come to its end.
pub(super) struct Closed {
    carried: Carried,
    outcome: ProtocolOutcome,
    receipt: Option<Receipt>,
    /// Why the partner did not confirm the end, if it did not.
    unconfirmed: Option<Abort>,
}

impl ProtocolEnded {
    /// Ends the conversation. A side with a result keeps it from here on.
    pub fn close(self, ctx: &Context<'_>, ch: &mut Channel) -> Result<Closed, Failure> {
        let Self { mut carried, began, outcome } = self;
        ctx.watch.enter(Stage::Closing, Gauge::Nothing);
        let patience = ctx.limits.parting.saturating_add(began.elapsed());
        let signing = match (&ctx.config.protection, carried.agreement.peer_key, ch.transcript()) {
            (Protection::Tls { identity, .. }, Some(peer), Some(transcript)) => {
                let cluster = outcome.cluster.as_ref();
                let attempts = cluster.map(|cluster| cluster.attempts).or(carried.attempts);
                let commits = cluster.map(|cluster| to_hex(&cluster.commits));
                let statement =
                    Statement { attempts, commits, ..statement(ctx, &carried, transcript, identity.public(), peer) };
                Some(Signing { transcript, statement, identity, peer })
            }
            _ => None,
        };
        let parting = Parting { role: ctx.config.role, signing, complete: outcome.is_complete, patience };
        if let Some(signing) = &parting.signing {
            ctx.log.state(&signing.statement.signed_bytes());
        }
        let Parted { receipt, forged, unconfirmed } = parting.take(ch)?;
        let alone = if ctx.config.receipt.is_some() { "; the receipt has this side's signature alone" } else { "" };
        if forged {
            carried
                .warnings
                .push(format!("the partner's signature under the receipt is wrong, and was left out{alone}"));
        }
        if let Some(abort) = &unconfirmed {
            let why = ctx.interrupt.reason().map_or_else(|| abort.to_string(), |reason| reason.fault);
            carried.warnings.push(format!(
                "the partner did not confirm the end of the run ({why}); the result was complete before that{alone}"
            ));
        }
        Ok(Closed { carried, outcome, receipt, unconfirmed })
    }
}

/// A side whose partner is gone.
pub(super) struct PartnerGone {
    pub carried: Carried,
    pub outcome: ProtocolOutcome,
    pub receipt: Option<Receipt>,
    pub tally: Tally,
    /// From the start of the command to the end of the conversation.
    pub gone_after: Duration,
}

impl Closed {
    /// Closes the channel of a run that is complete.
    pub fn hang_up(self, ctx: &Context<'_>, ch: Channel) -> PartnerGone {
        let Self { mut carried, outcome, receipt, unconfirmed } = self;
        ctx.interrupt.complete();
        let tally = ch.tally();
        let tally = match unconfirmed {
            Some(abort) => {
                ch.abort(&abort);
                tally
            }
            None => ch.finish().unwrap_or_else(|abort| {
                carried.warnings.push(format!("the connection did not close cleanly: {abort}"));
                tally
            }),
        };
        let gone_after = ctx.started.elapsed();
        ctx.let_go();
        PartnerGone { carried, outcome, receipt, tally, gone_after }
    }
}

impl Context<'_> {
    /// Tells the partner why the run has failed, and gives what the user is to hear.
    pub fn give_up(&self, ch: Channel, failure: Failure, is_driver: bool) -> Failure {
        // What the partner said last explains more than what its end did to our workers.
        let said = if is_driver { ch.check().err().map(Failure::from) } else { None };
        let said = said.filter(|_| failure.code == code::LINK);
        ch.abort(&failure.for_peer());
        self.let_go();
        if failure.announced {
            tell::told(self.events);
        }
        // A signal also shows as a failure of whatever it cut short.
        self.interrupt.reason().or(said).unwrap_or(failure)
    }

    /// Nothing may keep the socket open once the conversation is over.
    pub fn let_go(&self) {
        self.interrupt.detach();
        self.watch.close();
    }
}

/// What both sides sign.
fn statement(
    ctx: &Context<'_>,
    carried: &Carried,
    transcript: [u8; 32],
    ours: PublicKey,
    theirs: PublicKey,
) -> Statement {
    let Carried { hello, agreement, policies, .. } = carried;
    let (sender, receiver) = match ctx.config.role {
        Role::Sender => (ours, theirs),
        Role::Receiver => (theirs, ours),
    };
    let disclosure = agreement.terms.disclosure();
    Statement {
        wire_version: WIRE_VERSION,
        session: to_hex(&agreement.session),
        transcript: to_hex(&transcript),
        started_at: agreement.clock,
        task: hello.task.clone(),
        protocol: agreement.entry.id.into(),
        broken: agreement.entry.broken().map(Into::into),
        choice: agreement.why.clone(),
        security: hello.security,
        post_quantum: hello.post_quantum,
        key_exchange: agreement.key_exchange.map(|key_exchange| key_exchange.name().into()),
        sender_items: agreement.extent.sender_items as u64,
        receiver_items: agreement.extent.receiver_items as u64,
        buckets: agreement.buckets,
        attempts: None,
        commits: None,
        both_learn: disclosure.both_learn,
        key_digest: hello.key_digest.clone(),
        key_columns: hello.key_columns.clone(),
        or_keys: hello.or_keys.clone(),
        payload_columns: disclosure.payload_columns,
        payload_bytes: disclosure.payload_bytes as u64,
        sender_values: disclosure.sender_values,
        receiver_values: disclosure.receiver_values,
        groups: disclosure.groups.unwrap_or(1) as u64,
        reveal_if_at_least: disclosure.at_least,
        noise_epsilon: disclosure.noise,
        revealed: revealed(&*agreement.terms, agreement.entry, &agreement.extent, &ctx.config.source.key),
        sender_policy: policies.sender.clone(),
        receiver_policy: policies.receiver.clone(),
        sender_key: sender.to_string(),
        receiver_key: receiver.to_string(),
    }
}
