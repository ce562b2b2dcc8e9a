//! Union: the receiver keeps its own rows and gets a row for each key of the sender that it does
//! not have, with the sender's payload. On request the sender gets a row for each key of the receiver
//! that it does not have, too.
//!
//! A record of the protocol is a key in whole and its payload, both padded to widths that the
//! sender's longest ones decide. Records of dummies are zeros. Where both learn, the receiver's keys
//! travel in records of the same width, without a payload, and zeros fill up the narrower ones.
//!
//! In buckets, what all of them gave stays closed until the conversation is over: to pick out new records takes time by
//! their number. A bucket's dummies are opened by nobody, so that how many of its keys are common stays hidden
//! (`vesica_protocols::union::vesica_union`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vesica_party::{Abort, Channel, Role, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{
    Extent, Union, UnionOptions, UnionReceiverInput, UnionReceiverOutput, UnionRequest, UnionSenderInput,
    UnionSenderOutput,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::job::{ASSUMED_BYTES, AgreedJob, InBuckets, Job, Rows, Settling, assumed_records};
use super::{Amounts, Columns, Disclosure, Example, Flags, ResultKind, Sample, Settings, Side, Unopened, Words};
use crate::cluster::Received;
use crate::cluster::keys::Widths;
use crate::failure::{Failure, code};
use crate::handshake::{Difference, Refusal, list, printable};
use crate::plan::Totals;
use crate::table::{Join, KeyKind, KeyTable, PayloadSchema, UnionSpec, key_schema};

mod records;
mod sample;
#[cfg(test)]
mod tests;

use self::records::{new_at_receiver, new_at_sender, records, records_of};
use self::sample::{Expected, ExpectedOfReceiver, expected, hash, sample_records};

/// The task `union`.
pub(super) struct UnionJob;

const TASK: &str = Union::NAME;

/// The widest record that a side lets travel, where `--max-item-bytes` says nothing.
const MOST_ITEM_BYTES: usize = 256;

/// Bytes of the key in a record of plans and benchmarks. Their payload comes on top.
const SAMPLE_KEY_BYTES: usize = 16;

/// What a side says before it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    /// Sender: names of the payload columns that it gives. Receiver: the names that it insists on,
    /// if it does.
    payload: Option<Vec<String>>,
    /// The widest record that it lets travel, in bytes.
    most_item_bytes: usize,
    /// Whether the sender learns the union too.
    both_learn: bool,
}

/// What a side says once it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    /// One for each key column.
    keys: Vec<KeyKind>,
    /// The records of the sender and, where both learn, of the receiver.
    records: Option<Records>,
}

/// What the records of a side hold.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Records {
    /// Bytes of a key.
    key_bytes: usize,
    /// What goes with each key.
    payload: Option<PayloadSchema>,
}

/// What both sides agreed on.
#[derive(Debug)]
pub(super) struct Terms {
    keys: PayloadSchema,
    payload: Option<PayloadSchema>,
    /// The receiver's keys, where both learn.
    receiver_keys: Option<PayloadSchema>,
    /// Whether there are several buckets.
    in_buckets: bool,
}

impl Terms {
    fn payload_columns(&self) -> Vec<String> {
        self.payload.iter().flat_map(|schema| &schema.fields).map(|field| field.name.clone()).collect()
    }

    fn payload_bytes(&self) -> usize {
        self.payload.as_ref().map_or(0, |schema| schema.width)
    }

    /// Bytes of the sender's records, without what fills them up.
    fn sender_bytes(&self) -> usize {
        self.keys.width + self.payload_bytes()
    }

    /// The same of the receiver's; 0 where they do not travel.
    fn receiver_bytes(&self) -> usize {
        self.receiver_keys.as_ref().map_or(0, |keys| keys.width)
    }

    /// The widths of the sender's records.
    fn sender_widths(&self) -> Widths {
        (self.keys.width, self.payload_bytes())
    }

    /// The same of the receiver's; `None` where they do not travel.
    fn receiver_widths(&self) -> Option<Widths> {
        self.receiver_keys.as_ref().map(|keys| (keys.width, 0))
    }

    fn record_bytes(&self) -> usize {
        self.sender_bytes().max(self.receiver_bytes())
    }
}

