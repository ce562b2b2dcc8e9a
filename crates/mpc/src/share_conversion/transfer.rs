//! Products of numbers and the other party's bits, made from random OTs: the first figure of the
//! parent module.

use std::marker::PhantomData;
use std::ops::Range;

use vesica_kernels::aes;
use vesica_party::{Abort, Channel, Mode, Protocol, Security};
use vesica_structures::facts::{Unsupported, ceil_log2};
use vesica_structures::packing::packed_len;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Corrections, Flips};
use crate::OtSource;
use crate::silent_ot::SilentOt;
use crate::tasks::{CorrelationRequest, OtChosen, OtPairs, Share};

/// The security and the assumptions of random OTs, where nothing else is asked for.
pub(super) const SEMI_HONEST: Mode = <SilentOt as Protocol>::ENTRY.modes[0];

/// The bytes of corrections that are sent before the other direction has its turn.
const BYTES_PER_PIECE: usize = 1 << 20;

/// The longest row: eight of them fit a piece.
const MAX_ROW_BYTES: usize = BYTES_PER_PIECE / 8;

/// The most bits in one run: `Flips` is one frame.
const MAX_LEN: usize = 1 << 26;

/// What both sides agree on; the same in either direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<E> {
    /// Rows.
    pub len: usize,
    /// Elements of a row.
    pub width: usize,
    /// Bits of an element.
    pub bits: u32,
    /// Where the random OTs come from.
    source: OtSource,
    /// Bytes that the random OTs take: least and most.
    ot_bytes: [u64; 2],
    element: PhantomData<fn() -> E>,
}

impl<E: Share> Shape<E> {
    pub fn derive(
        len: usize,
        width: usize,
        bits: u32,
        security: Security,
        source: OtSource,
    ) -> Result<Self, Unsupported> {
        let refuse = |what: std::fmt::Arguments<'_>, mend: std::fmt::Arguments<'_>| Err(Unsupported::new(what, mend));
        if security != Security::SemiHonest {
            return refuse(
                format_args!("a conversion of shares against malicious parties"),
                format_args!("ask for the semi-honest mode"),
            );
        }
        if !(E::LEAST_BITS..=E::BITS).contains(&bits) {
            return refuse(
                format_args!("shares of {bits} bits"),
                format_args!("ask for {} to {}", E::LEAST_BITS, E::BITS),
            );
        }
        if !(1..=MAX_ROW_BYTES / size_of::<E>()).contains(&width) {
            return refuse(
                format_args!("rows of {width} elements"),
                format_args!("ask for 1 to {}", MAX_ROW_BYTES / size_of::<E>()),
            );
        }
        if len > MAX_LEN {
            return refuse(format_args!("{len} bits in one run"), format_args!("ask for at most {MAX_LEN} at a time"));
        }
        let mut shape = Self { len, width, bits, source, ot_bytes: [0; 2], element: PhantomData };
        // Nothing is sent for nothing.
        if len > 0 {
            let (least, most) = source.ots().predicted_bytes(&shape.ots())?.into_inner();
            shape.ot_bytes = [least, most];
        }
        Ok(shape)
    }

    /// The random OTs, one a row.
    fn ots(&self) -> CorrelationRequest {
        CorrelationRequest { len: self.len, security: Security::SemiHonest, width: None }
    }

    /// Bytes of set-up and flips: least and most.
    pub fn choice_bytes(&self) -> [u64; 2] {
        self.ot_bytes.map(|ots| ots + self.len.div_ceil(8) as u64)
    }

    /// These, and the corrections.
    pub fn predicted_bytes(&self) -> [u64; 2] {
        self.choice_bytes().map(|bytes| bytes + packed_len(self.len * self.width, self.bits) as u64)
    }

    /// The rows of each piece: whole bytes of corrections in all but the last.
    pub fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<E> {
        let (len, row_bits) = (self.len, self.width * self.bits as usize);
        let rows = (8 * BYTES_PER_PIECE / row_bits) & !7;
        (0..len).step_by(rows).map(move |start| start..len.min(start + rows))
    }

    /// Refuses an input of another size.
    pub fn check(&self, bits: usize, values: usize) -> Result<(), Unsupported> {
        if bits == self.len && values == self.len * self.width {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("the input has {bits} bits and {values} elements"),
            format_args!("give {} rows of {}, as agreed", self.len, self.width),
        ))
    }

    pub fn elements(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start * self.width..rows.end * self.width
    }

    /// `G`: the pads of some rows, one after the other. `first` is the number of the first.
    pub fn pads(&self, blocks: &[u128], first: usize) -> Secret<Vec<E>> {
        let in_row = self.width * size_of::<E>();
        let row_blocks = in_row.div_ceil(16);
        let mut pads = Secret::new(vec![E::default(); blocks.len() * self.width]);
        let mut copy = |stretched: &[u128]| {
            for (pads, row) in pads.chunks_exact_mut(self.width).zip(stretched.chunks_exact(row_blocks)) {
                bytemuck::cast_slice_mut(pads).copy_from_slice(&bytemuck::cast_slice::<_, u8>(row)[..in_row]);
            }
        };
        if row_blocks == 1 {
            copy(blocks);
        } else {
            // Each row has blocks of its own, so that no guess at a key can be tried on many rows at once.
            let numbers = (0..blocks.len() * row_blocks)
                .map(|i| ((first + i / row_blocks) as u128) << 64 | (i % row_blocks) as u128);
            let keys: Secret<Vec<u128>> =
                Secret::new((0..blocks.len() * row_blocks).map(|i| blocks[i / row_blocks]).collect());
            let mut stretched = Secret::new(vec![0; keys.len()]);
            aes::davies_meyer(&keys, &numbers.collect::<Vec<_>>(), &mut stretched);
            copy(&stretched);
        }
        pads
    }
}

