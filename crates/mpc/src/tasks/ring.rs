//! Tasks: conversions of shared bits, and products with them.

use std::marker::PhantomData;

use bytemuck::Pod;
use vesica_party::{Security, Task};
use vesica_structures::fields::Gf64;
use vesica_structures::packing::{pack, packed_len, unpack};
use zeroize::Zeroize;

/// An element that is shared between two parties: a `u64` additively, modulo a power of two; a `u8`
/// by exclusive or.
pub trait Share: Pod + Default + Zeroize + PartialEq + Send + Sync + 'static {
    /// The most bits of a share.
    const BITS: u32;
    /// The least bits that a protocol may be asked for.
    const LEAST_BITS: u32;
    /// [`Task::NAME`] of [`Multiplex`] over it.
    const MULTIPLEX: &'static str;

    /// The value that two shares stand for.
    fn plus(self, other: Self) -> Self;
    /// The share that `other` completes to this element.
    fn minus(self, other: Self) -> Self;
    /// The element if `bit`, else zero; no branch on `bit`.
    fn times(self, bit: bool) -> Self;
    /// What the element adds to zero if `bit` flips from 0, and to itself if it flips from 1: `(1 -
    /// 2 bit) self`; no branch on `bit`.
    fn flipped(self, bit: bool) -> Self;
    /// The element modulo `2^bits`.
    fn low(self, bits: u32) -> Self;
    /// Appends the low `bits` bits of each element, [`packed_len`] bytes together.
    fn pack(elements: &[Self], bits: u32, out: &mut Vec<u8>);
    /// Reads what `pack` wrote; nothing where stray bits are set.
    fn unpack(bytes: &[u8], bits: u32, elements: &mut [Self]) -> Option<()>;
}

impl Share for u64 {
    const BITS: u32 = 64;
    const LEAST_BITS: u32 = 1;
    const MULTIPLEX: &'static str = "multiplex-ring";

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn times(self, bit: bool) -> Self {
        self & Self::from(bit).wrapping_neg()
    }

    fn flipped(self, bit: bool) -> Self {
        self.wrapping_sub(self.times(bit) << 1)
    }

    fn low(self, bits: u32) -> Self {
        self & Self::MAX >> (64 - bits)
    }

    fn pack(elements: &[Self], bits: u32, out: &mut Vec<u8>) {
        if bits == 64 {
            out.extend_from_slice(bytemuck::cast_slice(elements));
        } else {
            pack::<Gf64>(bytemuck::cast_slice(elements), bits, out);
        }
    }

    fn unpack(bytes: &[u8], bits: u32, elements: &mut [Self]) -> Option<()> {
        unpack::<Gf64>(bytes, bits, bytemuck::cast_slice_mut(elements))
    }
}

impl Share for u8 {
    const BITS: u32 = 8;
    const LEAST_BITS: u32 = 8;
    const MULTIPLEX: &'static str = "multiplex-bytes";

    fn plus(self, other: Self) -> Self {
        self ^ other
    }

    fn minus(self, other: Self) -> Self {
        self ^ other
    }

    fn times(self, bit: bool) -> Self {
        self & Self::from(bit).wrapping_neg()
    }

    fn flipped(self, _: bool) -> Self {
        self
    }

    fn low(self, _: u32) -> Self {
        self
    }

    fn pack(elements: &[Self], _: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(elements);
    }

    fn unpack(bytes: &[u8], bits: u32, elements: &mut [Self]) -> Option<()> {
        assert_eq!(bytes.len(), packed_len(elements.len(), bits), "as many bytes as the elements take");
        elements.copy_from_slice(bytes);
        Some(())
    }
}

/// A party's shares of rows of elements; wiped on drop.
#[derive(Clone)]
pub struct Shares<E: Share> {
    /// The shares are modulo `2^bits`, and below it.
    pub bits: u32,
    /// Elements of a row.
    pub width: usize,
    /// Row by row.
    pub values: Vec<E>,
}

