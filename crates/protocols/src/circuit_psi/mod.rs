//! Circuit PSI: shares of which items are common, and computations on them.
//!
//! ```text
//!   Sender: X, payloads                                               Receiver: Y, payloads
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!                                                                     2. cuckoo table: y in one of its 3 bins
//!   3. x in each of its 3 bins
//!   5. r_i, tau_i of each bin random, out of set-up
//!      keys H(x || j),           [ 4, 6, 7: OPPRF ]                   key H(y || j) of each full bin
//!      values r_i || (payload_x masked by tau_i)                      r'_i || tau'_i
//!                                [ 8: equality tests ]
//!      share of q_i = (r_i = r'_i)                                    share of q_i
//!                                [ 8: multiplexer ]
//!      share of q_i (payloads)                                        share of q_i (payloads)
//! ```
//!
//! A bin whose item is common gives `r'_i = r_i`, and `tau'_i` unmasks the payload with `tau_i`;
//! any other gives something random, for the hint programs only the sender's own keys. However many
//! items of the sender share a bin, it takes one test.
//!
//! What is in this folder itself is common to the papers: bins and keys, steps 1 to 8 around any
//! OPPRF ([`BinOpprf`]), and the multiplexer around any way to find out what matched
//! ([`Matching`]). A paper's folder has what it does for steps 4, 6 and 7, or for all up to the
//! tests.
//!
//! Two interfaces are enough. [`BinOpprf`] is what papers differ in most: polynomials, VOLE, or the
//! broken hint, around the same bins and tests. [`Matching`] is there because two papers
//! do not test what an OPPRF gives, while what follows is the same: `cgs22` has two
//! OPPRFs and a membership test, `pepsi` compares under homomorphic encryption. All end alike: the receiver holds what the
//! sender [carries](Carry) for common items, be it for the shares of `shares` or for the totals of `aggregate`. A row itself is a plain [`Protocol`]: it names its
//! description, a matching, the equality test and the source of random OTs, by one use of `circuit_row` or `aggregate_row`.
//!
//! Semi-honest only: a cheating receiver may learn from where its items do not fit into bins, a
//! cheating sender may program what it likes.

pub mod aggregate;
pub mod bins;
pub mod entry;
pub mod matching;
pub mod messages;
pub mod params;
pub mod psty19;
pub mod shares;
pub mod vole;

