//! What turns the list of one set into the list of another one of the same size.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::ops::RangeInclusive;

use rayon::prelude::*;
use vesica_party::service::{StateError, StateReader, StateWriter};
use vesica_party::{Malformed, Reader, Writer};
use vesica_structures::golomb::{Code, PART};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::CodedTags;

use crate::recurrent::filter::{Filter, Output, Shape};
use crate::tags;

/// As many tags that go as tags that come, either in order, which tells nothing of their items. A
/// tag that goes and comes again has another payload, or was away in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) removed: Vec<u128>,
    pub(super) added: Vec<u128>,
    /// The cells of `added`.
    pub(super) cells: Vec<u8>,
}

/// The cell of this number among cells of `width` bytes.
fn cell(cells: &[u8], width: usize, number: usize) -> &[u8] {
    cells.get(number * width..(number + 1) * width).unwrap_or_default()
}

impl Delta {
    /// The change by which items go whose outputs are `removed`, and `items` come, whose outputs are
    /// `added`, with their payloads.
    pub(super) fn prepare(
        shape: &Shape,
        removed: &Secret<Vec<Output>>,
        (items, added, payloads): (&[u128], &Secret<Vec<Output>>, &[u8]),
        rng: &mut SecretRng,
    ) -> Self {
        let tag_of = |&[tag, _]: &Output| tags::truncate(tag, shape.tag_bits);
        let mut gone: Vec<u128> = removed.iter().map(tag_of).collect();
        gone.par_sort_unstable();
        let mut order: Vec<(u128, usize)> = added.iter().map(tag_of).zip(0..).collect();
        order.par_sort_unstable();
        let mut cells = shape.new_cells(items.len(), rng);
        let width = shape.payload_bytes;
        if width > 0 {
            for (to, &(_, item)) in cells.chunks_exact_mut(shape.cell_bytes()).zip(&order) {
                if let (Some(&[_, key]), Some(&number)) = (added.get(item), items.get(item)) {
                    shape.seal(key, number, cell(payloads, width, item), to);
                }
            }
        }
        Self { removed: gone, added: order.into_iter().map(|(tag, _)| tag).collect(), cells }
    }

    /// How many tags go, and come.
    pub(super) fn len(&self) -> usize {
        self.removed.len()
    }

    /// Several changes, one after the other, as one. What came and goes again is in neither list.
    pub(super) fn of_all<'a>(changes: impl IntoIterator<Item = &'a Self>, shape: &Shape) -> Self {
        let width = shape.cell_bytes();
        let mut removed: BTreeMap<u128, usize> = BTreeMap::new();
        // Tags are distinct but for a collision, and the same cell may then stand for both.
        let mut added: BTreeMap<u128, Vec<&[u8]>> = BTreeMap::new();
        for change in changes {
            for &tag in &change.removed {
                match added.entry(tag) {
                    Entry::Occupied(mut held) => {
                        held.get_mut().pop();
                        if held.get().is_empty() {
                            held.remove();
                        }
                    }
                    Entry::Vacant(_) => *removed.entry(tag).or_insert(0) += 1,
                }
            }
            for (number, &tag) in change.added.iter().enumerate() {
                match removed.entry(tag) {
                    // Without payloads nothing has changed.
                    Entry::Occupied(mut gone) if width == 0 => {
                        *gone.get_mut() -= 1;
                        if *gone.get() == 0 {
                            gone.remove();
                        }
                    }
                    _ => added.entry(tag).or_default().push(cell(&change.cells, width, number)),
                }
            }
        }
        let mut all = Self::default();
        all.removed.extend(removed.iter().flat_map(|(&tag, &count)| std::iter::repeat_n(tag, count)));
        for (tag, cells) in added {
            for cell in cells {
                all.added.push(tag);
                all.cells.extend_from_slice(cell);
            }
        }
        all
    }

    /// How many bytes a change of `count` tags takes.
    pub(super) fn bytes(shape: &Shape, count: usize) -> RangeInclusive<u64> {
        let list = tags::predicted_bytes(count, shape.tag_bits);
        let cells = (count as u64).saturating_mul(shape.cell_bytes() as u64);
        2 * list.start() + cells..=2 * list.end() + cells
    }

    /// As bytes: both lists, Golomb-Rice coded in parts behind their lengths, and the cells.
    pub(super) fn to_bytes(&self, shape: &Shape) -> Vec<u8> {
        let mut out = Writer::default();
        for list in [&self.removed, &self.added] {
            let (code, mut previous) = (Code::new(list.len(), shape.tag_bits), 0);
            for part in list.chunks(PART) {
                let mut coded = Vec::new();
                code.encode(part, previous, &mut coded);
                out.u32(coded.len() as u32);
                out.bytes(&coded);
                previous = part.last().copied().unwrap_or(previous);
            }
        }
        out.bytes(&self.cells);
        out.into_bytes()
    }

    /// The change of `count` tags in these bytes. Total: any bytes give a change or an error.
    pub(super) fn parse(shape: &Shape, count: usize, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut bytes = Reader::new(bytes);
        let mut list = || {
            let code = Code::new(count, shape.tag_bits);
            let (mut tags, mut previous) = (Vec::new(), 0);
            for values in code.parts() {
                let length = usize::try_from(bytes.u32()?).map_err(|_| Malformed("a part is too long"))?;
                let coded = bytes.bytes(length)?;
                code.decode(coded, values, previous, &mut tags).map_err(|_| Malformed("its tags are malformed"))?;
                previous = tags.last().copied().unwrap_or(previous);
            }
            Ok(tags)
        };
        let (removed, added) = (list()?, list()?);
        let cells = bytes.rest().to_vec();
        if cells.len() as u64 != (count as u64).saturating_mul(shape.cell_bytes() as u64) {
            return Err(Malformed("its payloads have another length"));
        }
        Ok(Self { removed, added, cells })
    }

    /// Writes it as a part of a state.
    pub(super) fn write(&self, shape: &Shape, out: &mut StateWriter<'_>) -> io::Result<()> {
        let bytes = self.to_bytes(shape);
        out.u64(self.len() as u64)?;
        out.u64(bytes.len() as u64)?;
        out.bytes(&bytes)
    }

    /// Reads what `write` wrote.
    pub(super) fn read(shape: &Shape, bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let (count, length) = (bytes.count()?, bytes.count()?);
        if count > shape.items || !Self::bytes(shape, count).contains(&(length as u64)) {
            return Err(StateError::Damaged("a change of its set has an impossible length"));
        }
        let coded = bytes.elements(length)?;
        Self::parse(shape, count, &coded).map_err(|_| StateError::Damaged("a change of its set is malformed"))
    }
}

