//! Ideal functionalities of this crate, as predicates over both sides' outputs.

mod batch_prf;
mod equality;
mod permute_bits;
mod permute_share;

use std::collections::HashMap;
use std::marker::PhantomData;

use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf128, Value};
use zeroize::Zeroize;

pub use batch_prf::{BatchPrf, BatchPrfRequest, Evaluations, OneOfNOt};
pub use equality::{Equality, EqualityRequest, Tested};
pub use permute_bits::{BitsToPermute, PermuteBitsRequest, PermuteShareBits};
pub(crate) use permute_share::low;
pub use permute_share::{PermuteShare, PermuteShareRequest, Permuted, ToPermute};

/// How many correlations, and against whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrelationRequest {
    /// How many.
    pub len: usize,
    /// Against which parties.
    pub security: Security,
    /// VOLE: `c` lies in the elements of `B` below `2^width`, a subspace over GF(2), if this says
    /// so; else anywhere in `B`. Random tables: the bits of a choice.
    pub width: Option<u32>,
}

/// Random oblivious transfer of 128-bit blocks: the sender gets pairs, the receiver one of each
/// pair by a random bit of its own. A corrupt party may choose its own outputs.
#[derive(Debug)]
pub struct RandomOt;

/// What the sender of random OTs holds.
#[derive(Clone)]
pub struct OtPairs {
    /// The two blocks of each transfer.
    pub pairs: Vec<[u128; 2]>,
}

/// What the receiver of random OTs holds.
#[derive(Clone)]
pub struct OtChosen {
    /// Which block of each pair.
    pub choices: Vec<bool>,
    /// That block.
    pub chosen: Vec<u128>,
}

impl Task for RandomOt {
    const NAME: &'static str = "random-ot";
    type Request = CorrelationRequest;
    type SenderInput = ();
    type ReceiverInput = ();
    type SenderOutput = OtPairs;
    type ReceiverOutput = OtChosen;

    fn holds(_: &(), _: &(), sender: &OtPairs, receiver: &OtChosen) -> Result<(), String> {
        let len = sender.pairs.len();
        if receiver.choices.len() != len || receiver.chosen.len() != len {
            return Err(format!("{len} pairs, {} choices, {} blocks", receiver.choices.len(), receiver.chosen.len()));
        }
        for (i, pair) in sender.pairs.iter().enumerate() {
            if receiver.chosen[i] != pair[usize::from(receiver.choices[i])] {
                return Err(format!("transfer {i} does not give the chosen block"));
            }
            if pair[0] == pair[1] {
                return Err(format!("transfer {i} has two equal blocks"));
            }
        }
        Ok(())
    }
}

/// Random 1-of-2^k OT of bits: the sender gets tables of `2^k` bits each, the receiver one bit of
/// each by a random choice of its own.
#[derive(Debug)]
pub struct RandomOneOfNOt;

/// What the sender of random tables holds; wiped on drop.
#[derive(Clone)]
pub struct Tables {
    /// `k`.
    pub width: u32,
    /// Bit `j` of a table is what a receiver of choice `j` has; the `16 - 2^k` bits above are zero.
    pub tables: Vec<u16>,
}

/// What the receiver of random tables holds; wiped on drop.
#[derive(Clone)]
pub struct Lookups {
    /// `k`.
    pub width: u32,
    /// The choice in the low `k` bits, the table's bit there in the highest.
    pub entries: Vec<u8>,
}

impl Task for RandomOneOfNOt {
    const NAME: &'static str = "random-tables";
    type Request = CorrelationRequest;
    type SenderInput = ();
    type ReceiverInput = ();
    type SenderOutput = Tables;
    type ReceiverOutput = Lookups;

    fn holds(_: &(), _: &(), sender: &Tables, receiver: &Lookups) -> Result<(), String> {
        let len = sender.tables.len();
        if receiver.entries.len() != len || receiver.width != sender.width {
            return Err(format!("{len} tables and {} entries", receiver.entries.len()));
        }
        let right = |i: &usize| {
            let (entry, table) = (receiver.entries[*i], u32::from(sender.tables[*i]));
            let choice = u32::from(entry & 0x7f);
            choice >> sender.width == 0
                && table >> (1 << sender.width) == 0
                && table >> choice & 1 == u32::from(entry >> 7)
        };
        (0..len)
            .find(|i| !right(i))
            .map_or(Ok(()), |i| Err(format!("entry {i} of {len} is not the chosen bit of its table")))
    }
}

/// Oblivious programmable PRF: the receiver learns the function at its keys, and where the sender
/// programmed a value there, that value.
#[derive(Debug)]
pub struct ProgrammedPrf;

/// The public parameters of an OPPRF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpprfRequest {
    /// Keys that the receiver asks for.
    pub receiver_keys: usize,
    /// Keys that the sender programs.
    pub sender_keys: usize,
    /// Width of an output.
    pub output_bits: u32,
    /// Against which parties.
    pub security: Security,
    /// Whether the table's values fill `F` though fewer bits are sound, as older papers have it.
    pub wide: bool,
    /// Runs of these sizes that share one failure budget.
    pub runs: usize,
}

/// Keys, all distinct, and what the function is to be there; wiped on drop.
#[derive(Clone)]
pub struct Programmed {
    /// 128-bit digests.
    pub keys: Vec<u128>,
    /// For each block of 128 bits of an output, in order: a value for each key. The bits above an
    /// output's width are not used.
    pub values: Vec<u128>,
}

