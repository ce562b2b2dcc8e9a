//! Tasks without their types, for those that walk over all of them: a configured side, agreed
//! terms, and a workload.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use vesica_party::{Abort, BaseOtChoice, Channel, Entry, Malformed, Registered, Role, Security, Task, variants};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::job::{AgreedJob, Declaration, Gives, Job, Settling, TotalsInBuckets, TypedWorkload};
use super::totals::BucketTotals;
use super::{Columns, Disclosure, ResultKind, SampleOutput, SampleRun, Settings, Side, Unopened};
use crate::buckets::{Buckets, KeptMatches, ToKeep};
use crate::cluster::Received;
use crate::failure::{Failure, code};
use crate::handshake::{Difference, Negotiator, Refusal, TaskBytes};
use crate::plan::{Totals, Workload};
use crate::table::{Join, KeyTable};

/// One side of a task, configured.
pub trait AnyJob: fmt::Debug + Send + Sync {
    /// The columns that the task takes from the own table.
    fn columns(&self) -> Columns;
    /// The kind of result of this side; `None` if it learns nothing.
    fn result_kind(&self) -> Option<ResultKind>;
    /// What this side says of the task before it has read its table.
    fn proposal(&self) -> Vec<u8>;
    /// What this side says of the task once it has read its table.
    fn measure(&self, table: &KeyTable) -> Vec<u8>;
    /// Where the peer's proposal differs from the own one although it must not.
    ///
    /// # Errors
    /// If the peer's proposal is none that an honest side makes.
    fn differences(&self, theirs: &[u8]) -> Result<Vec<Difference>, Malformed>;
    /// The terms that follow from what both sides said.
    ///
    /// # Errors
    /// If the peer's words do not go together, or either side's configuration refuses the terms.
    fn settle(
        &self,
        extent: &Extent,
        ours: TaskBytes<'_>,
        theirs: TaskBytes<'_>,
    ) -> Result<Box<dyn AnyAgreed>, Refusal>;
    /// For a dry run: the terms with a peer of the proposal `theirs`, where what only its table tells is assumed.
    ///
    /// # Errors
    /// As of [`Self::settle`].
    fn foresee(
        &self,
        extent: &Extent,
        ours: TaskBytes<'_>,
        theirs: &[u8],
        table: &KeyTable,
    ) -> Result<Box<dyn AnyAgreed>, Refusal>;
}

