//! The transfer of an OKVS table, part by part as it is encoded and decoded, with cells as narrow
//! as their bound allows.

use std::ops::Range;

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::fields::Cell;
use vesica_structures::okvs::{Arrangement, EncodeFailure, FreeCells, Okvs};
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

/// Cells that travel at a time.
const CELLS_PER_MESSAGE: usize = 1 << 14;

/// Bytes of all messages for these parts of a table of `width` bits a cell.
pub fn predicted_bytes(parts: &[Range<usize>], width: u32) -> u64 {
    let part_bytes = |cells: &Range<usize>| {
        packed_len(cells.len() / CELLS_PER_MESSAGE * CELLS_PER_MESSAGE, width)
            + packed_len(cells.len() % CELLS_PER_MESSAGE, width)
    };
    parts.iter().map(|cells| part_bytes(cells) as u64).sum()
}

/// Sends a part of the table, of which cells are `width` bits wide.
pub fn send<S: Stream<Element = u8>, B: Cell>(part: &[B], width: u32, ch: &mut Channel) -> Result<(), Abort> {
    if width == B::BITS {
        return part.chunks(CELLS_PER_MESSAGE).try_for_each(|cells| ch.send_stream::<S>(bytemuck::cast_slice(cells)));
    }
    let mut packed = Vec::with_capacity(packed_len(CELLS_PER_MESSAGE, width) + 8);
    part.chunks(CELLS_PER_MESSAGE).try_for_each(|cells| {
        packed.clear();
        pack(cells, width, &mut packed);
        ch.send_stream::<S>(&packed)
    })
}

/// Encodes pairs whose values are in the arrangement's order, and sends each part of the table as
/// soon as it is there and `before` has had it. Time depends on the keys.
///
/// # Errors
/// A statistical failure if the pairs cannot be encoded.
pub fn encode_and_send_vartime<S: Stream<Element = u8>, B: Cell>(
    okvs: &impl Okvs,
    pairs: (&Arrangement, &[B]),
    free: FreeCells<'_>,
    mut before: impl FnMut(Range<usize>, &mut [B]),
    width: u32,
    ch: &mut Channel,
) -> Result<(), Abort> {
    encode_vartime(okvs, pairs, free, |place, cells| {
        before(place, cells);
        send::<S, B>(cells, width, ch)
    })
}

/// Encodes pairs whose values are in the arrangement's order, and hands each part of the table to
/// `finished` as soon as it is there. Time depends on the keys.
///
/// # Errors
/// A statistical failure if the pairs cannot be encoded.
pub fn encode_vartime<B: Cell>(
    okvs: &impl Okvs,
    (keys, values): (&Arrangement, &[B]),
    free: FreeCells<'_>,
    mut finished: impl FnMut(Range<usize>, &mut [B]) -> Result<(), Abort>,
) -> Result<(), Abort> {
    let encoded = okvs
        .encode_arranged_vartime(keys, values, free, |place, cells| finished(place, cells).map_err(Unsent::Aborted));
    encoded.map_err(|unsent| match unsent {
        Unsent::NotEncoded => Abort::StatisticalFailure("a set could not be encoded; items must be distinct"),
        Unsent::Aborted(abort) => abort,
    })
}

/// For a table that is sent under a mask: adds its part of the mask to a part of the table.
pub fn under<B: Cell>(mask: &[B]) -> impl FnMut(Range<usize>, &mut [B]) {
    move |place, cells| cells.iter_mut().zip(&mask[place]).for_each(|(cell, &mask)| *cell += mask)
}

/// Why a table was not sent.
enum Unsent {
    NotEncoded,
    Aborted(Abort),
}

impl From<EncodeFailure> for Unsent {
    fn from(_: EncodeFailure) -> Self {
        Self::NotEncoded
    }
}

/// Receives a part of `cells` cells, and hands them to `take` some at a time with their places in
/// the part.
pub fn receive<S: Stream<Element = u8>, B: Cell>(
    cells: usize,
    width: u32,
    ch: &mut Channel,
    mut take: impl FnMut(Range<usize>, &[B]),
) -> Result<(), Abort> {
    let mut values = Secret::new(vec![B::default(); CELLS_PER_MESSAGE.min(cells)]);
    let mut packed = Vec::new();
    for start in (0..cells).step_by(CELLS_PER_MESSAGE) {
        let place = start..cells.min(start + CELLS_PER_MESSAGE);
        let values = &mut values[..place.len()];
        if width == B::BITS {
            ch.recv_stream::<S>(bytemuck::cast_slice_mut(values))?;
        } else {
            packed.resize(packed_len(place.len(), width), 0);
            ch.recv_stream::<S>(&mut packed)?;
            unpack(&packed, width, values).ok_or(Abort::PeerMisbehaved(S::STEP, "the table ends in stray bits"))?;
        }
        take(place, values);
    }
    Ok(())
}
