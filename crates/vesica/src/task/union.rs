//! Union: the receiver keeps its own rows and gets a row for each key of the sender that it does
//! not have, with the sender's payload.
//!
//! A record of the protocol is a key in whole and its payload, both padded to widths that the
//! sender's longest ones decide. Records of dummies are zeros.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vesica_party::{Abort, Channel, Role, Step, Stream};
use vesica_protocols::registry;
use vesica_protocols::tasks::{
    Extent, Union, UnionOptions, UnionReceiverInput, UnionReceiverOutput, UnionRequest, UnionSenderInput,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::agreed::Agreed;
use super::job::{Job, Rows, Settling};
use super::{Amounts, Columns, Disclosure, Flags, ResultKind, ResultSet, Sample, Settings, Side, Unopened};
use crate::failure::{Failure, code};
use crate::handshake::{Difference, Refusal, list, printable};
use crate::plan::Totals;
use crate::table::{KeyKind, KeyTable, PayloadSchema, UnionSpec, key_schema};

/// The task `union`.
pub(super) struct UnionJob;

const TASK: &str = "union";

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
}

/// What a side says once it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    /// One for each key column.
    keys: Vec<KeyKind>,
    /// The sender's records.
    records: Option<Records>,
}

/// What the sender's records hold.
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
}

impl Terms {
    fn payload_columns(&self) -> Vec<String> {
        self.payload.iter().flat_map(|schema| &schema.fields).map(|field| field.name.clone()).collect()
    }

    fn payload_bytes(&self) -> usize {
        self.payload.as_ref().map_or(0, |schema| schema.width)
    }

    fn record_bytes(&self) -> usize {
        self.keys.width + self.payload_bytes()
    }
}

impl Job for UnionJob {
    type Functionality = Union;
    type Proposal = Proposal;
    type Measure = Measure;
    type Terms = Terms;