/// A task on whose terms both sides agree.
pub trait AnyAgreed: fmt::Debug + Send + Sync {
    /// What planning asks of it.
    fn workload(&self) -> &dyn Workload;
    /// What this side is to be told of the terms.
    fn warnings(&self) -> Vec<String>;
    /// Runs the protocol `entry` as the side that was configured. `None`: this side learns nothing.
    ///
    /// # Errors
    /// If the run fails.
    fn run(
        &self,
        entry: &Entry,
        items: Vec<u128>,
        table: &mut KeyTable,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort>;
    /// Runs the protocol `entry` on one bucket after the other, or against a malicious partner pass by pass on all
    /// of them. All work until the last bucket is run is the same whatever matches: the results are put together when
    /// they are opened.
    ///
    /// # Errors
    /// If a run fails.
    fn run_in_buckets(
        &self,
        entry: &Entry,
        buckets: Buckets,
        table: &KeyTable,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort>;
    /// How many numbers a bucket gives where totals over all buckets are all that the receiver learns; none of other
    /// tasks.
    fn numbers_of_bucket(&self) -> usize;
    /// What the sender adds to totals over all buckets, to be drawn before the first one: noise, or zeros. Nothing of
    /// the receiver, and of other tasks.
    fn added_to_totals(&self, rng: &mut SecretRng) -> Secret<Vec<u64>>;
    /// The last step of a run for totals, when all buckets are through: the sender has `of_all` its masks added up, and
    /// what it adds to the totals; the receiver what it was given with these masks. Gives the receiver's result.
    ///
    /// # Errors
    /// If the partner says something else than totals of this task, or the conversation fails.
    fn show_totals(
        &self,
        of_all: (&[u64], &[u64]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort>;
    /// What the task reveals to whom, a sentence each.
    fn revealed(&self) -> Vec<String>;
    /// What reports and receipts state in fields of their own.
    fn disclosure(&self) -> Disclosure;
    /// What the partner of a side in this role gives it, where the machines of a cluster keep the result.
    fn received(&self, role: Role) -> Option<Received>;
}

/// A workload that can be run on made-up inputs.
pub trait SampleWorkload: Workload {
    /// This as a [`Workload`].
    fn workload(&self) -> &dyn Workload;
    /// Sets up one side of the protocol `entry`.
    ///
    /// # Errors
    /// If the set-up fails.
    fn set_up(&self, role: Role, entry: &Entry, ch: &mut Channel, rng: &mut SecretRng) -> Result<SampleRun, Abort>;
}

/// The protocols of a job, the tests' stand-ins among them.
pub(super) fn rows<J: Job>() -> impl Iterator<Item = &'static dyn Registered<J::Functionality>> {
    let lists = crate::rows::lists().flat_map(|lists| J::rows_of(&lists)).copied();
    #[cfg(test)]
    let lists = lists.chain(J::stand_ins());
    lists
}

/// The protocol or variant of this id.
fn row<J: Job>(id: &str) -> Result<&'static dyn Registered<J::Functionality>, Unsupported> {
    variants::resolve(rows::<J>(), id)?.ok_or_else(|| {
        let task = J::Functionality::NAME;
        Unsupported::new(format_args!("there is no protocol '{id}' for {task}"), "`vesica protocols` lists them")
    })
}

/// Puts what a bucket found into the work folder, if there is one.
fn keep<Output>(
    kept: &RefCell<Option<KeptMatches>>,
    keeps: fn(&mut Output) -> Option<ToKeep<'_>>,
    (bucket, output): (usize, &mut Output),
    transcript: Option<[u8; 32]>,
) -> Result<(), Abort> {
    match &mut *kept.borrow_mut() {
        Some(kept) => Ok(kept.put(bucket, keeps(output), transcript)?),
        None => Ok(()),
    }
}

/// Puts what all buckets found into the work folder, if there is one.
fn keep_all<Output>(
    kept: &RefCell<Option<KeptMatches>>,
    keeps: fn(&mut Output) -> Option<ToKeep<'_>>,
    outputs: &mut [Output],
) -> Result<(), Abort> {
    outputs.iter_mut().enumerate().try_for_each(|found| keep(kept, keeps, found, None))
}

/// Runs the buckets that are due, one after the other.
fn each<Output>(
    buckets: &Buckets,
    kept: &RefCell<Option<KeptMatches>>,
    keeps: fn(&mut Output) -> Option<ToKeep<'_>>,
    ch: &mut Channel,
    mut run: impl FnMut(usize, &mut Channel) -> Result<Output, Abort>,
) -> Result<Vec<Output>, Abort> {
    let due = kept.borrow().as_ref().map_or_else(|| (0..buckets.count()).collect(), |kept| kept.due().to_vec());
    buckets.each(ch, &due, |bucket, ch| {
        kept.borrow_mut().as_mut().map_or(Ok(()), KeptMatches::begin)?;
        let mut output = run(bucket, ch)?;
        keep(kept, keeps, (bucket, &mut output), ch.transcript())?;
        Ok(output)
    })
}

/// How a task gives totals over all buckets, if it does.
fn totals<J: Job>() -> Option<TotalsInBuckets<J>> {
    match J::IN_BUCKETS?.gives {
        Gives::Rows(_) => None,
        Gives::Totals(totals) => Some(totals),
    }
}

/// What `--work` needs.
const WORK_NEEDS: &str = "say --buckets auto on both sides, or a number of at least 2";

/// The refusal of a task that does not run in buckets.
pub(super) fn no_buckets(task: &str) -> Unsupported {
    Unsupported::new(format_args!("the task {task} does not run in buckets"), "omit --buckets, or name another task")
}

impl<J: Job> Workload for TypedWorkload<J> {
    fn task(&self) -> &'static str {
        J::Functionality::NAME
    }

    fn extent(&self) -> &Extent {
        &self.extent
    }

    fn runs_in_buckets(&self) -> bool {
        J::IN_BUCKETS.is_some()
    }

    fn keeps_on_disk(&self) -> bool {
        J::IN_WORK_FOLDER
    }

    fn entries(&self) -> Vec<&'static Entry> {
        rows::<J>().map(|row| row.entry()).collect()
    }

