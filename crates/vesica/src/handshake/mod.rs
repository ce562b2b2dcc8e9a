//! The agreement before a protocol runs (configuration, sizes, protocol, session) and after it
//! (transcript).
//!
//! ```text
//! connector                              listener
//!   | 1, 3: wire version, configuration -->|    both at once, with the task's proposal and a commitment to a share of the salt; then
//!   |                                      |    each side compares the fields, the task's proposals and the clocks
//!   |<-- 2, 4: the same                    |
//!   | 5 / 6: sizes (both at once)          |    checked against --max-peer-items before anything is allocated; each opens its share of the salt
//!   | 27 / 28: fits (both at once)        |    of large tables without --buckets: whether the whole run fits in memory; if not, both divide their keys
//!   | 7 / 8: protocol (from the receiver)  |    the sender checks that it allows this protocol
//!   | 9 / 10: session id (both at once)    |    hash of all of the above, both nonces and the TLS exporter
//!   | 23 / 24: finished (both at once)     |    with --resume: which buckets of the run are finished
//!   |              the protocol            |    with --resume against a malicious partner, between its passes 25 / 26 (both at once): that all
//!   |                                      |    buckets are through the first
//!   | 11 / 12: transcript (both at once)   |    over TLS: hash of all messages; compared before a side accepts the partner's signature
//!   | 13 / 14: closing (both at once)      |    over TLS: each side's signature under the receipt
//! ```
//!
//! From 11 on, a side whose result is complete keeps it, whatever the partner does: see
//! `session::parting`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub(crate) mod clock;
mod hello;
mod kinds;
pub(crate) mod messages;
mod negotiator;
pub(crate) mod salt;

use std::ops::RangeInclusive;

use vesica_party::transport::KeyExchange;
use vesica_party::transport::tls::PublicKey;
use vesica_party::{Abort, Channel, Entry, Phase, Role, Step, variants};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

use crate::buckets;
use crate::failure::{Failure, code};
use crate::key::Kind;
use crate::memory::{Budget, Bytes};
use crate::plan::{self, Chosen, Link, Workload};
use crate::words::counted;
pub(crate) use hello::list;
pub use hello::{Difference, Hello, printable, printable_within};
pub(crate) use kinds::warnings as kind_warnings;
use messages::{Choice, Fits, Opening, Ready, Seen, Sizes, peers_step, recv, send};
pub(crate) use negotiator::Negotiator;
pub use negotiator::{Refusal, TaskBytes};

/// The version of everything that crosses the wire. Sides of different versions refuse each other.
pub const WIRE_VERSION: u32 = 16;

