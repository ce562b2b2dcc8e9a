//! Arrows I to III: one random OT a place, turned by a bit so that the receiver has the block that
//! opens it exactly where its item is common.

use std::marker::PhantomData;

use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{OtChosen, OtPairs};
use vesica_party::{Abort, Channel, Party, Protocol};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Arrows, Flips, Items, Records, Totals, Values};
use crate::tasks::Over;

/// Places that are worth a task of a thread.
const PLACES_PER_THREAD_TASK: usize = 1 << 10;

/// `G` in a session.
pub struct Pad([u8; 32]);

impl Pad {
    /// The pads of this session.
    pub fn new<A: Arrows>(ch: &Channel) -> Self {
        Self(blake3::derive_key(A::PAD_CONTEXT, &ch.session()))
    }

    /// Fills `out` with `G(block)`.
    pub fn fill(&self, block: u128, out: &mut [u64]) {
        blake3::Hasher::new_keyed(&self.0)
            .update(&block.to_le_bytes())
            .finalize_xof()
            .fill(bytemuck::cast_slice_mut(out));
    }

    /// Adds `G(block, place)` to the cell of each place, `width` bytes each. The place is hashed since
    /// much of a record may be known: otherwise one guess at a block could be tried at all places.
    fn turn<B: Sync>(&self, cells: &mut [u8], width: usize, blocks: &[B], block: impl Fn(&B) -> u128 + Sync) {
        let pieces =
            cells.par_chunks_mut(PLACES_PER_THREAD_TASK * width).zip(blocks.par_chunks(PLACES_PER_THREAD_TASK));
        pieces.enumerate().for_each(|(piece, (cells, blocks))| {
            let mut pad = Secret::new(vec![0u8; width]);
            let places = piece * PLACES_PER_THREAD_TASK..;
            for ((cell, of), place) in cells.chunks_exact_mut(width).zip(blocks).zip(places) {
                blake3::Hasher::new_keyed(&self.0)
                    .update(&block(of).to_le_bytes())
                    .update(&(place as u64).to_le_bytes())
                    .finalize_xof()
                    .fill(&mut pad);
                cell.iter_mut().zip(pad.iter()).for_each(|(byte, pad)| *byte ^= pad);
            }
        });
    }
}

/// `sums += others`, column by column.
pub fn add(mut sums: Vec<u64>, others: Vec<u64>) -> Vec<u64> {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = sum.wrapping_add(other);
    }
    sums
}

/// The sender's half of the OTs.
pub struct OtSender<A>(OtPairs, PhantomData<fn() -> A>);

impl<A: Arrows> OtSender<A> {
    /// Its set-up; none where the protocol ends with the test.
    pub fn setup(
        ots: Option<&<A::Ots as Protocol>::Params>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let pairs = match ots {
            Some(ots) => <A::Ots as Protocol>::Sender::setup(ots, ch, rng)?.run((), ch, rng)?,
            None => OtPairs { pairs: Vec::new() },
        };
        Ok(Self(pairs, PhantomData))
    }

    /// Step I; for each place `k[d]`, which the receiver has where nothing is common, and `k[1 +
    /// d]`, which it has where the item is.
    pub fn blocks(&self, ch: &mut Channel) -> Result<Secret<Vec<[u128; 2]>>, Abort> {
        let pairs = &self.0.pairs;
        let mut flips = vec![0; pairs.len().div_ceil(8)];
        if !flips.is_empty() {
            ch.recv_stream::<Flips<A>>(&mut flips)?;
        }
        let turned = |(place, &[zero, one]): (usize, &[u128; 2])| {
            if flips[place / 8] >> (place % 8) & 1 == 0 { [zero, one] } else { [one, zero] }
        };
        Ok(Secret::new(pairs.iter().enumerate().map(turned).collect()))
    }

    /// Steps I and II of the intersection: `item` says what lies at a place.
    pub fn give_items(self, item: impl Fn(usize) -> u128, ch: &mut Channel) -> Result<(), Abort> {
        let blocks = self.blocks(ch)?;
        let padded: Vec<u128> = blocks.iter().enumerate().map(|(place, [_, common])| item(place) ^ common).collect();
        ch.send_stream::<Items<A>>(&padded)
    }

    /// Steps I and II of the union: a cell of `width` bytes for each place. Without OTs the receiver
    /// is to have all of them.
    pub fn give_records(self, mut cells: Vec<u8>, width: usize, ch: &mut Channel) -> Result<(), Abort> {
        let blocks = self.blocks(ch)?;
        if cells.is_empty() {
            return Ok(());
        }
        Pad::new::<A>(ch).turn(&mut cells, width, &blocks, |[stranger, _]| *stranger);
        ch.send_stream::<Records<A>>(&cells)
    }