    fn registry() -> Rows<Self> {
        registry::union()
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

    fn result_kind(role: Role, _settings: &Settings) -> Option<ResultKind> {
        (role == Role::Receiver).then_some(ResultKind::Union)
    }

    fn validate(side: &Side<'_>) -> Result<(), Failure> {
        let Settings { values, at_least, noise, expected_ranges, both_learn, .. } = side.settings;
        let computes = !values.columns.is_empty() || values.group_by.is_some() || *at_least > 0 || noise.is_some();
        side.refuse(
            TASK,
            computes || !expected_ranges.is_empty(),
            "a union computes nothing",
            "choose a task that computes, for example --task sum",
        )?;
        side.refuse(
            TASK,
            *both_learn,
            "no protocol lets the sender learn the union",
            "omit --both-learn on both sides, and run the task once in each direction: then each side gets the other's \
             new keys",
        )?;
        side.refuse(TASK, side.output == Some(crate::table::Join::Difference), "a union writes all rows", "omit --join")
    }

    fn columns(role: Role, settings: &Settings) -> Columns {
        let most_bytes = settings.max_item_bytes.unwrap_or(MOST_ITEM_BYTES);
        Columns::Union((role == Role::Sender).then(|| UnionSpec { payload: settings.payload.clone(), most_bytes }))
    }

    fn proposal(role: Role, settings: &Settings) -> Proposal {
        let payload = match role {
            Role::Sender => settings.payload.as_ref().map(|payload| payload.columns.clone()),
            Role::Receiver => settings.expected_payload.clone(),
        };
        Proposal { payload, most_item_bytes: settings.max_item_bytes.unwrap_or(MOST_ITEM_BYTES) }
    }

    fn is_sound(proposal: &Proposal) -> bool {
        (1..=UnionRequest::MOST_RECORD_BYTES).contains(&proposal.most_item_bytes)
    }

    fn differences(role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<Difference> {
        // The receiver takes whatever is given, unless it insists on names.
        let (receiver, sender) = if role == Role::Receiver { (ours, theirs) } else { (theirs, ours) };
        let given = sender.payload.as_deref().unwrap_or_default();
        match &receiver.payload {
            Some(wanted) if wanted != given => {
                let (wanted, given) = (list(wanted), list(given));
                let (ours, theirs) = if role == Role::Receiver { (wanted, given) } else { (given, wanted) };
                vec![Difference::new("--payload", &ours, &theirs)]
            }
            _ => Vec::new(),
        }
    }

    fn measure(table: &KeyTable) -> Measure {
        let records = table.union.as_ref().and_then(|union| union.records.as_ref()).map(|records| Records {
            key_bytes: records.schema.width,
            payload: table.payload.as_ref().map(|payload| payload.schema.clone()),
        });
        Measure { keys: table.union.as_ref().map(|union| union.kinds.clone()).unwrap_or_default(), records }
    }

    fn settle(settling: &Settling<'_, Self>) -> Result<Terms, Refusal> {
        let (sender, receiver) = (&settling.sender, &settling.receiver);
        let (given, own) = (&sender.measure.keys, &receiver.measure.keys);
        if given.len() != own.len() || !given.iter().chain(own).all(KeyKind::is_sound) {
            return Err(Refusal::Misbehaved("types of key columns that no side declares"));
        }
        let (Some(records), None) = (&sender.measure.records, &receiver.measure.records) else {
            return Err(Refusal::Misbehaved("records of a side that has none to give"));
        };
        let keys = key_schema(given, records.key_bytes);
        let payload = records.payload.clone();
        let is_sound = keys.check().is_ok() && payload.as_ref().is_none_or(|schema| schema.check().is_ok());
        let terms = Terms { keys, payload };
        // Beyond its own bound no honest sender gets here.
        if !is_sound || terms.record_bytes() > sender.proposal.most_item_bytes {
            return Err(Refusal::Misbehaved("records that no sender declares"));
        }
        let columns = terms.payload.as_ref().map(|_| terms.payload_columns());
        if columns != sender.proposal.payload {
            return Err(Refusal::Misbehaved("a payload that does not go with the configuration"));
        }
        let (width, most) = (terms.record_bytes(), receiver.proposal.most_item_bytes);
        if width > most {
            return Err(Refusal::Refused(Failure::new(
                code::REFUSED,
                format_args!(
                    "a key of the sender takes up to {width} bytes with its payload, more than the {most} of the \
                     receiver's --max-item-bytes"
                ),
                "raise --max-item-bytes on the receiver's side, if keys and payloads of this width are expected, or \
                 let the sender give fewer or shorter columns",
            )));
        }
        let unfit = (1..).zip(given.iter().zip(own)).filter(|(_, (given, own))| !given.fits(&own.kind));
        let unfit: Vec<String> = unfit
            .map(|(place, (given, own))| {
                format!(
                    "key column {place} is {} on the sender's side and {} on the receiver's",
                    given.kind.name(),
                    own.kind.name()
                )
            })
            .collect();
        if !unfit.is_empty() {
            return Err(Refusal::Refused(Failure::new(
                code::MISMATCH,
                format_args!("the receiver's key columns cannot hold every key of the sender: {}", unfit.join("; ")),
                "write the column as text in the receiver's table, or bring both to one type; text of the sender fits \
                 a column of integers, dates or booleans if every key is written as such a value",
            )));
        }
        Ok(terms)
    }

    fn options(terms: &Terms) -> UnionOptions {
        UnionOptions { record_bytes: terms.record_bytes() }
    }

    fn sender_input(terms: &Terms, items: Vec<u128>, table: &mut KeyTable, _rng: &mut SecretRng) -> UnionSenderInput {
        let keys = table.union.as_mut().and_then(|union| union.records.take()).map(|records| records.bytes);
        let payload = table.payload.take().map(|payload| payload.bytes).unwrap_or_default();
        let keys = keys.unwrap_or_default();
        let mut payloads = payload.chunks_exact(terms.payload_bytes().max(1));
        let mut records = Vec::with_capacity(items.len() * terms.record_bytes());
        for key in keys.chunks_exact(terms.keys.width.max(1)) {
            records.extend_from_slice(key);
            records.extend_from_slice(payloads.next().unwrap_or_default());
        }
        records.resize(items.len() * terms.record_bytes(), 0);
        UnionSenderInput { items, records }
    }

    fn receiver_input(_terms: &Terms, items: Vec<u128>, _table: &mut KeyTable) -> UnionReceiverInput {
        UnionReceiverInput { items }
    }

    fn sender_result(_agreed: Arc<Agreed<Self>>, (): ()) -> Option<Unopened> {
        None
    }

    fn receiver_result(agreed: Arc<Agreed<Self>>, output: UnionReceiverOutput) -> Option<Unopened> {
        Some(Box::new(move |_| ResultSet::Union {
            keys: agreed.terms.keys.clone(),
            payload: agreed.terms.payload.clone(),
            records: output.records,
        }))
    }

    fn revealed(terms: &Terms) -> Vec<String> {
        let columns: Vec<String> = terms.payload_columns().iter().map(|name| printable(name)).collect();
        let given = match columns.join(", ") {
            none if none.is_empty() => String::new(),
            columns => format!(", with the sender's {columns} of these"),
        };
        vec![
            format!("to the receiver: the keys of the sender that it does not have{given}"),
            "to the receiver: how many keys are common, and how many of the sender's items are no dummies".to_owned(),
            format!(
                "to both sides: the width of the sender's longest key and payload, {} bytes, and the types of the key \
                 columns",
                terms.record_bytes()
            ),
            "to the receiver: whether all keys of a column of the sender are integers, dates or booleans".to_owned(),
        ]
    }

    fn disclosure(terms: &Terms) -> Disclosure {
        Disclosure { payload_columns: terms.payload_columns(), payload_bytes: terms.record_bytes(), ..Disclosure::NONE }
    }

    fn extra_work(extent: &Extent, options: &UnionOptions) -> u64 {
        (extent.sender_items as u64).saturating_mul(options.record_bytes.saturating_sub(SAMPLE_KEY_BYTES) as u64)
    }

    fn extra_memory(_totals: Totals, extent: &Extent, options: &UnionOptions) -> u64 {
        // The records, the places that they travel in, and what comes out of these.
        Self::extra_work(extent, options).saturating_mul(4)
    }

    fn richer_amounts() -> Vec<Amounts> {
        vec![Amounts { payload_bytes: 8, ..Amounts::NONE }, Amounts { payload_bytes: 100, ..Amounts::NONE }]
    }

    fn options_of(amounts: &Amounts) -> Result<UnionOptions, Unsupported> {
        let &Amounts { payload_bytes, .. } = amounts;
        amounts.all_taken(&Amounts { payload_bytes, ..Amounts::NONE }, TASK)?;
        Ok(UnionOptions { record_bytes: SAMPLE_KEY_BYTES.saturating_add(payload_bytes) })
    }

    fn sample_sender(options: &UnionOptions, sample: &Sample) -> UnionSenderInput {
        UnionSenderInput { items: sample.digests(), records: sample_records(options, sample) }
    }

    fn sample_receiver(_options: &UnionOptions, sample: &Sample) -> UnionReceiverInput {
        UnionReceiverInput { items: sample.digests() }
    }

    /// The receiver knows nothing of the items that it lacks: it compares with a hash.
    fn check_sender(options: &UnionOptions, sample: &Sample, (): (), ch: &mut Channel) -> Result<bool, Abort> {
        let records = sample_records(options, sample);
        let mut common = sample.common.iter().peekable();
        let new = (0u32..).zip(records.chunks_exact(options.record_bytes));
        let new = new.filter(|(place, _)| common.next_if_eq(&place).is_none());
        ch.send_stream::<Expected>(&hash(new.map(|(_, record)| record).collect()))?;
        Ok(true)
    }

    fn check_receiver(
        options: &UnionOptions,
        _sample: &Sample,
        output: UnionReceiverOutput,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let mut expected = [0; 32];
        ch.recv_stream::<Expected>(&mut expected)?;
        Ok(hash(output.records.opened().chunks(options.record_bytes).collect()) == expected)
    }
}

/// The record of each made-up item.
fn sample_records(options: &UnionOptions, sample: &Sample) -> Vec<u8> {
    let mut records = Vec::with_capacity(sample.items().count() * options.record_bytes);
    for item in sample.items() {
        records.extend(Sample::payload(Role::Sender, item, options.record_bytes));
    }
    records
}

/// A hash of records that does not depend on their order.
fn hash(mut records: Vec<&[u8]>) -> [u8; 32] {
    records.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    records.into_iter().for_each(|record| _ = hasher.update(record));
    *hasher.finalize().as_bytes()
}

enum Expected {}

impl Stream for Expected {
    const STEP: Step =
        Step { protocol: "vesica-bench", number: 3, from: Role::Sender, carries: "a hash of the expected records" };
    type Element = u8;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{PayloadField, PayloadKind};

    fn kind(kind: PayloadKind, reads_as: &[PayloadKind]) -> KeyKind {
        KeyKind { kind, reads_as: reads_as.to_vec() }
    }

    /// What both sides come to, with these key columns, `key_bytes` and the receiver's bound.
    fn settled(given: KeyKind, own: KeyKind, key_bytes: usize, most: usize) -> Result<Terms, Refusal> {
        let extent = Extent::new(9, 9, vesica_party::Security::SemiHonest);
        let schema =
            PayloadSchema { fields: vec![PayloadField { name: "a".into(), kind: PayloadKind::Text }], width: 9 };
        let sender = Proposal { payload: Some(vec!["a".into()]), most_item_bytes: 100 };
        let receiver = Proposal { payload: None, most_item_bytes: most };
        let sent = Measure { keys: vec![given], records: Some(Records { key_bytes, payload: Some(schema) }) };
        let asked = Measure { keys: vec![own], records: None };
        UnionJob::settle(&Settling {
            role: Role::Sender,
            settings: &Settings::default(),
            extent: &extent,
            sender: super::super::job::Said { proposal: &sender, measure: &sent },
            receiver: super::super::job::Said { proposal: &receiver, measure: &asked },
        })
    }

    fn refusal(refused: Result<Terms, Refusal>) -> Failure {
        match refused {
            Err(Refusal::Refused(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn records_have_the_width_that_both_sides_allow() {
        let text = || kind(PayloadKind::Text, &[]);
        let terms = settled(text(), text(), 12, 21).unwrap();
        assert_eq!(UnionJob::options(&terms), UnionOptions { record_bytes: 21 });
        let refused = refusal(settled(text(), text(), 13, 21));
        assert!(refused.code == code::REFUSED && refused.fault.contains("22 bytes") && refused.fault.contains("21"));
        assert!(matches!(settled(text(), text(), 92, 1000), Err(Refusal::Misbehaved(_))), "beyond its own bound");
        assert!(matches!(settled(text(), text(), 0, 1000), Err(Refusal::Misbehaved(_))));
    }

    #[test]
    fn keys_that_the_receivers_columns_do_not_hold_are_refused_with_both_types() {
        let number = PayloadKind::Int { bits: 64 };
        settled(kind(PayloadKind::Text, std::slice::from_ref(&number)), kind(number.clone(), &[]), 9, 99).unwrap();
        let refused = refusal(settled(kind(PayloadKind::Text, &[]), kind(number, &[]), 9, 99));
        assert_eq!(refused.code, code::MISMATCH);
        assert!(refused.fault.contains("key column 1 is Utf8 on the sender's side and Int64 on the receiver's"));
    }

    #[test]
    fn a_receiver_may_insist_on_payload_columns() {
        let of =
            |payload: Option<&str>| Proposal { payload: payload.map(|name| vec![name.to_owned()]), most_item_bytes: 1 };
        assert!(UnionJob::differences(Role::Receiver, &of(None), &of(Some("score"))).is_empty());
        let differences = UnionJob::differences(Role::Sender, &of(None), &of(Some("score")));
        assert!(differences.len() == 1 && differences[0].field == "--payload");
    }
}