    fn predicted_bytes(&self, entry: &Entry) -> Result<RangeInclusive<u64>, Unsupported> {
        let request = self.request();
        let bytes = row::<J>(entry.id)?.predicted_bytes(&request)?;
        let runs = self.extent.runs as u64;
        let of_last = || -> Result<RangeInclusive<u64>, Unsupported> {
            let Some(totals) = totals::<J>().filter(|_| self.extent.runs > 1) else { return Ok(0..=0) };
            Ok(match (totals.withheld)(&request)? {
                Some(withheld) => withheld.predicted_bytes(),
                None => {
                    let masks = 8 * (totals.numbers)(&request) as u64;
                    masks..=masks
                }
            })
        };
        let last = BaseOtChoice::of(entry).unwrap_or_default().counted_by(of_last)?;
        let of_all = |bytes: &u64, last: &u64| bytes.saturating_mul(runs).saturating_add(*last);
        Ok(of_all(bytes.start(), last.start())..=of_all(bytes.end(), last.end()))
    }

    fn extra_work(&self) -> u64 {
        J::extra_work(&self.extent, &self.options)
    }

    fn extra_memory(&self, id: &str, totals: Totals, role: Role) -> u64 {
        let of_protocol = row::<J>(id).map_or(0, |row| row.further_memory(&self.request(), role));
        let of_runs = of_protocol.saturating_mul(self.extent.runs as u64);
        J::extra_memory(totals, &self.extent, &self.options).saturating_add(of_runs)
    }
}

impl<J: Job> SampleWorkload for TypedWorkload<J> {
    fn workload(&self) -> &dyn Workload {
        self
    }

    fn set_up(&self, role: Role, entry: &Entry, ch: &mut Channel, rng: &mut SecretRng) -> Result<SampleRun, Abort> {
        let (row, request, options) = (row::<J>(entry.id)?, self.request(), self.options.clone());
        Ok(match role {
            Role::Sender => {
                let party = row.sender(&request, ch, rng)?;
                Box::new(move |sample, ch, rng| {
                    let output = party.run(J::sample_sender(&options, sample), ch, rng)?;
                    let check: SampleOutput = Box::new(move |sample, ch| J::check_sender(&options, sample, output, ch));
                    Ok(check)
                })
            }
            Role::Receiver => {
                let party = row.receiver(&request, ch, rng)?;
                Box::new(move |sample, ch, rng| {
                    let output = party.run(J::sample_receiver(&options, sample), ch, rng)?;
                    let check: SampleOutput =
                        Box::new(move |sample, ch| J::check_receiver(&options, sample, output, ch));
                    Ok(check)
                })
            }
        })
    }
}

/// One side's job, configured.
pub(super) struct Configured<J: Job> {
    role: Role,
    settings: Settings,
    output: Option<Join>,
    or_keys: bool,
    proposal: J::Proposal,
}

impl<J: Job> fmt::Debug for Configured<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as the {}: {:?}", J::Functionality::NAME, self.role, self.proposal)
    }
}