impl Filter {
    /// The list after a change.
    ///
    /// # Errors
    /// If the change is not one of this list: it removes tags that are not there, or its cells do not
    /// fit.
    pub(super) fn updated(&self, delta: &Delta) -> Result<Self, Malformed> {
        let Delta { removed, added, cells: new_cells } = delta;
        let width = self.shape.cell_bytes();
        if removed.len() != added.len() || new_cells.len() != added.len() * width {
            return Err(Malformed("it removes another number of tags than it adds"));
        }
        let mut cells = Vec::with_capacity(self.cells.len());
        let (mut removed, mut added) = (removed.iter().copied().peekable(), (0..).zip(added).peekable());
        let mut tags = Vec::with_capacity(self.shape.items);
        for (place, tag) in self.tags.iter().enumerate() {
            while let Some((number, &new)) = added.next_if(|&(_, &new)| new < tag) {
                tags.push(new);
                cells.extend_from_slice(cell(new_cells, width, number));
            }
            if removed.next_if_eq(&tag).is_none() {
                tags.push(tag);
                cells.extend_from_slice(cell(&self.cells, width, place));
            }
        }
        for (number, &new) in added {
            tags.push(new);
            cells.extend_from_slice(cell(new_cells, width, number));
        }
        if removed.next().is_some() {
            return Err(Malformed("it removes a tag that is not there"));
        }
        let tags = CodedTags::encode(tags, self.shape.items, self.shape.tag_bits)
            .map_err(|_| Malformed("its tags are not spread as random ones"))?;
        Ok(Self { shape: self.shape, tags, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(payload_bytes: usize) -> Shape {
        Shape { items: 1000, tag_bits: 90, payload_bytes, nonce_bytes: 12, domain: b"a test's domain." }
    }

    fn delta(removed: &[u128], added: &[(u128, u8)], width: usize) -> Delta {
        Delta {
            removed: removed.to_vec(),
            added: added.iter().map(|&(tag, _)| tag).collect(),
            cells: added.iter().flat_map(|&(_, byte)| vec![byte; width]).collect(),
        }
    }

    #[test]
    fn a_change_survives_its_bytes_and_no_others_are_one() {
        let shape = shape(3);
        let change = delta(&[5, 1 << 80, (1 << 90) - 1], &[(0, 1), (7, 2), (8, 3)], 15);
        let bytes = change.to_bytes(&shape);
        assert!(Delta::bytes(&shape, 3).contains(&(bytes.len() as u64)));
        assert_eq!(Delta::parse(&shape, 3, &bytes), Ok(change));
        for wrong in [&bytes[1..], &bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), &[]] {
            assert!(Delta::parse(&shape, 3, wrong).is_err());
        }
        assert!(Delta::parse(&shape, 4, &bytes).is_err());
        assert_eq!(Delta::parse(&shape, 0, &[]), Ok(Delta::default()));
    }

    #[test]
    fn several_changes_are_one() {
        let bare = shape(0);
        let first = delta(&[1, 2], &[(10, 0), (11, 0)], 0);
        // 10 came and goes, 1 went and comes.
        let second = delta(&[3, 10], &[(1, 0), (12, 0)], 0);
        assert_eq!(Delta::of_all([&first, &second], &bare), delta(&[2, 3], &[(11, 0), (12, 0)], 0));
        // With payloads, what comes again may have another one.
        let labelled = shape(3);
        let first = delta(&[1, 2], &[(10, 5), (11, 6)], 15);
        let second = delta(&[3, 10], &[(1, 7), (10, 8)], 15);
        assert_eq!(Delta::of_all([&first, &second], &labelled), delta(&[1, 2, 3], &[(1, 7), (10, 8), (11, 6)], 15));
    }
}
