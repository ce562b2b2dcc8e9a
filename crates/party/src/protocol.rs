//! The contract of a protocol and of its two sides, and the type-erased row by which registries
//! hold it.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::{Abort, BaseOtChoice, Channel, Entry, Role, Task};

/// One side of a protocol: set up without inputs, then run once.
pub trait Party: Sized {
    /// Agreed parameters.
    type Params;
    /// This side's input.
    type Input;
    /// This side's output.
    type Output;

    /// The part that needs no input.
    fn setup(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort>;

    /// The rest; consumes the set-up, which therefore serves once.
    fn run(self, input: Self::Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Output, Abort>;
}

/// A protocol for a task.
pub trait Protocol: 'static {
    /// The description of the protocol.
    const ENTRY: Entry;
    /// The task that the protocol computes.
    type Task: Task;
    /// All numbers that both sides derive from the request.
    type Params: Send + Sync;
    /// The left column of the figure.
    type Sender: Party<
            Params = Self::Params,
            Input = <Self::Task as Task>::SenderInput,
            Output = <Self::Task as Task>::SenderOutput,
        > + Send
        + 'static;
    /// The right column of the figure.
    type Receiver: Party<
            Params = Self::Params,
            Input = <Self::Task as Task>::ReceiverInput,
            Output = <Self::Task as Task>::ReceiverOutput,
        > + Send
        + 'static;

    /// Parameters for a request, or why it cannot be served.
    fn derive(request: &<Self::Task as Task>::Request) -> Result<Self::Params, Unsupported>;

    /// Parameters of the row or variant that `entry` describes, which says what was [chosen](Entry::chosen). A protocol
    /// with choices has it in place of what stands here.
    fn derive_chosen(
        request: &<Self::Task as Task>::Request,
        _entry: &'static Entry,
    ) -> Result<Self::Params, Unsupported> {
        Self::derive(request)
    }

    /// Bytes that both sides together send (payload of messages, without frames), by the paper's
    /// formula; a range where coding varies.
    fn predicted_bytes(params: &Self::Params) -> RangeInclusive<u64>;

    /// Bytes of memory that the side of this role takes beside what grows in a line with the numbers of items and the
    /// width of payloads: a matrix, a filter, a group of transfers.
    fn further_memory(_params: &Self::Params, _role: Role) -> u64 {
        0
    }
}

/// One side of some protocol, set up.
pub trait AnyParty<Input, Output>: Send {
    /// See [`Party::run`].
    fn run(self: Box<Self>, input: Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<Output, Abort>;
}

impl<P: Party + Send> AnyParty<P::Input, P::Output> for P {
    fn run(self: Box<Self>, input: P::Input, ch: &mut Channel, rng: &mut SecretRng) -> Result<P::Output, Abort> {
        Party::run(*self, input, ch, rng)
    }
}

/// A boxed sender for task `T`.
pub type AnySender<T> = Box<dyn AnyParty<<T as Task>::SenderInput, <T as Task>::SenderOutput>>;
/// A boxed receiver for task `T`.
pub type AnyReceiver<T> = Box<dyn AnyParty<<T as Task>::ReceiverInput, <T as Task>::ReceiverOutput>>;

/// A protocol for task `T`, type-erased: what a registry's slice holds.
pub trait Registered<T: Task>: Sync {
    /// The description of the protocol.
    fn entry(&self) -> &'static Entry;
    /// The variant of this row that `entry` describes: what [`Entry::with`] gives for its description.
    fn variant(&self, entry: &'static Entry) -> &'static dyn Registered<T>;
    /// Whether it serves the request, and if so the bytes that its formula predicts.
    fn predicted_bytes(&self, request: &T::Request) -> Result<RangeInclusive<u64>, Unsupported>;
    /// See [`Protocol::further_memory`]; nothing for a request that is not served.
    fn further_memory(&self, request: &T::Request, role: Role) -> u64;
    /// The sender's set-up.
    fn sender(&self, request: &T::Request, ch: &mut Channel, rng: &mut SecretRng) -> Result<AnySender<T>, Abort>;
    /// The receiver's set-up.
    fn receiver(&self, request: &T::Request, ch: &mut Channel, rng: &mut SecretRng) -> Result<AnyReceiver<T>, Abort>;
}

/// Protocol `P` as a registry holds it: the row, or a variant of it.
pub struct Row<P> {
    entry: &'static Entry,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> Row<P> {
    /// The row, usable in a static slice.
    #[expect(clippy::new_without_default, reason = "a marker that is only named in registries")]
    pub const fn new() -> Self {
        Self { entry: &P::ENTRY, protocol: PhantomData }
    }

