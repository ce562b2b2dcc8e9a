//! What a worker does: one attempt at one bucket.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use vesica_party::transport::{KeyExchange, tcp, tls};
use vesica_party::{Abort, Channel, ChannelOptions, Registered, Role, Task, variants};
use vesica_protocols::registry::Rows;
use vesica_protocols::tasks::{
    Aggregate, AggregateOptions, AggregateReceiverInput, AggregateSenderInput, Cardinality, Intersect,
    IntersectOptions, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderInput,
    JoinAndCompute, NewRecords, SealedPayloads, SetFunctionality, Sum, Union, UnionCardinality, UnionOptions,
    UnionReceiverInput, UnionRequest, UnionSenderInput, UnionSum,
};
use vesica_structures::rng::SecretRng;

use super::keys::{BucketKeys, matched_in_shares, seal_of};
use super::rendezvous::{BUSY, GO, NO, TO_DRIVER, WAIT, WAIT_EVERY};
use super::{Division, Stage, Ticket, Work, passes};
use crate::buckets::Overflow;
use crate::failure::{Failure, code};
use crate::handshake::compare_transcripts;
use crate::key::Digests;
use crate::rows;
use crate::session::{dummies, in_role, randomness};
use crate::threads;

/// How long the TLS handshake with the partner's worker may take.
const TLS_LIMIT: Duration = Duration::from_secs(20);

/// How long a worker tries to reach its rendezvous.
const DIAL_FOR: Duration = Duration::from_secs(10);

/// What an attempt gave.
#[derive(Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The hash of all that was said.
    pub transcript: [u8; 32],
    /// What this side learned in numbers, as long whatever matched; `None` if it learns nothing. How many keys match or are
    /// new, or totals, as 8 bytes each, little endian.
    pub learned: Option<Vec<u8>>,
    /// Where keys match: which of them, and the partner's columns, encrypted; a section for each share of the table, as
    /// long whatever matched. Where new keys come: one section with a record for each of the partner's items, zeros where
    /// it is not new, encrypted.
    pub matched: Option<Vec<Vec<u8>>>,
    /// What the worker leaves for that of the next pass, encrypted.
    pub state: Option<Vec<u8>>,
}

/// Runs the protocol, or a pass of it, on the keys of a bucket with the partner's worker. `sections` are the bucket's of
/// each share of the table, in their order, and `state` is what the worker of the pass before has left
/// ([`Ticket::left_by`]).
///
/// # Errors
/// If the keys are not those of this bucket, the partner's worker does not come, or the run fails.
pub fn run(ticket: &Ticket, sections: &[impl AsRef<[u8]>], state: Option<Vec<u8>>) -> Result<Attempt, Failure> {
    let BucketKeys { digests, records, of_shares } = BucketKeys::read(sections, ticket.work.width(ticket.role))?;
    // All that takes time by the number of keys, before the partner's worker is met.
    let input = Input::new(ticket, digests, records)?;
    let left = ticket.left.as_ref().map(|left| passes::LeftState::open(state.unwrap_or_default(), &left.seal, &input));
    let left = left.transpose()?;
    let mut rng = randomness()?;
    let mut ch = meet(ticket)?;
    ch.bind_session(ticket.own_session());
    let ran = in_role(ticket.role, &mut ch, |ch| protocol(ticket, input, left, ch, &mut rng)).and_then(|done| {
        let transcript = ch.transcript().unwrap_or_default();
        compare_transcripts(&mut ch, transcript)?;
        Ok((transcript, done))
    });
    match ran {
        Ok((transcript, done)) => {
            // What the partner does from here on changes nothing: whether its part is kept, its driver says.
            let _ = ch.finish();
            given(ticket, transcript, done, &of_shares)
        }
        Err(abort) => {
            let failure = Failure::from(abort);
            ch.abort(&failure.for_peer());
            Err(failure)
        }
    }
}

