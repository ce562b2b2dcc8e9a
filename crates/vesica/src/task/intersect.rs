//! Intersection: the receiver keeps its rows whose key the sender has, with the sender's payload
//! beside them; on request the sender keeps its own, too.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vesica_party::{Abort, Channel, Role, Security, Task};
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{
    Extent, Intersect, IntersectOptions, IntersectReceiverInput, IntersectReceiverOutput, IntersectSenderInput,
    IntersectSenderOutput,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::job::{AgreedJob, Gives, InBuckets, Job, Rows, RowsInBuckets, Settling, assumed_records};
use super::{
    Amounts, Columns, Disclosure, Example, Flags, MatchesInWorkFolder, ResultKind, ResultSet, Sample, Settings, Side,
    Unopened, Words,
};
use crate::buckets::{self, ToKeep};
use crate::cluster::Received;
use crate::failure::Failure;
use crate::handshake::{Difference, Refusal, list, printable};
use crate::plan::Totals;
use crate::table::{Join, KeyTable, MAX_PAYLOAD_WIDTH, PayloadSchema};

mod in_bucket;

/// The task `intersect`.
pub(super) struct IntersectJob;

const TASK: &str = Intersect::NAME;

/// Why `--join left` is refused.
const NOTHING_TO_JOIN: &str =
    "--join left writes all rows with the partner's columns beside them, and this side gets no columns";

/// What a side says before it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    /// Sender: names of the payload columns that it gives. Receiver: the names that it insists on,
    /// if it does.
    payload: Option<Vec<String>>,
    /// Whether the sender learns its matches too.
    both_learn: bool,
}

/// What a side says once it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    /// What goes with each of the sender's keys.
    payload: Option<PayloadSchema>,
}

/// What both sides agreed on.
#[derive(Debug)]
pub(super) struct Terms {
    payload: Option<PayloadSchema>,
    both_learn: bool,
}

impl Terms {
    fn payload_columns(&self) -> Vec<String> {
        self.payload.iter().flat_map(|schema| &schema.fields).map(|field| field.name.clone()).collect()
    }

    fn payload_bytes(&self) -> usize {
        self.payload.as_ref().map_or(0, |schema| schema.width)
    }
}

/// The payloads of the table's keys.
fn given(table: &KeyTable) -> &[u8] {
    table.payload.as_ref().map(|payload| payload.bytes.as_slice()).unwrap_or_default()
}

impl Job for IntersectJob {
    type Functionality = Intersect;
    type Proposal = Proposal;
    type Measure = Measure;
    type Terms = Terms;

    const WORDS: Words = Words {
        computes: "The receiver finds out which of its keys the sender has too",
        kept_from_receiver: "any other key of the sender, and other columns of keys that are not common",
        kept_from_sender: "any key of the receiver, and which keys are common",
        kept_from_sender_with_result: "any other key of the receiver",
        example: Example {
            security: Security::Malicious,
            receiver: "# Rows also match by this column, if both sides say it; there is no payload then:\n\
                       # or-key = [\"phone\"]\n\
                       output = \"matches.csv\"\n# The columns that you expect of the sender:\n\
                       payload = [\"score\"]",
            sender: "# or-key = [\"telephone\"]\n\
                     # Columns that the receiver gets with each match:\npayload = [\"score\"]",
        },
    };

    const TAKES_OR_KEYS: bool = true;