/// Refuses records of a side that are wider than the other side allows.
fn check_width(side: Role, width: usize, most: usize) -> Result<(), Refusal> {
    if width <= most {
        return Ok(());
    }
    let other = side.peer();
    Err(Refusal::Refused(Failure::new(
        code::REFUSED,
        format_args!(
            "a key of the {side} takes up to {width} bytes with its payload, more than the {most} of the {other}'s \
             --max-item-bytes"
        ),
        format_args!(
            "raise --max-item-bytes on the {other}'s side, if keys and payloads of this width are expected, or let the \
             {side} give fewer or shorter columns"
        ),
    )))
}

/// Refuses keys of a side that the other side's key columns cannot hold.
fn check_kinds(side: Role, given: &[KeyKind], own: &[KeyKind]) -> Result<(), Refusal> {
    let other = side.peer();
    let unfit = (1..).zip(given.iter().zip(own)).filter(|(_, (given, own))| !given.fits(&own.kind));
    let unfit: Vec<String> = unfit
        .map(|(place, (given, own))| {
            format!(
                "key column {place} is {} on the {side}'s side and {} on the {other}'s",
                given.kind.name(),
                own.kind.name()
            )
        })
        .collect();
    if unfit.is_empty() {
        return Ok(());
    }
    Err(Refusal::Refused(Failure::new(
        code::MISMATCH,
        format_args!("the {other}'s key columns cannot hold every key of the {side}: {}", unfit.join("; ")),
        format_args!(
            "write the column as text in the {other}'s table, or bring both to one type; text of the {side} fits a \
             column of integers, dates or booleans if every key is written as such a value"
        ),
    )))
}

impl Job for UnionJob {
    type Functionality = Union;
    type Proposal = Proposal;
    type Measure = Measure;
    type Terms = Terms;

    const WORDS: Words = Words {
        computes: "The receiver gets the keys of the sender that it does not have itself",
        kept_from_receiver: "which of its own keys the sender has",
        kept_from_sender: "any key of the receiver, and which keys are common",
        kept_from_sender_with_result: "which of its own keys the receiver has",
        example: Example::semi_honest(
            "output = \"union.csv\"",
            "# Columns that the receiver gets with each key that is new to it:\npayload = [\"score\"]",
        ),
    };

    const IN_BUCKETS: Option<InBuckets<Self>> = Some(InBuckets {
        in_passes: |_| &[],
        added: |_, _| Secret::new(Vec::new()),
        sender_input: |terms, bucket, table, _| UnionSenderInput {
            records: records_of(terms, terms.sender_widths(), &bucket, table),
            dummies: bucket.dummies(table.distinct()),
            items: bucket.items,
        },
        receiver_input: |terms, bucket, table| UnionReceiverInput {
            records: match terms.receiver_widths() {
                Some(widths) => records_of(terms, widths, &bucket, table),
                None => Vec::new(),
            },
            dummies: bucket.dummies(table.distinct()),
            items: bucket.items,
        },
        sender_keeps: |_| None,
        receiver_keeps: |_| None,
        totals_of: None,
        sender_result: |agreed, _, outputs| {
            let records = outputs.into_iter().map(|output| output.records).collect::<Option<_>>()?;
            new_at_sender(&agreed.terms, records)
        },
        receiver_result: |agreed, _, outputs| {
            Some(new_at_receiver(&agreed.terms, outputs.into_iter().map(|output| output.records).collect()))
        },
        result_of_totals: |_, _| None,
    });

    // Records of keys are not kept beside the keys of a work folder.
    const IN_WORK_FOLDER: bool = false;

    // Nor are those of a bucket that is done.
    const RESUMES: bool = false;

    fn rows_of(lists: &Lists) -> Rows<Self> {
        lists.union
    }

    fn settings(role: Role, flags: &Flags) -> Result<Settings, Failure> {
        let max_item_bytes = flags.max_item_bytes;
        if max_item_bytes.is_some_and(|most| !(1..=UnionRequest::MOST_RECORD_BYTES).contains(&most)) {
            return Err(Failure::new(
                code::USAGE,
                "--max-item-bytes is out of range",
                format_args!("say a number from 1 to {}", UnionRequest::MOST_RECORD_BYTES),
            ));
        }
        let flags = Flags { max_item_bytes: None, ..flags.clone() };
        Ok(Settings { max_item_bytes, ..flags.with_payload(role)? })
    }

