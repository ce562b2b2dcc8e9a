//! The contract of a task with the engine: all that the engine knows of a task is in the one module
//! that implements it.

use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use vesica_party::{Abort, Channel, Entry, Registered, Role, Task};
use vesica_protocols::circuit_psi::aggregate::Withheld;
use vesica_protocols::passes::InPasses;
use vesica_protocols::registry::Rows as Lists;
use vesica_protocols::tasks::{AggregateOutput, Extent, SetFunctionality};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::{Amounts, Columns, Disclosure, Flags, ResultKind, Sample, Settings, Side, Unopened, Words};
use crate::buckets::{Bucket, Buckets, ToKeep};
use crate::cluster::Received;
use crate::failure::Failure;
use crate::handshake::{Difference, Refusal};
use crate::plan::Totals;
use crate::table::{Join, KeyTable, PayloadField, PayloadKind, PayloadSchema};

/// The sender's input of a job.
pub(super) type SenderInput<J> = <<J as Job>::Functionality as Task>::SenderInput;
/// The receiver's input of a job.
pub(super) type ReceiverInput<J> = <<J as Job>::Functionality as Task>::ReceiverInput;
/// The sender's output of a job.
pub(super) type SenderOutput<J> = <<J as Job>::Functionality as Task>::SenderOutput;
/// The receiver's output of a job.
pub(super) type ReceiverOutput<J> = <<J as Job>::Functionality as Task>::ReceiverOutput;
/// The request of a job.
pub(super) type Request<J> = <<J as Job>::Functionality as Task>::Request;
/// The options of a job's functionality.
pub(super) type Options<J> = <<J as Job>::Functionality as SetFunctionality>::Options;
/// The protocols of a job.
pub(super) type Rows<J> = &'static [&'static dyn Registered<<J as Job>::Functionality>];

/// Bytes of a column of the partner's, in the estimate of a dry run.
pub(super) const ASSUMED_BYTES: usize = 16;

/// Records of these columns as a dry run assumes them.
pub(super) fn assumed_records(names: &[String], most_bytes: usize) -> PayloadSchema {
    let field = |name: &String| PayloadField { name: name.clone(), kind: PayloadKind::Text };
    let width = names.len().div_ceil(8) + ASSUMED_BYTES * names.len();
    PayloadSchema { fields: names.iter().map(field).collect(), width: width.min(most_bytes) }
}

