//! Arrow 5: cells of the table, as narrow as the bound on a zero difference allows.

use std::ops::Range;

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::fields::Value;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

use super::messages::Table;

/// Cells that travel at a time.
const CELLS: usize = 1 << 14;

/// Bytes of the arrow for these parts of a table of `width` bits a cell.
pub(super) fn predicted_bytes(parts: &[Range<usize>], width: u32) -> u64 {
    let part_bytes = |cells: &Range<usize>| packed_len(cells.len() / CELLS * CELLS, width) + packed_len(cells.len() % CELLS, width);
    parts.iter().map(|cells| part_bytes(cells) as u64).sum()
}

/// Sends a part of the table, of which cells are `width` bits wide.
pub(super) fn send<B: Value>(part: &[B], width: u32, ch: &mut Channel) -> Result<(), Abort> {
    if width == B::BITS {
        return part.chunks(CELLS).try_for_each(|cells| ch.send_stream::<Table>(bytemuck::cast_slice(cells)));
    }
    let mut packed = Vec::with_capacity(packed_len(CELLS, width) + 8);
    part.chunks(CELLS).try_for_each(|cells| {
        packed.clear();
        pack(cells, width, &mut packed);
        ch.send_stream::<Table>(&packed)
    })
}

/// Receives a part of `cells` cells, and hands them to `take` some at a time with their places in the part.
pub(super) fn receive<B: Value>(cells: usize, width: u32, ch: &mut Channel, mut take: impl FnMut(Range<usize>, &[B])) -> Result<(), Abort> {
    let mut values = Secret::new(vec![B::default(); CELLS.min(cells)]);
    let mut packed = Vec::new();
    for start in (0..cells).step_by(CELLS) {
        let place = start..cells.min(start + CELLS);
        let values = &mut values[..place.len()];
        if width == B::BITS {
            ch.recv_stream::<Table>(bytemuck::cast_slice_mut(values))?;
        } else {
            packed.resize(packed_len(place.len(), width), 0);
            ch.recv_stream::<Table>(&mut packed)?;
            unpack(&packed, width, values).ok_or(Abort::PeerMisbehaved(Table::STEP, "the table ends in stray bits"))?;
        }
        take(place, values);
    }
    Ok(())
}