    fn result_kind(role: Role, settings: &Settings) -> Option<ResultKind> {
        (role == Role::Receiver || settings.both_learn).then_some(ResultKind::Union)
    }

    fn validate(side: &Side<'_>) -> Result<(), Failure> {
        let Settings { values, at_least, noise, expected_ranges, .. } = side.settings;
        let computes = !values.columns.is_empty() || values.group_by.is_some() || *at_least > 0 || noise.is_some();
        side.refuse(
            TASK,
            computes || !expected_ranges.is_empty(),
            "a union computes nothing",
            "choose a task that computes, for example --task sum",
        )?;
        side.refuse(TASK, side.output.is_some_and(|join| join != Join::Inner), "a union writes all rows", "omit --join")
    }

    fn columns(role: Role, settings: &Settings) -> Columns {
        let most_bytes = settings.max_item_bytes.unwrap_or(MOST_ITEM_BYTES);
        let gives = role == Role::Sender || settings.both_learn;
        Columns::Union(gives.then(|| UnionSpec { payload: settings.payload.clone(), most_bytes }))
    }

    fn proposal(role: Role, settings: &Settings) -> Proposal {
        let payload = match role {
            Role::Sender => settings.payload.as_ref().map(|payload| payload.columns.clone()),
            Role::Receiver => settings.expected_payload.clone(),
        };
        Proposal {
            payload,
            most_item_bytes: settings.max_item_bytes.unwrap_or(MOST_ITEM_BYTES),
            both_learn: settings.both_learn,
        }
    }

    fn is_sound(proposal: &Proposal) -> bool {
        (1..=UnionRequest::MOST_RECORD_BYTES).contains(&proposal.most_item_bytes)
    }