    /// Steps I to III of sums: `values` says what is to be added up for a place, a value for each sum
    /// of `of_all`, which goes over all items.
    pub fn give_values<'a>(
        self,
        over: Over,
        of_all: &[u64],
        values: impl Fn(usize) -> &'a [u64] + Sync,
        ch: &mut Channel,
    ) -> Result<(), Abort> {
        let columns = of_all.len();
        let blocks = self.blocks(ch)?;
        let pad_of = Pad::new::<A>(ch);
        let mut padded = vec![0; blocks.len() * columns];
        let pieces = padded
            .par_chunks_mut(PLACES_PER_THREAD_TASK * columns)
            .zip(blocks.par_chunks(PLACES_PER_THREAD_TASK))
            .enumerate();
        let masks = pieces
            .map(|(piece, (padded, blocks))| {
                let mut masks = vec![0u64; columns];
                let mut pad = Secret::new(vec![0; columns]);
                for (place, (padded, [stranger, common])) in
                    (piece * PLACES_PER_THREAD_TASK..).zip(padded.chunks_exact_mut(columns).zip(blocks))
                {
                    pad_of.fill(*stranger, padded);
                    pad_of.fill(*common, &mut pad);
                    for (((padded, mask), pad), value) in
                        padded.iter_mut().zip(&mut masks).zip(pad.iter()).zip(values(place))
                    {
                        *mask = mask.wrapping_add(*padded);
                        *padded = padded.wrapping_add(*value).wrapping_sub(*pad);
                    }
                }
                masks
            })
            .reduce(|| vec![0; columns], add);
        if !padded.is_empty() {
            ch.send_stream::<Values<A>>(&padded)?;
        }
        let share = |(mask, &of_all): (u64, &u64)| over.sender_share(mask.wrapping_neg(), of_all);
        let totals: Vec<u64> = masks.into_iter().zip(of_all).map(share).collect();
        ch.send_stream::<Totals<A>>(&totals)
    }
}

/// The receiver's half of the OTs.
pub struct OtReceiver<A>(OtChosen, PhantomData<fn() -> A>);

impl<A: Arrows> OtReceiver<A> {
    /// Its set-up; none where the protocol ends with the test.
    pub fn setup(
        ots: Option<&<A::Ots as Protocol>::Params>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let chosen = match ots {
            Some(ots) => <A::Ots as Protocol>::Receiver::setup(ots, ch, rng)?.run((), ch, rng)?,
            None => OtChosen { choices: Vec::new(), chosen: Vec::new() },
        };
        Ok(Self(chosen, PhantomData))
    }

    /// The blocks `k_i[c_i]`.
    pub fn chosen(&self) -> &[u128] {
        &self.0.chosen
    }

    /// Step I; the bits `e`, one for each OT.
    pub fn choose(&self, found: &Bits, ch: &mut Channel) -> Result<Vec<bool>, Abort> {
        if self.0.choices.is_empty() {
            return Ok(Vec::new());
        }
        let common: Vec<bool> = found.iter().collect();
        let turned: Vec<bool> = common.iter().zip(&self.0.choices).map(|(common, choice)| common ^ choice).collect();
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        ch.send_stream::<Flips<A>>(&turned.chunks(8).map(byte).collect::<Vec<u8>>())?;
        Ok(common)
    }

    /// Steps I and II of the intersection: the items at the places of `found`; noise at others.
    pub fn take_items(self, found: &Bits, ch: &mut Channel) -> Result<Vec<u128>, Abort> {
        let mut items = vec![0; self.choose(found, ch)?.len()];
        ch.recv_stream::<Items<A>>(&mut items)?;
        items.iter_mut().zip(self.chosen()).for_each(|(item, pad)| *item ^= pad);
        Ok(items)
    }

    /// Steps I and II of the union: a cell of `width` bytes for each place, noise at those of `found`.
    /// Without OTs the cells come without pads. The work is the same whatever is found.
    pub fn take_records(self, found: &Bits, width: usize, ch: &mut Channel) -> Result<Vec<u8>, Abort> {
        self.choose(found, ch)?;
        let mut cells = vec![0; found.len() * width];
        if !cells.is_empty() {
            ch.recv_stream::<Records<A>>(&mut cells)?;
        }
        Pad::new::<A>(ch).turn(&mut cells, width, self.chosen(), |block| *block);
        Ok(cells)
    }

    /// Steps I to III of sums: those of the values at the places of `found`, or of all other values.
    pub fn take_sums(self, over: Over, found: &Bits, columns: usize, ch: &mut Channel) -> Result<Vec<u64>, Abort> {
        let common = self.choose(found, ch)?;
        let mut padded = vec![0; common.len() * columns];
        if !padded.is_empty() {
            ch.recv_stream::<Values<A>>(&mut padded)?;
        }
        let pad_of = Pad::new::<A>(ch);
        let pieces = padded
            .par_chunks(PLACES_PER_THREAD_TASK * columns)
            .zip(self.chosen().par_chunks(PLACES_PER_THREAD_TASK))
            .zip(common.par_chunks(PLACES_PER_THREAD_TASK));
        let masked = pieces
            .map(|((padded, blocks), common)| {
                let mut sums = vec![0u64; columns];
                let mut pad = Secret::new(vec![0; columns]);
                for ((padded, &chosen), &common) in padded.chunks_exact(columns).zip(blocks).zip(common) {
                    pad_of.fill(chosen, &mut pad);
                    let taken = u64::from(common).wrapping_neg();
                    for ((sum, pad), padded) in sums.iter_mut().zip(pad.iter()).zip(padded) {
                        *sum = sum.wrapping_add(*pad).wrapping_add(padded & taken);
                    }
                }
                sums
            })
            .reduce(|| vec![0; columns], add);
        let mut totals = vec![0; columns];
        ch.recv_stream::<Totals<A>>(&mut totals)?;
        Ok(add(masked.into_iter().map(|share| over.receiver_share(share)).collect(), totals))
    }
}
