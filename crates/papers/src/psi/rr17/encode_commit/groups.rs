//! What the sender sends for an item: a commitment to it, and the commitment's opening under its encoding for
//! each slot that the receiver may have the item in.

/// Bytes of a commitment.
pub(in crate::psi::rr17) const COMMITMENT_BYTES: usize = 32;

/// Bytes of an opening.
pub(in crate::psi::rr17) const OPENING_BYTES: usize = 16;

/// The places in a group of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of a tag.
    pub tag_bytes: usize,
    /// Wrapped openings.
    pub slots: usize,
}

impl Layout {
    /// Bytes of a tag and the opening behind it.
    pub(in crate::psi::rr17) fn cell_bytes(&self) -> usize {
        self.tag_bytes + OPENING_BYTES
    }

    /// Bytes of a group.
    pub fn group_bytes(&self) -> usize {
        COMMITMENT_BYTES + self.slots * self.cell_bytes()
    }

    /// The part of an encoding that is a tag.
    pub(in crate::psi::rr17) fn tag_of(&self, block: u128) -> u64 {
        block as u64 & (u64::MAX >> (64 - 8 * self.tag_bytes))
    }

    /// Writes a group: the tag and the wrapped opening of each slot, in the order of the slots.
    pub(in crate::psi::rr17) fn write(
        &self,
        commitment: &[u8; COMMITMENT_BYTES],
        cells: impl Iterator<Item = (u64, u128)>,
        out: &mut [u8],
    ) {
        let (first, rest) = out.split_at_mut(COMMITMENT_BYTES);
        first.copy_from_slice(commitment);
        for (out, (tag, wrapped)) in rest.chunks_exact_mut(self.cell_bytes()).zip(cells) {
            let (of_tag, of_opening) = out.split_at_mut(self.tag_bytes);
            of_tag.copy_from_slice(&tag.to_le_bytes()[..self.tag_bytes]);
            of_opening.copy_from_slice(&wrapped.to_le_bytes());
        }
    }

    /// The commitment of a group, and the tag and the wrapped opening of each of its slots.
    pub(in crate::psi::rr17) fn read<'a>(
        &self,
        group: &'a [u8],
    ) -> ([u8; COMMITMENT_BYTES], impl Iterator<Item = (u64, u128)> + use<'a>) {
        let (tag_bytes, cell_bytes) = (self.tag_bytes, self.cell_bytes());
        let (commitment, rest) = group.split_first_chunk().unwrap_or((&[0; COMMITMENT_BYTES], &[]));
        let cells = rest.chunks_exact(cell_bytes).map(move |cell| {
            let (tag, wrapped) = cell.split_at(tag_bytes);
            let tag = tag.iter().rev().fold(0, |tag, &byte| tag << 8 | u64::from(byte));
            let wrapped = wrapped.iter().rev().fold(0, |opening, &byte| opening << 8 | u128::from(byte));
            (tag, wrapped)
        });
        (*commitment, cells)
    }
}

/// The commitment to an item with this opening.
pub(in crate::psi::rr17) fn commit(key: &[u8; 32], item: u128, opening: u128) -> [u8; COMMITMENT_BYTES] {
    let bytes: [u8; 32] = bytemuck::cast([item.to_le(), opening.to_le()]);
    *blake3::keyed_hash(key, &bytes).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_as_they_were_written() {
        for tag_bytes in [1, 4, 5, 8] {
            let layout = Layout { tag_bytes, slots: 3 };
            let cells = [(1, u128::MAX), (layout.tag_of(u128::MAX), 2), (layout.tag_of(0x0102_0304_0506_0708), 3)];
            let mut bytes = vec![0; layout.group_bytes()];
            layout.write(&[7; 32], cells.into_iter(), &mut bytes);
            let (commitment, read) = layout.read(&bytes);
            assert_eq!((commitment, read.collect::<Vec<_>>()), ([7; 32], cells.to_vec()), "{tag_bytes}");
        }
    }

    #[test]
    fn a_commitment_depends_on_key_item_and_opening() {
        let one = commit(&[1; 32], 2, 3);
        for other in [commit(&[2; 32], 2, 3), commit(&[1; 32], 3, 3), commit(&[1; 32], 2, 2), commit(&[1; 32], 3, 2)] {
            assert_ne!(one, other);
        }
    }
}