/// What the receiver of an OPPRF learns; wiped on drop.
#[derive(Clone)]
pub struct PrfOutputs {
    /// For each block of 128 bits of an output, in order: its value for each key.
    pub values: Vec<u128>,
}

impl Programmed {
    /// Refuses an input that is not of the agreed sizes.
    pub(crate) fn check(&self, keys: usize, blocks: usize) -> Result<(), Unsupported> {
        if self.keys.len() == keys && self.values.len() == keys * blocks {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{} keys and {} values for an OPPRF", self.keys.len(), self.values.len()),
            format_args!("give {keys} keys with {blocks} blocks each, as agreed"),
        ))
    }
}

impl PrfOutputs {
    /// Refuses keys of another number than agreed.
    pub(crate) fn check_keys(asked: &[u128], keys: usize) -> Result<(), Unsupported> {
        if asked.len() == keys {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{} keys asked of an OPPRF", asked.len()),
            format_args!("ask for {keys}, as agreed"),
        ))
    }
}

impl Task for ProgrammedPrf {
    const NAME: &'static str = "opprf";
    type Request = OpprfRequest;
    type SenderInput = Programmed;
    type ReceiverInput = Vec<u128>;
    type SenderOutput = ();
    type ReceiverOutput = PrfOutputs;

    /// Where nothing is programmed any output holds, but not twice the same: the function is
    /// random.
    fn holds(sent: &Programmed, asked: &Vec<u128>, (): &(), out: &PrfOutputs) -> Result<(), String> {
        if asked.is_empty() || sent.keys.is_empty() {
            return Ok(());
        }
        let programmed: HashMap<u128, usize> = sent.keys.iter().enumerate().map(|(i, &key)| (key, i)).collect();
        for (block, (got, values)) in
            out.values.chunks(asked.len()).zip(sent.values.chunks(sent.keys.len())).enumerate()
        {
            // As many bits as the widest value has.
            let used = got.iter().fold(0, |used, value| used | value);
            let mask = if used == 0 { 0 } else { u128::MAX >> used.leading_zeros() };
            for (key, &value) in asked.iter().zip(got) {
                if let Some(&i) = programmed.get(key)
                    && (value ^ values[i]) & mask != 0
                {
                    return Err(format!("block {block} of a programmed key is {value:x}, not {:x}", values[i]));
                }
            }
        }
        Ok(())
    }
}

/// Subfield VOLE: `a[i] = b[i] + delta * c[i]` with `c[i]` in `B`, or in a subspace of it, and the
/// rest in `F`. A corrupt party may choose its own outputs.
#[derive(Debug)]
pub struct SubfieldVole<B>(PhantomData<fn() -> B>);

/// What the sender of a subfield VOLE holds; wiped on drop.
#[derive(Clone)]
pub struct VoleSender {
    /// The global key, the same for all elements.
    pub delta: Gf128,
    /// One element of `F` each.
    pub b: Vec<Gf128>,
}

/// What the receiver of a subfield VOLE holds; wiped on drop.
#[derive(Clone)]
pub struct VoleReceiver<B: Value> {
    /// One element of `B` each.
    pub c: Vec<B>,
    /// One element of `F` each.
    pub a: Vec<Gf128>,
}

macro_rules! secret_output {
    ([$($bound:tt)*] $output:ty: $($field:ident),+) => {
        impl<$($bound)*> Drop for $output {
            fn drop(&mut self) {
                $(self.$field.zeroize();)+
            }
        }

        impl<$($bound)*> std::fmt::Debug for $output {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($output), "(..)"))
            }
        }
    };
}
mod ring;

pub use ring::{
    BitsToRing, BitsToRingRequest, InnerProduct, InnerProductRequest, Multiplex, MultiplexRequest, Multiplexed,
    RingVector, RingVectors, Share, SharedBits, SharedRows, Shares,
};

secret_output!([] OtPairs: pairs);
secret_output!([] OtChosen: choices, chosen);
secret_output!([] Tables: tables);
secret_output!([] Lookups: entries);
secret_output!([] Programmed: keys, values);
secret_output!([] PrfOutputs: values);
secret_output!([] VoleSender: delta, b);
secret_output!([B: Value] VoleReceiver<B>: c, a);
secret_output!([V: Value] ToPermute<V>: values, shares);
secret_output!([V: Value] Permuted<V>: shares);

impl<B: Value> Task for SubfieldVole<B> {
    const NAME: &'static str = "subfield-vole";
    type Request = CorrelationRequest;
    type SenderInput = ();
    type ReceiverInput = ();
    type SenderOutput = VoleSender;
    type ReceiverOutput = VoleReceiver<B>;

    fn holds(_: &(), _: &(), sender: &VoleSender, receiver: &VoleReceiver<B>) -> Result<(), String> {
        let len = sender.b.len();
        if receiver.a.len() != len || receiver.c.len() != len {
            return Err(format!("{len} elements b, {} c, {} a", receiver.c.len(), receiver.a.len()));
        }
        let wrong = (0..len).find(|&i| receiver.a[i] != sender.b[i] + sender.delta * receiver.c[i].embed());
        wrong.map_or(Ok(()), |i| Err(format!("a = b + delta * c does not hold at {i} of {len}")))
    }
}
