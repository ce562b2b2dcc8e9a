//! The records of the items that come out in a round: one in each direction for each of them,
//! whoever has it, under a pad that the other side has exactly if it lacks the item.

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::secret::Secret;

use super::pads::Pads;
use super::peeling::{NOT_OWN, Peeled};
use vesica_protocols::tasks::NewRecords;
use vesica_protocols::union::plain::{self, places_per_piece};

/// This side's records, and those that came.
pub(super) struct Records {
    width: usize,
    own: Secret<Vec<u8>>,
    cells: Vec<u8>,
    new: Vec<bool>,
}

impl Records {
    pub(super) fn new(own: Vec<u8>, width: usize) -> Self {
        Self { width, own: Secret::new(own), cells: Vec::new(), new: Vec::new() }
    }

    /// Sends the records of a round, zeros for what this side lacks. `block` is that of a test, of the
    /// number in the run.
    pub(super) fn give<S: Stream<Element = u8>>(
        &self,
        peeled: &[Peeled],
        first: usize,
        pads: &Pads,
        block: impl Fn(usize) -> u128,
        ch: &mut Channel,
    ) -> Result<(), Abort> {
        let _phase = ch.phase(Phase::Payload);
        let mut cells = Vec::new();
        for peeled in peeled.chunks(places_per_piece(self.width)) {
            cells.clear();
            cells.resize(peeled.len() * self.width, 0);
            for (cell, peeled) in cells.chunks_exact_mut(self.width).zip(peeled) {
                // The work is the same for a record that this side lacks.
                let (item, mask) = if peeled.item == NOT_OWN { (0, 0) } else { (peeled.item as usize, u8::MAX) };
                let record = self.own.get(item * self.width..).unwrap_or_default();
                cell.iter_mut().zip(record).for_each(|(byte, own)| *byte = own & mask);
            }
            pads.add(&mut cells, self.width, tests(peeled, first, &block));
            ch.send_stream::<S>(&cells)?;
        }
        Ok(())
    }

    /// Receives what the other side's [`give`](Self::give) sends.
    pub(super) fn take<S: Stream<Element = u8>>(
        &mut self,
        peeled: &[Peeled],
        first: usize,
        pads: &Pads,
        block: impl Fn(usize) -> u128,
        ch: &mut Channel,
    ) -> Result<(), Abort> {
        let _phase = ch.phase(Phase::Payload);
        for peeled in peeled.chunks(places_per_piece(self.width)) {
            let cells = plain::next::<S>(&mut self.cells, peeled.len() * self.width, ch)?;
            pads.add(cells, self.width, tests(peeled, first, &block));
            self.new.extend(peeled.iter().map(|peeled| peeled.item == NOT_OWN));
        }
        Ok(())
    }

    /// What this side lacks.
    pub(super) fn into_new(self) -> NewRecords {
        NewRecords::new(self.width, self.width, self.cells, Bits::from_iter(self.new))
    }
}

/// The tests' numbers in the run, and their blocks.
fn tests(peeled: &[Peeled], first: usize, block: impl Fn(usize) -> u128) -> impl Iterator<Item = (usize, u128)> {
    peeled.iter().map(move |peeled| {
        let test = first + peeled.test as usize;
        (test, block(test))
    })
}