    const IN_BUCKETS: Option<InBuckets<Self>> = Some(InBuckets {
        in_passes: |lists| lists.intersect_in_passes,
        most: buckets::MOST_BUCKETS,
        sender_input: |terms, mut bucket, table, _| IntersectSenderInput {
            payloads: bucket.payloads(given(table), terms.payload_bytes()),
            items: bucket.items,
        },
        receiver_input: |_, bucket, _| IntersectReceiverInput { items: bucket.items },
        gives: Gives::Rows(RowsInBuckets {
            sender_keeps: |output| output.matches.as_mut().map(|matches| ToKeep { matches, payloads: None }),
            receiver_keeps: |output| {
                Some(ToKeep { matches: &mut output.matches, payloads: Some(&mut output.payloads) })
            },
            sender_result: |agreed, buckets, outputs| {
                let matches: Vec<Vec<u32>> = outputs.into_iter().map(|output| output.matches).collect::<Option<_>>()?;
                agreed.terms.both_learn.then(|| -> Unopened {
                    Box::new(move |_| match buckets.in_memory() {
                        Some(buckets) => ResultSet::Keep {
                            keys: in_bucket::sender_matches(buckets, matches),
                            payload: None,
                            unread: 0,
                        },
                        None => ResultSet::KeepInWorkFolder(Box::new(MatchesInWorkFolder::new(
                            buckets,
                            Vec::new(),
                            None,
                            0,
                        ))),
                    })
                })
            },
            receiver_result: |agreed, buckets, outputs| {
                Some(Box::new(move |_| {
                    let schema = agreed.terms.payload.clone();
                    match buckets.in_memory() {
                        Some(buckets) => {
                            let (keys, payloads, unread) =
                                in_bucket::receiver_matches(buckets, outputs, agreed.terms.payload_bytes());
                            ResultSet::Keep { keys, payload: schema.map(|schema| (schema, payloads)), unread }
                        }
                        None => {
                            let unread = outputs.iter().map(|output| output.unread).sum();
                            let payloads = outputs.into_iter().map(|output| output.payloads).collect();
                            ResultSet::KeepInWorkFolder(Box::new(MatchesInWorkFolder::new(
                                buckets, payloads, schema, unread,
                            )))
                        }
                    }
                }))
            },
        }),
    });

    fn rows_of(lists: &Lists) -> Rows<Self> {
        lists.intersect
    }

    fn settings(role: Role, flags: &Flags) -> Result<Settings, Failure> {
        flags.with_payload(role)
    }

    fn result_kind(role: Role, settings: &Settings) -> Option<ResultKind> {
        (role == Role::Receiver || settings.both_learn).then_some(ResultKind::OwnRows)
    }

    fn validate(side: &Side<'_>) -> Result<(), Failure> {
        let Settings { payload, expected_payload, values, at_least, noise, expected_ranges, .. } = side.settings;
        for (flag, given) in [
            ("--scale and --clamp", !values.columns.is_empty()),
            ("--group-by", values.group_by.is_some()),
            ("--reveal-if-at-least", *at_least > 0),
            ("--epsilon", noise.is_some()),
            ("--partner-clamp", !expected_ranges.is_empty()),
        ] {
            let mend = format!("omit {flag}, or name a task that computes, for example --task sum");
            side.refuse(TASK, given, &format!("{flag} is for tasks that compute"), &mend)?;
        }
        side.refuse(
            TASK,
            side.or_keys && (payload.is_some() || expected_payload.is_some()),
            "--payload together with --or-key: one row of the receiver may match two rows of the sender, each by \
             another alternative, and nothing says whose columns it gets",
            "omit --payload, or run once for each alternative with --key alone",
        )?;
        let is_left = side.output == Some(Join::Left);
        side.refuse(TASK, is_left && side.role == Role::Sender, NOTHING_TO_JOIN, "omit --join left")?;
        side.refuse(
            TASK,
            is_left && side.or_keys,
            &format!("{NOTHING_TO_JOIN}: there is no payload of keys with alternatives"),
            "omit --join left, or --or-key",
        )
    }

    fn columns(_role: Role, settings: &Settings) -> Columns {
        Columns::Payload(settings.payload.clone())
    }

    fn proposal(role: Role, settings: &Settings) -> Proposal {
        let payload = match role {
            Role::Sender => settings.payload.as_ref().map(|payload| payload.columns.clone()),
            Role::Receiver => settings.expected_payload.clone(),
        };
        Proposal { payload, both_learn: settings.both_learn }
    }

    fn is_sound(_proposal: &Proposal) -> bool {
        true
    }