    /// The row or the variant of it that `entry` describes. It is made once in a process.
    pub fn described(entry: &'static Entry) -> &'static Self {
        /// By the type of the row and the address of the description.
        static MADE: Mutex<BTreeMap<(TypeId, usize), &'static (dyn Any + Send + Sync)>> = Mutex::new(BTreeMap::new());

        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made
            .entry((TypeId::of::<P>(), std::ptr::from_ref(entry).addr()))
            .or_insert_with(|| Box::leak(Box::new(Self { entry, protocol: PhantomData })));
        made.downcast_ref().unwrap_or_else(|| unreachable!("made under its type"))
    }

    /// The variant of the row with these choices, as [`Entry::with`] reads them.
    ///
    /// # Errors
    /// If the row has no such variant.
    pub fn chosen(choices: &str) -> Result<&'static Self, Unsupported> {
        let row: &'static Entry = &P::ENTRY;
        Ok(Self::described(row.with(choices)?))
    }

    /// Parameters for a request.
    ///
    /// # Errors
    /// If the request is not served.
    pub fn params(&self, request: &<P::Task as Task>::Request) -> Result<P::Params, Unsupported> {
        self.counted(|| P::derive_chosen(request, self.entry))
    }

    /// Does what counts bytes, with the base OT that was chosen.
    fn counted<T>(&self, count: impl FnOnce() -> T) -> T {
        match BaseOtChoice::of(self.entry) {
            Some(chosen) => chosen.counted_by(count),
            None => count(),
        }
    }
}

impl<P: Protocol> Registered<P::Task> for Row<P> {
    fn entry(&self) -> &'static Entry {
        self.entry
    }

    fn variant(&self, entry: &'static Entry) -> &'static dyn Registered<P::Task> {
        Self::described(entry)
    }

    fn predicted_bytes(&self, request: &<P::Task as Task>::Request) -> Result<RangeInclusive<u64>, Unsupported> {
        let params = self.params(request)?;
        Ok(self.counted(|| P::predicted_bytes(&params)))
    }

    fn further_memory(&self, request: &<P::Task as Task>::Request, role: Role) -> u64 {
        self.params(request).map_or(0, |params| P::further_memory(&params, role))
    }

    fn sender(
        &self,
        request: &<P::Task as Task>::Request,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<AnySender<P::Task>, Abort> {
        ch.follow(self.entry);
        Ok(Box::new(P::Sender::setup(&self.params(request)?, ch, rng)?))
    }

    fn receiver(
        &self,
        request: &<P::Task as Task>::Request,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<AnyReceiver<P::Task>, Abort> {
        ch.follow(self.entry);
        Ok(Box::new(P::Receiver::setup(&self.params(request)?, ch, rng)?))
    }
}

/// The registries of a crate: a function for each that gives its rows, and `own_entries`, the
/// descriptions of all rows in the order of the list.
///
/// `registries! { /// Protocols for sums. sum: Sum = [Ikn20]; }` makes
/// `fn sum() -> &'static [&'static dyn Registered<Sum>]`.
#[macro_export]
macro_rules! registries {
    ($($(#[$doc:meta])* $name:ident: $task:ty = [$($row:ty),+ $(,)?];)+) => {
        $(
            $(#[$doc])*
            pub fn $name() -> &'static [&'static dyn $crate::Registered<$task>] {
                static ROWS: &[&dyn $crate::Registered<$task>] = &[$(&$crate::Row::<$row>::new()),+];
                ROWS
            }
        )+

        /// The descriptions of this crate's protocols.
        pub fn own_entries() -> impl Iterator<Item = &'static $crate::Entry> {
            let mut entries = Vec::new();
            $(entries.extend($name().iter().map(|row| row.entry()));)+
            entries.into_iter()
        }
    };
}
