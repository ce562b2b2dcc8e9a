//! The run itself, from binding the address to the report.

use std::time::Instant;

use vesica_party::transport::tls::PublicKey;
use vesica_party::{Abort, Channel, ChannelOptions, Phase, Role, Tally};
use vesica_structures::rng::SecretRng;
use zeroize::Zeroize;

use super::compute::{Learned, Writing, compute};
use super::link::{self, Patience};
use super::prepare::{Placed, Preparation, Prepared};
use super::revealed::revealed;
use super::{Config, Events, Interrupt, Protection, wishes};
use crate::failure::{Failure, code};
use crate::handshake::messages::{Closing, Sizes, recv, send};
use crate::handshake::{self, Agreement, Bid, Hello, WIRE_VERSION};
use crate::noise;
use crate::receipt::{Receipt, Statement, to_hex};
use crate::report::{OutputReport, PhaseReport, Report, ValueReport};
use crate::table::{Input, KeyTable, Place};

/// Runs one side.
///
/// # Errors
/// With the exit code of the command line. Whatever fails once the peer is there is also told to the peer.
pub fn run(config: &Config, interrupt: &Interrupt, events: &dyn Events) -> Result<Report, Failure> {
    let started = Instant::now();
    wishes::check(config)?;
    let mut hello = wishes::hello(config)?;
    let mut rng = SecretRng::from_os().map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))?;
    fill(&mut rng, &mut hello.nonce);

    let bound = link::bind(&config.end, events)?;
    let mut preparation = Preparation::start(config);
    events.stage("waiting for the peer");
    let connection = {
        let preparation = std::cell::RefCell::new(&mut preparation);
        let stop = || {
            let own = |failure: &Failure| events.notice(&format!("{failure} (waiting some seconds for the peer, to tell it)"));
            interrupt.reason().or_else(|| preparation.borrow_mut().overdue_failure(own))
        };
        let wait = config.deadline.map_or(config.wait, |deadline| config.wait.min(deadline));
        link::reach(&bound, &config.protection, &Patience { wait, stop: &stop }, events)
    };
    // Whether the peer never came matters less than an own failure that could not be told.
    let connection = connection.map_err(|failure| preparation.failure().cloned().unwrap_or(failure))?;
    drop(bound);
    events.connected();

    // Roles of the task are not agreed yet, so the channel's are those of the connection; the protocol's call turns them if need be.
    let as_connector = matches!(config.end, super::End::Connect(_));
    let deadline = config.deadline.map(|deadline| deadline.saturating_sub(started.elapsed()));
    // Either side may ask for a receipt, and both sign it: over TLS there is always a transcript. Without TLS there is no receipt.
    let transcript = matches!(config.protection, Protection::Tls { .. });
    let options = ChannelOptions { deadline, transcript, ..ChannelOptions::default() };
    let mut ch = Channel::open(connection, if as_connector { Role::Sender } else { Role::Receiver }, options)?;
    interrupt.attach(ch.canceller());
    let deadline = config.deadline.and_then(|deadline| started.checked_add(deadline));
    let conversation = Conversation { config, hello, deadline, interrupt, events };
    let mut agreed = match conversation.hold(&mut ch, preparation, &mut rng) {
        Ok(agreed) => agreed,
        Err(failure) => {
            ch.abort(&failure.for_peer());
            // A signal also shows as a failure of whatever it cut short.
            return Err(interrupt.reason().unwrap_or(failure));
        }
    };
    let tally = ch.tally();
    let tally = ch.finish().unwrap_or_else(|abort| {
        agreed.warnings.push(format!("the connection did not close cleanly: {abort}"));
        tally
    });
    // Only now is the result looked at. How long it is, whether the peer's payloads decode and whether all can be written depends on what
    // matched: the peer must not notice.
    let done = conversation.keep(agreed, tally)?;
    Ok(done.report(config, started))
}