/// Exchanges versions and configurations.
///
/// # Errors
/// If the sides differ: the failure names each field and both values, and both sides come to it by
/// themselves.
pub(crate) fn agree<N: Negotiator + ?Sized>(ch: &mut Channel, ours: &Hello, task: &N) -> Result<Hello, Abort> {
    let _phase = ch.phase(Phase::Handshake);
    send(ch, Opening { wire_version: WIRE_VERSION })?;
    // Before anything is said that a recording would keep.
    if ours.post_quantum {
        KeyExchange::require_post_quantum(ch.key_exchange())?;
    }
    send(ch, ours.clone())?;
    let theirs: Hello = ch.within("the partner's configuration", clock::LONGEST_HELLO, |ch| {
        let theirs = recv::<Opening>(ch)?.wire_version;
        if theirs == WIRE_VERSION {
            return recv(ch);
        }
        Err(Failure::new(
            code::MISMATCH,
            format_args!("this side speaks wire version {WIRE_VERSION}, the partner speaks {theirs}"),
            "install the same release of vesica on both sides",
        )
        .into())
    })?;
    if theirs.nonce == ours.nonce {
        return Err(Abort::PeerMisbehaved(peers_step::<Hello>(ch), "it sent the nonce back that it had received"));
    }
    if theirs.role == ours.role {
        let [doubled, missing] = [ours.role, ours.role.peer()].map(|role| match role {
            Role::Sender => "send",
            Role::Receiver => "receive",
        });
        return Err(Failure::new(
            code::MISMATCH,
            format_args!("both sides run `{doubled}`"),
            format_args!("one side must run `{missing}`: start both sides again"),
        )
        .into());
    }
    // With different tasks, neither side can read the other's proposal.
    let of_task = if ours.task == theirs.task { task.differences(&theirs.proposal) } else { Ok(Vec::new()) };
    let of_task = of_task.map_err(|malformed| Abort::PeerMisbehaved(peers_step::<Hello>(ch), malformed.0))?;
    let differences = ours.differences(&theirs, of_task);
    if differences.is_empty() {
        clock::compare(ours, &theirs)?;
        return Ok(theirs);
    }
    let named: Vec<String> = differences
        .iter()
        .map(|d| {
            let Difference { field, ours: our_value, theirs: their_value } = d;
            format!("{field} is {our_value:?} on the {}'s side and {their_value:?} on the {}'s", ours.role, theirs.role)
        })
        .collect();
    Err(Failure::new(
        code::MISMATCH,
        format_args!("the two sides are configured differently: {}", named.join("; ")),
        match differences.iter().any(|difference| difference.field == "--dry-run") {
            true => "say --dry-run on both sides to try a run, or on neither to run",
            false => "agree on these values, and start both sides again",
        },
    )
    .into())
}

/// What is agreed once sizes are known.
pub(crate) struct Agreement<T> {
    /// The protocol to run.
    pub entry: &'static Entry,
    /// Why this one: a sentence that both sides come to.
    pub why: String,
    /// What this side's own model would rather have, if that is another one.
    pub own_view: Option<&'static str>,
    /// Both sizes.
    pub extent: Extent,
    /// In how many buckets the task runs; 1 for a run on the whole tables.
    pub buckets: u32,
    /// What was agreed on for the task.
    pub terms: T,
    /// How the peer writes the values of each key column.
    pub peer_key_kinds: Vec<Kind>,
    /// What digests of keys are folded under.
    pub salt: u128,
    /// The session to which all hashes are bound, the salt's shares among them.
    pub session: [u8; 32],
    /// How the keys of the TLS session came about; `None` without TLS.
    pub key_exchange: Option<KeyExchange>,
    /// The key that the partner has proved to hold; `None` without TLS.
    pub peer_key: Option<PublicKey>,
    /// Seconds since 1970 by the receiver's clock, which is near the sender's.
    pub clock: u64,
}

impl<T> Agreement<T> {
    /// The partner's keys, its dummies included, as the side in this role knows them.
    pub(crate) fn peer_items(&self, role: Role) -> u64 {
        match role {
            Role::Sender => self.extent.receiver_items as u64,
            Role::Receiver => self.extent.sender_items as u64,
        }
    }
}

/// What a side brings to [`settle`].
pub(crate) struct Negotiation<'a, N: ?Sized> {
    /// The own side of the task.
    pub task: &'a N,
    /// Own configuration.
    pub ours: &'a Hello,
    /// The peer's.
    pub theirs: &'a Hello,
    /// Own sizes.
    pub sizes: Sizes,
    /// Most items that the peer may bring.
    pub max_peer_items: u64,
    /// Memory that this side may take; `None` for any.
    pub memory: Option<Budget>,
    /// Whether this side keeps keys and buckets in a work folder.
    pub work: bool,
}

