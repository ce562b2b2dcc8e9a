//! The contract of a two-party protocol, and everything that carries it: roles, messages, the channel, failures, transports.
//!
//! - **A figure**: [`Role`] is a column, [`Step`] an arrow. A [`Message`] is what an arrow carries, [`Fixed`] one of a single size, and
//!   [`Stream`] a long sequence.
//! - **The wire**: a [`Channel`] sends and receives messages. [`transport`] has what it runs over: memory, TCP, TLS, shaped links.
//! - **The contract**: a [`Task`] is what is computed, a [`Party`] one column, a [`Protocol`] two of them with an [`Entry`] that states
//!   security, assumptions, leakage and costs. [`Row`] and [`Registered`] are how registries hold protocols of any type.
//! - **Services**: a prepared set that answers many queries is a `service::Server`, with a `service::Client` on the other side.
//! - **Failures**: an [`Abort`] says whose fault it is. **Costs**: [`Phase`] names parts of a run, [`Tally`] has their bytes and times.
//!
//! A protocol of two arrows, over memory:
//!
//! ```
//! use vesica_party::transport::memory;
//! use vesica_party::{Abort, Channel, ChannelOptions, Fixed, Role, Step};
//!
//! #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
//! #[repr(transparent)]
//! struct Question(u64);
//! impl Fixed for Question {
//!     const STEP: Step = Step { protocol: "doubling", number: 1, from: Role::Sender, carries: "a number" };
//! }
//!
//! #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
//! #[repr(transparent)]
//! struct Answer(u64);
//! impl Fixed for Answer {
//!     const STEP: Step = Step { protocol: "doubling", number: 2, from: Role::Receiver, carries: "its double" };
//! }
//!
//! let (sender_end, receiver_end) = memory::pair();
//! let answer = std::thread::scope(|scope| {
//!     let receiver = scope.spawn(|| {
//!         let mut channel = Channel::open(receiver_end, Role::Receiver, ChannelOptions::default())?;
//!         let Question(number) = channel.recv(())?;
//!         channel.send(&Answer(2 * number))?;
//!         channel.finish()
//!     });
//!     let mut channel = Channel::open(sender_end, Role::Sender, ChannelOptions::default())?;
//!     channel.send(&Question(21))?;
//!     let Answer(answer) = channel.recv(())?;
//!     channel.finish()?;
//!     receiver.join().expect("the receiver's thread")?;
//!     Ok::<_, Abort>(answer)
//! })?;
//! assert_eq!(answer, 42);
//! # Ok::<(), Abort>(())
//! ```
#![forbid(unsafe_code)]

mod abort;
#[doc(hidden)]
pub mod assume;
mod channel;
mod entry;
pub mod fuzzing;
mod message;
mod phase;
mod protocol;
mod role;
mod task;
pub mod transport;

pub use abort::{Abort, PeerFault};
pub use channel::{Canceller, Channel, ChannelOptions, Count, PhaseGuard, Tally, Turns, wire};
pub use entry::{CostClass, Entry, Extra, Leak, Learner, Mode, Resistance, Rounds, Security, Status};
pub use message::{Fixed, Malformed, Message, Reader, Stream, Writer};
pub use phase::Phase;
pub use protocol::{AnyParty, AnyReceiver, AnySender, Party, Protocol, Registered, Row};
pub use role::{Role, Step};
pub use task::Task;