/// The figure's left column: who knows the numbers.
pub(super) struct Holder<E>(Shape<E>, OtPairs);

impl<E: Share> Holder<E> {
    pub fn setup(shape: Shape<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if shape.len == 0 {
            return Ok(Self(shape, OtPairs { pairs: Vec::new() }));
        }
        let pairs = shape.source.ots().sender(&shape.ots(), ch, rng)?.run((), ch, rng)?;
        Ok(Self(shape, pairs))
    }

    /// With random OTs that exist already.
    pub fn from_ots(shape: Shape<E>, ots: OtPairs) -> Result<Self, Unsupported> {
        shape.check(ots.pairs.len(), shape.len * shape.width)?;
        Ok(Self(shape, ots))
    }

    /// The pads of some rows: of the first block of each pair, or of the second.
    pub fn pads(&self, rows: Range<usize>, block: usize) -> Secret<Vec<E>> {
        let blocks = Secret::new(self.1.pairs[rows.clone()].iter().map(|pair| pair[block]).collect::<Vec<_>>());
        self.0.pads(&blocks, rows.start)
    }

    /// Step 1. Where `d_i` is set, the blocks of a pair change places.
    pub fn receive_flips(&mut self, ch: &mut Channel) -> Result<(), Abort> {
        let flips = self.flips(ch)?;
        for (pair, flip) in self.1.pairs.iter_mut().zip(flips) {
            // The flips are public.
            *pair = if flip { [pair[1], pair[0]] } else { *pair };
        }
        Ok(())
    }

    /// Step 1 for who goes on with the pairs as they are: `d_i`.
    pub fn flips(&self, ch: &mut Channel) -> Result<Vec<bool>, Abort> {
        if self.0.len == 0 {
            return Ok(Vec::new());
        }
        let Flips(flips) = ch.recv(self.0.len)?;
        Ok(flips)
    }

    /// Step 2 for some rows of `numbers`; the share is added to `shares`.
    pub fn send(&self, rows: Range<usize>, numbers: &[E], shares: &mut [E], ch: &mut Channel) -> Result<(), Abort> {
        let shape = &self.0;
        let (zeros, mut corrections) = (self.pads(rows.clone(), 0), self.pads(rows.clone(), 1));
        let elements =
            shares[shape.elements(&rows)].iter_mut().zip(numbers).zip(zeros.iter().zip(corrections.iter_mut()));
        for ((share, &number), (&zero, correction)) in elements {
            *correction = zero.minus(*correction).plus(number);
            *share = share.minus(zero);
        }
        let mut bytes = Vec::with_capacity(packed_len(corrections.len(), shape.bits));
        E::pack(&corrections, shape.bits, &mut bytes);
        ch.send_stream::<Corrections>(&bytes)
    }
}

/// The figure's right column: who knows the bits.
pub(super) struct Chooser<E>(Shape<E>, OtChosen);

impl<E: Share> Chooser<E> {
    pub fn setup(shape: Shape<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if shape.len == 0 {
            return Ok(Self(shape, OtChosen { choices: Vec::new(), chosen: Vec::new() }));
        }
        let chosen = shape.source.ots().receiver(&shape.ots(), ch, rng)?.run((), ch, rng)?;
        Ok(Self(shape, chosen))
    }

    /// With random OTs that exist already.
    pub fn from_ots(shape: Shape<E>, ots: OtChosen) -> Result<Self, Unsupported> {
        shape.check(ots.chosen.len().max(ots.choices.len()), shape.len * shape.width)?;
        Ok(Self(shape, ots))
    }

    /// Step 1.
    pub fn send_flips(&self, o: &[bool], ch: &mut Channel) -> Result<(), Abort> {
        if self.0.len == 0 {
            return Ok(());
        }
        ch.send(&Flips((0..self.0.len).map(|row| self.flip(row, o)).collect()))
    }

    /// `d_i` of a row.
    pub fn flip(&self, row: usize, o: &[bool]) -> bool {
        o[row] ^ self.1.choices[row]
    }

    pub fn pads(&self, rows: Range<usize>) -> Secret<Vec<E>> {
        self.0.pads(&self.1.chosen[rows.clone()], rows.start)
    }

    /// Step 2 for some rows; the share is added to `shares`.
    pub fn receive(&self, rows: Range<usize>, o: &[bool], shares: &mut [E], ch: &mut Channel) -> Result<(), Abort> {
        let (shape, pads) = (&self.0, self.pads(rows.clone()));
        let mut bytes = vec![0; packed_len(pads.len(), shape.bits)];
        ch.recv_stream::<Corrections>(&mut bytes)?;
        let mut corrections = vec![E::default(); pads.len()];
        E::unpack(&bytes, shape.bits, &mut corrections)
            .ok_or(Abort::PeerMisbehaved(STRAY, "bits beyond the last correction"))?;
        let elements = shares[shape.elements(&rows)].iter_mut().zip(pads.iter().zip(&corrections));
        for (i, (share, (&pad, correction))) in elements.enumerate() {
            *share = share.plus(pad).plus(correction.times(o[rows.start + i / shape.width]));
        }
        Ok(())
    }
}

/// The step to blame for stray bits.
const STRAY: vesica_party::Step = <Corrections as vesica_party::Stream>::STEP;

/// The least ring in which a count of `len` bits does not wrap, in bits.
pub fn count_bits(len: usize) -> u32 {
    ceil_log2(len.saturating_add(1)).max(1)
}