/// What the attempt gave. The partner can time when the next bucket of the same worker begins, and a worker that holds
/// what matched in many buckets would take memory by it: all is opened at once, in a time and space that do not go by what
/// matched, but for a few nanoseconds a match.
fn given(ticket: &Ticket, transcript: [u8; 32], done: Done, of_shares: &[usize]) -> Result<Attempt, Failure> {
    let Done { found, mut leaves } = done;
    if let (Some(leaves), Some(Found::Matches { matches, .. })) = (&mut leaves, &found) {
        leaves.matches = passes::Matched::of(matches, ticket.receiver_items);
    }
    let state = leaves.map(|leaves| leaves.sealed(&ticket.seal)).transpose()?;
    let (learned, matched) = match found {
        None => (None, None),
        Some(Found::Totals(totals)) => (Some(totals.into_iter().flat_map(u64::to_le_bytes).collect()), None),
        Some(Found::Matches { matches, payloads }) => {
            // Dummies stand behind the keys.
            let count = matches.iter().filter(|&&place| (place as usize) < ticket.keys).count() as u64;
            let width = ticket.work.received(ticket.role);
            let records = payloads.open_for_all(ticket.keys, width);
            let sections = sealed(ticket, matched_in_shares(of_shares, &matches, &records, width))?;
            (Some(count.to_le_bytes().to_vec()), Some(sections))
        }
        Some(Found::New(records)) => {
            let width = ticket.work.received(ticket.role);
            let records = records.narrowed(width).open_for_all();
            let is_new = |record: &&[u8]| record.iter().fold(0, |all, byte| all | byte) != 0;
            let count = records.chunks_exact(width.max(1)).filter(is_new).count() as u64;
            (Some(count.to_le_bytes().to_vec()), Some(sealed(ticket, vec![records])?))
        }
    };
    Ok(Attempt { transcript, learned, matched, state })
}

/// Sections for files, encrypted, each under its number.
fn sealed(ticket: &Ticket, mut sections: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Failure> {
    for (number, section) in (0..).zip(&mut sections) {
        let failed = |error| Failure::new(code::INTERNAL, error, "please report this");
        seal_of(&ticket.seal, number)?.seal(section).map_err(failed)?;
    }
    Ok(sections)
}

/// What a worker brings to the protocol.
pub(super) enum Input {
    /// What the receiver brings to look for matches.
    Items(Vec<u128>),
    /// What the receiver of totals brings.
    Asked(AggregateReceiverInput),
    /// What the sender brings to look for matches.
    Payloads(IntersectSenderInput),
    /// What the sender of totals brings.
    Values(AggregateSenderInput),
    /// What the receiver of a union brings.
    Own(UnionReceiverInput),
    /// What its sender brings.
    Keys(UnionSenderInput),
}

impl Input {
    /// From the bucket's keys, and the records beside them.
    fn new(ticket: &Ticket, digests: Digests, mut records: Vec<u8>) -> Result<Self, Failure> {
        let items = items(ticket, digests)?;
        records.resize(items.len() * ticket.work.width(ticket.role), 0);
        let dummies = items.len().saturating_sub(ticket.keys);
        Ok(match (&ticket.work, ticket.role) {
            (work @ &Work::New { record_bytes, .. }, Role::Receiver) => {
                let records = filled(&records, work.width(Role::Receiver), record_bytes);
                Self::Own(UnionReceiverInput { items, records, dummies })
            }
            (work @ &Work::New { record_bytes, .. }, Role::Sender) => {
                let records = filled(&records, work.width(Role::Sender), record_bytes);
                Self::Keys(UnionSenderInput { items, records, dummies })
            }
            (Work::Matches { .. }, Role::Receiver) => Self::Items(items),
            (work @ &Work::Totals { factors, .. }, Role::Receiver) => {
                Self::Asked(asked(items, &records, work.width(Role::Receiver), factors))
            }
            (Work::Matches { .. }, Role::Sender) => Self::Payloads(IntersectSenderInput { items, payloads: records }),
            (work @ Work::Totals { .. }, Role::Sender) => Self::Values(AggregateSenderInput {
                items,
                dummies,
                values: ring(&records),
                noise: work.masks().to_vec(),
            }),
        })
    }
}

/// Records of `width` bytes, filled up with zeros to `filled` bytes each; none where they have no bytes.
fn filled(records: &[u8], width: usize, filled: usize) -> Vec<u8> {
    let mut all = Vec::with_capacity(records.len().checked_div(width).unwrap_or(0) * filled);
    for record in records.chunks_exact(width.max(1)) {
        let end = all.len() + filled;
        all.extend_from_slice(record);
        all.resize(end, 0);
    }
    all
}

/// What the receiver of totals brings, from records of this width: so many values and, with several groups, the number of
/// one.
fn asked(items: Vec<u128>, records: &[u8], width: usize, factors: usize) -> AggregateReceiverInput {
    let (mut values, mut of_items) = (Vec::new(), Vec::new());
    for record in records.chunks_exact(width.max(1)) {
        let (of_values, group) = record.split_at_checked(8 * factors).unwrap_or((record, &[]));
        values.extend(ring(of_values));
        of_items.extend(group.as_chunks().0.iter().map(|group| u32::from_le_bytes(*group)));
    }
    AggregateReceiverInput { items, values, groups: of_items }
}

/// Values of 8 bytes each.
fn ring(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|value| u64::from_le_bytes(*value)).collect()
}

