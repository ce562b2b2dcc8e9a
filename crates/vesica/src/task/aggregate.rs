//! What cardinality, sum and join-and-compute share, over the common keys or over a union: the
//! receiver gets a table of numbers, exact or with noise, in all or by group.
//!
//! How they differ is in [`AggregateKind`]: which columns they take, and how they are described.
//! Over a union the protocol gives what the keys give that only the sender has. The receiver adds
//! what its own keys give when the run is over, and nobody else sees that.

mod columns;
mod kind;
mod terms;

use std::iter;
use std::marker::PhantomData;
use std::sync::Arc;

use vesica_party::{Abort, Channel, Role, Step, Stream, Task};
use vesica_protocols::circuit_psi::aggregate::Withheld;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{
    Aggregate, AggregateOptions, AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput,
    Extent,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::columns::{check_scales, go_together, may_wrap, result_columns, unlike_columns};
pub(super) use self::columns::{range_differences, refuse_too_many_columns};
pub(super) use self::kind::AggregateKind;
use self::kind::is_over_union;
use self::terms::{Measure, Proposal, Terms, by_group, number_of_groups, tells_of_few_keys};
use super::job::{AgreedJob, Gives, InBuckets, Job, Rows, Settling, TotalsInBuckets};
use super::{Amounts, Columns, Disclosure, Flags, ResultKind, ResultSet, Sample, Settings, Side, Unopened, Words};
use crate::buckets;
use crate::failure::{Failure, code};
use crate::handshake::{Difference, Refusal};
use crate::noise::{Epsilon, NoiseScale};
use crate::plan::Totals;
use crate::table::{Join, KeyTable, ValueColumn};

// `vesica-data` knows no protocol, so it has this limit of its own.
const _: () = assert!(crate::table::MAX_GROUPS == AggregateRequest::MOST_GROUPS);

/// The task of an aggregate.
pub(super) struct AggregateJob<K>(PhantomData<fn() -> K>);

impl<K: AggregateKind> AggregateJob<K> {
    /// A bucket's results are masked.
    const IN_ALL_BUCKETS: InBuckets<Self> = InBuckets {
        in_passes: |_| &[],
        most: buckets::MOST_BUCKETS_OF_CIRCUITS,
        sender_input: |terms, mut bucket, table, masks| {
            let own = table.values.as_ref().map_or(&[][..], |values| &values.values);
            // In a work folder, a key's place is its row, and dummies have none.
            let behind = if table.spilled.is_some() { usize::MAX } else { table.distinct() };
            AggregateSenderInput {
                dummies: bucket.dummies(behind),
                values: as_ring(&bucket.values(own, terms.sender.len())),
                noise: masks.to_vec(),
                items: bucket.items,
            }
        },
        receiver_input: |terms, mut bucket, table| {
            let own = table.values.as_ref();
            let (values, groups) = own.map_or((&[][..], &[][..]), |own| (own.values.as_slice(), own.groups.as_slice()));
            AggregateReceiverInput {
                values: match factors::<K>(terms) {
                    // Columns over a union are the receiver's own matter.
                    0 => Vec::new(),
                    columns => as_ring(&bucket.values(values, columns)),
                },
                groups: bucket.records(groups, usize::from(terms.groups > 1)),
                items: bucket.items,
            }
        },
        gives: Gives::Totals(TotalsInBuckets {
            numbers: AggregateRequest::added,
            of_bucket: |output| output.groups.iter().flatten().flatten().copied().collect(),
            added: |terms, rng| {
                let mut added = Secret::new(noise(terms, rng));
                added.resize(terms.groups * terms.results(), 0);
                added
            },
            withheld: |request| Withheld::derive(request, K::Functionality::OVER),
            kept: Terms::kept,
            shown: Terms::shown,
            result: Self::receiver_result,
        }),
    };
}

/// How many columns of the receiver the sender's are multiplied by.
fn factors<K: AggregateKind>(terms: &Terms) -> usize {
    if is_over_union::<K>() { 0 } else { terms.receiver.len() }
}

/// The noise of all results, group by group; nothing without noise.
fn noise(terms: &Terms, rng: &mut SecretRng) -> Vec<u64> {
    // Room for all of it at once: a vector that grows leaves copies behind, which nobody wipes.
    let mut noise = Vec::with_capacity(terms.groups * terms.noise_scales.len().max(terms.results()));
    noise.extend((0..terms.groups).flat_map(|_| &terms.noise_scales).map(|scale| scale.sample(rng) as u64));
    noise
}

/// Values as elements of `Z_2^64`.
fn as_ring(values: &[i64]) -> Vec<u64> {
    values.iter().map(|&value| value as u64).collect()
}

impl<K: AggregateKind> Job for AggregateJob<K> {
    type Functionality = K::Functionality;
    type Proposal = Proposal;
    type Measure = Measure;
    type Terms = Terms;

    const WORDS: Words = K::WORDS;

    const IN_BUCKETS: Option<InBuckets<Self>> = Some(Self::IN_ALL_BUCKETS);

    fn rows_of(lists: &Lists) -> Rows<Self> {
        K::rows_of(lists)
    }

    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn vesica_party::Registered<Self::Functionality>> {
        K::stand_ins()
    }

    fn settings(_role: Role, flags: &Flags) -> Result<Settings, Failure> {
        if is_over_union::<K>() {
            flags.refuse_max_groups()?;
        }
        flags.with_values()
    }

    fn result_kind(role: Role, _settings: &Settings) -> Option<ResultKind> {
        (role == Role::Receiver).then_some(ResultKind::Numbers)
    }

    fn validate(side: &Side<'_>) -> Result<(), Failure> {
        let task = K::Functionality::NAME;
        refuse_what_is_for_rows(side, task)?;
        let Settings { values, noise, at_least, .. } = side.settings;
        let refuse = |holds, fault: &str, mend: &str| side.refuse(task, holds, fault, mend);
        let sender = side.role == Role::Sender;
        refuse(values.group_by.is_some() && sender, "--group-by is for the receiver", "omit it")?;
        refuse(
            values.group_by.is_some() && is_over_union::<K>(),
            "keys that only the sender has are in none of the receiver's groups",
            "omit --group-by",
        )?;
        refuse(
            *at_least > 1 && is_over_union::<K>(),
            "a threshold on new keys protects no key: a receiver of few keys always reaches it",
            "omit --reveal-if-at-least; the sender can add noise with --epsilon",
        )?;
        refuse(
            noise.is_some() && side.resume,
            "--epsilon does not go with --resume: a run that goes on would draw noise anew",
            "omit --epsilon or --resume",
        )?;
        refuse(noise.is_some() && !sender, "--epsilon is for the sender", "ask your partner to add noise")?;
        refuse(!sender && side.output.is_none(), "the receiver gets the result", "name a file with --output FILE")?;
        K::validate_columns(side)?;
        refuse_too_many_columns(side, task)?;
        if noise.is_none() {
            return Ok(());
        }
        refuse(
            *at_least > 1,
            "noise does not cover a threshold: whether a group is shown depends on the exact number",
            "omit --epsilon or --reveal-if-at-least",
        )?;
        refuse(
            values.columns.iter().any(|column| column.clamp.is_none()),
            "noise needs to know how much a key can change a result",
            "give every column a range with --clamp COLUMN=LEAST..MOST",
        )
    }

    fn columns(_role: Role, settings: &Settings) -> Columns {
        Columns::Values(settings.values.clone())
    }

    fn proposal(_role: Role, settings: &Settings) -> Proposal {
        Proposal {
            values: settings.values.columns.clone(),
            expected_ranges: settings.expected_ranges.clone(),
            at_least: settings.at_least,
            noise: settings.noise.as_ref().map(|noise| noise.epsilon.to_string()),
        }
    }

    fn is_sound(proposal: &Proposal) -> bool {
        proposal.values.len() <= AggregateRequest::MOST_COLUMNS
            && proposal.values.iter().all(ValueColumn::is_sound)
            && proposal.noise.as_deref().is_none_or(|text| Epsilon::parse(text).is_ok())
    }

    fn differences(_role: Role, ours: &Proposal, theirs: &Proposal) -> Vec<Difference> {
        let mut found = Vec::new();
        if ours.at_least != theirs.at_least {
            found.push(Difference::new("--reveal-if-at-least", &ours.at_least, &theirs.at_least));
        }
        if is_over_union::<K>() {
            found.extend(unlike_columns(&ours.values, &theirs.values));
        }
        found.extend(range_differences(
            (&ours.values, &ours.expected_ranges),
            (&theirs.values, &theirs.expected_ranges),
        ));
        found
    }

    fn measure(table: &KeyTable) -> Measure {
        Measure { groups: table.values.as_ref().map_or(1, |values| values.categories.len().max(1) as u32) }
    }

    fn assume(peer: Role, _theirs: &Proposal, _ours: &Measure, settings: &Settings) -> Measure {
        Measure { groups: if peer == Role::Receiver { settings.max_groups } else { 1 } }
    }

    fn settle(settling: &Settling<'_, Self>) -> Result<Terms, Refusal> {
        let Settling { sender, receiver, settings, extent, .. } = settling;
        if sender.measure.groups == 0 || receiver.measure.groups == 0 {
            return Err(Refusal::Misbehaved("keys in no group"));
        }
        if sender.measure.groups > 1 {
            return Err(Refusal::Misbehaved("groups, which are for the receiver of an aggregate"));
        }
        let groups = receiver.measure.groups;
        if groups > 1 && is_over_union::<K>() {
            return Err(Refusal::Misbehaved("groups of keys that only the sender has"));
        }
        if settling.role == Role::Sender && groups > settings.max_groups {
            return Err(Refusal::Refused(Failure::new(
                code::REFUSED,
                format_args!(
                    "the receiver asks for {groups} groups, more than the {} that the sender allows",
                    settings.max_groups
                ),
                "results of small groups tell more of single rows: raise --max-groups on the sender's side, if you \
                 accept that number, or omit --group-by",
            )));
        }
        if !go_together::<K>(sender.proposal, receiver.proposal) {
            return Err(Refusal::Misbehaved("columns of values that do not go with the task"));
        }
        let (senders, receivers) = (&sender.proposal.values, &receiver.proposal.values);
        // The columns that values of the sender are multiplied by.
        let factors = if is_over_union::<K>() { &[] } else { receivers.as_slice() };
        check_scales(senders, factors).map_err(Refusal::Refused)?;
        let noise = sender.proposal.noise.clone();
        let noise_scales = match &noise {
            None => Vec::new(),
            Some(epsilon) => NoiseScale::of(Epsilon::parse(epsilon)?, senders, factors)?,
        };
        let may_wrap = may_wrap(K::Functionality::OVER, extent, senders, receivers, &noise_scales)?;
        Ok(Terms {
            sender: senders.clone(),
            receiver: receivers.clone(),
            groups: groups as usize,
            may_be_fewer: settling.is_assumed && settling.role == Role::Sender,
            at_least: sender.proposal.at_least,
            noise,
            noise_scales,
            may_wrap,
        })
    }

    fn options(terms: &Terms) -> AggregateOptions {
        let Terms { groups, at_least, .. } = *terms;
        AggregateOptions { columns: terms.sender.len(), groups, at_least, noisy: terms.noise.is_some() }
    }

    fn warnings(terms: &Terms) -> Vec<String> {
        tells_of_few_keys(K::Functionality::OVER, terms).into_iter().chain(terms.may_wrap.clone()).collect()
    }

    fn sender_input(
        terms: &Terms,
        items: Vec<u128>,
        table: &mut KeyTable,
        rng: &mut SecretRng,
    ) -> AggregateSenderInput {
        let values = padded_values(table, items.len(), terms.sender.len());
        let dummies = items.len().saturating_sub(table.stats.distinct as usize);
        AggregateSenderInput { items, dummies, values, noise: noise(terms, rng) }
    }

    fn receiver_input(terms: &Terms, items: Vec<u128>, table: &mut KeyTable) -> AggregateReceiverInput {
        let values = padded_values(table, items.len(), factors::<K>(terms));
        let mut groups = match &table.values {
            Some(values) if terms.groups > 1 => values.groups.clone(),
            _ => Vec::new(),
        };
        // A dummy never matches, so that its group does not matter.
        groups.resize(if terms.groups > 1 { items.len() } else { 0 }, 0);
        AggregateReceiverInput { items, values, groups }
    }

    fn sender_result(_agreed: Arc<AgreedJob<Self>>, (): ()) -> Option<Unopened> {
        None
    }

    fn receiver_result(agreed: Arc<AgreedJob<Self>>, mut output: AggregateOutput) -> Option<Unopened> {
        Some(Box::new(move |finished| {
            if is_over_union::<K>() {
                let own = own_totals::<K>(finished.table, agreed.terms.receiver.len());
                for (result, own) in output.groups.iter_mut().flatten().flat_map(|results| results.iter_mut().zip(&own))
                {
                    *result = result.wrapping_add(*own);
                }
            }
            let categories = finished.table.values.as_ref().map(|values| values.categories.clone()).unwrap_or_default();
            if agreed.settings.values.group_by.is_some() {
                // A table without rows has no group, and takes part with one.
                output.groups.truncate(categories.len());
            }
            ResultSet::Numbers {
                columns: result_columns::<K>(&agreed.terms),
                groups: agreed.settings.values.group_by.clone().map(|name| (name, categories)),
                output,
            }
        }))
    }

    fn revealed(terms: &Terms) -> Vec<String> {
        let names = super::result::names;
        let learned = K::learned(&names(&terms.sender), &names(&terms.receiver));
        let mut all = vec![format!("to the receiver: {learned}{}", by_group(K::Functionality::OVER, terms))];
        if let Some(epsilon) = &terms.noise {
            all.push(format!(
                "with noise that the sender added to every result: discrete Laplace, epsilon {epsilon} for the whole \
                 run"
            ));
        }
        if terms.groups > 1 {
            all.push(format!("to the sender: that the receiver's keys are in {}", number_of_groups(terms)));
        }
        all
    }

    fn disclosure(terms: &Terms) -> Disclosure {
        Disclosure {
            payload_columns: terms.sender.iter().map(|column| column.name.clone()).collect(),
            sender_values: terms.sender.clone(),
            receiver_values: terms.receiver.clone(),
            groups: Some(terms.groups),
            at_least: terms.at_least,
            noise: terms.noise.clone(),
            ..Disclosure::NONE
        }
    }

    fn extra_work(extent: &Extent, options: &AggregateOptions) -> u64 {
        let items = extent.sender_items.max(extent.receiver_items) as u64;
        items.saturating_mul((options.columns as u64).saturating_sub(1))
    }

    /// Further columns and groups. Rounder than the coefficients of the memory model, and far above
    /// what rows take that do not compute on shares.
    fn extra_memory(totals: Totals, extent: &Extent, options: &AggregateOptions) -> u64 {
        const INNER_PRODUCT_BYTES: u64 = 512 << 10;
        let items = extent.sender_items.max(extent.receiver_items) as u64;
        let (groups, columns) = (options.groups as u64, options.columns as u64);
        if groups <= 1 && columns <= 1 {
            return 0;
        }
        let (per_item, fixed) = match totals {
            // A total of a group is an inner product with the group's bins.
            Totals::OnShares => {
                let products = groups.saturating_mul(columns + 1);
                (products.saturating_mul(180) + 520 * columns, products.saturating_mul(INNER_PRODUCT_BYTES))
            }
            Totals::Plain => (64 * columns, columns * INNER_PRODUCT_BYTES),
        };
        items.saturating_mul(per_item).saturating_add(fixed)
    }

    fn least_amounts() -> Amounts {
        Amounts { columns: usize::from(K::SENDER_HAS_COLUMNS), ..Amounts::NONE }
    }

    fn richer_amounts() -> Vec<Amounts> {
        let least = Self::least_amounts();
        let mut richer = Vec::new();
        if K::SENDER_HAS_COLUMNS {
            richer.extend([2, 4].map(|columns| Amounts { columns, ..least }));
        }
        if !is_over_union::<K>() {
            let grouped = Amounts { groups: 8, ..least };
            richer.extend([grouped, Amounts { at_least: 5, columns: 3 * least.columns, ..grouped }]);
        }
        richer
    }

    fn options_of(amounts: &Amounts) -> Result<AggregateOptions, Unsupported> {
        let &Amounts { columns, groups, at_least, .. } = amounts;
        let taken = Amounts {
            columns: if K::SENDER_HAS_COLUMNS { columns.max(1) } else { 0 },
            groups: if is_over_union::<K>() { 1 } else { groups },
            at_least: if is_over_union::<K>() { 0 } else { at_least },
            ..Amounts::NONE
        };
        amounts.all_taken(&taken, K::Functionality::NAME)?;
        Ok(AggregateOptions { columns, groups, at_least, noisy: false })
    }

    fn sample_sender(options: &AggregateOptions, sample: &Sample) -> AggregateSenderInput {
        AggregateSenderInput {
            items: sample.digests(),
            values: sample.values(options.columns),
            ..AggregateSenderInput::default()
        }
    }

    fn sample_receiver(options: &AggregateOptions, sample: &Sample) -> AggregateReceiverInput {
        AggregateReceiverInput {
            items: sample.digests(),
            values: sample.values(usize::from(K::RECEIVER_HAS_COLUMN)),
            groups: sample.groups(options.groups),
        }
    }

    /// The receiver knows nothing of the items that it lacks: it is told what to compare with.
    fn check_sender(options: &AggregateOptions, sample: &Sample, (): (), ch: &mut Channel) -> Result<bool, Abort> {
        if is_over_union::<K>() {
            let mut common = sample.common.iter().peekable();
            let new = (0u32..).zip(sample.items()).filter(|(place, _)| common.next_if_eq(&place).is_none());
            ch.send_stream::<Expected>(&sample_totals(options, new.map(|(_, item)| item)))?;
        }
        Ok(true)
    }

    fn check_receiver(
        options: &AggregateOptions,
        sample: &Sample,
        output: AggregateOutput,
        ch: &mut Channel,
    ) -> Result<bool, Abort> {
        let is_shown = |count: u64| count >= options.at_least || options.at_least <= 1;
        if is_over_union::<K>() {
            let mut expected = vec![0; 1 + options.columns.max(1)];
            ch.recv_stream::<Expected>(&mut expected)?;
            let count = expected.remove(0);
            return Ok(output.groups == [is_shown(count).then_some(expected)]);
        }
        let mut expected = vec![(0, vec![0u64; options.columns.max(1)]); options.groups];
        for &place in &sample.common {
            let item = sample.item(place);
            let group = if options.groups > 1 { Sample::group_of(item, options.groups) } else { 0 };
            let Some((count, sums)) = expected.get_mut(group as usize) else { continue };
            *count += 1;
            let factors = Sample::values_of(Role::Receiver, item, usize::from(K::RECEIVER_HAS_COLUMN));
            let factor = factors.first().copied().unwrap_or(1);
            let values =
                if options.columns == 0 { vec![1] } else { Sample::values_of(Role::Sender, item, options.columns) };
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = sum.wrapping_add(value.wrapping_mul(factor));
            }
        }
        let shown = |(count, sums)| is_shown(count).then_some(sums);
        Ok(output.groups == expected.into_iter().map(shown).collect::<Vec<_>>())
    }
}

