//! Private set protocols: one folder a paper, and the registry that lists them.
//!
//! - [`psi`], [`recurrent`], [`unbalanced`], [`membership`], [`cardinality`], [`circuit_psi`] and [`union`] hold the papers, by functionality. Each folder has the figure and a glossary in `mod.rs`, its numbers in
//!   `params.rs`, one type an arrow in `messages.rs`, and the two columns in `sender.rs` and
//!   `receiver.rs`.
//! - [`tasks`] are the ideal functionalities: what a protocol must compute.
//! - [`passes`] are runs whose steps are taken in turns, for protocols that can.
//! - [`registry`] lists every protocol of every task, and says which are here and which in the crate of papers.
//!
//! A whole run over memory, a thread for each side:
//!
//! ```
//! use vesica_party::transport::memory;
//! use vesica_party::{Abort, Channel, ChannelOptions, Role, Security};
//! use vesica_protocols::registry;
//! use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
//! use vesica_structures::rng::SecretRng;
//!
//! let protocol = registry::find_intersect("vole-fast").expect("a registered protocol");
//! let security = Security::Malicious;
//! let request = IntersectRequest { sender_items: 3, receiver_items: 2, security, payload_bytes: 0, both_learn: false, runs: 1 };
//! let (sender_end, receiver_end) = memory::pair();
//!
//! let matches = std::thread::scope(|scope| {
//!     let sender = scope.spawn(|| {
//!         let mut rng = SecretRng::from_os().expect("randomness");
//!         let mut channel = Channel::open(sender_end, Role::Sender, ChannelOptions::default())?;
//!         let party = protocol.sender(&request, &mut channel, &mut rng)?;
//!         party.run(IntersectSenderInput { items: vec![10, 20, 30], payloads: Vec::new() }, &mut channel, &mut rng)?;
//!         channel.finish()
//!     });
//!     let mut rng = SecretRng::from_os().expect("randomness");
//!     let mut channel = Channel::open(receiver_end, Role::Receiver, ChannelOptions::default())?;
//!     let party = protocol.receiver(&request, &mut channel, &mut rng)?;
//!     let output = party.run(IntersectReceiverInput { items: vec![40, 20] }, &mut channel, &mut rng)?;
//!     channel.finish()?;
//!     sender.join().expect("the sender's thread")?;
//!     Ok::<_, Abort>(output.matches)
//! })?;
//! assert_eq!(matches, [1], "the receiver's second item is common");
//! # Ok::<(), Abort>(())
//! ```
#![forbid(unsafe_code)]
// What a peer sends must not end the process. The modules of messages deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// Tests that the crate of papers shares name this crate as that one does.
#[cfg(test)]
extern crate self as vesica_protocols;

pub mod bfv;
pub mod bins;
pub mod cardinality;
pub mod circuit_psi;
pub mod ecdh;
pub mod membership;
pub mod okvs_choice;
pub mod overview;
pub mod passes;
pub mod psi;
pub mod recurrent;
pub mod registry;
pub mod styles;
pub mod tags;
pub mod tasks;
pub mod unbalanced;
pub mod union;
