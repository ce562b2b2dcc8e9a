//! Task: permute and share.

use std::marker::PhantomData;

use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Value;

/// Permute and share: the sender's values, in an order that the receiver alone knows, in shares by
/// exclusive or. The sender chooses its own shares: uniform ones hide the values from the receiver.
#[derive(Debug)]
pub struct PermuteShare<V>(PhantomData<fn() -> V>);

/// The public parameters of a permutation: how many values, and how wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermuteShareRequest {
    /// Values that are permuted.
    pub len: usize,
    /// Bits of each of them.
    pub bits: u32,
    /// Against which parties.
    pub security: Security,
}

/// The sender's input; wiped on drop.
#[derive(Clone)]
pub struct ToPermute<V: Value> {
    /// Values of the agreed width, in the sender's order.
    pub values: Vec<V>,
    /// The sender's shares of the permuted values, in the receiver's order.
    pub shares: Vec<V>,
}

/// The receiver's shares of the permuted values; wiped on drop.
#[derive(Clone)]
pub struct Permuted<V: Value> {
    /// With the sender's share at the same place: the value that the receiver's order has there.
    pub shares: Vec<V>,
}

impl<V: Value> ToPermute<V> {
    /// Refuses an input that is not of the agreed size.
    pub(crate) fn check(&self, len: usize, bits: u32) -> Result<(), Unsupported> {
        let fits = |elements: &[V]| {
            elements.len() == len && elements.iter().fold(0, |union, v| union | v.embed().0) & !low(bits) == 0
        };
        if fits(&self.values) && fits(&self.shares) {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{} values and {} shares, perhaps too wide ones", self.values.len(), self.shares.len()),
            format_args!("give {len} of {bits} bits each, as agreed"),
        ))
    }
}

/// The low `bits` bits, for 1 to 128.
pub(crate) const fn low(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

impl<V: Value> Task for PermuteShare<V> {
    const NAME: &'static str = "permute-share";
    type Request = PermuteShareRequest;
    type SenderInput = ToPermute<V>;
    type ReceiverInput = Vec<u32>;
    type SenderOutput = ();
    type ReceiverOutput = Permuted<V>;

    fn holds(sent: &ToPermute<V>, order: &Vec<u32>, (): &(), out: &Permuted<V>) -> Result<(), String> {
        if (sent.shares.len(), out.shares.len()) != (order.len(), order.len()) {
            return Err(format!("{} and {} shares of {} values", sent.shares.len(), out.shares.len(), order.len()));
        }
        let wrong = (0..order.len()).find(|&i| sent.shares[i] + out.shares[i] != sent.values[order[i] as usize]);
        wrong.map_or(Ok(()), |i| {
            Err(format!("the shares at place {i} of {} are not those of value {}", order.len(), order[i]))
        })
    }
}
