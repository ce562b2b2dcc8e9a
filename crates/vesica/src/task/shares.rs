//! Circuit PSI: each side gets a file of shares of which keys are common and of both sides' values.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vesica_party::{Abort, Channel, Role, Step, Stream, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{
    AggregateRequest, Extent, ReceiverShares, SenderShares, Shares, SharesInput, SharesOptions,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::aggregate::{self, padded_values};
use super::job::{AgreedJob, Job, Rows, Settling};
use super::{
    Amounts, Columns, Disclosure, Example, Finished, Flags, ResultKind, ResultSet, Sample, Settings, Side, Unopened,
    Words,
};
use crate::failure::Failure;
use crate::handshake::{Difference, Refusal};
use crate::plan::Totals;
use crate::receipt::to_hex;
use crate::shares::{Header, NO_ROW, ShareFile};
use crate::table::{ExpectedRange, KeyTable, NO_KEY, ValueColumn};

/// The task `shares`.
pub(super) struct SharesJob;

const TASK: &str = Shares::NAME;

/// Bytes of a value.
const VALUE_BYTES: usize = 8;

/// What a side says before it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    /// The columns that the side shares.
    values: Vec<ValueColumn>,
    /// Ranges of the partner's columns on which the side insists.
    expected_ranges: Vec<ExpectedRange>,
}

/// A table has nothing to say that is not in the configuration.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {}

/// What both sides agreed on.
#[derive(Debug)]
pub(super) struct Terms {
    sender: Vec<ValueColumn>,
    receiver: Vec<ValueColumn>,
}

impl Job for SharesJob {
    type Functionality = Shares;
    type Proposal = Proposal;
    type Measure = Measure;
    type Terms = Terms;

    const WORDS: Words = Words {
        computes: "Each side gets shares of the matches and of columns, which say something only together",
        kept_from_receiver: "any key or value of the sender, and which keys are common",
        kept_from_sender: "any key or value of the receiver, and which keys are common",
        kept_from_sender_with_result: "any other key of the receiver",
        example: Example::semi_honest(
            "output = \"ours.shares\"\n# Columns to share:\npayload = [\"spent\"]",
            "output = \"theirs.shares\"\n# Columns to share:\npayload = [\"amount\"]",
        ),
    };

    fn rows_of(lists: &Lists) -> Rows<Self> {
        lists.shares
    }

    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn vesica_party::Registered<Shares>> {
        crate::insecure::shares()
    }

    fn settings(_role: Role, flags: &Flags) -> Result<Settings, Failure> {
        flags.refuse_max_groups()?;
        flags.with_values()
    }

    fn result_kind(_role: Role, _settings: &Settings) -> Option<ResultKind> {
        Some(ResultKind::Shares)
    }

    fn validate(side: &Side<'_>) -> Result<(), Failure> {
        aggregate::refuse_what_is_for_rows(side, TASK)?;
        let Settings { values, at_least, noise, .. } = side.settings;
        side.refuse(TASK, values.group_by.is_some(), "--group-by is for aggregates", "omit it")?;
        side.refuse(TASK, *at_least > 0, "--reveal-if-at-least is for aggregates", "omit it")?;
        side.refuse(TASK, noise.is_some(), "--epsilon is for aggregates", "omit it")?;
        side.refuse(TASK, side.output.is_none(), "each side gets a file of shares", "name a file with --output FILE")?;
        aggregate::refuse_too_many_columns(side, TASK)
    }

    fn columns(_role: Role, settings: &Settings) -> Columns {
        Columns::Values(settings.values.clone())
    }

    fn proposal(_role: Role, settings: &Settings) -> Proposal {
        Proposal { values: settings.values.columns.clone(), expected_ranges: settings.expected_ranges.clone() }
    }

    fn is_sound(proposal: &Proposal) -> bool {
        proposal.values.len() <= AggregateRequest::MOST_COLUMNS && proposal.values.iter().all(ValueColumn::is_sound)
    }