impl<E: Share> Shares<E> {
    /// The sum of all rows: this party's shares of the columns' sums.
    pub fn column_sums(&self) -> Vec<E> {
        let mut sums = vec![E::default(); self.width];
        for (i, &value) in self.values.iter().enumerate() {
            let sum = &mut sums[i % self.width];
            *sum = sum.plus(value).low(self.bits);
        }
        sums
    }
}

/// From exclusive-or shares of bits to additive ones.
#[derive(Debug)]
pub enum BitsToRing {}

/// The public parameters of a conversion of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitsToRingRequest {
    /// The number of bits.
    pub len: usize,
    /// The shares are modulo `2^bits`: what holds the largest result that the caller makes of them.
    /// A count of all bits needs `ceil(log2(len + 1))`.
    pub bits: u32,
    /// Against which parties.
    pub security: Security,
}

/// A party's exclusive-or shares of bits; wiped on drop.
#[derive(Clone)]
pub struct SharedBits {
    /// A share each.
    pub bits: Vec<bool>,
}

impl Task for BitsToRing {
    const NAME: &'static str = "bits-to-ring";
    type Request = BitsToRingRequest;
    type SenderInput = SharedBits;
    type ReceiverInput = SharedBits;
    type SenderOutput = Shares<u64>;
    type ReceiverOutput = Shares<u64>;

    fn holds(
        sent: &SharedBits,
        asked: &SharedBits,
        sender: &Shares<u64>,
        receiver: &Shares<u64>,
    ) -> Result<(), String> {
        let expected: Vec<u64> = sent.bits.iter().zip(&asked.bits).map(|(s, r)| u64::from(s ^ r)).collect();
        stand_for(&expected, 1, sender, receiver)
    }
}

/// Shares of rows where a shared bit is set, and of zeros elsewhere: of `q_i (y_ij - t_ij)` from
/// exclusive-or shares of `q_i`. The receiver brings `y_ij`, the sender has random masks `t_ij`
/// from its set-up, zeros where nothing is masked. A corrupt sender may choose its masks.
#[derive(Debug)]
pub struct Multiplex<E>(PhantomData<fn() -> E>);

/// The public parameters of a multiplexer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplexRequest {
    /// The number of bits; each bit has a row.
    pub len: usize,
    /// Elements of a row that the sender has masks for: the first ones.
    pub masked: usize,
    /// The number of elements of a row.
    pub width: usize,
    /// The shares are modulo `2^bits`; 8 for bytes.
    pub bits: u32,
    /// Against which parties.
    pub security: Security,
}

/// A party's shares of bits, and the rows that belong to them; wiped on drop.
#[derive(Clone)]
pub struct SharedRows<E: Share> {
    /// An exclusive-or share for each row.
    pub bits: Vec<bool>,
    /// Row by row.
    pub values: Vec<E>,
}

/// What the sender of a multiplexer gets; wiped on drop.
#[derive(Clone)]
pub struct Multiplexed<E: Share> {
    /// The sender's masks, row by row, of the masked elements only.
    pub masks: Vec<E>,
    /// The sender's shares.
    pub shares: Shares<E>,
}

impl<E: Share> Task for Multiplex<E> {
    const NAME: &'static str = E::MULTIPLEX;
    type Request = MultiplexRequest;
    type SenderInput = SharedBits;
    type ReceiverInput = SharedRows<E>;
    type SenderOutput = Multiplexed<E>;
    type ReceiverOutput = Shares<E>;

