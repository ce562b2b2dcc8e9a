//! The set of transfers that a group opens.

use vesica_party::Channel;
use vesica_structures::rng::SecretRng;

use super::messages::Challenge;
use super::params::CutAndChoose;
use vesica_protocols::psi::toss::bound;

/// The transfers of a group that are opened: `C` of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    of: Vec<bool>,
    /// How many are.
    pub(super) count: usize,
}

impl Opened {
    /// The set that a challenge gives for this group: each transfer with the agreed probability.
    pub(super) fn expand(numbers: &CutAndChoose, group: usize, challenge: Challenge, ch: &Channel) -> Self {
        let mut hasher = bound("vesica v1 rr16 2026 challenge to transfers", ch);
        hasher.update(&(group as u64).to_le_bytes()).update(&challenge.0);
        let mut draws = vec![[0; 2]; numbers.transfers];
        hasher.finalize_xof().fill(draws.as_flattened_mut());
        let of: Vec<bool> =
            draws.into_iter().map(|draw| u32::from(u16::from_le_bytes(draw)) < numbers.opened_in_65536).collect();
        let count = of.iter().filter(|&&opened| opened).count();
        Self { of, count }
    }

    /// A random challenge, whose set has no more transfers than arrow 5 has room for.
    pub(super) fn draw(numbers: &CutAndChoose, group: usize, ch: &Channel, rng: &mut SecretRng) -> (Challenge, Self) {
        loop {
            let challenge = Challenge(rng.block().to_le_bytes());
            let opened = Self::expand(numbers, group, challenge, ch);
            if opened.count <= numbers.most_opened {
                return (challenge, opened);
            }
        }
    }

    /// The numbers of opened transfers, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.of.iter().enumerate().filter(|(_, opened)| **opened).map(|(number, _)| number)
    }

    /// The numbers of all others, ascending.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> {
        self.of.iter().enumerate().filter(|(_, opened)| !**opened).map(|(number, _)| number)
    }

    /// For each transfer, whether it is opened.
    pub(super) fn into_flags(self) -> Vec<bool> {
        self.of
    }
}