/// The bucket's items: those of the keys, and dummies.
fn items(ticket: &Ticket, digests: Digests) -> Result<Vec<u128>, Failure> {
    let Division { size, buckets, .. } = ticket.division;
    let (mut items, numbers) = ticket.division.divide(digests);
    if buckets == 0 || numbers.iter().any(|&number| u32::from(number) != ticket.bucket) {
        return Err(Failure::new(
            code::INTERNAL,
            format_args!("keys of another bucket are in bucket {}", ticket.bucket),
            "start again with an empty work directory, which nothing else writes to",
        ));
    }
    if items.len() != ticket.keys {
        // Fewer would be a result that is wrong without a word.
        return Err(Failure::new(
            code::INTERNAL,
            format_args!("bucket {} has other keys than it had when the keys were divided", ticket.bucket),
            "see that all machines read the same files in work=, and that nothing removes or changes them",
        ));
    }
    let missing = size.checked_sub(items.len()).ok_or(Overflow)?;
    items.extend(dummies(ticket.role, &ticket.dummies).take(missing));
    Ok(items)
}

/// The channel to the partner's worker.
fn meet(ticket: &Ticket) -> Result<Channel, Failure> {
    let mut socket = tcp::connect(&ticket.rendezvous, DIAL_FOR).map_err(|abort| Failure {
        mend: "say with rendezvous= an address of the driver that all executors reach".into(),
        ..Failure::from(abort)
    })?;
    let lost = |error: std::io::Error| {
        Failure::new(
            code::PEER_ABSENT,
            format_args!("the partner's worker did not come ({error})"),
            "nothing: the bucket is run again",
        )
    };
    tcp::tune(&socket).map_err(lost)?;
    socket.set_read_timeout(Some(WAIT_EVERY.saturating_mul(3))).map_err(lost)?;
    socket.write_all(&TO_DRIVER).and_then(|()| socket.write_all(&ticket.pass)).map_err(lost)?;
    let until = Instant::now().checked_add(Duration::from_millis(ticket.wait_ms));
    let mut said = WAIT;
    while said == WAIT || said == BUSY {
        socket.read_exact(&mut said).map_err(lost)?;
        if said == WAIT && until.is_some_and(|until| Instant::now() > until) {
            said = NO;
        }
    }
    if said != GO {
        return Err(Failure::new(
            code::PEER_ABSENT,
            "the partner's worker did not come, or this attempt was begun on another machine",
            "nothing: the bucket is run again",
        ));
    }
    socket.set_read_timeout(None).map_err(lost)?;
    let identity = ticket
        .identity()
        .ok_or_else(|| Failure::new(code::INTERNAL, "the ticket has no usable key", "please report this"))?;
    let (connection, role) = if ticket.listens {
        (tls::accept(socket, &identity, ticket.peer(), TLS_LIMIT), Role::Receiver)
    } else {
        (tls::connect(socket, &identity, ticket.peer(), TLS_LIMIT), Role::Sender)
    };
    // Whoever is on the way can cause any failure here, and the bucket is run again.
    let connection = connection.map_err(|failure| {
        Failure::new(
            code::LINK,
            format_args!("no connection to the partner's worker: {failure}"),
            "see what is on the way between the two drivers, if it goes on",
        )
    })?;
    if ticket.post_quantum {
        KeyExchange::require_post_quantum(connection.key_exchange)?;
    }
    Ok(threads::open_channel(connection, role, ChannelOptions { transcript: true, ..ChannelOptions::default() })?)
}

