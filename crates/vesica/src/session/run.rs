//! The run itself, from binding the address to the report.

use std::time::Instant;

use vesica_party::transport::tls::PublicKey;
use vesica_party::{Abort, Channel, ChannelOptions, Phase, Role, Tally, Task};
use vesica_protocols::tasks::{Intersect, IntersectReceiverInput, IntersectSenderInput};
use vesica_structures::rng::SecretRng;
use zeroize::Zeroize;

use super::link::{self, Patience};
use super::prepare::{Preparation, Prepared};
use super::{Config, Events, Interrupt, Protection};
use crate::failure::{Failure, code};
use crate::handshake::messages::{Closing, Sizes, recv, send};
use crate::handshake::{self, Agreement, Bid, Hello, WIRE_VERSION};
use crate::key::DIGEST_VERSION;
use crate::plan;
use crate::receipt::{Receipt, Statement, to_hex};
use crate::report::{OutputReport, PhaseReport, Report};
use crate::table::{Input, Join, KeyTable, Matches, Output, ReceivedPayload, write_matches};

/// Runs one side.
///
/// # Errors
/// With the exit code of the command line. Whatever fails once the peer is there is also told to the peer.
pub fn run(config: &Config, interrupt: &Interrupt, events: &dyn Events) -> Result<Report, Failure> {
    let started = Instant::now();
    let mut hello = Hello {
        role: config.role,
        task: Intersect::NAME.into(),
        security: config.security,
        protocols: plan::allowed(config.protocol.as_deref(), config.security, config.allow_broken)?
            .into_iter()
            .map(|row| row.entry().id.to_owned())
            .collect(),
        key_digest: DIGEST_VERSION.into(),
        key_columns: config.source.key.agreement(),
        payload: match config.role {
            Role::Sender => config.source.payload.as_ref().map(|payload| payload.columns.clone()),
            Role::Receiver => config.expected_payload.clone(),
        },
        both_learn: config.both_learn,
        link: config.link,
        nonce: [0; 32],
    };
    let mut rng = SecretRng::from_os().map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))?;
    fill(&mut rng, &mut hello.nonce);
    refuse_existing_receipt(config)?;

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

