//! Runs in passes: several runs of one protocol whose steps are taken in turns, so that all inputs of all runs are
//! fixed before any of them shows anything.
//!
//! | pass | what happens in it | what a side has behind it |
//! |---|---|---|
//! | 1. commit | set-up; the receiver sends what fixes its set | nothing that depends on the other side's set |
//! | 2. compare | the sender sends what fixes its set, with its payloads | the receiver knows its result |
//! | 3. finish | the receiver tells the sender its matches; only if both learn | both are done |
//!
//! A malicious receiver could otherwise choose its set of one run by the results of those before it, and a malicious
//! sender, where both learn, by what it was told. [`Party::run`] of such a protocol is the three passes of one run.
//!
//! # A pass in another process
//!
//! In the malicious mode, another process can take the second or third pass, over a channel of its own that is bound to
//! the same session. Write down [`Compare::kept`] and [`Compare::keys`] after the first pass. From these,
//! [`InPasses::sender_again`] or [`InPasses::receiver_again`] makes the [`Compare`] again. What is written down is
//! secret: erase it when the runs are over.
//!
//! A pass that broke off can be taken again, within these bounds:
//!
//! - **The first pass** is taken anew, with fresh randomness, as long as no run has begun its second pass. Until then,
//!   nothing that was sent depends on the sender's set, and the receiver's is masked. After that, a receiver could
//!   choose the set that it commits to by the results of other runs. Each new first pass adds to the probability of a
//!   failure as one more run does.
//! - **The second pass** is taken again from what was kept, as long as no run has begun its third pass. What the sender
//!   sends is a function of what it kept and of its input: the receiver is shown the same tags and encrypted payloads,
//!   with `tags=shuffled` in another order. The input must be the same, payloads included: the difference of two
//!   payloads under one keystream shows. The receiver sends nothing. It must use the result of the last time alone, for
//!   a malicious sender can send tags of other items each time. Once a third pass has begun, the sender could choose
//!   these by what it was told.
//! - **The third pass** is taken again from what was kept, always with the same matches. What the receiver sends is a
//!   function of what it kept, of its input and of these matches. The sender sends nothing.

use std::fmt;

use vesica_party::{Abort, Channel, Entry, Party, Protocol, Registered, Row, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// A run whose first pass is done.
pub struct Compare<Input, Output> {
    /// What it keeps of its items from one pass to the next, which is most of its memory. It stands by itself so that a
    /// caller with many runs can keep it elsewhere in the meantime.
    pub kept: Secret<Vec<Gf128>>,
    /// The few bytes that another process needs beside `kept` to take the later passes. `None` if no other process can,
    /// as in the semi-honest mode, where tags are made in the first pass.
    pub keys: Option<Secret<Vec<u8>>>,
    /// The later passes, without what was kept.
    pub later: Box<dyn LaterPasses<Input, Output>>,
}

/// The second and the third pass of a run. Each is given what was kept and the same input as the first pass.
pub trait LaterPasses<Input, Output>: Send {
    /// The second pass.
    ///
    /// # Errors
    /// As [`Party::run`].
    fn compare(
        self: Box<Self>,
        kept: Secret<Vec<Gf128>>,
        input: Input,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Finish<Output>, Abort>;

    /// The third pass, of a run whose second pass another process took, and which [`found`](Finish::found) this there.
    ///
    /// # Errors
    /// As [`Party::run`].
    fn finish(
        self: Box<Self>,
        kept: Secret<Vec<Gf128>>,
        input: &Input,
        found: Output,
        ch: &mut Channel,
    ) -> Result<Output, Abort>;
}

impl<Input, Output> Compare<Input, Output> {
    /// A run that has nothing left to say, with its output.
    pub fn ended(output: Output) -> Self
    where
        Output: Send + 'static,
    {
        let keys = Some(Secret::new(Vec::new()));
        Self { kept: Secret::new(Vec::new()), keys, later: Box::new(Ended(output)) }
    }

    /// The second pass.
    ///
    /// # Errors
    /// As [`Party::run`].
    pub fn compare(self, input: Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<Finish<Output>, Abort> {
        self.later.compare(self.kept, input, ch, rng)
    }

    /// The third pass, of a run whose second pass another process took, and which [`found`](Finish::found) this there.
    /// The receiver's payloads may be left out; the sender found nothing yet.
    ///
    /// # Errors
    /// As [`Party::run`].
    pub fn finish(self, input: &Input, found: Output, ch: &mut Channel) -> Result<Output, Abort> {
        self.later.finish(self.kept, input, found, ch)
    }
}

/// The later passes of a run that has nothing left to say.
struct Ended<Output>(Output);

impl<Input, Output: Send> LaterPasses<Input, Output> for Ended<Output> {
    fn compare(
        self: Box<Self>,
        _: Secret<Vec<Gf128>>,
        _: Input,
        _: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<Finish<Output>, Abort> {
        Ok(Finish::Done(self.0))
    }

    fn finish(self: Box<Self>, _: Secret<Vec<Gf128>>, _: &Input, _: Output, _: &mut Channel) -> Result<Output, Abort> {
        Ok(self.0)
    }
}

/// The refusal of bytes that no run of a request has kept.
pub(crate) fn not_kept() -> Unsupported {
    Unsupported::new("what was kept of a run does not belong to this request", "begin the run anew")
}

impl<Input, Output> fmt::Debug for Compare<Input, Output> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compare(..)")
    }
}

/// A run whose second pass is done.
pub enum Finish<Output> {
    /// Nothing is left to be said, and this is the output.
    Done(Output),
    /// What was found so far, and the third pass, which makes the output of it.
    Last(Output, LastPass<Output>),
}

/// What [`Finish`] does where something is left to be said.
pub type LastPass<Output> = Box<dyn FnOnce(Output, &mut Channel) -> Result<Output, Abort> + Send>;

impl<Output> Finish<Output> {
    /// The third pass, if there is one.
    ///
    /// # Errors
    /// As [`Party::run`].
    pub fn finish(self, ch: &mut Channel) -> Result<Output, Abort> {
        match self {
            Self::Done(output) => Ok(output),
            Self::Last(found, pass) => pass(found, ch),
        }
    }

    /// What was found in the second pass, where another process takes the third.
    pub fn found(self) -> Output {
        let (Self::Done(found) | Self::Last(found, _)) = self;
        found
    }
}

impl<Output> fmt::Debug for Finish<Output> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finish(..)")
    }
}

