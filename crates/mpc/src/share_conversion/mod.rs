//! Conversion of exclusive-or shares of bits to additive shares, and products of such bits with
//! numbers or bytes.
//!
//! Each rests on products of numbers `f_i` that one party knows and bits `o_i` of the other:
//!
//! ```text
//!     sender: f_i                                                      receiver: o_i
//!     m_i0, m_i1                 [ random OTs ]                        b_i, m_ib
//!                       <----- 1: d_i = o_i + b_i -------------------
//!     (x_i0, x_i1) = G(m_id), G(m_i(1 - d))                            x_io = G(m_ib)
//!                       ------ 2: c_i = x_i0 - x_i1 + f_i ---------->
//!     share: -x_i0                                                     share: x_io + o_i c_i
//! ```
//!
//! The shares add up to `o_i f_i`. Each side sees of the other only what a random bit or an unseen
//! pad hides.
//!
//! **[`BitsToRing`]** multiplies `f_i = 1 - 2 p_i`, to which the sender adds `p_i`: since `p + o -
//! 2 p o` is the exclusive or of two bits, the shares are of `q_i = p_i + o_i`, modulo `2^bits`,
//! for `1 + bits` bits of traffic each. Added up they are those of a *count*.
//!
//! **[`Multiplexer`]** gives shares of `q_i (y_i - t_i)`, where the receiver has `y_i` and the
//! sender a mask `t_i` that hides what the receiver got `y_i` for. Nobody chooses the mask, so that
//! it may be what random OTs give:
//!
//! ```text
//!     sender: p_i                                                      receiver: o_i, y_i
//!     m_i0, m_i1                 [ random OTs ]                        b_i, m_ib
//!     t_i = G(m_i1) - G(m_i0)
//!                       <----- 1: d_i = o_i + b_i -------------------
//!     e_i = p_i + d_i                                                  v_i = (1 - 2 d_i) G(m_ib)
//!                       [ 1, 2 above, sides reversed:
//!     bit p_i                    their product ]                       number f_i = (1 - 2 o_i) y_i + 2 v_i
//!     share: (1 - 2 e_i) G(m_i0) - e_i t_i, and that of p_i f_i        share: o_i y_i - v_i, and that of p_i f_i
//! ```
//!
//! Since `q_i = e_i + b_i` as bits and `b_i t_i = G(m_ib) - G(m_i0)`, `q_i t_i = e_i t_i + (1 - 2
//! e_i) (G(m_ib) - G(m_i0))`, and `(1 - 2 e_i) G(m_ib) = (1 - 2 p_i) v_i`. So one correction serves
//! both shares of a row: `2 + bits * width` bits of traffic a row. Elements that the receiver alone
//! knows take no mask, and if there are no others no first OT. A *sum* is what the columns
//! add up to ([`Shares::column_sums`](crate::tasks::Shares::column_sums)). Over bytes, sums and
//! differences are exclusive ors, and `2 v_i` is zero. A sender with a share of its own tells the
//! receiver the difference to its mask, which the receiver adds to `y_i`.
//!
//! **Security** (semi-honest). *The receiver* knows one pad of each first OT. The mask is that
//! pad's difference to the other one, which nothing else uses and the receiver never sees masked by
//! anything else: whatever was sent under `t_i` is uniform to it. Beside that it gets flips of the
//! second OTs, uniform bits. *The sender* gets `d_i`, and `b_i` is uniform to it; and `c_i`, in
//! which a pad of the second OT that it lacks hides `f_i`, with `m_ib` in it. Each side's share has
//! a pad of the second OT in it that is uniform to it and in nothing that it has seen otherwise, so
//! a simulator needs no more than the share. Both OTs have a `delta` and keys of their own.
//!
//! `G` cuts a block to the row's length, or stretches it by AES under the block as key, with the
//! number of the row in what is enciphered.

mod bits;
mod masks;
pub mod messages;
mod multiplex;
mod transfer;

pub use bits::{BitsToRing, Params as BitsParams, Receiver as BitsReceiver, Sender as BitsSender};
pub use multiplex::{Multiplexer, Params as MultiplexParams, Receiver as MultiplexReceiver, Sender as MultiplexSender};
pub use transfer::count_bits;

use vesica_structures::facts::Paper;

/// The paper of both conversions.
const PAPER: Paper = Paper {
    key: "RRKC+20",
    title: "CrypTFlow2: Practical 2-Party Secure Inference",
    reference: "D. Rathee et al., CCS 2020, ePrint 2020/1002",
};