impl<J: Job> Configured<J> {
    pub fn new(side: &Side<'_>) -> Result<Self, Failure> {
        let &Side { role, settings, or_keys, buckets, work, resume, output } = side;
        side.refuse(
            J::Functionality::NAME,
            or_keys && !J::TAKES_OR_KEYS,
            "--or-key is for intersections",
            "omit it, or say --task intersect",
        )?;
        let one_only = J::IN_BUCKETS.is_none();
        side.refuse(
            J::Functionality::NAME,
            buckets != 1 && one_only,
            "--buckets is not for this task",
            "omit it, or name a task that takes it: intersect, union, cardinality, sum, join-and-compute, \
             union-cardinality or union-sum",
        )?;
        let of_work = [
            (!J::IN_WORK_FOLDER, "--work is not for this task", "omit it, or name a task that takes it"),
            (
                buckets == 1,
                "--work without --buckets: a run on the whole tables takes memory for all of them",
                WORK_NEEDS,
            ),
            (or_keys, "--work does not go with --or-key", "omit one of them"),
            (
                settings.values.group_by.is_some(),
                "--work does not keep groups",
                "omit --work on this side; the other side may still say it",
            ),
        ];
        side.refuse(
            J::Functionality::NAME,
            resume && !J::RESUMES,
            "--resume is not for this task",
            "omit it, or name a task that runs in buckets",
        )?;
        for (holds, fault, mend) in of_work {
            side.refuse(J::Functionality::NAME, work && holds, fault, mend)?;
        }
        J::validate(side)?;
        Ok(Self { role, settings: settings.clone(), output, or_keys, proposal: J::proposal(role, settings) })
    }

    fn read_proposal(bytes: &[u8]) -> Result<J::Proposal, Malformed> {
        read(bytes).filter(J::is_sound).ok_or(Malformed("a proposal for the task that no side makes"))
    }

    fn read_words(words: TaskBytes<'_>) -> Result<(J::Proposal, J::Measure), Malformed> {
        let measure = read(words.measure).ok_or(Malformed("sizes that do not go with the task"))?;
        Ok((Self::read_proposal(words.proposal)?, measure))
    }
}

fn unreadable_own_words() -> Refusal {
    Refusal::Refused(Failure::new(
        code::INTERNAL,
        "this side cannot read what it said of the task itself",
        "please report it with the version and the flags of the task",
    ))
}

