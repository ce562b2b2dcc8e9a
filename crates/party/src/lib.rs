//! Parties of two-party protocols: roles, messages, the channel between them, failures, and the
//! contracts that every protocol fulfils.
//!
//! | to read about | start at |
//! |---|---|
//! | the two parties and the arrows of a figure | [`Role`], [`Step`] |
//! | messages, their sizes and their parsers | [`Message`], [`Fixed`], [`Stream`], [`arrows!`] |
//! | the conversation: sending, forks, phases, bytes and time | [`Channel`], [`Phase`], [`Tally`], [`Meter`] |
//! | connections: memory, TCP, TLS, links of a given rate and delay | [`transport`] |
//! | protocols, and what they compute | [`Protocol`], [`Party`], [`Task`] |
//! | descriptions as data: security, assumptions, leakage | [`Entry`] |
//! | services: one party with a large set, many clients, many queries | [`service`] |
//! | failures | [`Abort`] |
//!
//! # Example
//!
//! Two parties add their numbers, each on a thread of its own. A message names its arrow in the
//! figure; a party is set up once and then run; a channel closes cleanly when both sides finish it.
//!
//! ```
//! use std::thread;
//!
//! use vesica_party::transport::memory;
//! use vesica_party::{Abort, Channel, ChannelOptions, Party, Role};
//! use vesica_structures::rng::SecretRng;
//!
//! vesica_party::arrows! { "sum" =>
//!     /// The receiver's number.
//!     fixed Ask(u64) = 1, Receiver, "a number";
//!     /// The sum.
//!     fixed Answer(u64) = 2, Sender, "a number";
//! }
//!
//! struct Sender;
//!
//! impl Party for Sender {
//!     type Params = ();
//!     type Input = u64;
//!     type Output = ();
//!
//!     fn setup(_: &(), _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
//!         Ok(Self)
//!     }
//!
//!     fn run(self, input: u64, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
//!         let Ask(asked) = ch.recv(())?;
//!         ch.send(&Answer(asked.wrapping_add(input)))
//!     }
//! }
//!
//! struct Receiver;
//!
//! impl Party for Receiver {
//!     type Params = ();
//!     type Input = u64;
//!     type Output = u64;
//!
//!     fn setup(_: &(), _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
//!         Ok(Self)
//!     }
//!
//!     fn run(self, input: u64, ch: &mut Channel, _: &mut SecretRng) -> Result<u64, Abort> {
//!         ch.send(&Ask(input))?;
//!         let Answer(sum) = ch.recv(())?;
//!         Ok(sum)
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let (left, right) = memory::pair();
//!     let sender = thread::spawn(move || -> Result<(), Abort> {
//!         let mut ch = Channel::open(left, Role::Sender, ChannelOptions::default())?;
//!         let mut rng = SecretRng::from_os().expect("randomness");
//!         Sender::setup(&(), &mut ch, &mut rng)?.run(3, &mut ch, &mut rng)?;
//!         ch.finish().map(drop)
//!     });
//!     let mut ch = Channel::open(right, Role::Receiver, ChannelOptions::default())?;
//!     let mut rng = SecretRng::from_os().expect("randomness");
//!     let sum = Receiver::setup(&(), &mut ch, &mut rng)?.run(4, &mut ch, &mut rng)?;
//!     let tally = ch.finish()?;
//!     sender.join().expect("no panic")?;
//!     assert_eq!(sum, 7);
//!     assert_eq!((tally.total().sent_payload, tally.total().received_payload), (8, 8));
//!     Ok(())
//! }
//! ```
#![forbid(unsafe_code)]
// Most of this crate reads what a peer sent: no such bytes may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod abort;
#[doc(hidden)]
pub mod assume;
mod attack;
mod base_ot;
mod channel;
mod entry;
pub mod exit_code;
pub mod fuzzing;
mod map_and_compare;
mod message;
mod phase;
mod protocol;
mod role;
pub mod service;
mod task;
pub mod transport;
pub mod variants;

pub use abort::{Abort, OF_OTHER_SIDE, PeerFault};
pub use assume::Assumption;
pub use attack::{Attack, Effort};
pub use base_ot::BaseOtChoice;
pub use channel::{Canceller, Channel, ChannelOptions, Count, Meter, PhaseGuard, Tally, Turns, wire};
pub use entry::{
    Choice, ChoiceValue, CostClass, Entry, Extra, Leak, Learner, Mode, Resistance, Rounds, Security, Status,
};
pub use map_and_compare::{Compare, Map, MapAndCompare, Work};
pub use message::{Fixed, Malformed, Message, Reader, Stream, Writer};
pub use phase::Phase;
pub use protocol::{AnyParty, AnyReceiver, AnySender, Party, Protocol, Registered, Row};
pub use role::{Role, Step};
pub use task::{FalseMatches, Task};