/// One side of a protocol that runs in passes.
pub trait Commit: Party {
    /// The first pass. What it gives holds no more than the later passes need: the input is given again.
    ///
    /// # Errors
    /// As [`Party::run`].
    fn commit(
        self,
        input: &Self::Input,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<Self::Input, Self::Output>, Abort>;

    /// The run at the end of its first pass, from what another process left there.
    ///
    /// # Errors
    /// If no run of these parameters leaves that.
    fn again(
        params: &Self::Params,
        keys: &[u8],
        kept: Secret<Vec<Gf128>>,
    ) -> Result<Compare<Self::Input, Self::Output>, Unsupported>;
}

/// All passes of one run: what [`Party::run`] is.
pub fn run<P: Commit>(party: P, input: P::Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<P::Output, Abort> {
    party.commit(&input, ch, rng)?.compare(input, ch, rng)?.finish(ch)
}

/// A registered protocol that runs in passes.
pub trait InPasses<T: Task>: Registered<T> {
    /// As [`Registered::variant`]. A variant runs in passes as its row does.
    fn variant_in_passes(&self, entry: &'static Entry) -> &'static dyn InPasses<T>;

    /// The sender's set-up and first pass.
    ///
    /// # Errors
    /// If the request is not served, or the pass fails.
    fn commit_sender(
        &self,
        request: &T::Request,
        input: &T::SenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<T::SenderInput, T::SenderOutput>, Abort>;

    /// The receiver's set-up and first pass.
    ///
    /// # Errors
    /// If the request is not served, or the pass fails.
    fn commit_receiver(
        &self,
        request: &T::Request,
        input: &T::ReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<T::ReceiverInput, T::ReceiverOutput>, Abort>;

    /// The sender's run at the end of its first pass, from [`Compare::keys`] and [`Compare::kept`] that another process
    /// left there.
    ///
    /// # Errors
    /// If no run of this request leaves that.
    fn sender_again(
        &self,
        request: &T::Request,
        keys: &[u8],
        kept: Secret<Vec<Gf128>>,
    ) -> Result<Compare<T::SenderInput, T::SenderOutput>, Unsupported>;

    /// The same of the receiver.
    ///
    /// # Errors
    /// As [`Self::sender_again`].
    fn receiver_again(
        &self,
        request: &T::Request,
        keys: &[u8],
        kept: Secret<Vec<Gf128>>,
    ) -> Result<Compare<T::ReceiverInput, T::ReceiverOutput>, Unsupported>;
}

impl<P: Protocol> InPasses<P::Task> for Row<P>
where
    P::Sender: Commit,
    P::Receiver: Commit,
{
    fn variant_in_passes(&self, entry: &'static Entry) -> &'static dyn InPasses<P::Task> {
        Self::described(entry)
    }

    fn commit_sender(
        &self,
        request: &<P::Task as Task>::Request,
        input: &<P::Task as Task>::SenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<<P::Task as Task>::SenderInput, <P::Task as Task>::SenderOutput>, Abort> {
        ch.follow(self.entry());
        P::Sender::setup(&self.params(request)?, ch, rng)?.commit(input, ch, rng)
    }

    fn commit_receiver(
        &self,
        request: &<P::Task as Task>::Request,
        input: &<P::Task as Task>::ReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<<P::Task as Task>::ReceiverInput, <P::Task as Task>::ReceiverOutput>, Abort> {
        ch.follow(self.entry());
        P::Receiver::setup(&self.params(request)?, ch, rng)?.commit(input, ch, rng)
    }

    fn sender_again(
        &self,
        request: &<P::Task as Task>::Request,
        keys: &[u8],
        kept: Secret<Vec<Gf128>>,
    ) -> Result<Compare<<P::Task as Task>::SenderInput, <P::Task as Task>::SenderOutput>, Unsupported> {
        P::Sender::again(&self.params(request)?, keys, kept)
    }

    fn receiver_again(
        &self,
        request: &<P::Task as Task>::Request,
        keys: &[u8],
        kept: Secret<Vec<Gf128>>,
    ) -> Result<Compare<<P::Task as Task>::ReceiverInput, <P::Task as Task>::ReceiverOutput>, Unsupported> {
        P::Receiver::again(&self.params(request)?, keys, kept)
    }
}