fn fill(rng: &mut SecretRng, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(16) {
        part.copy_from_slice(&rng.block().to_le_bytes()[..part.len()]);
    }
}

struct Conversation<'a> {
    config: &'a Config,
    hello: Hello,
    deadline: Option<Instant>,
    interrupt: &'a Interrupt,
    events: &'a dyn Events,
}

/// What the conversation gave; nothing of the result has been looked at.
struct Agreed {
    agreement: Agreement,
    input: Input,
    table: KeyTable,
    placed: Placed,
    own_items: u64,
    distinct: usize,
    learned: Option<Learned>,
    receipt: Option<Receipt>,
    warnings: Vec<String>,
}

/// What a run gave.
struct Done {
    agreement: Agreement,
    table: KeyTable,
    own_items: u64,
    matched_keys: Option<u64>,
    output: Option<OutputReport>,
    receipt: Option<String>,
    tally: Tally,
    warnings: Vec<String>,
}

impl Conversation<'_> {
    /// All that the peer hears and says.
    fn hold(&self, ch: &mut Channel, preparation: Preparation, rng: &mut SecretRng) -> Result<Agreed, Failure> {
        if let Some(failure) = preparation.failure() {
            return Err(failure.clone());
        }
        self.events.stage("comparing configurations");
        let theirs = handshake::agree(ch, &self.hello)?;
        self.events.stage("reading the input");
        let Prepared { input, mut table, placed } = preparation.finish(self.interrupt, self.deadline)?;
        for notice in placed.notices() {
            self.events.notice(&notice);
        }
        let distinct = table.digests.len();
        let padded = self.padded(distinct)?;
        let sizes = Sizes {
            items: padded as u64,
            payload: table.payload.as_ref().map(|payload| payload.schema.clone()),
            groups: table.values.as_ref().map_or(1, |values| values.categories.len().max(1) as u32),
        };
        let Config { task, max_peer_items, max_groups, .. } = *self.config;
        let bid = Bid { task, ours: &self.hello, theirs: &theirs, sizes, max_peer_items, max_groups };
        let agreement = handshake::settle(ch, &bid)?;
        // Before the first message of the protocol: what was spent stays spent, however the run ends.
        if let (Some(noise), Protection::Tls { peer, .. }) = (&self.config.noise, &self.config.protection) {
            noise::debit(&noise.budget, &peer.fingerprint().to_string(), noise.epsilon)?;
        }
        let entry = agreement.row.entry();
        let mut warnings: Vec<String> = entry.warning().into_iter().chain(agreement.may_wrap.clone()).collect();
        for warning in &warnings {
            self.events.notice(&format!("warning: {warning}"));
        }

        self.events.stage(&format!("running {}", agreement.row.entry().id));
        let mut items = std::mem::take(&mut table.digests);
        items.extend(dummies(self.config.role, padded - distinct, rng));
        let learned = compute(self.config.role, ch, &agreement, items, &mut table, rng)?;
        let transcript = ch.transcript();
        if let Some(transcript) = transcript {
            handshake::compare_transcripts(ch, transcript)?;
        }
        self.events.stage("closing");
        if let Some(own) = agreement.own_view {
            let chosen = agreement.row.entry().id;
            warnings.push(format!(
                "the receiver chose {chosen}, where this side would have chosen {own}; are the releases of vesica the same?"
            ));
        }
        let receipt = self.close(ch, &agreement, transcript, &mut warnings)?;
        Ok(Agreed { agreement, input, table, placed, own_items: padded as u64, distinct, learned, receipt, warnings })
    }

    /// All that only this side sees: the output and the receipt.
    fn keep(&self, agreed: Agreed, tally: Tally) -> Result<Done, Failure> {
        let Agreed { agreement, input, table, placed, own_items, distinct, learned, receipt, mut warnings } = agreed;
        let matched_keys = match &learned {
            Some(Learned::Matches { matches, .. }) => Some(matches.len() as u64),
            _ => None,
        };
        let output = match (placed.output, learned) {
            (Some(output), Some(learned)) => {
                self.events.stage("writing the output");
                let writing = Writing { config: self.config, agreement: &agreement, input: &input, table: &table, distinct };
                Some(writing.write(learned, output)?)
            }
            _ => None,
        };
        let receipt = receipt.zip(placed.receipt).and_then(|(receipt, place)| save(&receipt, place, &mut warnings));
        Ok(Done { agreement, table, own_items, matched_keys, output, receipt, tally, warnings })
    }

    fn padded(&self, distinct: usize) -> Result<usize, Failure> {
        let Some(target) = self.config.pad_to else { return Ok(distinct) };
        match usize::try_from(target) {
            Ok(target) if target >= distinct => Ok(target),
            _ => {
                let mut failure = Failure::new(
                    code::USAGE,
                    format_args!("--pad-to {target} is less than the {distinct} distinct keys of the table"),
                    "pad to a number that no table of yours exceeds",
                );
                failure.told = Some("the partner's table is larger than it is to appear");
                Err(failure)
            }
        }
    }

    /// Tells the peer that the protocol is done, with the signature under the receipt. `None`: no receipt over plaintext.
    fn close(
        &self,
        ch: &mut Channel,
        agreement: &Agreement,
        transcript: Option<[u8; 32]>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Receipt>, Failure> {
        let (Protection::Tls { identity, peer }, Some(transcript)) = (&self.config.protection, transcript) else {
            let _phase = ch.phase(Phase::Handshake);
            send(ch, Closing { signature: [0; 64] })?;
            self.heard(recv::<Closing>(ch), warnings)?;
            return Ok(None);
        };
        let statement = self.statement(agreement, transcript, identity.public(), *peer);
        let signature = statement
            .sign(identity)
            .ok_or_else(|| Failure::new(code::INTERNAL, "the receipt could not be signed", "please report this"))?;
        let theirs = {
            let _phase = ch.phase(Phase::Handshake);
            send(ch, Closing { signature })?;
            self.heard(recv::<Closing>(ch), warnings)?
        };
        let theirs = theirs.map(|closing| closing.signature).filter(|signature| {
            let right = peer.verifies(&statement.signed_bytes(), signature);
            if !right {
                warnings.push("the peer's signature under the receipt is wrong, and was left out".into());
            }
            right
        });
        let (ours, theirs) = (Some(to_hex(&signature)), theirs.map(|signature| to_hex(&signature)));
        let (sender_signature, receiver_signature) = match self.config.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        Ok(Some(Receipt { statement, sender_signature, receiver_signature }))
    }

    /// A side that has its result does not lose it because the peer's goodbye is late. One that has none must know that all went well.
    fn heard(&self, closing: Result<Closing, Abort>, warnings: &mut Vec<String>) -> Result<Option<Closing>, Failure> {
        match closing {
            Ok(closing) => Ok(Some(closing)),
            Err(abort) if self.config.destination.is_some() && self.interrupt.reason().is_none() => {
                warnings.push(format!("the peer did not confirm the end: {abort}"));
                Ok(None)
            }
            Err(abort) => Err(abort.into()),
        }
    }

    fn statement(&self, agreement: &Agreement, transcript: [u8; 32], ours: PublicKey, theirs: PublicKey) -> Statement {
        let (sender, receiver) = match self.config.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        Statement {
            wire_version: WIRE_VERSION,
            session: to_hex(&agreement.session),
            transcript: to_hex(&transcript),
            started_at: agreement.clock,
            task: self.hello.task.clone(),
            protocol: agreement.row.entry().id.into(),
            broken: agreement.row.entry().broken().map(Into::into),
            choice: agreement.why.clone(),
            security: self.hello.security,
            sender_items: agreement.terms.sender_items as u64,
            receiver_items: agreement.terms.receiver_items as u64,
            both_learn: self.hello.both_learn,
            key_digest: self.hello.key_digest.clone(),
            key_columns: self.hello.key_columns.clone(),
            payload_columns: agreement.payload_columns(),
            payload_bytes: agreement.terms.payload_bytes as u64,
            sender_values: agreement.sender_values.clone(),
            receiver_values: agreement.receiver_values.clone(),
            groups: agreement.terms.groups as u64,
            reveal_if_at_least: agreement.terms.at_least,
            noise_epsilon: agreement.noise.clone(),
            revealed: revealed(agreement),
            sender_key: sender.to_string(),
            receiver_key: receiver.to_string(),
        }
    }
}