/// Plain structs into memory: serialising cannot fail, and the peer would refuse an empty text.
fn write(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

impl<J: Job> AnyJob for Configured<J> {
    fn columns(&self) -> Columns {
        J::columns(self.role, &self.settings)
    }

    fn result_kind(&self) -> Option<ResultKind> {
        J::result_kind(self.role, &self.settings)
    }

    fn proposal(&self) -> Vec<u8> {
        write(&self.proposal)
    }

    fn measure(&self, table: &KeyTable) -> Vec<u8> {
        write(&J::measure(table))
    }

    fn differences(&self, theirs: &[u8]) -> Result<Vec<Difference>, Malformed> {
        let theirs = Self::read_proposal(theirs)?;
        let mut found = J::differences(self.role, &self.proposal, &theirs);
        found.extend(J::lacks(self.output, &theirs));
        Ok(found)
    }

    fn settle(
        &self,
        extent: &Extent,
        ours: TaskBytes<'_>,
        theirs: TaskBytes<'_>,
    ) -> Result<Box<dyn AnyAgreed>, Refusal> {
        self.settle_with(extent, ours, theirs, false)
    }

    fn foresee(
        &self,
        extent: &Extent,
        ours: TaskBytes<'_>,
        theirs: &[u8],
        table: &KeyTable,
    ) -> Result<Box<dyn AnyAgreed>, Refusal> {
        let read = Self::read_proposal(theirs).map_err(|malformed| Refusal::Misbehaved(malformed.0))?;
        let measure = write(&J::assume(self.role.peer(), &read, &J::measure(table), &self.settings));
        self.settle_with(extent, ours, TaskBytes { proposal: theirs, measure: &measure }, true)
    }
}

impl<J: Job> Configured<J> {
    /// The terms; whether what the peer says of its table `is_assumed`.
    fn settle_with(
        &self,
        extent: &Extent,
        ours: TaskBytes<'_>,
        theirs: TaskBytes<'_>,
        is_assumed: bool,
    ) -> Result<Box<dyn AnyAgreed>, Refusal> {
        // Both sides' terms follow from the bytes that crossed the wire and are part of the session.
        let (our_proposal, our_measure) = Self::read_words(ours).map_err(|_| unreadable_own_words())?;
        let (their_proposal, their_measure) =
            Self::read_words(theirs).map_err(|malformed| Refusal::Misbehaved(malformed.0))?;
        let ours = Declaration { proposal: &our_proposal, measure: &our_measure };
        let theirs = Declaration { proposal: &their_proposal, measure: &their_measure };
        let (sender, receiver) = match self.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        let &Self { role, ref settings, or_keys, .. } = self;
        let terms = J::settle(&Settling { role, settings, or_keys, is_assumed, extent, sender, receiver })?;
        let workload = TypedWorkload { extent: *extent, options: J::options(&terms), job: PhantomData };
        Ok(Box::new(Arc::new(AgreedJob::<J> { role: self.role, settings: self.settings.clone(), terms, workload })))
    }
}

impl Negotiator for dyn AnyJob {
    type Terms = Box<dyn AnyAgreed>;

    fn differences(&self, theirs: &[u8]) -> Result<Vec<Difference>, Malformed> {
        AnyJob::differences(self, theirs)
    }

    fn settle(&self, extent: &Extent, ours: TaskBytes<'_>, theirs: TaskBytes<'_>) -> Result<Self::Terms, Refusal> {
        AnyJob::settle(self, extent, ours, theirs)
    }

    fn workload(terms: &Self::Terms) -> &dyn Workload {
        terms.workload()
    }
}

impl<J: Job> AnyAgreed for Arc<AgreedJob<J>> {
    fn workload(&self) -> &dyn Workload {
        &self.workload
    }

    fn warnings(&self) -> Vec<String> {
        J::warnings(&self.terms)
    }

    fn run(
        &self,
        entry: &Entry,
        items: Vec<u128>,
        table: &mut KeyTable,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort> {
        let (row, request) = (row::<J>(entry.id)?, self.workload.request());
        match self.role {
            Role::Sender => {
                let party = row.sender(&request, ch, rng)?;
                let input = J::sender_input(&self.terms, items, table, rng);
                Ok(J::sender_result(self.clone(), party.run(input, ch, rng)?))
            }
            Role::Receiver => {
                let party = row.receiver(&request, ch, rng)?;
                let input = J::receiver_input(&self.terms, items, table);
                Ok(J::receiver_result(self.clone(), party.run(input, ch, rng)?))
            }
        }
    }

    fn run_in_buckets(
        &self,
        entry: &Entry,
        mut buckets: Buckets,
        table: &KeyTable,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort> {
        let (row, request) = (row::<J>(entry.id)?, self.workload.request());
        let Some(of) = J::IN_BUCKETS else { return Err(no_buckets(J::Functionality::NAME).into()) };
        let in_passes = match self.workload.extent.security {
            Security::SemiHonest => None,
            Security::Malicious => Some(of.row_in_passes(row.entry())?),
        };
        let kept = buckets.room_for_matches()?;
        let rows = match &of.gives {
            Gives::Rows(rows) => rows,
            Gives::Totals(totals) => {
                return BucketTotals { agreed: self, row, of: &of, totals }.run(&buckets, kept, table, ch, rng);
            }
        };
        let is_recorded = kept.as_ref().is_some_and(KeptMatches::is_recorded);
        let kept = RefCell::new(kept);
        match self.role {
            Role::Sender => {
                let input =
                    |number| Ok::<_, Abort>((of.sender_input)(&self.terms, buckets.bucket(number)?, table, &[]));
                let keeps = rows.sender_keeps;
                let mut outputs = match in_passes {
                    None => each(&buckets, &kept, keeps, ch, |bucket, ch| {
                        row.sender(&request, ch, rng)?.run(input(bucket)?, ch, rng)
                    }),
                    Some(row) if is_recorded => buckets.each_in_kept_passes(
                        &kept,
                        input,
                        ch,
                        rng,
                        (
                            |input: &_, ch: &mut _, rng: &mut _| row.commit_sender(&request, input, ch, rng),
                            |keys: &_, kept| row.sender_again(&request, keys, kept),
                        ),
                        |bucket, output, transcript| keep(&kept, keeps, (bucket, output), transcript),
                    ),
                    Some(row) => {
                        let commit = |input: &_, ch: &mut _, rng: &mut _| row.commit_sender(&request, input, ch, rng);
                        let keep = |bucket, output: &mut _| keep(&kept, keeps, (bucket, output), None);
                        buckets.each_in_passes(input, ch, rng, commit, keep)
                    }
                }?;
                if in_passes.is_some() && !is_recorded {
                    keep_all(&kept, keeps, &mut outputs)?;
                }
                let kept = kept.into_inner();
                Ok((rows.sender_result)(self.clone(), buckets.with_matches(kept), outputs))
            }
            Role::Receiver => {
                let input = |number| Ok::<_, Abort>((of.receiver_input)(&self.terms, buckets.bucket(number)?, table));
                let keeps = rows.receiver_keeps;
                let mut outputs = match in_passes {
                    None => each(&buckets, &kept, keeps, ch, |bucket, ch| {
                        row.receiver(&request, ch, rng)?.run(input(bucket)?, ch, rng)
                    }),
                    Some(row) if is_recorded => buckets.each_in_kept_passes(
                        &kept,
                        input,
                        ch,
                        rng,
                        (
                            |input: &_, ch: &mut _, rng: &mut _| row.commit_receiver(&request, input, ch, rng),
                            |keys: &_, kept| row.receiver_again(&request, keys, kept),
                        ),
                        |bucket, output, transcript| keep(&kept, keeps, (bucket, output), transcript),
                    ),
                    Some(row) => {
                        let commit = |input: &_, ch: &mut _, rng: &mut _| row.commit_receiver(&request, input, ch, rng);
                        let keep = |bucket, output: &mut _| keep(&kept, keeps, (bucket, output), None);
                        buckets.each_in_passes(input, ch, rng, commit, keep)
                    }
                }?;
                if in_passes.is_some() && !is_recorded {
                    keep_all(&kept, keeps, &mut outputs)?;
                }
                let kept = kept.into_inner();
                Ok((rows.receiver_result)(self.clone(), buckets.with_matches(kept), outputs))
            }
        }
    }

    fn numbers_of_bucket(&self) -> usize {
        totals::<J>().map_or(0, |totals| AgreedJob::numbers_of_bucket(self, &totals))
    }

    fn added_to_totals(&self, rng: &mut SecretRng) -> Secret<Vec<u64>> {
        totals::<J>().map_or_else(|| Secret::new(Vec::new()), |totals| AgreedJob::added_to_totals(self, &totals, rng))
    }

    fn show_totals(
        &self,
        of_all: (&[u64], &[u64]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort> {
        let totals = totals::<J>().ok_or_else(|| no_buckets(J::Functionality::NAME))?;
        let shown = AgreedJob::show_totals(self, &totals, of_all, ch, rng)?;
        Ok(shown.and_then(|shown| (totals.result)(self.clone(), shown)))
    }

    fn revealed(&self) -> Vec<String> {
        J::revealed(&self.terms)
    }

    fn disclosure(&self) -> Disclosure {
        J::disclosure(&self.terms)
    }

    fn received(&self, role: Role) -> Option<Received> {
        J::received(&self.terms, role)
    }
}
