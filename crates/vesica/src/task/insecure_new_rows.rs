//! INSECURE, for tests: the toy task by which the receiver gets the rows of its partner that it
//! lacks. It shows what a task that is neither an intersection nor an aggregate takes: this file,
//! its functionality, and a line in each list.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vesica_party::{Abort, Channel, Role, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{Extent, IntersectReceiverInput, IntersectSenderInput};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::job::{AgreedJob, Job, Rows, Settling, assumed_records};
use super::{
    Amounts, Columns, Disclosure, Example, Flags, ResultKind, ResultSet, Sample, Settings, Side, Unopened, Words,
};
use crate::failure::Failure;
use crate::handshake::{Difference, Refusal, list};
use crate::insecure::new_rows::{NewRows, NewRowsOptions, REGISTRY};
use crate::plan::Totals;
use crate::table::{KeyTable, MAX_PAYLOAD_WIDTH, PayloadSchema};

/// The toy task.
pub(super) struct NewRowsJob;

/// Before a side has read its table: the columns of the new rows, which the sender gives and on
/// which the receiver may insist.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    columns: Option<Vec<String>>,
}

/// Afterwards: the sender's records.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    records: Option<PayloadSchema>,
}

impl Job for NewRowsJob {
    type Functionality = NewRows;
    type Proposal = Proposal;
    type Measure = Measure;
    type Terms = PayloadSchema;

    const WORDS: Words =
        Words::of_numbers("The receiver gets the sender's rows that are new to it", Example::semi_honest("", ""));

    fn rows_of(_: &Lists) -> Rows<Self> {
        &[]
    }