    fn differences(role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<Difference> {
        let mut found = Vec::new();
        if ours.both_learn != theirs.both_learn {
            found.push(Difference::new("--both-learn", &ours.both_learn, &theirs.both_learn));
        }
        // The receiver takes whatever is given, unless it insists on names.
        let (receiver, sender) = if role == Role::Receiver { (ours, theirs) } else { (theirs, ours) };
        let given = sender.payload.as_deref().unwrap_or_default();
        if let Some(wanted) = receiver.payload.as_ref().filter(|wanted| *wanted != given) {
            let (wanted, given) = (list(wanted), list(given));
            let (ours, theirs) = if role == Role::Receiver { (wanted, given) } else { (given, wanted) };
            found.push(Difference::new("--payload", &ours, &theirs));
        }
        found
    }

    fn measure(table: &KeyTable) -> Measure {
        let records = table.union.as_ref().and_then(|union| union.records.as_ref()).map(|records| Records {
            key_bytes: records.schema.width,
            payload: table.payload.as_ref().map(|payload| payload.schema.clone()),
        });
        Measure { keys: table.union.as_ref().map(|union| union.kinds.clone()).unwrap_or_default(), records }
    }

    fn assume(peer: Role, theirs: &Proposal, ours: &Measure, _settings: &Settings) -> Measure {
        // Keys of the same kinds and as long as the own ones, if these travel.
        let own = ours.records.as_ref().map(|records| records.key_bytes);
        let most = theirs.most_item_bytes;
        let key_bytes = own.unwrap_or(ours.keys.len() * (ASSUMED_BYTES + 1) + ours.keys.len().div_ceil(8)).min(most);
        let payload = theirs.payload.as_ref().map(|names| assumed_records(names, most - key_bytes));
        let records = match peer {
            Role::Sender => Some(Records { key_bytes, payload }),
            Role::Receiver => theirs.both_learn.then_some(Records { key_bytes, payload: None }),
        };
        Measure { keys: ours.keys.clone(), records }
    }

    fn settle(settling: &Settling<'_, Self>) -> Result<Terms, Refusal> {
        let (sender, receiver) = (&settling.sender, &settling.receiver);
        let (given, own) = (&sender.measure.keys, &receiver.measure.keys);
        if given.len() != own.len() || !given.iter().chain(own).all(KeyKind::is_sound) {
            return Err(Refusal::Misbehaved("types of key columns that no side declares"));
        }
        let both_learn = sender.proposal.both_learn;
        let (Some(records), receivers) = (&sender.measure.records, &receiver.measure.records) else {
            return Err(Refusal::Misbehaved("records of a side that has none to give"));
        };
        if receivers.is_some() != both_learn || receivers.as_ref().is_some_and(|records| records.payload.is_some()) {
            return Err(Refusal::Misbehaved("records of a side that has none to give"));
        }
        let keys = key_schema(given, records.key_bytes);
        let payload = records.payload.clone();
        let receiver_keys = receivers.as_ref().map(|records| key_schema(own, records.key_bytes));
        let is_sound = [Some(&keys), payload.as_ref(), receiver_keys.as_ref()]
            .into_iter()
            .flatten()
            .all(|schema| schema.check().is_ok());
        let terms = Terms { keys, payload, receiver_keys, in_buckets: settling.extent.runs > 1 };
        // Beyond its own bound no honest side gets here.
        if !is_sound
            || terms.sender_bytes() > sender.proposal.most_item_bytes
            || terms.receiver_bytes() > receiver.proposal.most_item_bytes
        {
            return Err(Refusal::Misbehaved("records that no side declares"));
        }
        let columns = terms.payload.as_ref().map(|_| terms.payload_columns());
        if columns != sender.proposal.payload {
            return Err(Refusal::Misbehaved("a payload that does not go with the configuration"));
        }
        check_width(Role::Sender, terms.sender_bytes(), receiver.proposal.most_item_bytes)?;
        check_width(Role::Receiver, terms.receiver_bytes(), sender.proposal.most_item_bytes)?;
        check_kinds(Role::Sender, given, own)?;
        if both_learn {
            check_kinds(Role::Receiver, own, given)?;
        }
        Ok(terms)
    }

    fn options(terms: &Terms) -> UnionOptions {
        UnionOptions { record_bytes: terms.record_bytes(), both_learn: terms.receiver_keys.is_some() }
    }

    fn sender_input(terms: &Terms, items: Vec<u128>, table: &mut KeyTable, _rng: &mut SecretRng) -> UnionSenderInput {
        let dummies = items.len().saturating_sub(table.distinct());
        let records = records(terms, terms.sender_widths(), items.len(), table);
        UnionSenderInput { items, records, dummies }
    }

    fn receiver_input(terms: &Terms, items: Vec<u128>, table: &mut KeyTable) -> UnionReceiverInput {
        let dummies = items.len().saturating_sub(table.distinct());
        let records = match terms.receiver_widths() {
            Some(widths) => records(terms, widths, items.len(), table),
            None => Vec::new(),
        };
        UnionReceiverInput { items, records, dummies }
    }

    fn sender_result(agreed: Arc<AgreedJob<Self>>, output: UnionSenderOutput) -> Option<Unopened> {
        new_at_sender(&agreed.terms, vec![output.records?])
    }

    fn receiver_result(agreed: Arc<AgreedJob<Self>>, output: UnionReceiverOutput) -> Option<Unopened> {
        Some(new_at_receiver(&agreed.terms, vec![output.records]))
    }

    fn revealed(terms: &Terms) -> Vec<String> {
        let columns: Vec<String> = terms.payload_columns().iter().map(|name| printable(name)).collect();
        let given = match columns.join(", ") {
            none if none.is_empty() => String::new(),
            columns => format!(", with the sender's {columns} of these"),
        };
        let mut all = vec![
            format!("to the receiver: the keys of the sender that it does not have{given}"),
            match terms.in_buckets {
                false => "to the receiver: how many keys are common, and how many of the sender's items are no dummies",
                true => "to the receiver: how many of the sender's items are common or dummies",
            }
            .to_owned(),
            format!(
                "to both sides: the width of the sender's longest key and payload, {} bytes, and the types of the key \
                 columns",
                terms.sender_bytes()
            ),
            "to the receiver: whether all keys of a column of the sender are integers, dates or booleans".to_owned(),
        ];
        if let Some(keys) = &terms.receiver_keys {
            all.extend([
                "to the sender: the keys of the receiver that it does not have".to_owned(),
                match terms.in_buckets {
                    false => {
                        "to the sender: how many keys are common, and how many of the receiver's items are no dummies"
                    }
                    true => "to the sender: how many of the receiver's items are common or dummies",
                }
                .to_owned(),
                format!("to both sides: the width of the receiver's longest key, {} bytes", keys.width),
                "to the sender: whether all keys of a column of the receiver are integers, dates or booleans"
                    .to_owned(),
            ]);
        }
        all
    }

    fn disclosure(terms: &Terms) -> Disclosure {
        Disclosure {
            both_learn: terms.receiver_keys.is_some(),
            payload_columns: terms.payload_columns(),
            payload_bytes: terms.record_bytes(),
            ..Disclosure::NONE
        }
    }

    fn received(terms: &Terms, role: Role) -> Option<Received> {
        let (keys, payload) = match role {
            Role::Receiver => (terms.keys.clone(), terms.payload.clone()),
            Role::Sender => (terms.receiver_keys.clone()?, None),
        };
        Some(Received::NewKeys { keys, payload })
    }

    fn extra_work(extent: &Extent, options: &UnionOptions) -> u64 {
        let receivers = if options.both_learn { extent.receiver_items } else { 0 };
        let items = (extent.sender_items as u64).saturating_add(receivers as u64);
        items.saturating_mul(options.record_bytes.saturating_sub(SAMPLE_KEY_BYTES) as u64)
    }

    fn extra_memory(_totals: Totals, extent: &Extent, options: &UnionOptions) -> u64 {
        // The records, the places that they travel in, and what comes out of these.
        let of_run = Self::extra_work(extent, options).saturating_mul(4);
        if extent.runs == 1 {
            return of_run;
        }
        // What all buckets gave, and new records that come out of it when the last bucket is done.
        let places = extent.sender_items.max(if options.both_learn { extent.receiver_items } else { 0 }) as u64;
        let all = places.saturating_mul(extent.runs as u64);
        of_run.saturating_add(all.saturating_mul(2 * options.record_bytes as u64))
    }

    fn richer_amounts() -> Vec<Amounts> {
        vec![
            Amounts { payload_bytes: 8, ..Amounts::NONE },
            Amounts { payload_bytes: 100, ..Amounts::NONE },
            Amounts { payload_bytes: 8, both_learn: true, ..Amounts::NONE },
        ]
    }

    fn options_of(amounts: &Amounts) -> Result<UnionOptions, Unsupported> {
        let &Amounts { payload_bytes, both_learn, .. } = amounts;
        amounts.all_taken(&Amounts { payload_bytes, both_learn, ..Amounts::NONE }, TASK)?;
        Ok(UnionOptions { record_bytes: SAMPLE_KEY_BYTES.saturating_add(payload_bytes), both_learn })
    }

    fn sample_sender(options: &UnionOptions, sample: &Sample) -> UnionSenderInput {
        UnionSenderInput { items: sample.digests(), records: sample_records(Role::Sender, options, sample), dummies: 0 }
    }

    fn sample_receiver(options: &UnionOptions, sample: &Sample) -> UnionReceiverInput {
        let records = if options.both_learn { sample_records(Role::Receiver, options, sample) } else { Vec::new() };
        UnionReceiverInput { items: sample.digests(), records, dummies: 0 }
    }

    /// A side knows nothing of the items that it lacks: it compares with a hash.
    fn check_sender(
        options: &UnionOptions,
        sample: &Sample,
        output: UnionSenderOutput,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        ch.send_stream::<Expected>(&expected(Role::Sender, options, sample))?;
        let Some(records) = output.records else {
            return Ok(!options.both_learn);
        };
        let mut expected = [0; 32];
        ch.recv_stream::<ExpectedOfReceiver>(&mut expected)?;
        Ok(options.both_learn && hash(records.opened().chunks(options.record_bytes).collect()) == expected)
    }

    fn check_receiver(
        options: &UnionOptions,
        sample: &Sample,
        output: UnionReceiverOutput,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        if options.both_learn {
            ch.send_stream::<ExpectedOfReceiver>(&expected(Role::Receiver, options, sample))?;
        }
        let mut expected = [0; 32];
        ch.recv_stream::<Expected>(&mut expected)?;
        Ok(hash(output.records.opened().chunks(options.record_bytes).collect()) == expected)
    }
}