    fn differences(role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<Difference> {
        let mut found = Vec::new();
        if ours.both_learn != theirs.both_learn {
            found.push(Difference::new("--both-learn", &ours.both_learn, &theirs.both_learn));
        }
        // The receiver takes whatever is given, unless it insists on names.
        let (receiver, sender) = if role == Role::Receiver { (ours, theirs) } else { (theirs, ours) };
        if let Some(wanted) = &receiver.payload {
            let given = sender.payload.as_deref().unwrap_or_default();
            if wanted != given {
                let (wanted, given) = (list(wanted), list(given));
                let (ours, theirs) = if role == Role::Receiver { (wanted, given) } else { (given, wanted) };
                found.push(Difference::new("--payload", &ours, &theirs));
            }
        }
        found
    }

    fn lacks(output: Option<Join>, theirs: &Proposal) -> Option<Difference> {
        let lacks = output == Some(Join::Left) && theirs.payload.is_none();
        lacks.then(|| Difference::new("--payload", &"any columns, for --join left", &list(&[])))
    }

    fn measure(table: &KeyTable) -> Measure {
        Measure { payload: table.payload.as_ref().map(|payload| payload.schema.clone()) }
    }

    fn assume(peer: Role, theirs: &Proposal, _ours: &Measure, _settings: &Settings) -> Measure {
        let given = theirs.payload.as_ref().filter(|_| peer == Role::Sender);
        Measure { payload: given.map(|names| assumed_records(names, MAX_PAYLOAD_WIDTH)) }
    }

    fn settle(settling: &Settling<'_, Self>) -> Result<Terms, Refusal> {
        let (sender, receiver) = (&settling.sender, &settling.receiver);
        let payload = &sender.measure.payload;
        if payload.as_ref().is_some_and(|schema| schema.check().is_err()) {
            return Err(Refusal::Misbehaved("a payload schema that no sender declares"));
        }
        if payload.is_some() && settling.or_keys {
            return Err(Refusal::Misbehaved("a payload of keys with alternatives, which no sender gives"));
        }
        let given =
            payload.as_ref().map(|schema| schema.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>());
        if receiver.measure.payload.is_some() || given != sender.proposal.payload {
            return Err(Refusal::Misbehaved("a payload that does not go with the configuration"));
        }
        Ok(Terms { payload: payload.clone(), both_learn: sender.proposal.both_learn })
    }

    fn options(terms: &Terms) -> IntersectOptions {
        IntersectOptions { payload_bytes: terms.payload_bytes(), both_learn: terms.both_learn }
    }

    fn sender_input(
        terms: &Terms,
        items: Vec<u128>,
        table: &mut KeyTable,
        _rng: &mut SecretRng,
    ) -> IntersectSenderInput {
        let mut payloads = table.payload.as_mut().map(|payload| std::mem::take(&mut payload.bytes)).unwrap_or_default();
        payloads.resize(items.len() * terms.payload_bytes(), 0);
        IntersectSenderInput { items, payloads }
    }

    fn receiver_input(_terms: &Terms, items: Vec<u128>, _table: &mut KeyTable) -> IntersectReceiverInput {
        IntersectReceiverInput { items }
    }

    fn sender_result(_agreed: Arc<AgreedJob<Self>>, output: IntersectSenderOutput) -> Option<Unopened> {
        let keys = output.matches?;
        Some(Box::new(move |_| ResultSet::Keep { keys, payload: None, unread: 0 }))
    }

    fn receiver_result(agreed: Arc<AgreedJob<Self>>, output: IntersectReceiverOutput) -> Option<Unopened> {
        let IntersectReceiverOutput { matches: keys, payloads, unread } = output;
        Some(Box::new(move |_| ResultSet::Keep {
            keys,
            payload: agreed.terms.payload.clone().map(|schema| (schema, payloads)),
            unread,
        }))
    }

    fn revealed(terms: &Terms) -> Vec<String> {
        let columns: Vec<String> = terms.payload_columns().iter().map(|name| printable(name)).collect();
        let mut all = vec![match columns.join(", ") {
            none if none.is_empty() => "to the receiver: which of its keys the sender has".to_owned(),
            columns => {
                format!("to the receiver: which of its keys the sender has, and the sender's {columns} of these")
            }
        }];
        if terms.both_learn {
            all.push("to the sender: which of its keys the receiver has".to_owned());
        }
        all
    }

    fn disclosure(terms: &Terms) -> Disclosure {
        Disclosure {
            both_learn: terms.both_learn,
            payload_columns: terms.payload_columns(),
            payload_bytes: terms.payload_bytes(),
            ..Disclosure::NONE
        }
    }

    fn received(terms: &Terms, role: Role) -> Option<Received> {
        terms.payload.clone().filter(|_| role == Role::Receiver).map(Received::Payload)
    }

    fn extra_work(extent: &Extent, options: &IntersectOptions) -> u64 {
        (extent.sender_items as u64).saturating_mul(options.payload_bytes as u64)
    }

    fn extra_memory(totals: Totals, extent: &Extent, options: &IntersectOptions) -> u64 {
        // Payloads stay until all buckets are done.
        let items = (extent.sender_items.max(extent.receiver_items) as u64).saturating_mul(extent.runs as u64);
        let payloads = options.payload_bytes as u64;
        if totals == Totals::OnShares {
            // As the circuit PSI beneath.
            return items.saturating_mul(if payloads > 0 { 100 + 26 * payloads } else { 0 });
        }
        let keystreams = if payloads > 0 { 80 } else { 0 };
        items.saturating_mul(keystreams + 2 * payloads + if options.both_learn { 64 } else { 0 })
    }

    fn richer_amounts() -> Vec<Amounts> {
        vec![
            Amounts { payload_bytes: 8, ..Amounts::NONE },
            Amounts { payload_bytes: 100, ..Amounts::NONE },
            Amounts { payload_bytes: 8, both_learn: true, ..Amounts::NONE },
        ]
    }

    fn options_of(amounts: &Amounts) -> Result<IntersectOptions, Unsupported> {
        let &Amounts { payload_bytes, both_learn, .. } = amounts;
        amounts.all_taken(&Amounts { payload_bytes, both_learn, ..Amounts::NONE }, TASK)?;
        Ok(IntersectOptions { payload_bytes, both_learn })
    }

    fn sample_sender(_options: &IntersectOptions, sample: &Sample) -> IntersectSenderInput {
        IntersectSenderInput { items: sample.digests(), payloads: sample.payloads.clone() }
    }

    fn sample_receiver(_options: &IntersectOptions, sample: &Sample) -> IntersectReceiverInput {
        IntersectReceiverInput { items: sample.digests() }
    }

    fn check_sender(
        options: &IntersectOptions,
        sample: &Sample,
        output: IntersectSenderOutput,
        _ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let expected = options.both_learn.then_some(&sample.common);
        Ok(output.matches.as_ref() == expected)
    }

    fn check_receiver(
        options: &IntersectOptions,
        sample: &Sample,
        output: IntersectReceiverOutput,
        _ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let payload = |&place: &u32| Sample::payload(Role::Sender, sample.item(place), options.payload_bytes);
        Ok(output.unread == 0
            && output.matches == sample.common
            && output.payloads.opened().into_iter().eq(sample.common.iter().flat_map(payload)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<&'static str> {
        IntersectJob::differences(role, ours, theirs).iter().map(|difference| difference.field).collect()
    }

    #[test]
    fn who_learns_must_be_the_same_on_both_sides() {
        let of = |both_learn| Proposal { payload: None, both_learn };
        for role in [Role::Sender, Role::Receiver] {
            assert!(fields(role, &of(true), &of(true)).is_empty());
            assert_eq!(fields(role, &of(true), &of(false)), ["--both-learn"]);
        }
    }

    #[test]
    fn a_left_join_needs_columns_of_the_sender() {
        let of =
            |payload: Option<&str>| Proposal { payload: payload.map(|name| vec![name.to_owned()]), both_learn: false };
        for (output, payload, is_lacking) in [
            (Some(Join::Left), None, true),
            (Some(Join::Left), Some("score"), false),
            (Some(Join::Inner), None, false),
            (None, None, false),
        ] {
            assert_eq!(IntersectJob::lacks(output, &of(payload)).is_some(), is_lacking, "{output:?} {payload:?}");
        }
    }

    #[test]
    fn a_receiver_may_insist_on_payload_columns() {
        let of =
            |payload: Option<&str>| Proposal { payload: payload.map(|name| vec![name.to_owned()]), both_learn: false };
        let score = of(Some("score"));
        assert!(fields(Role::Receiver, &of(None), &score).is_empty(), "whatever is given is fine by default");
        assert!(fields(Role::Sender, &score, &of(None)).is_empty(), "on both sides");
        let differences = IntersectJob::differences(Role::Receiver, &of(Some("segment")), &score);
        assert_eq!(differences, [Difference { field: "--payload", ours: "segment".into(), theirs: "score".into() }]);
        assert_eq!(fields(Role::Sender, &of(None), &score), ["--payload"], "what is insisted on must be given");
    }
}