/// A task as the engine runs it, in the order of a run.
pub(super) trait Job: Sized + Send + Sync + 'static {
    /// What is computed.
    type Functionality: SetFunctionality;
    /// What a side says of the task before it has read its table. The two sides' proposals must
    /// agree; [`Job::differences`] says where they do not.
    type Proposal: Serialize + DeserializeOwned + Debug + Send + Sync;
    /// What a side says of the task once it has read its table.
    type Measure: Serialize + DeserializeOwned + Debug + Send + Sync;
    /// What both sides agreed on, in the engine's terms: names and ranges of columns, and what
    /// follows from them.
    type Terms: Debug + Send + Sync;

    /// What people read of the task.
    const WORDS: Words;

    /// Whether the task takes a key with alternatives (`--or-key`): a row may then have several keys.
    const TAKES_OR_KEYS: bool = false;

    /// Whether a side may keep its keys and buckets in a work folder (`--work`).
    const IN_WORK_FOLDER: bool = Self::IN_BUCKETS.is_some();

    /// Whether the task can go on where it broke off (`--resume`), where it runs in buckets.
    const RESUMES: bool = Self::IN_BUCKETS.is_some();

    /// How the task runs in buckets of keys (`--buckets`); `None` for one that does not.
    const IN_BUCKETS: Option<InBuckets<Self>> = None;

    /// The protocols in these lists, in their order.
    fn rows_of(lists: &Lists) -> Rows<Self>;

    /// INSECURE stand-ins for protocols, in tests of the engine.
    #[cfg(test)]
    fn stand_ins() -> Vec<&'static dyn Registered<Self::Functionality>> {
        Vec::new()
    }

    // What a side wants.

    /// What the flags of a side say to this task.
    fn settings(role: Role, flags: &Flags) -> Result<Settings, Failure>;

    /// The kind of result of a side; `None` for one that learns nothing.
    fn result_kind(role: Role, settings: &Settings) -> Option<ResultKind>;

    /// Refuses settings that the task does not take, before anything is opened.
    fn validate(side: &Side<'_>) -> Result<(), Failure>;

    /// What the task takes from the table.
    fn columns(role: Role, settings: &Settings) -> Columns;

    // What both sides agree on.

    /// What a side proposes.
    fn proposal(role: Role, settings: &Settings) -> Self::Proposal;

    /// Whether an honest side may propose this.
    fn is_sound(proposal: &Self::Proposal) -> bool;

    /// Where the proposals of this side, which has `role`, and of the peer differ although they
    /// must not.
    fn differences(role: Role, ours: &Self::Proposal, theirs: &Self::Proposal) -> Vec<Difference>;

    /// What this side's output needs of the peer's proposal and does not find there.
    fn lacks(_output: Option<Join>, _theirs: &Self::Proposal) -> Option<Difference> {
        None
    }

    /// What the table says.
    fn measure(table: &KeyTable) -> Self::Measure;

    /// For a dry run: what a partner with this role and proposal may say once it has read its table, where this side
    /// would say `ours`. What only its table tells is assumed: [`ASSUMED_BYTES`] for each of its columns and keys, and
    /// as many groups as this side allows.
    fn assume(peer: Role, theirs: &Self::Proposal, ours: &Self::Measure, settings: &Settings) -> Self::Measure;

    /// The terms that follow from what both sides said, the same on both sides; or a refusal. The
    /// own part has been checked.
    fn settle(settling: &Settling<'_, Self>) -> Result<Self::Terms, Refusal>;

    /// The functionality's options under these terms.
    fn options(terms: &Self::Terms) -> Options<Self>;

    /// What either side is to be told of the terms.
    fn warnings(_terms: &Self::Terms) -> Vec<String> {
        Vec::new()
    }

    // The run.

    /// The sender's input: `items` are the table's keys with dummies behind them.
    fn sender_input(
        terms: &Self::Terms,
        items: Vec<u128>,
        table: &mut KeyTable,
        rng: &mut SecretRng,
    ) -> SenderInput<Self>;

    /// The receiver's input.
    fn receiver_input(terms: &Self::Terms, items: Vec<u128>, table: &mut KeyTable) -> ReceiverInput<Self>;

    /// The sender's result; `None` if it learns nothing.
    fn sender_result(agreed: Arc<AgreedJob<Self>>, output: SenderOutput<Self>) -> Option<Unopened>;

    /// The receiver's result.
    fn receiver_result(agreed: Arc<AgreedJob<Self>>, output: ReceiverOutput<Self>) -> Option<Unopened>;

    /// What the task reveals to whom, a sentence each, the same on both sides: for reports and
    /// receipts.
    fn revealed(terms: &Self::Terms) -> Vec<String>;

    /// What reports and receipts state in fields of their own.
    fn disclosure(terms: &Self::Terms) -> Disclosure;

    /// What the machines of a side in this role get of its partner, where they keep the result.
    fn received(_terms: &Self::Terms, _role: Role) -> Option<Received> {
        None
    }

    // Costs.

    /// See [`Workload::extra_work`](crate::plan::Workload::extra_work).
    fn extra_work(extent: &Extent, options: &Options<Self>) -> u64;

    /// What payloads, columns and groups add in all runs together, for
    /// [`Workload::extra_memory`](crate::plan::Workload::extra_memory).
    fn extra_memory(totals: Totals, extent: &Extent, options: &Options<Self>) -> u64;

    // Plans, measurements and tests.

    /// The least that must go with the items.
    fn least_amounts() -> Amounts {
        Amounts::NONE
    }

    /// Examples of what else may go with the items. A protocol may serve only some.
    fn richer_amounts() -> Vec<Amounts>;

    /// The options of these amounts.
    fn options_of(amounts: &Amounts) -> Result<Options<Self>, Unsupported>;

    /// The sender's made-up input.
    fn sample_sender(options: &Options<Self>, sample: &Sample) -> SenderInput<Self>;

    /// The receiver's made-up input.
    fn sample_receiver(options: &Options<Self>, sample: &Sample) -> ReceiverInput<Self>;

    /// Whether the sender's whole output is right.
    fn check_sender(
        options: &Options<Self>,
        sample: &Sample,
        output: SenderOutput<Self>,
        ch: &mut Channel,
    ) -> Result<bool, Abort>;

    /// Whether the receiver's whole output is right.
    fn check_receiver(
        options: &Options<Self>,
        sample: &Sample,
        output: ReceiverOutput<Self>,
        ch: &mut Channel,
    ) -> Result<bool, Abort>;
}

/// Makes a side's result of the outputs of all buckets.
type ResultOf<J, Output> = fn(Arc<AgreedJob<J>>, Buckets, Vec<Output>) -> Option<Unopened>;

/// How a task runs bucket by bucket, each with a request of its own.
pub(super) struct InBuckets<J: Job> {
    /// The protocols that run buckets pass by pass against a malicious partner.
    pub in_passes: fn(&Lists) -> &'static [&'static dyn InPasses<J::Functionality>],
    /// The most buckets.
    pub most: u32,
    /// The sender's input of this bucket, and what it adds to what the bucket gives, if that is totals.
    pub sender_input: fn(&J::Terms, Bucket, &KeyTable, &[u64]) -> SenderInput<J>,
    /// The receiver's input of this bucket.
    pub receiver_input: fn(&J::Terms, Bucket, &KeyTable) -> ReceiverInput<J>,
    /// What the buckets give together.
    pub gives: Gives<J>,
}

