//! The numbers of Ferret: docs/parameters/ferret.md derives them, and `docs/ferret.py` counts the attacks.

use std::ops::RangeInclusive;

use vesica_mpc::ot_parts::{BaseParams, TreeShape};
use vesica_party::Security;

/// Blocks of an instance, each with one error (`t`).
const BLOCKS: usize = 2520;

/// Secret bits of an instance for each leaf of a tree: `k / 2^h`. With [`BLOCKS`] that fixes `n / k`, on which the shares of
/// sets of secret bits depend, and so the errors that an attack has to avoid.
const SECRETS_PER_LEAF: usize = 150;

/// Levels of the trees of instances that give OTs (`h`).
const LEVELS: RangeInclusive<usize> = 8..=12;

/// Levels of the trees of the instance that sets up those of the most levels.
const SETUP_LEVELS: usize = 8;

/// One LPN instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Levels of a tree (`h`).
    pub log_leaves: usize,
    /// Blocks, each with a tree (`t`).
    pub blocks: usize,
    /// Bits of the secret (`k`).
    pub secrets: usize,
}

impl Instance {
    pub(super) const fn of_levels(log_leaves: usize) -> Self {
        Self { log_leaves, blocks: BLOCKS, secrets: SECRETS_PER_LEAF << log_leaves }
    }

    /// Correlated OTs that it makes (`n`).
    pub fn positions(&self) -> usize {
        self.blocks << self.log_leaves
    }

    /// The shape of its trees.
    pub fn shape(&self) -> TreeShape {
        TreeShape { leaves: 1 << self.log_leaves }
    }

    /// OTs for all trees (`t h`).
    pub fn transfers(&self) -> usize {
        self.blocks * self.log_leaves
    }

    /// Correlated OTs that it takes.
    pub fn taken(&self) -> usize {
        self.secrets + self.transfers()
    }

    /// Bytes of its flips and trees.
    fn bytes(&self) -> u64 {
        (self.transfers().div_ceil(8) + 16 * self.blocks * self.shape().message_blocks()) as u64
    }
}

/// The agreed parameters: the instances of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// OTs that come out.
    pub len: usize,
    /// Each takes what the one before it gives. None where OT extension alone makes all OTs.
    pub instances: Vec<Instance>,
}

impl Params {
    /// What sends the fewest bytes for `len` OTs: OT extension alone, one instance on it, or a set-up and as many instances of
    /// the most levels as it takes.
    pub fn new(len: usize) -> Self {
        let one = LEVELS.map(Instance::of_levels).find(|instance| instance.positions() >= len);
        let (setup, main) = (Instance::of_levels(SETUP_LEVELS), Instance::of_levels(*LEVELS.end()));
        let without = setup.positions() - main.taken() + main.positions();
        let further = len.saturating_sub(without).div_ceil(main.positions() - main.taken());
        let chain = std::iter::once(setup).chain(std::iter::repeat_n(main, 1 + further)).collect();
        let of = |instances| Self { len, instances };
        let routes = [Some(of(Vec::new())), one.map(|one| of(vec![one])), Some(of(chain))];
        let least = routes.into_iter().flatten().min_by_key(Self::predicted_bytes);
        least.unwrap_or_else(|| of(Vec::new()))
    }

    /// The base correlation.
    pub(super) fn base(&self) -> BaseParams {
        let taken = self.instances.first().map_or(self.len, Instance::taken);
        BaseParams { blocks: taken.div_ceil(128), security: Security::SemiHonest }
    }

    /// The instances, each with the number of correlated OTs that it hands to the next one.
    pub(super) fn chain(&self) -> impl Iterator<Item = (Instance, usize)> {
        let handed = self.instances.iter().skip(1).map(Instance::taken).chain([0]);
        self.instances.iter().copied().zip(handed)
    }

    pub(super) fn predicted_bytes(&self) -> u64 {
        if self.len == 0 {
            return 0;
        }
        let seed = if self.instances.is_empty() { 0 } else { 16 };
        self.base().predicted_bytes() + seed + self.instances.iter().map(Instance::bytes).sum::<u64>()
    }
}
