//! From exclusive-or shares of bits to additive shares, and to products with what is shared beside them.
//!
//! One direction multiplies rows `w_i` that one party knows with shared bits `q_i = p_i + o_i`. In the figure it is the sender who knows them:
//!
//! ```text
//!     sender: p_i, w_i                                                 receiver: o_i
//!     m_i0, m_i1                 [ random OTs ]                        b_i, m_ib
//!                       <----- 1: d_i = o_i + b_i -------------------
//!     (x_i0, x_i1) = G(m_id), G(m_i(1 - d))                            x_io = G(m_ib)
//!                       ------ 2: c_i = x_i0 - x_i1 + (1 - 2 p_i) w_i ->
//!     share: p_i w_i - x_i0                                            share: x_io + o_i c_i
//! ```
//!
//! The shares add up to `p_i w_i + o_i (1 - 2 p_i) w_i = q_i w_i`, since `p + o - 2 p o` is the exclusive or of two bits. Each side sees of the other only
//! what a random bit or an unseen pad hides.
//!
//! - **[`BitsToRing`]**: one direction with `w_i = 1`, modulo `2^bits`: `1 + bits` bits a bit. Added up the shares are those of a *count*.
//! - **[`Multiplexer`]**: a direction each way, for the sender's and the receiver's share of the rows: `2 (1 + bits * width)` bits a bit. A *sum* is what its
//!   columns add up to ([`Shares::column_sums`](crate::tasks::Shares::column_sums)). Over bytes, sums and differences are exclusive ors.
//!
//! `G` cuts a block to the row's length, or stretches it by AES under the block as key, with the number of the row in what is enciphered.

mod bits;
pub mod messages;
mod multiplex;
mod transfer;

pub use bits::{BitsToRing, Params as BitsParams, Receiver as BitsReceiver, Sender as BitsSender};
pub use multiplex::{Multiplexer, Params as MultiplexParams, Receiver as MultiplexReceiver, Sender as MultiplexSender};
pub use transfer::count_bits;
