//! Random 1-of-2^k OT of bits from random OTs of blocks, after Naor and Pinkas (STOC 1999): the raw material of circuits from
//! any random OT.
//!
//! ```text
//!     sender                                                    receiver
//!     m_i[0], m_i[1]         [ k random OTs, i < k ]            c_i, m_i[c_i]
//!   table[j] = sum over i of bit j of m_i[j_i], j < 2^k         choice = (c_0, .., c_(k - 1)),  bit = table[choice]
//! ```
//!
//! `j_i` is bit `i` of `j`. A place `j` other than the choice differs from it in some bit `i`, and bit `j` of
//! `m_i[1 - c_i]`, a block that the receiver does not have, masks it there and nowhere else. So the other places are
//! uniform to the receiver if the blocks are, and nothing is assumed or hashed beyond the OTs.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, CostClass, Entry, Mode, Party, Protocol, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::random_one_of_n_ot::{MAX_LEN, MAX_WIDTH, check};
use crate::tasks::{CorrelationRequest, Lookups, OtChosen, OtPairs, RandomOneOfNOt, RandomOt, Tables};

/// A protocol for random OTs whose OTs come batch after batch from one set-up, for who keeps little of each.
pub trait OtBatches: Protocol<Task = RandomOt> {
    /// The name of the row for tables that are made of them.
    const TABLES: &'static str;

    /// The parameters for so many OTs. The numbers that memory bounds are those of a batch.
    ///
    /// # Errors
    /// If the protocol does not make as many.
    fn batches(len: usize) -> Result<Self::Params, Unsupported>;

    /// Makes the sender's blocks, and gives each batch to `keep`.
    ///
    /// # Errors
    /// If the channel fails.
    fn send_batches(
        params: &Self::Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        keep: impl FnMut(OtPairs),
    ) -> Result<(), Abort>;

    /// Makes the receiver's choices and blocks, and gives each batch to `keep`.
    ///
    /// # Errors
    /// If the channel fails.
    fn receive_batches(
        params: &Self::Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        keep: impl FnMut(OtChosen),
    ) -> Result<(), Abort>;
}

/// Random tables from random OTs.
#[derive(Debug)]
pub struct TablesOf<P>(PhantomData<fn() -> P>);

/// The agreed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Params<P> {
    len: usize,
    width: u32,
    /// Of the random OTs.
    ots: P,
}

/// The one mode that there is: tables are for circuits of parties that follow the protocol.
const fn modes<P: OtBatches>() -> [Mode; 1] {
    let mode = P::ENTRY.modes[0];
    assert!(matches!(mode.security, Security::SemiHonest), "the first mode is the semi-honest one");
    [mode]
}

impl<P: OtBatches> TablesOf<P> {
    const MODES: &'static [Mode] = &modes::<P>();
}

impl<P: OtBatches<Params: Clone>> Protocol for TablesOf<P> {
    const ENTRY: Entry = Entry {
        id: P::TABLES,
        aliases: &[],
        variants: &[],
        task: RandomOneOfNOt::NAME,
        paper: Paper {
            key: "NP99",
            title: "Oblivious Transfer and Polynomial Evaluation",
            reference: "M. Naor, B. Pinkas, STOC 1999",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the tables are random, and masked by bits of random blocks themselves instead of by a PRF under chosen keys",
        ],
        modes: Self::MODES,
    };
    type Task = RandomOneOfNOt;
    type Params = Params<P::Params>;
    type Sender = Sender<P>;
    type Receiver = Receiver<P>;

    fn derive(request: &CorrelationRequest) -> Result<Params<P::Params>, Unsupported> {
        let width = check(request)?;
        if request.len > MAX_LEN {
            return Err(Unsupported::new(
                format_args!("{} random tables in one run", request.len),
                format_args!("ask for at most {MAX_LEN} at a time"),
            ));
        }
        Ok(Params { len: request.len, width, ots: P::batches(request.len * width as usize)? })
    }

    fn predicted_bytes(params: &Params<P::Params>) -> RangeInclusive<u64> {
        if params.len == 0 { 0..=0 } else { P::predicted_bytes(&params.ots) }
    }
}

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender<P>(Tables, PhantomData<fn() -> P>);