    fn differences(_role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<Difference> {
        aggregate::range_differences((&ours.values, &ours.expected_ranges), (&theirs.values, &theirs.expected_ranges))
    }

    fn measure(_table: &KeyTable) -> Measure {
        Measure {}
    }

    fn assume(_peer: Role, _theirs: &Proposal, _ours: &Measure, _settings: &Settings) -> Measure {
        Measure {}
    }

    fn settle(settling: &Settling<'_, Self>) -> Result<Terms, Refusal> {
        Ok(Terms {
            sender: settling.sender.proposal.values.clone(),
            receiver: settling.receiver.proposal.values.clone(),
        })
    }

    fn options(terms: &Terms) -> SharesOptions {
        SharesOptions {
            sender_payload_bytes: VALUE_BYTES * terms.sender.len(),
            receiver_payload_bytes: VALUE_BYTES * terms.receiver.len(),
        }
    }

    fn sender_input(terms: &Terms, items: Vec<u128>, table: &mut KeyTable, _rng: &mut SecretRng) -> SharesInput {
        let payloads = bytes(padded_values(table, items.len(), terms.sender.len()));
        SharesInput { items, payloads }
    }

    fn receiver_input(terms: &Terms, items: Vec<u128>, table: &mut KeyTable) -> SharesInput {
        let payloads = bytes(padded_values(table, items.len(), terms.receiver.len()));
        SharesInput { items, payloads }
    }

    fn sender_result(agreed: Arc<AgreedJob<Self>>, output: SenderShares) -> Option<Unopened> {
        Some(Box::new(move |finished| {
            let header = header(&agreed, finished, output.membership.len());
            ResultSet::Shares(ShareFile::of_sender(header, output))
        }))
    }

    fn receiver_result(agreed: Arc<AgreedJob<Self>>, output: ReceiverShares) -> Option<Unopened> {
        Some(Box::new(move |finished| {
            let header = header(&agreed, finished, output.membership.len());
            ResultSet::Shares(ShareFile::of_receiver(header, output, &first_rows(finished)))
        }))
    }

    fn revealed(_terms: &Terms) -> Vec<String> {
        vec![
            "to neither side: whether a key is common; each side has shares of it and of the values, which together \
             reveal both"
                .to_owned(),
        ]
    }

    fn disclosure(terms: &Terms) -> Disclosure {
        Disclosure {
            payload_columns: terms.sender.iter().map(|column| column.name.clone()).collect(),
            payload_bytes: VALUE_BYTES * terms.sender.len(),
            sender_values: terms.sender.clone(),
            receiver_values: terms.receiver.clone(),
            ..Disclosure::NONE
        }
    }

    fn extra_work(extent: &Extent, options: &SharesOptions) -> u64 {
        let bytes = |items: usize, each: usize| (items as u64).saturating_mul(each as u64);
        bytes(extent.sender_items, options.sender_payload_bytes)
            .saturating_add(bytes(extent.receiver_items, options.receiver_payload_bytes))
    }

    fn extra_memory(_totals: Totals, extent: &Extent, options: &SharesOptions) -> u64 {
        let items = extent.sender_items.max(extent.receiver_items) as u64;
        let payloads = options.sender_payload_bytes.saturating_add(options.receiver_payload_bytes) as u64;
        items.saturating_mul(if payloads > 0 { 100 + 24 * payloads } else { 0 })
    }

    fn richer_amounts() -> Vec<Amounts> {
        vec![
            Amounts { payload_bytes: 8, ..Amounts::NONE },
            Amounts { payload_bytes: 64, receiver_payload_bytes: 8, ..Amounts::NONE },
        ]
    }

    fn options_of(amounts: &Amounts) -> Result<SharesOptions, Unsupported> {
        let &Amounts { payload_bytes, receiver_payload_bytes, .. } = amounts;
        amounts.all_taken(&Amounts { payload_bytes, receiver_payload_bytes, ..Amounts::NONE }, TASK)?;
        Ok(SharesOptions { sender_payload_bytes: payload_bytes, receiver_payload_bytes })
    }

    fn sample_sender(_options: &SharesOptions, sample: &Sample) -> SharesInput {
        SharesInput { items: sample.digests(), payloads: sample.payloads.clone() }
    }

    fn sample_receiver(_options: &SharesOptions, sample: &Sample) -> SharesInput {
        SharesInput { items: sample.digests(), payloads: sample.payloads.clone() }
    }

    /// The sender's shares go to the receiver: only both together can be checked.
    fn check_sender(
        _options: &SharesOptions,
        _sample: &Sample,
        output: SenderShares,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let membership: Vec<u8> = output.membership.iter().copied().map(u8::from).collect();
        ch.send_stream::<Check>(&membership)?;
        ch.send_stream::<Check>(&output.payloads)?;
        Ok(true)
    }

    fn check_receiver(
        options: &SharesOptions,
        sample: &Sample,
        output: ReceiverShares,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let mut membership = vec![0; output.membership.len()];
        let mut payloads = vec![0; output.payloads.len()];
        ch.recv_stream::<Check>(&mut membership)?;
        ch.recv_stream::<Check>(&mut payloads)?;
        let both = options.sender_payload_bytes + options.receiver_payload_bytes;
        let common: HashSet<u32> = sample.common.iter().copied().collect();
        let found = output.items.iter().flatten().filter(|place| common.contains(place)).count();
        let sizes_fit =
            output.membership.len() == output.items.len() && output.payloads.len() == both * output.items.len();
        let plain: Vec<u8> = payloads.iter().zip(&output.payloads).map(|(a, b)| a ^ b).collect();
        let mut bins = output.items.iter().zip(membership.iter().zip(&output.membership)).enumerate();
        let all_right = bins.all(|(bin, (placed, (theirs, ours)))| {
            let common = placed.filter(|place| common.contains(place));
            let expected = common.map_or(vec![0; both], |place| {
                let theirs = Sample::payload(Role::Sender, sample.item(place), options.sender_payload_bytes);
                [theirs, Sample::payload(Role::Receiver, sample.item(place), options.receiver_payload_bytes)].concat()
            });
            ((*theirs == 1) ^ ours) == common.is_some()
                && plain.get(bin * both..(bin + 1) * both) == Some(expected.as_slice())
        });
        Ok(sizes_fit && found == common.len() && all_right)
    }
}

/// The sender's shares, handed over after the clock of a benchmark has stopped.
enum Check {}

impl Stream for Check {
    const STEP: Step =
        Step { protocol: "vesica-bench", number: 1, from: Role::Sender, carries: "shares to be checked" };
    type Element = u8;
}

fn bytes(values: Vec<u64>) -> Vec<u8> {
    values.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn header(agreed: &AgreedJob<SharesJob>, finished: &Finished<'_>, bins: usize) -> Header {
    Header {
        role: agreed.role,
        session: to_hex(finished.session),
        protocol: finished.entry.id.into(),
        bins: bins as u64,
        sender_columns: agreed.terms.sender.clone(),
        receiver_columns: agreed.terms.receiver.clone(),
    }
}

/// For each key the place of its first row.
fn first_rows(finished: &Finished<'_>) -> Vec<u32> {
    let mut first = vec![NO_ROW; finished.distinct];
    for (row, &key) in (0u32..).zip(&finished.table.row_key) {
        if key != NO_KEY
            && let Some(first) = first.get_mut(key as usize)
            && *first == NO_ROW
        {
            *first = row;
        }
    }
    first
}