/// Writes the receipt. A lost receipt does not undo the result, which is there already.
fn save(receipt: &Receipt, place: Place, warnings: &mut Vec<String>) -> Option<String> {
    let path = place.path().to_owned();
    match place.write(&receipt.to_json()) {
        Ok(()) => Some(path),
        Err(error) => {
            warnings.push(format!("the receipt is lost: {error}"));
            None
        }
    }
}

/// `count` items that are nobody's key: from a domain of the side's own, under a fresh key, so that neither the own keys, nor the peer's,
/// nor the peer's dummies are among them but with probability 2^-128 each.
fn dummies(role: Role, count: usize, rng: &mut SecretRng) -> Vec<u128> {
    let domain = match role {
        Role::Sender => "vesica 2026-11-20 dummy items of the sender v1",
        Role::Receiver => "vesica 2026-11-20 dummy items of the receiver v1",
    };
    let mut key = [0; 32];
    fill(rng, &mut key);
    let mut stream = blake3::Hasher::new_derive_key(domain).update(&key).finalize_xof();
    key.zeroize();
    let mut item = [0; 16];
    std::iter::repeat_with(|| {
        stream.fill(&mut item);
        u128::from_le_bytes(item)
    })
    .take(count)
    .collect()
}

impl Done {
    fn report(self, config: &Config, started: Instant) -> Report {
        let total = self.tally.total();
        let terms = &self.agreement.terms;
        Report {
            report_version: 2,
            ok: true,
            vesica: env!("CARGO_PKG_VERSION"),
            role: config.role,
            task: config.task.name(),
            protocol: self.agreement.row.entry().id,
            broken: self.agreement.row.entry().broken(),
            choice: self.agreement.why.clone(),
            security: terms.security,
            session: to_hex(&self.agreement.session),
            peer: match &config.protection {
                Protection::Tls { peer, .. } => Some(peer.fingerprint().to_string()),
                Protection::InsecurePlaintext => None,
            },
            own_items: self.own_items,
            peer_items: match config.role {
                Role::Sender => terms.receiver_items as u64,
                Role::Receiver => terms.sender_items as u64,
            },
            input: self.table.stats,
            matched_keys: self.matched_keys,
            output: self.output,
            payload_columns: self.agreement.payload_columns(),
            payload_bytes: terms.payload_bytes as u64,
            values: ValueReport::all(
                &self.agreement.sender_values,
                &self.agreement.receiver_values,
                config.role,
                self.table.values.as_ref().map_or(&[], |values| &values.clamped),
            ),
            groups: config.task.is_aggregate().then_some(terms.groups as u64),
            reveal_if_at_least: terms.at_least,
            noise_epsilon: self.agreement.noise.clone(),
            revealed: revealed(&self.agreement),
            receipt: self.receipt,
            threads: crate::threads::count(),
            bytes_sent: total.sent(),
            bytes_received: total.received(),
            seconds: started.elapsed().as_secs_f64(),
            phases: PhaseReport::all(&self.tally),
            warnings: self.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummies_of_the_two_sides_differ_under_one_seed_and_are_fresh() {
        let of = |role, seed| dummies(role, 1000, &mut SecretRng::insecure_from_seed(seed));
        let mut all = [of(Role::Sender, 1), of(Role::Receiver, 1), of(Role::Sender, 2)].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3000);
    }
}