impl<P: OtBatches> Party for Sender<P> {
    type Params = Params<P::Params>;
    type Input = ();
    type Output = Tables;

    fn setup(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let width = params.width as usize;
        let mut output = Tables { width: params.width, tables: Vec::new() };
        if params.len > 0 {
            // The OTs of a table may be of two batches.
            let mut rest = Secret::new(Vec::with_capacity(MAX_WIDTH as usize));
            P::send_batches(&params.ots, ch, rng, |batch| {
                // Not before: until here the peer has shown nothing.
                output.tables.reserve_exact(params.len - output.tables.len());
                let mut pairs = &batch.pairs[..];
                while rest.len() + pairs.len() >= width {
                    let (next, others) = pairs.split_at(width - rest.len());
                    rest.extend_from_slice(next);
                    pairs = others;
                    output.tables.push(table(&rest));
                    rest.clear();
                }
                rest.extend_from_slice(pairs);
            })?;
        }
        Ok(Self(output, PhantomData))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Tables, Abort> {
        Ok(self.0)
    }
}

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver<P>(Lookups, PhantomData<fn() -> P>);

impl<P: OtBatches> Party for Receiver<P> {
    type Params = Params<P::Params>;
    type Input = ();
    type Output = Lookups;

    fn setup(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let width = params.width as usize;
        let mut output = Lookups { width: params.width, entries: Vec::new() };
        if params.len > 0 {
            let mut rest = Secret::new(Vec::with_capacity(MAX_WIDTH as usize));
            P::receive_batches(&params.ots, ch, rng, |batch| {
                output.entries.reserve_exact(params.len - output.entries.len());
                for ot in batch.choices.iter().copied().zip(batch.chosen.iter().copied()) {
                    rest.push(ot);
                    if rest.len() == width {
                        output.entries.push(entry(&rest));
                        rest.clear();
                    }
                }
            })?;
        }
        Ok(Self(output, PhantomData))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Lookups, Abort> {
        Ok(self.0)
    }
}

/// The places `j` of a table whose bit `i` is one, as a bit each.
const PLACES: [u16; MAX_WIDTH as usize] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

/// The table of some pairs of blocks.
fn table(pairs: &[[u128; 2]]) -> u16 {
    let all = u16::MAX >> (16 - (1 << pairs.len()));
    let bits = |(&[zero, one], places): (&[u128; 2], u16)| (zero as u16 & !places) ^ (one as u16 & places);
    pairs.iter().zip(PLACES).map(bits).fold(0, |table, bits| table ^ bits) & all
}

/// The choice in the low bits, and the table's bit there in the highest.
fn entry(ots: &[(bool, u128)]) -> u8 {
    let choice = ots.iter().enumerate().fold(0, |choice, (i, &(bit, _))| choice | u8::from(bit) << i);
    let sum = ots.iter().fold(0, |sum, (_, block)| sum ^ block);
    choice | ((sum >> choice) as u8 & 1) << 7
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The receiver has the bit at its choice, and each other place has a bit of a block of its own that the receiver lacks.
    #[test]
    fn a_table_is_known_at_the_choice_and_masked_elsewhere() {
        let mut rng = SecretRng::insecure_from_seed(9);
        for width in 1..=MAX_WIDTH as usize {
            for choice in 0..1usize << width {
                let pairs: Vec<[u128; 2]> = (0..width).map(|_| [rng.block(), rng.block()]).collect();
                let bit = |i: usize| choice >> i & 1;
                let chosen: Vec<_> = (0..width).map(|i| (bit(i) == 1, pairs[i][bit(i)])).collect();
                let (whole, entry) = (table(&pairs), entry(&chosen));
                assert_eq!((usize::from(entry & 0x7f), u16::from(entry >> 7)), (choice, whole >> choice & 1));
                assert_eq!(u32::from(whole) >> (1 << width), 0);
                for place in (0..1 << width).filter(|&place| place != choice) {
                    let i = (0..width).find(|&i| place >> i & 1 != bit(i)).expect("another place");
                    let mut other = pairs.clone();
                    other[i][1 - bit(i)] ^= 1 << place;
                    assert_eq!(table(&other), whole ^ 1 << place, "place {place} of {width} bits");
                }
            }
        }
    }
}