fn refuse_existing_receipt(config: &Config) -> Result<(), Failure> {
    match &config.receipt {
        Some(path) if !config.force && path.exists() => Err(Failure::new(
            code::OUTPUT,
            format_args!("{} exists already", path.display()),
            "choose another name for --receipt, or replace it with --force",
        )),
        _ => Ok(()),
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
    output: Option<Output>,
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

/// Own matches, and the payloads that came with them.
struct Learned {
    matches: Vec<u32>,
    payloads: Vec<u8>,
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
        let Prepared { input, mut table, output } = preparation.finish(self.interrupt, self.deadline)?;
        let distinct = table.digests.len();
        let padded = self.padded(distinct)?;
        let sizes = Sizes { items: padded as u64, payload: table.payload.as_ref().map(|payload| payload.schema.clone()) };
        let bid = Bid { ours: &self.hello, theirs: &theirs, sizes, max_peer_items: self.config.max_peer_items };
        let agreement = handshake::settle(ch, &bid)?;

        self.events.stage(&format!("running {}", agreement.row.entry().id));
        let mut items = std::mem::take(&mut table.digests);
        items.extend(dummies(self.config.role, padded - distinct, rng));
        let learned = self.protocol(ch, &agreement, items, &mut table, rng)?;
        let transcript = ch.transcript();
        if let Some(transcript) = transcript {
            handshake::compare_transcripts(ch, transcript)?;
        }
        self.events.stage("closing");
        let mut warnings = Vec::new();
        if let Some(own) = agreement.own_view {
            let chosen = agreement.row.entry().id;
            warnings.push(format!(
                "the receiver chose {chosen}, where this side would have chosen {own}; are the releases of vesica the same?"
            ));
        }
        let receipt = self.close(ch, &agreement, transcript, &mut warnings)?;
        Ok(Agreed { agreement, input, table, output, own_items: padded as u64, distinct, learned, receipt, warnings })
    }

    /// All that only this side sees: the output and the receipt.
    fn keep(&self, agreed: Agreed, tally: Tally) -> Result<Done, Failure> {
        let Agreed { agreement, input, table, output, own_items, distinct, learned, receipt, mut warnings } = agreed;
        let matched_keys = learned.as_ref().map(|learned| learned.matches.len() as u64);
        let output = match (output, learned) {
            (Some(output), Some(learned)) => Some(self.write(&input, &table, output, &agreement, &learned, distinct)?),
            _ => None,
        };
        let receipt = receipt.and_then(|receipt| self.save(&receipt, &mut warnings));
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

    /// Runs the protocol in the task's roles. `None`: this side learns nothing.
    fn protocol(
        &self,
        ch: &mut Channel,
        agreement: &Agreement,
        items: Vec<u128>,
        table: &mut KeyTable,
        rng: &mut SecretRng,
    ) -> Result<Option<Learned>, Abort> {
        let request = agreement.terms.request();
        let role = self.config.role;
        let body = |ch: &mut Channel| match role {
            Role::Sender => {
                let mut payloads = table.payload.as_mut().map(|payload| std::mem::take(&mut payload.bytes)).unwrap_or_default();
                payloads.resize(items.len() * request.payload_bytes, 0);
                let party = agreement.row.sender(&request, ch, rng)?;
                let output = party.run(IntersectSenderInput { items, payloads }, ch, rng)?;
                Ok(output.matches.map(|matches| Learned { matches, payloads: Vec::new() }))
            }
            Role::Receiver => {
                let party = agreement.row.receiver(&request, ch, rng)?;
                let output = party.run(IntersectReceiverInput { items }, ch, rng)?;
                Ok(Some(Learned { matches: output.matches, payloads: output.payloads }))
            }
        };
        if ch.role() == role { body(ch) } else { ch.reversed(body) }
    }

    fn write(
        &self,
        input: &Input,
        table: &KeyTable,
        output: Output,
        agreement: &Agreement,
        learned: &Learned,
        distinct: usize,
    ) -> Result<OutputReport, Failure> {
        self.events.stage("writing the output");
        // Dummies come after the keys and match with negligible probability, unless the peer found a way to make them.
        if learned.matches.last().is_some_and(|&last| last as usize >= distinct) {
            return Err(Failure::new(code::PEER_MISBEHAVED, "a dummy item matched", "do not trust this partner's software"));
        }
        let path = output.path().to_owned();
        let join = self.config.destination.as_ref().map_or(Join::Inner, |to| to.join);
        let payload = match self.config.role {
            Role::Receiver => agreement.payload.as_ref().map(|schema| ReceivedPayload { schema, bytes: &learned.payloads }),
            Role::Sender => None,
        };
        let written = write_matches(input, table, &Matches { keys: &learned.matches, payload }, join, output)?;
        Ok(OutputReport { path, rows: written.rows })
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

    /// Writes the receipt where one is wanted. A lost receipt does not undo the result, which is there already.
    fn save(&self, receipt: &Receipt, warnings: &mut Vec<String>) -> Option<String> {
        let path = self.config.receipt.as_ref()?;
        match receipt.save(path, self.config.force) {
            Ok(()) => Some(path.display().to_string()),
            Err(error) => {
                warnings.push(format!("cannot write the receipt {}: {error}", path.display()));
                None
            }
        }
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
            choice: agreement.why.clone(),
            security: self.hello.security,
            sender_items: agreement.terms.sender_items as u64,
            receiver_items: agreement.terms.receiver_items as u64,
            both_learn: self.hello.both_learn,
            key_digest: self.hello.key_digest.clone(),
            key_columns: self.hello.key_columns.clone(),
            payload_columns: agreement.payload_columns(),
            payload_bytes: agreement.terms.payload_bytes as u64,
            sender_key: sender.to_string(),
            receiver_key: receiver.to_string(),
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
            report_version: 1,
            ok: true,
            vesica: env!("CARGO_PKG_VERSION"),
            role: config.role,
            task: Intersect::NAME,
            protocol: self.agreement.row.entry().id,
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