impl<N: Negotiator + ?Sized> Negotiation<'_, N> {
    /// Refuses protocol `id` where it may take more memory than this side has for it. The peer
    /// learns that, and not how much there is: its own budget plays no part in the choice, so
    /// that neither side has to tell.
    fn afford(&self, workload: &dyn Workload, id: &str, candidates: &[&'static str]) -> Result<(), Failure> {
        let of = if self.work { plan::memory_with_work } else { plan::memory };
        let needed = |id: &str| of(id, workload).map_or(0, |memory| memory.of(self.ours.role));
        let Some(budget) = self.memory.as_ref().filter(|budget| needed(id) > budget.left) else { return Ok(()) };
        let &Extent { sender_items: senders, receiver_items: receivers, runs, .. } = workload.extent();
        let each = if runs == 1 { String::new() } else { format!(" in each of {runs} buckets") };
        let fault = format!(
            "protocol {id} on {senders} keys of the sender and {receivers} of the receiver{each} may take {} of \
             memory here, and {budget}",
            Bytes(needed(id))
        );
        let fitting = candidates.iter().copied().filter(|&other| other != id && needed(other) <= budget.left);
        let mut mend = match fitting.min_by_key(|other| needed(other)) {
            Some(other) => format!(
                "name a protocol that fits on both sides, --protocol {other} ({}), give it more with --memory, or \
                 agree on smaller tables (--max-peer-items refuses larger ones)",
                Bytes(needed(other))
            ),
            None => "give it more with --memory, if the machine has it, or agree on smaller tables (--max-peer-items \
                     refuses larger ones)"
                .into(),
        };
        if runs > 1 {
            mend.push_str(&format!("; or say more buckets on both sides, for example --buckets {}", 2 * runs));
        }
        if runs == 1 && workload.runs_in_buckets() {
            mend.push_str("; or divide the tables: say --buckets auto on both sides");
            if workload.keeps_on_disk() {
                mend.push_str(", and --work FOLDER on this one, so that its table is on disk");
            }
        }
        let told = "with these sizes the run may take more memory than the other side has for it (its --memory, or \
                    what is free there)";
        Err(Failure { told: Some(told), ..Failure::new(code::REFUSED, fault, mend) })
    }
}

impl<N: Negotiator + ?Sized> Negotiation<'_, N> {
    /// What a run in so many buckets is. Reports and receipts name the sizes of the tables; the protocol sees those of a
    /// bucket.
    fn plan(&self, whole: &Extent, buckets: u32, theirs: &Sizes, step: Step) -> Result<Planned<N::Terms>, Failure> {
        let run = match self.ours.cluster || self.ours.resume {
            true => buckets::extent_with_reruns(whole, buckets)?,
            false => buckets::extent(whole, buckets)?,
        };
        let our_words = TaskBytes { proposal: &self.ours.proposal, measure: &self.sizes.measure };
        let their_words = TaskBytes { proposal: &self.theirs.proposal, measure: &theirs.measure };
        let terms = self.task.settle(&run, our_words, their_words).map_err(|refusal| match refusal {
            Refusal::Misbehaved(what) => Abort::PeerMisbehaved(step, what).into(),
            Refusal::Refused(failure) => failure,
        })?;
        let link = Link::agreed(self.ours.link, self.theirs.link);
        let view = plan::choose(N::workload(&terms), &self.ours.protocols, &self.theirs.protocols, &link)?;
        Ok(Planned { run, terms, view, link })
    }

    /// Whether a run on the whole tables becomes one in buckets if it does not fit.
    fn may_divide(&self, whole: &Extent) -> bool {
        self.ours.may_divide && self.theirs.may_divide && buckets::may_be_needed(whole)
    }

    /// Whether a run on the whole tables fits in the memory of this side.
    fn fits(&self, Planned { terms, view, .. }: &Planned<N::Terms>) -> bool {
        !self.work && self.afford(N::workload(terms), view.entry.id, &view.candidates).is_ok()
    }

    /// Refuses a run on the whole tables where this side's does not fit in memory.
    fn check_place(&self, buckets: u32) -> Result<(), Failure> {
        if buckets > 1 || !self.work {
            return Ok(());
        }
        let fault =
            "this side's table is in a work folder, since it does not fit in memory, and the run is on whole tables";
        Err(Failure {
            told: Some("its table does not fit in memory, and the run is on whole tables"),
            ..Failure::new(code::REFUSED, fault, "say --buckets auto on both sides, or give it more with --memory")
        })
    }

    /// Refuses buckets in which the peer may ask about more items than it may. Who fills its buckets with guesses instead
    /// of dummies asks about all of them.
    fn check_items(&self, Planned { run, .. }: &Planned<N::Terms>, buckets: u32) -> Result<(), Failure> {
        let their_items = buckets::size(run, self.theirs.role) as u64 * u64::from(buckets);
        if buckets == 1 || their_items <= self.max_peer_items {
            return Ok(());
        }
        Err(Failure::new(
            code::REFUSED,
            format_args!(
                "in {buckets} buckets the {} has {their_items} items, dummies included, more than the {} that the {} allows",
                self.theirs.role, self.max_peer_items, self.ours.role
            ),
            "say fewer --buckets on both sides (1 for a run on the whole tables), or raise --max-peer-items on the side that \
             refused",
        ))
    }
}