/// What the buckets of a task give together.
pub(super) enum Gives<J: Job> {
    /// Rows of each bucket.
    Rows(RowsInBuckets<J>),
    /// Totals over all of them.
    Totals(TotalsInBuckets<J>),
}

/// How rows of buckets become a result.
pub(super) struct RowsInBuckets<J: Job> {
    /// What of the sender's output is kept in a work folder; `None` where that is nothing.
    pub sender_keeps: fn(&mut SenderOutput<J>) -> Option<ToKeep<'_>>,
    /// The same of the receiver's output.
    pub receiver_keeps: fn(&mut ReceiverOutput<J>) -> Option<ToKeep<'_>>,
    /// The sender's result, from the outputs of all buckets in order; `None` if it learns nothing.
    pub sender_result: ResultOf<J, SenderOutput<J>>,
    /// The receiver's result.
    pub receiver_result: ResultOf<J, ReceiverOutput<J>>,
}

/// How totals of buckets become a result. A bucket gives some numbers of each group of the receiver's keys, group by group.
pub(super) struct TotalsInBuckets<J: Job> {
    /// How many numbers a bucket gives.
    pub numbers: fn(&Request<J>) -> usize,
    /// These numbers, in the receiver's output of a bucket.
    pub of_bucket: fn(&ReceiverOutput<J>) -> Vec<u64>,
    /// What the sender adds to the totals over all buckets, a number for each: noise, or zeros.
    pub added: fn(&J::Terms, &mut SecretRng) -> Secret<Vec<u64>>,
    /// How the totals of small groups are withheld, if they are.
    pub withheld: fn(&Request<J>) -> Result<Option<Withheld>, Unsupported>,
    /// What the receiver sees of all groups, in as many numbers as a bucket gives.
    pub kept: fn(&J::Terms, &AggregateOutput) -> Vec<u64>,
    /// What these numbers say.
    pub shown: fn(&J::Terms, &[u64]) -> AggregateOutput,
    /// The receiver's result from what it sees.
    pub result: fn(Arc<AgreedJob<J>>, AggregateOutput) -> Option<Unopened>,
}

impl<J: Job> InBuckets<J> {
    /// The protocol `entry` as one that runs in passes.
    ///
    /// # Errors
    /// If it does not.
    pub fn row_in_passes(&self, entry: &'static Entry) -> Result<&'static dyn InPasses<J::Functionality>, Unsupported> {
        crate::rows::in_passes(self.in_passes, entry).ok_or_else(|| {
            Unsupported::new(
                format_args!("buckets with the protocol {} against a malicious partner", entry.id),
                "name another protocol, for example vole-fast, or say --security semi-honest on both sides",
            )
        })
    }
}

/// What both sides have said when the terms are settled.
pub(super) struct Settling<'a, J: Job> {
    /// This side's role.
    pub role: Role,
    /// This side's settings.
    pub settings: &'a Settings,
    /// Whether the keys of both sides have alternatives.
    pub or_keys: bool,
    /// Whether the partner's measure is assumed, by [`Job::assume`].
    pub is_assumed: bool,
    /// Both sizes.
    pub extent: &'a Extent,
    /// The sender's words.
    pub sender: Declaration<'a, J>,
    /// The receiver's words.
    pub receiver: Declaration<'a, J>,
}

/// What one side has said.
pub(super) struct Declaration<'a, J: Job> {
    /// What the side said before it read its table.
    pub proposal: &'a J::Proposal,
    /// What the side said once it had read its table.
    pub measure: &'a J::Measure,
}

/// A job on whose terms both sides agree.
pub(super) struct AgreedJob<J: Job> {
    /// This side's role.
    pub role: Role,
    /// This side's settings.
    pub settings: Settings,
    /// The terms.
    pub terms: J::Terms,
    /// Both sizes, and the options.
    pub workload: TypedWorkload<J>,
}

impl<J: Job> fmt::Debug for AgreedJob<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {:?}", self.workload, self.terms)
    }
}

/// A job's sizes and options.
pub(super) struct TypedWorkload<J: Job> {
    pub extent: Extent,
    pub options: Options<J>,
    pub job: PhantomData<fn() -> J>,
}

impl<J: Job> TypedWorkload<J> {
    pub fn request(&self) -> <J::Functionality as Task>::Request {
        J::Functionality::request(&self.extent, &self.options)
    }
}

impl<J: Job> fmt::Debug for TypedWorkload<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", J::Functionality::NAME, self.extent, self.options)
    }
}