    fn stand_ins() -> Vec<&'static dyn vesica_party::Registered<NewRows>> {
        REGISTRY.to_vec()
    }

    fn settings(role: Role, flags: &Flags) -> Result<Settings, Failure> {
        flags.with_payload(role)
    }

    fn result_kind(role: Role, _settings: &Settings) -> Option<ResultKind> {
        (role == Role::Receiver).then_some(ResultKind::NewRows)
    }

    fn validate(side: &Side<'_>) -> Result<(), Failure> {
        let gives_none = side.role == Role::Sender && side.settings.payload.is_none();
        side.refuse(NewRows::NAME, gives_none, "new rows need columns", "name them with --payload")
    }

    fn columns(_role: Role, settings: &Settings) -> Columns {
        Columns::Payload(settings.payload.clone())
    }

    fn proposal(role: Role, settings: &Settings) -> Proposal {
        let columns = match role {
            Role::Sender => settings.payload.as_ref().map(|payload| payload.columns.clone()),
            Role::Receiver => settings.expected_payload.clone(),
        };
        Proposal { columns }
    }

    fn is_sound(_proposal: &Proposal) -> bool {
        true
    }

    fn differences(_role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<Difference> {
        match (&ours.columns, &theirs.columns) {
            (Some(ours), Some(theirs)) if ours != theirs => {
                vec![Difference::new("--payload", &list(ours), &list(theirs))]
            }
            _ => Vec::new(),
        }
    }

    fn measure(table: &KeyTable) -> Measure {
        Measure { records: table.payload.as_ref().map(|payload| payload.schema.clone()) }
    }

    fn assume(peer: Role, theirs: &Proposal, _ours: &Measure, _settings: &Settings) -> Measure {
        let given = theirs.columns.as_ref().filter(|_| peer == Role::Sender);
        Measure { records: given.map(|names| assumed_records(names, MAX_PAYLOAD_WIDTH)) }
    }

    fn settle(settling: &Settling<'_, Self>) -> Result<PayloadSchema, Refusal> {
        let records = settling.sender.measure.records.as_ref().filter(|records| records.check().is_ok());
        records.cloned().ok_or(Refusal::Misbehaved("no records that a sender declares"))
    }

    fn options(terms: &PayloadSchema) -> NewRowsOptions {
        NewRowsOptions { payload_bytes: terms.width }
    }

    fn sender_input(
        terms: &PayloadSchema,
        items: Vec<u128>,
        table: &mut KeyTable,
        _rng: &mut SecretRng,
    ) -> IntersectSenderInput {
        let mut payloads = table.payload.as_mut().map(|payload| std::mem::take(&mut payload.bytes)).unwrap_or_default();
        payloads.resize(items.len() * terms.width, 0);
        IntersectSenderInput { items, payloads }
    }

    fn receiver_input(_terms: &PayloadSchema, items: Vec<u128>, _table: &mut KeyTable) -> IntersectReceiverInput {
        IntersectReceiverInput { items }
    }

    fn sender_result(_agreed: Arc<AgreedJob<Self>>, (): ()) -> Option<Unopened> {
        None
    }

    fn receiver_result(agreed: Arc<AgreedJob<Self>>, output: Vec<u8>) -> Option<Unopened> {
        Some(Box::new(move |_| {
            // The records of dummies are zero, and have no field.
            let rows = output.chunks_exact(agreed.terms.width).filter(|row| row.iter().any(|&byte| byte != 0));
            let records = rows.flatten().copied().collect::<Vec<u8>>().into();
            ResultSet::NewRows { schema: agreed.terms.clone(), records }
        }))
    }

    fn revealed(_terms: &PayloadSchema) -> Vec<String> {
        vec!["to the receiver: the sender's rows, all of them".into()]
    }

    fn disclosure(terms: &PayloadSchema) -> Disclosure {
        let payload_columns = terms.fields.iter().map(|field| field.name.clone()).collect();
        Disclosure { payload_columns, payload_bytes: terms.width, ..Disclosure::NONE }
    }

    fn extra_work(extent: &Extent, options: &NewRowsOptions) -> u64 {
        (extent.sender_items as u64).saturating_mul(options.payload_bytes as u64)
    }

    fn extra_memory(_totals: Totals, extent: &Extent, options: &NewRowsOptions) -> u64 {
        (extent.sender_items as u64).saturating_mul(2 * options.payload_bytes as u64)
    }

    fn least_amounts() -> Amounts {
        Amounts { payload_bytes: 1, ..Amounts::NONE }
    }

    fn richer_amounts() -> Vec<Amounts> {
        vec![Amounts { payload_bytes: 9, ..Amounts::NONE }]
    }

    fn options_of(amounts: &Amounts) -> Result<NewRowsOptions, Unsupported> {
        let payload_bytes = amounts.payload_bytes.max(1);
        amounts.all_taken(&Amounts { payload_bytes, ..Amounts::NONE }, NewRows::NAME)?;
        Ok(NewRowsOptions { payload_bytes })
    }

    fn sample_sender(_options: &NewRowsOptions, sample: &Sample) -> IntersectSenderInput {
        IntersectSenderInput { items: sample.digests(), payloads: sample.payloads.clone() }
    }

    fn sample_receiver(_options: &NewRowsOptions, sample: &Sample) -> IntersectReceiverInput {
        IntersectReceiverInput { items: sample.digests() }
    }

    fn check_sender(_options: &NewRowsOptions, sample: &Sample, (): (), ch: &mut Channel) -> Result<bool, Abort> {
        // The receiver knows nothing of the items that it lacks.
        let common: std::collections::HashSet<u32> = sample.common.iter().copied().collect();
        let records = (0u32..).zip(sample.payloads.chunks_exact(sample.payloads.len() / sample.items().count()));
        let new: Vec<u8> =
            records.filter(|(place, _)| !common.contains(place)).flat_map(|(_, record)| record).copied().collect();
        ch.send_stream::<Expected>(&new)?;
        Ok(true)
    }

    fn check_receiver(
        _options: &NewRowsOptions,
        _sample: &Sample,
        output: Vec<u8>,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let mut expected = vec![0; output.len()];
        ch.recv_stream::<Expected>(&mut expected)?;
        Ok(output == expected)
    }
}

enum Expected {}

impl vesica_party::Stream for Expected {
    const STEP: vesica_party::Step = vesica_party::Step {
        protocol: "vesica-bench",
        number: 2,
        from: Role::Sender,
        carries: "records to be compared",
    };
    type Element = u8;
}
