//! Task: permute and share bits.

use std::fmt;

use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;

use super::PermuteShare;
use crate::bits::Bits;

/// Permute and share for single bits: the sender's bits, in an order that the receiver alone knows,
/// in shares by exclusive or. Only the first of them come out, as many as both sides agreed on.
#[derive(Debug)]
pub struct PermuteShareBits;

/// The public parameters of a permutation of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermuteBitsRequest {
    /// The number of bits.
    pub len: usize,
    /// How many of the permuted bits come out: the first ones in the receiver's order.
    pub kept: usize,
    /// Against which parties.
    pub security: Security,
}

/// The sender's input.
#[derive(Clone)]
pub struct BitsToPermute {
    /// The bits, in the sender's order.
    pub values: Bits,
    /// The sender's shares of the permuted bits that come out, in the receiver's order. Uniform
    /// ones hide the bits from the receiver.
    pub shares: Bits,
}

impl BitsToPermute {
    /// Refuses an input that is not of the agreed size.
    pub(crate) fn check(&self, len: usize, kept: usize) -> Result<(), Unsupported> {
        if (self.values.len(), self.shares.len()) == (len, kept) {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{} bits and {} shares to permute", self.values.len(), self.shares.len()),
            format_args!("give {len} bits and {kept} shares, as agreed"),
        ))
    }
}

impl fmt::Debug for BitsToPermute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BitsToPermute(..)")
    }
}

impl Task for PermuteShareBits {
    const NAME: &'static str = PermuteShare::<vesica_structures::fields::Gf64>::NAME;
    type Request = PermuteBitsRequest;
    type SenderInput = BitsToPermute;
    type ReceiverInput = Vec<u32>;
    type SenderOutput = ();
    type ReceiverOutput = Bits;

    fn holds(sent: &BitsToPermute, order: &Vec<u32>, (): &(), out: &Bits) -> Result<(), String> {
        let kept = sent.shares.len();
        if out.len() != kept || kept > order.len() {
            return Err(format!("{} and {kept} shares of {} bits", out.len(), order.len()));
        }
        let wrong = (0..kept).find(|&i| sent.shares.get(i) ^ out.get(i) != sent.values.get(order[i] as usize));
        wrong.map_or(Ok(()), |i| Err(format!("the shares at place {i} of {kept} are not those of bit {}", order[i])))
    }
}
