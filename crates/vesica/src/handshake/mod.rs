//! The agreement before a protocol runs (configuration, sizes, protocol, session) and after it (transcript).
//!
//! ```text
//! connector                              listener
//!   | 1, 3: wire version, configuration -->|    both at once, with a commitment to a share of the salt; then each compares field by field,
//!   |                                      |    and the clocks
//!   |<-- 2, 4: the same                    |
//!   | 5 / 6: sizes (both at once)          |    checked against --max-peer-items before anything is allocated; the share is opened
//!   | 7 / 8: choice (receiver of the task) |    checked by the sender against what it allows itself
//!   | 9 / 10: session id (both at once)    |    hash of all of the above, both nonces and the TLS exporter
//!   |              the protocol            |
//!   | 11 / 12: transcript (both at once)   |    over TLS: hash of all that was said; compared before the partner's signature is taken
//!   | 13 / 14: closing (both at once)      |    over TLS: the signature under the receipt
//! ```
//!
//! From 11 on, a side whose result is complete keeps it, whatever the partner does: see `session::parting`.

pub(crate) mod clock;
mod hello;
mod kinds;
pub(crate) mod messages;
mod ranges;
pub(crate) mod salt;

use std::ops::RangeInclusive;
use std::time::Instant;

use vesica_party::{Abort, Channel, Phase, Role};
use vesica_protocols::any::AnyProtocol;
use vesica_structures::facts::Unsupported;

use crate::failure::{Failure, code};
use crate::key::Kind;
use crate::memory::{Budget, Bytes};
use crate::noise::NoiseScale;
use crate::plan::{self, Link, SetTask, Terms};
use crate::table::{PayloadSchema, ValueColumn};
pub use hello::{Difference, Hello, printable};
pub(crate) use kinds::warnings as kind_warnings;
use messages::{Choice, Opening, Ready, Seen, Sizes, peers_step, recv, send};

/// The version of everything that crosses the wire. Sides of different versions refuse each other.
pub const WIRE_VERSION: u32 = 5;

/// Exchanges versions and configurations.
///
/// # Errors
/// If the sides differ: the failure names each field and both values, and both sides come to it by themselves.
pub(crate) fn agree(ch: &mut Channel, ours: &Hello) -> Result<Hello, Abort> {
    let _phase = ch.phase(Phase::Handshake);
    let met = Instant::now();
    send(ch, Opening { wire_version: WIRE_VERSION })?;
    send(ch, ours.clone())?;
    let theirs = recv::<Opening>(ch)?.wire_version;
    if theirs != WIRE_VERSION {
        return Err(Failure::new(
            code::MISMATCH,
            format_args!("this side speaks wire version {WIRE_VERSION}, the peer {theirs}"),
            "install the same release of vesica on both sides",
        )
        .into());
    }
    let theirs: Hello = recv(ch)?;
    if theirs.nonce == ours.nonce {
        return Err(Abort::PeerMisbehaved(peers_step::<Hello>(ch), "it sent our own nonce back"));
    }
    let differences = ours.differences(&theirs);
    if differences.is_empty() {
        clock::in_time(met.elapsed())?;
        clock::compare(ours, &theirs)?;
        return Ok(theirs);
    }
    let named: Vec<String> = differences
        .iter()
        .map(|d| format!("{} is {:?} on the {}'s side and {:?} on the peer's", d.field, d.ours, ours.role, d.theirs))
        .collect();
    Err(Failure::new(
        code::MISMATCH,
        format_args!("the two sides are configured differently: {}", named.join("; ")),
        "agree with your partner on these values, and start both sides again",
    )
    .into())
}

/// What is agreed once sizes are known.
pub(crate) struct Agreement {
    /// The protocol to run.
    pub row: AnyProtocol,
    /// Why this one: a sentence that both sides come to.
    pub why: String,
    /// What this side's own model would rather have, if that is another one.
    pub own_view: Option<&'static str>,
    /// What it is run on.
    pub terms: Terms,
    /// The sender's payload.
    pub payload: Option<PayloadSchema>,
    /// The sender's columns of values.
    pub sender_values: Vec<ValueColumn>,
    /// The receiver's.
    pub receiver_values: Vec<ValueColumn>,
    /// How the peer writes the values of each key column.
    pub peer_key_kinds: Vec<Kind>,
    /// The epsilon of the sender's noise.
    pub noise: Option<String>,
    /// The noise of each result of a group; none without noise.
    pub noise_scales: Vec<NoiseScale>,
    /// That a result may wrap around, if so.
    pub may_wrap: Option<String>,
    /// What digests of keys are folded under.
    pub salt: u128,
    /// The session to which all hashes are bound, the salt's shares among them.
    pub session: [u8; 32],
    /// Seconds since 1970 by the receiver's clock, which is near the sender's.
    pub clock: u64,
}

impl Agreement {
    /// Names of the sender's columns that take part: as a payload, or to compute with.
    pub(crate) fn payload_columns(&self) -> Vec<String> {
        let payload = self.payload.iter().flat_map(|schema| schema.fields.iter().map(|field| &field.name));
        payload.chain(self.sender_values.iter().map(|column| &column.name)).cloned().collect()
    }
}