/// How many of the made-up items there are, and the sums of their values; of items without values,
/// their number again.
fn sample_totals<'a>(options: &AggregateOptions, items: impl Iterator<Item = &'a [u8]>) -> Vec<u64> {
    let mut totals = vec![0u64; 1 + options.columns.max(1)];
    for item in items {
        let values = Sample::values_of(Role::Sender, item, options.columns);
        let values = values.into_iter().chain((options.columns == 0).then_some(1));
        for (total, value) in totals.iter_mut().zip(iter::once(1).chain(values)) {
            *total = total.wrapping_add(value);
        }
    }
    totals
}

enum Expected {}

impl Stream for Expected {
    const STEP: Step =
        Step { protocol: "vesica-bench", number: 4, from: Role::Sender, carries: "what its new items give" };
    type Element = u64;
}

/// Refuses what is for tasks that keep rows.
pub(super) fn refuse_what_is_for_rows(side: &Side<'_>, task: &str) -> Result<(), Failure> {
    let Settings { both_learn, payload, expected_payload, .. } = side.settings;
    side.refuse(task, *both_learn, "--both-learn is for intersections and unions", "omit it")?;
    side.refuse(task, side.output.is_some_and(|join| join != Join::Inner), "--join is for intersections", "omit it")?;
    let has_payload = payload.is_some() || expected_payload.is_some();
    side.refuse(
        task,
        has_payload,
        "payload columns other than numbers are for intersections",
        "give columns of numbers",
    )
}

/// The table's values in `Z_2^64`, `columns` for each of `items`; zeros for dummies.
pub(super) fn padded_values(table: &KeyTable, items: usize, columns: usize) -> Vec<u64> {
    let mut values = table.values.as_ref().map_or_else(Vec::new, |values| as_ring(&values.values));
    values.resize(items * columns, 0);
    values
}

/// What the receiver adds for its own keys: their number, or the sums of its columns, if it has
/// any.
fn own_totals<K: AggregateKind>(table: &KeyTable, columns: usize) -> Vec<u64> {
    if !K::SENDER_HAS_COLUMNS {
        return vec![table.stats.distinct];
    }
    let mut sums = vec![0u64; columns];
    let values = table.values.as_ref().map_or(&[][..], |values| &values.values);
    for values in values.chunks_exact(columns.max(1)) {
        sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum = sum.wrapping_add(value as u64));
    }
    sums
}

#[cfg(test)]
mod tests;