/// What a protocol gave.
pub(super) enum Found {
    /// The places of the items that matched, and what came for them.
    Matches { matches: Vec<u32>, payloads: SealedPayloads },
    /// The records of items that are new.
    New(NewRecords),
    /// Masked totals.
    Totals(Vec<u64>),
}

/// What a worker has done.
#[derive(Default)]
pub(super) struct Done {
    /// What this side found, if anything.
    pub found: Option<Found>,
    /// What is left for the next pass, if there is one.
    pub leaves: Option<passes::LeftState>,
}

impl Done {
    pub fn matches(matches: Option<Vec<u32>>, payloads: SealedPayloads) -> Self {
        Self { found: matches.map(|matches| Found::Matches { matches, payloads }), leaves: None }
    }
}

fn protocol(
    ticket: &Ticket,
    input: Input,
    left: Option<passes::LeftState>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Done, Abort> {
    match ticket.work {
        Work::Matches { both_learn, payload_bytes } => {
            let request = Intersect::request(&ticket.extent(), &IntersectOptions { payload_bytes, both_learn });
            let row = row(|lists| lists.intersect, &ticket.protocol)?;
            if ticket.stage == Stage::Whole {
                return matches(row, &request, input, ch, rng);
            }
            let entry = row.entry();
            let row =
                rows::in_passes(|lists| lists.intersect_in_passes, entry).ok_or_else(|| unknown("pass", entry.id))?;
            passes::take(row, &request, (ticket.stage, both_learn), input, left, ch, rng)
        }
        Work::New { record_bytes, .. } => {
            let options = UnionOptions { record_bytes, both_learn: ticket.work.both_learn() };
            let request = Union::request(&ticket.extent(), &options);
            let found = new_keys(row(|lists| lists.union, &ticket.protocol)?, &request, input, ch, rng)?;
            Ok(Done { found: found.map(Found::New), leaves: None })
        }
        Work::Totals { ref task, columns, groups, at_least, .. } => {
            let options = AggregateOptions { columns, groups, at_least, noisy: false };
            let totals = match task.as_str() {
                Cardinality::NAME => totals(|lists| lists.cardinality, ticket, &options, input, ch, rng),
                Sum::NAME => totals(|lists| lists.sum, ticket, &options, input, ch, rng),
                JoinAndCompute::NAME => totals(|lists| lists.join_and_compute, ticket, &options, input, ch, rng),
                UnionCardinality::NAME => totals(|lists| lists.union_cardinality, ticket, &options, input, ch, rng),
                UnionSum::NAME => totals(|lists| lists.union_sum, ticket, &options, input, ch, rng),
                _ => Err(unknown("task", task)),
            };
            Ok(Done { found: totals?.map(Found::Totals), leaves: None })
        }
    }
}

fn matches(
    row: &dyn Registered<Intersect>,
    request: &IntersectRequest,
    input: Input,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Done, Abort> {
    match input {
        Input::Payloads(sent) => {
            let output = row.sender(request, ch, rng)?.run(sent, ch, rng)?;
            Ok(Done::matches(output.matches, SealedPayloads::default()))
        }
        Input::Items(items) => {
            received(row.receiver(request, ch, rng)?.run(IntersectReceiverInput { items }, ch, rng)?)
        }
        Input::Values(_) | Input::Asked(_) | Input::Own(_) | Input::Keys(_) => Err(unknown("work", "of this kind")),
    }
}

fn new_keys(
    row: &dyn Registered<Union>,
    request: &UnionRequest,
    input: Input,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Option<NewRecords>, Abort> {
    match input {
        Input::Keys(sent) => Ok(row.sender(request, ch, rng)?.run(sent, ch, rng)?.records),
        Input::Own(own) => Ok(Some(row.receiver(request, ch, rng)?.run(own, ch, rng)?.records)),
        _ => Err(unknown("work", "of this kind")),
    }
}

/// What the receiver of an intersection has.
pub(super) fn received(output: IntersectReceiverOutput) -> Result<Done, Abort> {
    let IntersectReceiverOutput { matches, payloads, unread } = output;
    match unread {
        0 => Ok(Done::matches(Some(matches), payloads)),
        _ => Err(unknown("payload", "that it cannot read")),
    }
}

fn totals<T: Aggregate>(
    of: ListOf<T>,
    ticket: &Ticket,
    options: &AggregateOptions,
    input: Input,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Option<Vec<u64>>, Abort> {
    let (row, request) = (row(of, &ticket.protocol)?, T::request(&ticket.extent(), options));
    match input {
        Input::Values(sent) => {
            row.sender(&request, ch, rng)?.run(sent, ch, rng)?;
            Ok(None)
        }
        Input::Payloads(_) | Input::Items(_) | Input::Own(_) | Input::Keys(_) => Err(unknown("work", "of this kind")),
        Input::Asked(asked) => {
            let output = row.receiver(&request, ch, rng)?.run(asked, ch, rng)?;
            // Group by group: nothing is withheld.
            Ok(Some(output.groups.into_iter().flatten().flatten().collect()))
        }
    }
}

/// The list of a task among the registries' lists.
type ListOf<T> = fn(&Rows) -> &'static [&'static dyn Registered<T>];

fn row<T: Task>(of: ListOf<T>, id: &str) -> Result<&'static dyn Registered<T>, Abort> {
    let all = rows::lists().flat_map(|lists| of(&lists)).copied();
    variants::resolve(all, id)?.ok_or_else(|| unknown("protocol", id))
}

pub(super) fn unknown(what: &str, name: &str) -> Abort {
    Abort::Local {
        code: code::REFUSED,
        fault: format!("a worker knows no {what} '{name}'"),
        mend: "install the same release of vesica on the driver and on all executors".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ticket::tests::ticket;

    /// Else a partner in a union would learn how many keys of a bucket are common.
    #[test]
    fn either_side_of_a_union_says_which_of_its_items_are_dummies() {
        let mut ticket = ticket();
        (ticket.division, ticket.bucket, ticket.keys) = (Division::new(5, 1, 8), 0, 3);
        ticket.work = Work::New { record_bytes: 6, of_sender: (3, 2), of_receiver: Some((4, 0)) };
        for (role, record) in [(Role::Sender, [7, 7, 7, 7, 7, 0]), (Role::Receiver, [7, 7, 7, 7, 0, 0])] {
            ticket.role = role;
            let digests = (1..=3).map(|key| [key << 64, key]).collect();
            let given = Input::new(&ticket, digests, vec![7; 3 * ticket.work.width(role)]).expect("keys of the bucket");
            let (items, records, dummies) = match given {
                Input::Keys(UnionSenderInput { items, records, dummies }) if role == Role::Sender => {
                    (items, records, dummies)
                }
                Input::Own(UnionReceiverInput { items, records, dummies }) => (items, records, dummies),
                _ => panic!("what a union takes"),
            };
            assert_eq!((items.len(), dummies), (8, 5));
            assert_eq!(records, [record.repeat(3), vec![0; 5 * 6]].concat());
        }
    }
}