/// What a side brings to [`settle`].
pub(crate) struct Bid<'a> {
    /// What is computed.
    pub task: SetTask,
    /// Own configuration.
    pub ours: &'a Hello,
    /// The peer's.
    pub theirs: &'a Hello,
    /// Own sizes.
    pub sizes: Sizes,
    /// Most items that the peer may bring.
    pub max_peer_items: u64,
    /// Most groups that the peer may ask for.
    pub max_groups: u32,
    /// Memory that this side may take; `None` for any.
    pub memory: Option<Budget>,
}

impl Bid<'_> {
    /// Refuses protocol `id` where it may take more memory than this side has for it. The peer learns that, and not how much there is: its own budget
    /// plays no part in the choice, so that neither side has to tell.
    fn afford(&self, terms: &Terms, id: &str, candidates: &[&'static str]) -> Result<(), Failure> {
        let needed = |id: &str| plan::memory(id, terms).map_or(0, |memory| memory.of(self.ours.role));
        let Some(budget) = self.memory.as_ref().filter(|budget| needed(id) > budget.left) else { return Ok(()) };
        let (senders, receivers) = (terms.sender_items, terms.receiver_items);
        let fault = format!(
            "protocol {id} on {senders} keys of the sender and {receivers} of the receiver may take {} of memory here, and {budget}",
            Bytes(needed(id))
        );
        let fitting = candidates.iter().copied().filter(|&other| other != id && needed(other) <= budget.left);
        let mend = match fitting.min_by_key(|other| needed(other)) {
            Some(other) => format!(
                "name a protocol that fits on both sides, --protocol {other} ({}), give it more with --memory, or agree on smaller tables (--max-peer-items refuses larger ones)",
                Bytes(needed(other))
            ),
            None => "give it more with --memory, if the machine has it, or agree on smaller tables (--max-peer-items refuses larger ones)"
                .into(),
        };
        let told = "with these sizes the run may take more memory than the other side has for it (its --memory, or what is free there)";
        Err(Failure { told: Some(told), ..Failure::new(code::REFUSED, fault, mend) })
    }
}