use std::fmt::Debug;
use std::ops::RangeInclusive;

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{PrfOutputs, Programmed};
use vesica_mpc::{OtSource, peqt};
use vesica_party::{Abort, Channel, Entry, Party, Protocol, Role, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::okvs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

pub use matching::OpprfMatching;
pub use params::Params;

use crate::okvs_choice::chosen_okvs;
use crate::tasks::Shares;

/// A row of this folder, for what is built on shares that it gives.
pub trait CircuitRow: Protocol<Task = Shares> {
    /// Bins of the receiver's table, for each of which the sides get shares.
    fn bins(params: &Self::Params) -> usize;
}

/// An oblivious programmable PRF whose keys lie in bins, at most one of the receiver's in each.
pub trait BinOpprf: Send + Sync + 'static {
    /// The parameters that both sides derive from the sizes.
    type Params: Clone + Debug + PartialEq + Send + Sync;
    /// The sender, to be set up.
    type Sender: Party<Params = Self::Params> + Send;
    /// The receiver, to be set up.
    type Receiver: Party<Params = Self::Params> + Send;

    /// The probability, in units of `2^-128`, that some value is not random though it should be; `sender_keys` are
    /// those of all runs that share the budget.
    fn failure(sender_keys: usize) -> u128;
    /// The parameters; never called where a side has no keys.
    fn derive(sizes: &OpprfSizes) -> Result<Self::Params, Unsupported>;
    /// Bytes of all messages.
    fn predicted_bytes(params: &Self::Params) -> u64;
    /// The sender's run.
    fn program(sender: Self::Sender, pairs: Pairs, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort>;
    /// The receiver's run: a value for each key.
    fn ask(receiver: Self::Receiver, asked: Asked, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort>;
}

/// The sizes of an OPPRF.
#[derive(Clone, Copy, Debug)]
pub struct OpprfSizes {
    /// Keys of the receiver.
    pub receiver_keys: usize,
    /// Keys of the sender.
    pub sender_keys: usize,
    /// Bins.
    pub bins: usize,
    /// Width of a value.
    pub output_bits: u32,
    /// The OKVS, for an OPPRF that takes one.
    pub okvs: okvs::Kind,
    /// Runs that share one failure budget.
    pub runs: usize,
}

/// The pairs that the sender programs.
pub struct Pairs {
    /// The bin of each key.
    pub bins: Vec<u32>,
    /// Keys and values.
    pub programmed: Programmed,
}

/// The keys that the receiver asks for.
pub struct Asked {
    /// The bin of each key, in ascending order.
    pub bins: Vec<u32>,
    /// The keys.
    pub keys: Secret<Vec<u128>>,
}

impl Asked {
    /// A key for each of all bins, random ones in those that are empty: they are none of the
    /// sender's.
    pub fn in_all_bins(&self, bins: usize, rng: &mut SecretRng) -> Vec<u128> {
        let mut keys: Vec<u128> = (0..bins).map(|_| rng.block()).collect();
        self.bins.iter().zip(self.keys.iter()).for_each(|(&bin, &key)| keys[bin as usize] = key);
        keys
    }
}

/// What a row asks of a [`Matching`].
#[derive(Clone, Copy, Debug)]
pub struct MatchingRequest {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Width of the sender's payload, in bytes.
    pub carried_bytes: usize,
    /// The parts that are exchanged.
    pub exchangeable: Exchangeable,
    /// Runs of these sizes, one for each bucket, that share one failure budget.
    pub runs: usize,
}

/// Where the random OTs of the product's rows come from, by the values of the choice `ot`.
pub const SOURCES: &[(&str, OtSource)] = &[("silent", OtSource::SILENT), ("softspoken", OtSource::SOFT_SPOKEN)];

/// The parts of a circuit PSI that its papers exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchangeable {
    /// How bins are tested.
    pub equality: peqt::Variant,
    /// Where the random tables of the tests, and OTs of payloads, come from.
    pub ots: OtSource,
    /// What else these may come from, by the values of the choice `ot`.
    pub sources: &'static [(&'static str, OtSource)],
    /// The OKVS of an OPPRF that takes one.
    pub okvs: okvs::Kind,
}

impl Exchangeable {
    /// These tests, on silent VOLE and the band OKVS.
    pub const fn new(equality: peqt::Variant) -> Self {
        Self { equality, ots: OtSource::SILENT, sources: SOURCES, okvs: okvs::Kind::Band }
    }

    /// The same with OTs from one of these sources, as the row's choice says.
    pub const fn from(self, sources: &'static [(&'static str, OtSource)]) -> Self {
        Self { sources, ..self }
    }

    /// The same on another OKVS.
    pub const fn on(self, okvs: okvs::Kind) -> Self {
        Self { okvs, ..self }
    }

    /// As the description of a row or variant has it; what that leaves open stays as it is.
    pub fn chosen(self, entry: &Entry) -> Self {
        let equality = match entry.chosen("equality") {
            "tree" => peqt::Variant::AndTree,
            "cubic" => peqt::Variant::Cubic,
            _ => self.equality,
        };
        let chosen = entry.chosen("ot");
        let ots = self.sources.iter().find(|(name, _)| *name == chosen).map_or(self.ots, |(_, source)| *source);
        Self { equality, ots, okvs: chosen_okvs(entry, self.okvs), ..self }
    }
}

/// What the sender carries for an item (by number) in a bin, written to as many bytes as agreed: the item's payload, masked
/// by what the sender keeps as its share of the payload in that bin. These masks hide nothing else.
pub type Carry<'a> = dyn Fn(usize, usize, &mut [u8]) + Sync + 'a;

/// [Carries](Carry) nothing, for what needs no payloads.
pub fn nothing(_item: usize, _bin: usize, _out: &mut [u8]) {}

