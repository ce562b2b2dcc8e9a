//! What every PSI does once both sides have evaluated its oblivious pseudo-random function (OPRF):
//! tags, payloads and proofs of matches.
//!
//! ```text
//!   Sender: X, payloads                                               Receiver: Y
//!
//!   H(q_x) = tag, proof, key                                          H(q_y) = tag, proof, key
//!                                1. the tags of X, in an order that says nothing
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                2. (labelled) payload_x + G(key_x), in the order of 1
//!      ------------------------------------------------------------------------>
//!                                3. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! `q` is the OPRF's value at an item, which both sides have for a common item and which is
//! pseudo-random to the receiver for any other item of the sender. A paper's folder brings four
//! things:
//!
//! - [`Params`] as a field of its own parameters, with the width of tags that its security takes;
//! - `Arrows`: its three message types, so that steps are numbered as in its own figure;
//! - tags, handed to `Sender::add` or `Receiver::add` as they come, each with the number of its
//!   item, in any order;
//! - `Outputs`: proofs and keystreams by number, asked for only if the request wants them.
//!   `StoredOutputs` serves where they are stored as they come.
//!
//! ```text
//! let mut tags = finish::Sender::new(&params.finish);
//! tags.add(&outputs, 0..);
//! tags.finish::<messages::Arrows>(&input, stored, ch, rng)
//! ```
//!
//! `finish` takes all three steps. Protocols that run in [passes](crate::passes) take step 3 apart: `Sender::send` and
//! `Receiver::receive` give [`OwnProofs`], with which the sender then learns and the receiver tells.
//!
//! An item may have several tags (`Params::tags_per_item`) at the sender, of which the receiver
//! has one: then outputs are numbered `tags_per_item i + b` at the sender, and the item's payload
//! travels under each of them. Both sides cannot learn there, for which proof comes back tells the
//! sender where the receiver put its item.
//!
//! Arrow 1 may be a filter of the tags instead of their list ([`compare`]): then there is no order that
//! payloads or proofs could follow.

pub mod compare;
mod outputs;
mod params;
mod payload;
mod proofs;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use vesica_party::Stream;

pub use outputs::{Outputs, StoredOutputs, fill_keystream};
pub use params::Params;
pub use proofs::OwnProofs;
pub use receiver::Receiver;
pub use sender::Sender;

/// The messages of the figure, as a paper's folder numbers and names them: a triple of streams.
pub trait Arrows {
    /// Arrow 1.
    type Tags: Stream<Element = u8>;
    /// Arrow 2.
    type Payloads: Stream<Element = u8>;
    /// Arrow 3.
    type Proofs: Stream<Element = u128>;
}

impl<T, P, M> Arrows for (T, P, M)
where
    T: Stream<Element = u8>,
    P: Stream<Element = u8>,
    M: Stream<Element = u128>,
{
    type Tags = T;
    type Payloads = P;
    type Proofs = M;
}
