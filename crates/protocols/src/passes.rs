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

use std::fmt;

use vesica_party::{Abort, Channel, Entry, Party, Protocol, Registered, Row, Task};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// A run whose first pass is done.
pub struct Compare<Input, Output> {
    /// What it keeps of its items from one pass to the next, which is most of its memory. It stands by itself so that a
    /// caller with many runs can keep it elsewhere in the meantime.
    pub kept: Secret<Vec<Gf128>>,
    /// The second pass, on what was kept and the same input again.
    pub next: SecondPass<Input, Output>,
}

/// What [`Compare`] does with what was kept.
pub type SecondPass<Input, Output> =
    Box<dyn FnOnce(Secret<Vec<Gf128>>, Input, &mut Channel, &mut SecretRng) -> Result<Finish<Output>, Abort> + Send>;

impl<Input, Output> Compare<Input, Output> {
    /// The second pass.
    ///
    /// # Errors
    /// As [`Party::run`].
    pub fn compare(self, input: Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<Finish<Output>, Abort> {
        (self.next)(self.kept, input, ch, rng)
    }
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
    /// The third pass, which gives the output.
    Last(LastPass<Output>),
}

/// What [`Finish`] does where something is left to be said.
pub type LastPass<Output> = Box<dyn FnOnce(&mut Channel) -> Result<Output, Abort> + Send>;

impl<Output> Finish<Output> {
    /// The third pass, if there is one.
    ///
    /// # Errors
    /// As [`Party::run`].
    pub fn finish(self, ch: &mut Channel) -> Result<Output, Abort> {
        match self {
            Self::Done(output) => Ok(output),
            Self::Last(pass) => pass(ch),
        }
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
        P::Sender::setup(&self.params(request)?, ch, rng)?.commit(input, ch, rng)
    }

    fn commit_receiver(
        &self,
        request: &<P::Task as Task>::Request,
        input: &<P::Task as Task>::ReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<<P::Task as Task>::ReceiverInput, <P::Task as Task>::ReceiverOutput>, Abort> {
        P::Receiver::setup(&self.params(request)?, ch, rng)?.commit(input, ch, rng)
    }
}