/// Steps 1 to 8 without the multiplexer: how the sides come to shares of what matched.
pub trait Matching: Send + Sync + 'static {
    /// The parameters of the parts in which the sides differ.
    type Parts: Clone + Debug + Send + Sync;
    /// The sender, set up.
    type Sender: Send;
    /// The receiver, set up.
    type Receiver: Send;

    /// The parameters for a request.
    fn derive(request: &MatchingRequest) -> Result<Params<Self::Parts>, Unsupported>;
    /// Bytes of all messages.
    fn predicted_bytes(params: &Params<Self::Parts>) -> RangeInclusive<u64>;
    /// See [`Protocol::further_memory`].
    fn further_memory(_params: &Params<Self::Parts>, _role: Role) -> u64 {
        0
    }
    /// The sender's set-up.
    fn sender(params: &Params<Self::Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Sender, Abort>;
    /// The receiver's set-up.
    fn receiver(params: &Params<Self::Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Receiver, Abort>;
    /// The sender's run: its shares of membership. `carry` says what goes to the receiver if it has an item.
    fn send(
        sender: Self::Sender,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort>;
    /// The receiver's run.
    fn receive(
        receiver: Self::Receiver,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Matched, Abort>;
}

/// The result of the receiver, bin by bin.
pub struct Matched {
    /// The item in each bin.
    pub items: Vec<Option<u32>>,
    /// The share of whether the item is common.
    pub membership: Bits,
    /// What the sender carries for the item if it is common; random otherwise.
    pub carried: Secret<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use vesica_party::Phase;
    use vesica_testkit::two_party;

    use super::psty19::PolynomialOpprf;
    use super::vole::opprf::VoleOpprf;
    use super::*;

    /// How often each bit of the last block of an output is one, for as many keys that the sender
    /// programmed or did not.
    fn ones<O: BinOpprf>(okvs: okvs::Kind, output_bits: u32, programmed: bool) -> [usize; 128] {
        let count = KEYS;
        let sizes = OpprfSizes { receiver_keys: count, sender_keys: count, bins: count, output_bits, okvs, runs: 1 };
        let params = O::derive(&sizes).expect("served");
        let bins: Vec<u32> = (0..count as u32).collect();
        let mut rng = SecretRng::insecure_from_seed(7);
        let keys: Vec<u128> = (0..count).map(|_| rng.block()).collect();
        let others: Vec<u128> = if programmed { keys.clone() } else { (0..count).map(|_| rng.block()).collect() };
        let blocks = output_bits.div_ceil(128) as usize;
        let width = |block: usize| (output_bits as usize - 128 * block).min(128);
        let values = (0..blocks * count).map(|i| rng.block() >> (128 - width(i / count))).collect();
        let pairs = Pairs { bins: bins.clone(), programmed: Programmed { keys: others, values } };
        let ((), outputs) = two_party(
            |ch, rng| {
                let _phase = ch.phase(Phase::Encode);
                let sender = Party::setup(&params, ch, rng)?;
                O::program(sender, pairs, ch, rng)
            },
            |ch, rng| {
                let _phase = ch.phase(Phase::Decode);
                let receiver = Party::setup(&params, ch, rng)?;
                O::ask(receiver, Asked { bins, keys: Secret::new(keys) }, ch, rng)
            },
        );
        let last = &outputs.values[(blocks - 1) * count..];
        std::array::from_fn(|bit| last.iter().filter(|&&value| value >> bit & 1 == 1).count())
    }

    const KEYS: usize = 400;

    /// What the receiver sees of an output, used or not, is as likely at a common key as at any
    /// other: else it reads the intersection off the hint.
    #[test]
    fn no_bit_of_an_output_tells_which_keys_were_programmed() {
        fn check<O: BinOpprf>(okvs: okvs::Kind) {
            for output_bits in [62, 126, 134] {
                let [common, foreign] = [true, false].map(|programmed| ones::<O>(okvs, output_bits, programmed));
                for (bit, (common, foreign)) in common.into_iter().zip(foreign).enumerate() {
                    // Differences have a deviation of 14 at most; a bit that is always zero on one side differs by 200.
                    assert!(
                        common.abs_diff(foreign) < 100,
                        "bit {bit} of {output_bits}: {common} and {foreign} of {KEYS}"
                    );
                }
            }
        }
        check::<PolynomialOpprf>(okvs::Kind::Band);
        check::<VoleOpprf<false>>(okvs::Kind::Band);
        check::<VoleOpprf<true>>(okvs::Kind::Clustered);
    }
}
