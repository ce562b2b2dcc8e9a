//! All forks of one connection. A [`Slot`] names one; there is none without its fork.

use std::ops::{Index, IndexMut};

use super::fork::Fork;

/// The place of a fork in the [`Forks`] of its connection. Only [`Forks`] makes one, and it never
/// removes a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(usize);

impl Slot {
    /// The fork that each connection begins with.
    pub(super) const ROOT: Self = Self(0);
}

/// The forks, in the order in which they were made.
pub(super) struct Forks(Vec<Fork>);

impl Forks {
    /// The root alone.
    pub(super) fn new(root: Fork) -> Self {
        Self(vec![root])
    }

    pub(super) fn add(&mut self, fork: Fork) -> Slot {
        self.0.push(fork);
        Slot(self.0.len() - 1)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Fork> {
        self.0.iter()
    }

    /// The places of all of them.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.0.len()).map(Slot)
    }
}

impl Index<Slot> for Forks {
    type Output = Fork;

    #[expect(clippy::indexing_slicing, reason = "`add` made the slot, and no fork is ever removed")]
    fn index(&self, slot: Slot) -> &Fork {
        &self.0[slot.0]
    }
}

impl IndexMut<Slot> for Forks {
    #[expect(clippy::indexing_slicing, reason = "`add` made the slot, and no fork is ever removed")]
    fn index_mut(&mut self, slot: Slot) -> &mut Fork {
        &mut self.0[slot.0]
    }
}