/// Exchanges sizes, chooses the protocol and binds the channel to the session.
///
/// # Errors
/// If the peer's set is larger than allowed, if no protocol serves, if the choice is not one that this side allows itself, or if it may take more memory
/// than this side has for it.
pub(crate) fn settle(ch: &mut Channel, bid: &Bid<'_>) -> Result<Agreement, Failure> {
    let _phase = ch.phase(Phase::Handshake);
    send(ch, bid.sizes.clone())?;
    let theirs: Sizes = recv(ch)?;
    let misbehaved = |ch: &Channel, what| Abort::PeerMisbehaved(peers_step::<Sizes>(ch), what);
    if salt::commit(bid.theirs.role, &theirs.salt_share) != bid.theirs.salt_commitment {
        return Err(misbehaved(ch, "its share of the session's salt is not the one that it committed to").into());
    }
    if theirs.items == 0 {
        return Err(misbehaved(ch, "an empty set, which vesica refuses").into());
    }
    if theirs.items > bid.max_peer_items {
        return Err(Failure::new(
            code::REFUSED,
            format_args!("the peer's set has {} items, more than the {} that are allowed here", theirs.items, bid.max_peer_items),
            "raise --max-peer-items on the side that refused, if the number is expected, or send a smaller table",
        ));
    }
    if theirs.key_kinds.len() != bid.theirs.key_columns.len() {
        return Err(misbehaved(ch, "kinds of another number of key columns").into());
    }
    // Several groups are a receiver's of an aggregate.
    if theirs.groups > 1 && (bid.ours.role == Role::Receiver || !bid.task.is_aggregate()) {
        return Err(misbehaved(ch, "groups, which are for the receiver of an aggregate").into());
    }
    if theirs.groups > bid.max_groups {
        return Err(Failure::new(
            code::REFUSED,
            format_args!("the receiver asks for {} groups, more than the {} that are allowed here", theirs.groups, bid.max_groups),
            "results of small groups tell more of single rows: raise --max-groups on the sender's side, if the number is fine, or leave --group-by away",
        ));
    }
    let (from_sender, from_receiver) = match bid.ours.role {
        Role::Sender => (bid.ours, bid.theirs),
        Role::Receiver => (bid.theirs, bid.ours),
    };
    if !ranges::go_with(bid.task, from_sender, from_receiver) {
        return Err(misbehaved(ch, "columns of values that do not go with the task").into());
    }
    let (sender, receiver, promised) = match bid.ours.role {
        Role::Sender => (bid.sizes.clone(), theirs, &bid.ours.payload),
        Role::Receiver => (theirs, bid.sizes.clone(), &bid.theirs.payload),
    };
    let given = sender.payload.as_ref().map(|schema| schema.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>());
    if receiver.payload.is_some() || given != *promised {
        return Err(misbehaved(ch, "a payload that does not go with the configuration").into());
    }
    let peer_key_kinds = match bid.ours.role {
        Role::Sender => receiver.key_kinds.clone(),
        Role::Receiver => sender.key_kinds.clone(),
    };
    let (sender_values, receiver_values) = (from_sender.values.clone(), from_receiver.values.clone());
    let shared_bytes = |columns: &[ValueColumn]| if bid.task == SetTask::Shares { 8 * columns.len() } else { 0 };
    let terms = Terms {
        payload_bytes: sender.payload.as_ref().map_or(shared_bytes(&sender_values), |schema| schema.width),
        receiver_payload_bytes: shared_bytes(&receiver_values),
        both_learn: bid.ours.both_learn,
        columns: if bid.task.is_aggregate() { sender_values.len() } else { 0 },
        groups: receiver.groups as usize,
        at_least: bid.ours.at_least,
        noisy: from_sender.noise.is_some(),
        ..Terms::new(bid.task, small(sender.items)?, small(receiver.items)?, bid.ours.security)
    };
    let noise_scales = ranges::noise(&terms, from_sender, from_receiver)?;
    let may_wrap = ranges::may_wrap(&terms, from_sender, from_receiver, &noise_scales)?;
    let link = Link::agreed(bid.ours.link, bid.theirs.link);
    let view = plan::choose(&terms, &bid.ours.protocols, &bid.theirs.protocols, &link)?;
    let own = view.row.entry().id;
    let choice = match bid.ours.role {
        Role::Receiver => {
            // Before the sender hears of a choice that comes to nothing.
            bid.afford(&terms, own, &view.candidates)?;
            let choice = Choice { protocol: own.into() };
            send(ch, choice.clone())?;
            choice
        }
        Role::Sender => recv(ch)?,
    };
    let allowed = bid.ours.protocols.contains(&choice.protocol);
    let Some(row) = plan::with_variants(bid.task).into_iter().find(|row| allowed && row.entry().id == choice.protocol) else {
        return Err(Abort::PeerMisbehaved(peers_step::<Choice>(ch), "it chose a protocol that this side did not allow").into());
    };
    bid.afford(&terms, row.entry().id, &view.candidates)?;
    // The lists were made from each side's own least security; the registry may still refuse these sizes.
    let predicted = row.predicted_bytes(&terms)?;
    let session = session_id(ch, bid, &sender, &receiver, &choice, &predicted);
    let salt = salt::salt(&sender.salt_share, &receiver.salt_share);
    let (payload, noise) = (sender.payload, from_sender.noise.clone());
    send(ch, Ready { session })?;
    if recv::<Ready>(ch)?.session != session {
        return Err(Abort::PeerMisbehaved(
            peers_step::<Ready>(ch),
            "its session is another one than ours: somebody changes the traffic, or the two builds derive other sizes",
        )
        .into());
    }
    ch.bind_session(session);
    let own_view = (own != choice.protocol).then_some(own);
    Ok(Agreement {
        row,
        why: view.why(&link),
        own_view,
        terms,
        payload,
        sender_values,
        receiver_values,
        peer_key_kinds,
        noise,
        noise_scales,
        may_wrap,
        salt,
        session,
        clock: from_receiver.clock,
    })
}

/// Exchanges and compares transcripts.
///
/// # Errors
/// If the peer saw another conversation than `ours`.
pub(crate) fn compare_transcripts(ch: &mut Channel, ours: [u8; 32]) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Handshake);
    send(ch, Seen { transcript: ours })?;
    if recv::<Seen>(ch)?.transcript != ours {
        return Err(Abort::PeerMisbehaved(peers_step::<Seen>(ch), "its transcript is another one than ours: somebody changed the traffic"));
    }
    Ok(())
}

fn small(count: u64) -> Result<usize, Unsupported> {
    usize::try_from(count).map_err(|_| Unsupported::new("a size that this machine cannot address", "use smaller tables"))
}

/// Hash of all that was agreed, nonces and the salt's shares among it, and of the TLS session below it.
fn session_id(ch: &Channel, bid: &Bid<'_>, sender: &Sizes, receiver: &Sizes, choice: &Choice, predicted: &RangeInclusive<u64>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-20 session id v1");
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&WIRE_VERSION.to_le_bytes());
    part(&ch.exporter().unwrap_or_default());
    let (from_sender, from_receiver) = match bid.ours.role {
        Role::Sender => (bid.ours, bid.theirs),
        Role::Receiver => (bid.theirs, bid.ours),
    };
    // Plain structs into memory: serialising cannot fail.
    for hello in [from_sender, from_receiver] {
        part(&serde_json::to_vec(hello).unwrap_or_default());
    }
    for sizes in [sender, receiver] {
        part(&serde_json::to_vec(sizes).unwrap_or_default());
    }
    part(choice.protocol.as_bytes());
    // Follows from all sizes that the protocol derives, so that two builds that derive others part here and not in mid-protocol.
    part(&predicted.start().to_le_bytes());
    part(&predicted.end().to_le_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;