    fn holds(
        sent: &SharedBits,
        asked: &SharedRows<E>,
        sender: &Multiplexed<E>,
        receiver: &Shares<E>,
    ) -> Result<(), String> {
        let (rows, width) = (sent.bits.len(), receiver.width);
        if asked.bits.len() != rows || asked.values.len() != rows * width || sender.masks.len() > rows * width {
            return Err(format!(
                "{rows} and {} bits, {} elements, {} masks",
                asked.bits.len(),
                asked.values.len(),
                sender.masks.len()
            ));
        }
        let masked = sender.masks.len() / rows.max(1);
        let product = |(i, &y): (usize, &E)| {
            let (row, column) = (i / width, i % width);
            let mask = if column < masked { sender.masks[row * masked + column] } else { E::default() };
            y.minus(mask).times(sent.bits[row] ^ asked.bits[row])
        };
        stand_for(&asked.values.iter().enumerate().map(product).collect::<Vec<E>>(), width, &sender.shares, receiver)
    }
}

/// Inner products of the sender's vector with each of the receiver's, modulo `2^64`, shared
/// additively: a row of as many shares.
#[derive(Debug)]
pub enum InnerProduct {}

/// The public parameters of inner products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerProductRequest {
    /// Elements of a vector.
    pub len: usize,
    /// Vectors of the receiver.
    pub vectors: usize,
    /// Such products in the whole run, or in all runs that share one failure budget, this one among
    /// them: they share the bound on what all results show.
    pub products: usize,
    /// Entries of the receiver's vectors, as signed numbers, lie between `-2^bits` and `2^bits`: 63
    /// for any words.
    pub bits: u32,
    /// Against which parties.
    pub security: Security,
}

/// A vector modulo `2^64`; wiped on drop.
#[derive(Clone)]
pub struct RingVector {
    /// The elements of the vector.
    pub values: Vec<u64>,
}

/// Vectors modulo `2^64`; wiped on drop.
#[derive(Clone)]
pub struct RingVectors {
    /// The elements of each.
    pub vectors: Vec<Vec<u64>>,
}

impl Task for InnerProduct {
    const NAME: &'static str = "inner-product";
    type Request = InnerProductRequest;
    type SenderInput = RingVector;
    type ReceiverInput = RingVectors;
    type SenderOutput = Shares<u64>;
    type ReceiverOutput = Shares<u64>;

    fn holds(
        sent: &RingVector,
        asked: &RingVectors,
        sender: &Shares<u64>,
        receiver: &Shares<u64>,
    ) -> Result<(), String> {
        let product =
            |y: &Vec<u64>| sent.values.iter().zip(y).fold(0, |sum: u64, (&u, &y)| sum.wrapping_add(u.wrapping_mul(y)));
        let expected: Vec<u64> = asked.vectors.iter().map(product).collect();
        if sender.bits != 64 {
            return Err(format!("shares modulo 2^{}", sender.bits));
        }
        stand_for(&expected, expected.len(), sender, receiver)
    }
}

fn stand_for<E: Share>(expected: &[E], width: usize, sender: &Shares<E>, receiver: &Shares<E>) -> Result<(), String> {
    let bits = sender.bits;
    if receiver.bits != bits || (sender.width, receiver.width) != (width, width) {
        return Err("the sides' shares are of different kinds".into());
    }
    if sender.values.len() != expected.len() || receiver.values.len() != expected.len() {
        return Err(format!("{} and {} shares of {}", sender.values.len(), receiver.values.len(), expected.len()));
    }
    let right = |(i, &expected): (usize, &E)| {
        let (s, r) = (sender.values[i], receiver.values[i]);
        s == s.low(bits) && r == r.low(bits) && s.plus(r).low(bits) == expected.low(bits)
    };
    let wrong = expected.iter().enumerate().position(|pair| !right(pair));
    wrong.map_or(Ok(()), |i| Err(format!("the shares at {i} of {} do not stand for the result", expected.len())))
}

secret_output!([E: Share] Shares<E>: values);
secret_output!([] SharedBits: bits);
secret_output!([E: Share] SharedRows<E>: bits, values);
secret_output!([E: Share] Multiplexed<E>: masks);
secret_output!([] RingVector: values);
secret_output!([] RingVectors: vectors);