/// What a run would be.
struct Planned<T> {
    /// The sizes of a bucket.
    run: Extent,
    terms: T,
    view: Chosen,
    link: Link,
}

/// Exchanges sizes, chooses the protocol and binds the channel to the session.
///
/// # Errors
/// If the peer's set is larger than allowed, if no protocol serves, if the choice is not one that
/// this side allows itself, or if it may take more memory than this side has for it.
pub(crate) fn settle<N: Negotiator + ?Sized>(
    ch: &mut Channel,
    negotiation: &Negotiation<'_, N>,
) -> Result<Agreement<N::Terms>, Failure> {
    let _phase = ch.phase(Phase::Handshake);
    send(ch, negotiation.sizes.clone())?;
    let theirs: Sizes = recv(ch)?;
    let misbehaved = |ch: &Channel, what| Abort::PeerMisbehaved(peers_step::<Sizes>(ch), what);
    if salt::commit(negotiation.theirs.role, &theirs.salt_share) != negotiation.theirs.salt_commitment {
        return Err(misbehaved(ch, "its share of the session's salt is not the one that it committed to").into());
    }
    if theirs.items == 0 {
        return Err(misbehaved(ch, "an empty set, which vesica refuses").into());
    }
    if theirs.items > negotiation.max_peer_items {
        return Err(Failure::new(
            code::REFUSED,
            format_args!(
                "the {} has {}, more than the {} that the {} allows",
                negotiation.theirs.role,
                counted(theirs.items, "key", "keys"),
                negotiation.max_peer_items,
                negotiation.ours.role
            ),
            "raise --max-peer-items on the side that refused, if the number is expected, or send a smaller table",
        ));
    }
    if theirs.key_kinds.len() != negotiation.theirs.all_key_columns() {
        return Err(misbehaved(ch, "kinds of another number of key columns").into());
    }
    let extent = |sender: &Sizes, receiver: &Sizes| {
        Ok::<_, Unsupported>(Extent::new(small(sender.items)?, small(receiver.items)?, negotiation.ours.security))
    };
    let extent = match negotiation.ours.role {
        Role::Sender => extent(&negotiation.sizes, &theirs)?,
        Role::Receiver => extent(&theirs, &negotiation.sizes)?,
    };
    let step = peers_step::<Sizes>(ch);
    let mut count = buckets::count(&extent, negotiation.ours.buckets);
    let mut planned = negotiation.plan(&extent, count, &theirs, step)?;
    if count == 1 && negotiation.may_divide(&extent) {
        let ours = Fits(negotiation.fits(&planned));
        send(ch, ours)?;
        let by_size = buckets::count(&extent, buckets::BY_SIZE);
        if [ours, recv(ch)?].contains(&Fits(false))
            && let Ok(divided) = negotiation.plan(&extent, by_size, &theirs, step)
        {
            (count, planned) = (by_size, divided);
        }
    }
    negotiation.check_place(count)?;
    negotiation.check_items(&planned, count)?;
    let Planned { terms, view, link, .. } = planned;
    let workload = N::workload(&terms);
    let peer_key_kinds = theirs.key_kinds.clone();
    let (from_sender, from_receiver, sender, receiver) = match negotiation.ours.role {
        Role::Sender => (negotiation.ours, negotiation.theirs, &negotiation.sizes, &theirs),
        Role::Receiver => (negotiation.theirs, negotiation.ours, &theirs, &negotiation.sizes),
    };
    let own = view.entry.id;
    let choice = match negotiation.ours.role {
        Role::Receiver => {
            // Before the sender hears of a choice that comes to nothing.
            negotiation.afford(workload, own, &view.candidates)?;
            let choice = Choice { protocol: own.into() };
            send(ch, choice.clone())?;
            choice
        }
        Role::Sender => recv(ch)?,
    };
    let allowed = negotiation.ours.protocols.contains(&choice.protocol);
    let chosen = variants::find(workload.entries(), &choice.protocol).ok().flatten();
    let Some(entry) = chosen.filter(|entry| allowed && entry.id == choice.protocol) else {
        return Err(Abort::PeerMisbehaved(
            peers_step::<Choice>(ch),
            "it chose a protocol that this side did not allow",
        )
        .into());
    };
    negotiation.afford(workload, entry.id, &view.candidates)?;
    // The lists were made from each side's own least security; the registry may still refuse these
    // sizes.
    let predicted = workload.predicted_bytes(entry)?;
    let session = session_id(ch, [from_sender, from_receiver], [sender, receiver], &choice, &predicted);
    let salt = salt::salt(&sender.salt_share, &receiver.salt_share);
    send(ch, Ready { session })?;
    if recv::<Ready>(ch)?.session != session {
        return Err(Abort::PeerMisbehaved(
            peers_step::<Ready>(ch),
            "the session ids of the two sides differ: somebody changes the traffic, or the two builds derive other sizes",
        )
        .into());
    }
    ch.bind_session(session);
    let own_view = (own != choice.protocol).then_some(own);
    Ok(Agreement {
        entry,
        why: view.why(&link),
        own_view,
        extent,
        buckets: count,
        terms,
        peer_key_kinds,
        salt,
        session,
        key_exchange: ch.key_exchange(),
        peer_key: ch.authenticated_peer().map(|peer| peer.key),
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
        return Err(Abort::PeerMisbehaved(
            peers_step::<Seen>(ch),
            "the transcripts of the two sides differ: somebody changed the traffic",
        ));
    }
    Ok(())
}

fn small(count: u64) -> Result<usize, Unsupported> {
    usize::try_from(count)
        .map_err(|_| Unsupported::new("a size that this machine cannot address", "use smaller tables"))
}

/// Hash of all that was agreed, the task's words, nonces and the salt's shares among it, and of the
/// TLS session below it. The sender's come first.
fn session_id(
    ch: &Channel,
    configurations: [&Hello; 2],
    sizes: [&Sizes; 2],
    choice: &Choice,
    predicted: &RangeInclusive<u64>,
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-20 session id v1");
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&WIRE_VERSION.to_le_bytes());
    part(&ch.exporter().unwrap_or_default());
    // Plain structs into memory: serialising cannot fail.
    for hello in configurations {
        part(&serde_json::to_vec(hello).unwrap_or_default());
        part(&hello.proposal);
    }
    for sizes in sizes {
        part(&serde_json::to_vec(sizes).unwrap_or_default());
        part(&sizes.measure);
    }
    part(choice.protocol.as_bytes());
    // Follows from all sizes that the protocol derives, so that two builds that derive others part here
    // and not in mid-protocol.
    part(&predicted.start().to_le_bytes());
    part(&predicted.end().to_le_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;
