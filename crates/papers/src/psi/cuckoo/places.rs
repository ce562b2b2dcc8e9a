//! The bins of an item, and its string in each of them.

use vesica_structures::hashing::PermutedPositions;
use vesica_structures::secret::Secret;

use super::StringKind;
use super::params::Params;
use vesica_protocols::bins::{Hashes, POSITIONS};

/// Bits of a position's number in a string that has it.
pub(super) const POSITION_BITS: u32 = 2;

/// The functions of a run from items to bins and strings.
pub(super) struct Places {
    hashes: Hashes,
    /// For permutation-based hashing.
    permuted: Option<PermutedPositions>,
    string_bits: u32,
}

/// Where items are, and what stands for them there.
pub(super) struct Placed {
    /// The bins of each item, all three different.
    pub(super) bins: Vec<[u32; POSITIONS]>,
    /// For each position the string of each item.
    pub(super) strings: [Secret<Vec<u128>>; POSITIONS],
}

impl Places {
    /// Of the run with these functions.
    pub(super) fn new(params: &Params, hashes: Hashes) -> Self {
        let string_bits = params.strings.chunks.string_bits();
        let permuted = match params.strings.kind {
            StringKind::Hash => None,
            StringKind::RightPart => {
                Some(PermutedPositions::new(hashes.further(), params.bins, string_bits - POSITION_BITS))
            }
        };
        Self { hashes, permuted, string_bits }
    }

    /// The places of items.
    pub(super) fn of(&self, items: &[u128]) -> Placed {
        if let Some(permuted) = &self.permuted {
            let (bins, rights) = permuted.of(items);
            let string = |position: usize| rights.iter().map(move |right| right << POSITION_BITS | position as u128);
            return Placed { bins, strings: std::array::from_fn(|position| Secret::new(string(position).collect())) };
        }
        let mask = u128::MAX >> (u128::BITS - self.string_bits);
        let strings = std::array::from_fn(|position| {
            let mut strings = Secret::new(self.hashes.keys(position, items));
            strings.iter_mut().for_each(|string| *string &= mask);
            strings
        });
        Placed { bins: self.hashes.positions(items), strings }
    }
}
