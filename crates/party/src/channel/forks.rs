//! All forks of one connection. A [`Slot`] names one; there is none without its fork.

use std::ops::{Index, IndexMut};

/// The place of a fork in the [`Forks`] of its connection. Only [`Forks`] makes one, and it never
/// removes a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(usize);

impl Slot {
    /// The fork that each connection begins with.
    pub(super) const ROOT: Self = Self(0);
}

/// The forks, in the order in which they were made.
pub(super) struct Forks<F>(Vec<F>);

impl<F> Forks<F> {
    /// The root alone.
    pub(super) fn new(root: F) -> Self {
        Self(vec![root])
    }

    pub(super) fn add(&mut self, fork: F) -> Slot {
        self.0.push(fork);
        Slot(self.0.len() - 1)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, F> {
        self.0.iter()
    }

    /// The places of all of them.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<F> {
        (0..self.0.len()).map(Slot)
    }
}

impl<F> Index<Slot> for Forks<F> {
    type Output = F;

    #[expect(clippy::indexing_slicing, reason = "`add` made the slot, and no fork is ever removed")]
    fn index(&self, slot: Slot) -> &F {
        &self.0[slot.0]
    }
}

impl<F> IndexMut<Slot> for Forks<F> {
    #[expect(clippy::indexing_slicing, reason = "`add` made the slot, and no fork is ever removed")]
    fn index_mut(&mut self, slot: Slot) -> &mut F {
        &mut self.0[slot.0]
    }
}
