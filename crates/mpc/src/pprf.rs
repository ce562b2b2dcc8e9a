//! Puncturable PRFs as GGM trees [GGM86, KPTZ13], level by level.
//!
//! A tree starts at its two nodes of level 1. Whoever expands it publishes, under pads of which the
//! other party knows one of each pair, the sum of all left and the sum of all right children of
//! every further level, and the tree's *total* under a mask. Who knows the pads that turn away from
//! the path to a leaf `alpha` gets every leaf but that one.
//!
//! **Phantoms.** The leaves need not be a power of two. Where a level would have an odd number of
//! nodes, its last, a right child, is a phantom: never expanded and in nobody's output, but part of
//! the level's right sum and of the total. The pads allow *any* vector of turns, also one that
//! leaves the tree. Were nothing there, its owner would miss nothing, and unmask the total; as it
//! is, every vector of turns misses exactly one term of the total, a leaf or a phantom.

use vesica_kernels::aes::GgmPrg;
use vesica_structures::facts::ceil_log2;
use zeroize::Zeroize;

use crate::binding::Binding;

/// The shape of a tree: `leaves >= 2` need not be a power of two; a level keeps the nodes above the
/// first `leaves` leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Leaves of a tree.
    pub leaves: usize,
}

impl TreeShape {
    /// Levels below the root.
    pub fn depth(&self) -> usize {
        ceil_log2(self.leaves) as usize
    }

    /// Nodes of a level without its phantom, the root being level 0.
    fn width(&self, level: usize) -> usize {
        self.leaves.div_ceil(1 << (self.depth() - level))
    }

    /// Published pairs of sums a tree: one a level below the first.
    pub fn sums(&self) -> usize {
        self.depth() - 1
    }

    /// Blocks that the sender sends for a tree: a pair a level below the first, and the fix of the leaf.
    pub fn message_blocks(&self) -> usize {
        2 * self.sums() + 1
    }
}

/// A generator for each tree of a run, one after the other. With keys of its own for each tree, who
/// inverts nodes by brute force works on one tree at a time.
pub(crate) fn generators(binding: Binding, label: &str) -> impl Iterator<Item = GgmPrg> {
    let mut stream = binding.stream(label);
    std::iter::repeat_with(move || {
        let [left, right] = [(); 2].map(|()| {
            let mut key = [0; 16];
            stream.fill(&mut key);
            u128::from_le_bytes(key)
        });
        GgmPrg::new(left, right)
    })
}

/// Expands trees of one shape, one at a time, in space that is kept and wiped in the end.
pub(crate) struct Tree {
    shape: TreeShape,
    /// The level reached, its phantom included.
    nodes: Vec<u128>,
    /// The level above.
    parents: Vec<u128>,
}

impl Tree {
    /// A tree of `shape`, to be expanded.
    pub fn new(shape: TreeShape) -> Self {
        Self { shape, nodes: Vec::new(), parents: Vec::new() }
    }

    /// All leaves of the tree whose first level is `first`, and the sums `[left, right]` of level
    /// `l` in `sums[l - 2]`; returns the total.
    pub fn expand(&mut self, prg: &GgmPrg, first: [u128; 2], leaves: &mut [u128], sums: &mut [[u128; 2]]) -> u128 {
        self.start(first);
        let (mut phantoms, mut sides) = (0, first);
        for level in 2..=self.shape.depth() {
            let (phantom, grown) = self.grow(prg, level, leaves);
            (phantoms, sides) = (phantoms ^ phantom, grown);
            sums[level - 2] = sides;
        }
        self.settle(leaves);
        phantoms ^ sides[0] ^ sides[1]
    }

    /// All leaves but `point`, which is left zero; returns the total without it. `first` is the
    /// node of level 1 that turns away from the point, `sums[l - 2]` the sum of level `l` on
    /// the side that does.
    pub fn expand_punctured(
        &mut self,
        prg: &GgmPrg,
        point: usize,
        first: u128,
        sums: &[u128],
        leaves: &mut [u128],
    ) -> u128 {
        let depth = self.shape.depth();
        let turns_right = (point >> (depth - 1) & 1) as u128;
        self.start([first & turns_right.wrapping_neg(), first & !turns_right.wrapping_neg()]);
        let (mut phantoms, mut total) = (0, first);
        for level in 2..=depth {
            let (phantom, mut sides) = self.grow(prg, level, leaves);
            phantoms ^= phantom;
            let path = point >> (depth - level);
            let nodes = if self.ends_in_leaves(level) { &mut *leaves } else { &mut self.nodes[..] };
            let (own, other) = (path & 1, (path ^ 1) & 1);
            sides[own] ^= std::mem::take(&mut nodes[path]);
            let away = sums[level - 2] ^ sides[other] ^ nodes[path ^ 1];
            nodes[path ^ 1] = away;
            total = sides[own] ^ sums[level - 2];
        }
        self.settle(leaves);
        phantoms ^ total
    }

    fn start(&mut self, first: [u128; 2]) {
        self.nodes.clear();
        self.nodes.extend(first);
    }

    /// From `level - 1` to `level`, phantom included; returns the phantom of `level - 1` or zero,
    /// and the sums of the new level's left and right nodes.
    fn grow(&mut self, prg: &GgmPrg, level: usize, leaves: &mut [u128]) -> (u128, [u128; 2]) {
        let parents = self.shape.width(level - 1);
        let phantom = self.nodes.get(parents).copied().unwrap_or(0);
        if self.ends_in_leaves(level) {
            return (phantom, prg.expand(&self.nodes[..parents], leaves));
        }
        std::mem::swap(&mut self.nodes, &mut self.parents);
        self.nodes.resize(2 * parents, 0);
        (phantom, prg.expand(&self.parents[..parents], &mut self.nodes))
    }

    /// Whether `level` is grown in the caller's leaves: the last one, if it has no phantom.
    fn ends_in_leaves(&self, level: usize) -> bool {
        level > 1 && level == self.shape.depth() && self.shape.leaves.is_multiple_of(2)
    }

    /// Hands over the leaves where they were not grown in place.
    fn settle(&self, leaves: &mut [u128]) {
        if !self.ends_in_leaves(self.shape.depth()) {
            leaves.copy_from_slice(&self.nodes[..self.shape.leaves]);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.nodes.zeroize();
        self.parents.zeroize();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use vesica_structures::rng::SecretRng;

    const SHAPES: [usize; 18] = [2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 33, 63, 64, 65, 77, 100, 129, 257];

    /// All that follows from the pads for `turns`, any vector of as many bits as there are levels:
    /// `None` for the terms of the total that stay unknown. Leaves come first.
    pub(crate) fn derivable(
        shape: TreeShape,
        prg: &GgmPrg,
        turns: usize,
        first: u128,
        sums: &[u128],
    ) -> Vec<Option<u128>> {
        let depth = shape.depth();
        let away = |level: usize| (turns >> (depth - level) & 1) ^ 1;
        let mut nodes = vec![None; 2];
        nodes[away(1)] = Some(first);
        let mut phantoms = Vec::new();
        for level in 2..=depth {
            phantoms.extend(nodes.drain(shape.width(level - 1)..));
            let mut children = Vec::new();
            for parent in nodes {
                let mut pair = [0; 2];
                children.extend(match parent {
                    Some(parent) => {
                        prg.expand(&[parent], &mut pair);
                        pair.map(Some)
                    }
                    None => [None; 2],
                });
            }
            let unknown: Vec<usize> =
                (away(level)..children.len()).step_by(2).filter(|&i| children[i].is_none()).collect();
            if let [i] = unknown[..] {
                let known = children.iter().skip(away(level)).step_by(2).flatten().fold(0, |sum, node| sum ^ node);
                children[i] = Some(sums[level - 2] ^ known);
            }
            nodes = children;
        }
        nodes.extend(phantoms);
        nodes
    }

    #[test]
    fn a_punctured_tree_has_every_other_leaf() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for leaves in SHAPES {
            let shape = TreeShape { leaves };
            let (mut tree, prg) = (Tree::new(shape), GgmPrg::new(1, 2));
            for point in 0..leaves {
                let first = [rng.block(), rng.block()];
                let (mut full, mut sums) = (vec![0; leaves], vec![[0; 2]; shape.sums()]);
                let total = tree.expand(&prg, first, &mut full, &mut sums);

                let away = |level: usize| (point >> (shape.depth() - level) & 1) ^ 1;
                let known_sums: Vec<u128> = (2..).zip(&sums).map(|(level, pair)| pair[away(level)]).collect();
                let mut punctured = vec![1; leaves];
                let others = tree.expand_punctured(&prg, point, first[away(1)], &known_sums, &mut punctured);
                assert_ne!(full[point], 0);
                assert_eq!(total ^ others, full[point], "{leaves} leaves, point {point}");
                full[point] = 0;
                assert_eq!(punctured, full, "{leaves} leaves, point {point}");
            }
        }
    }

    #[test]
    fn every_vector_of_turns_misses_a_term_of_the_total() {
        let mut rng = SecretRng::insecure_from_seed(2);
        for leaves in SHAPES {
            let shape = TreeShape { leaves };
            let (mut tree, prg) = (Tree::new(shape), GgmPrg::new(3, 4));
            let first = [rng.block(), rng.block()];
            let (mut full, mut sums) = (vec![0; leaves], vec![[0; 2]; shape.sums()]);
            let total = tree.expand(&prg, first, &mut full, &mut sums);
            for turns in 0..1 << shape.depth() {
                let away = |level: usize| (turns >> (shape.depth() - level) & 1) ^ 1;
                let known_sums: Vec<u128> = (2..).zip(&sums).map(|(level, pair)| pair[away(level)]).collect();
                let terms = derivable(shape, &prg, turns, first[away(1)], &known_sums);
                assert_eq!(terms.iter().filter(|term| term.is_none()).count(), 1, "{leaves} leaves, turns {turns:b}");
                let sum = |terms: &[Option<u128>]| terms.iter().flatten().fold(0, |sum, term| sum ^ term);
                assert_ne!(sum(&terms), total, "{leaves} leaves, turns {turns:b}");
                assert_ne!(sum(&terms[..leaves]), total, "{leaves} leaves, turns {turns:b}: the leaves alone");
                // What is derived is true.
                assert!(terms.iter().zip(&full).all(|(term, leaf)| term.is_none_or(|term| term == *leaf)));
            }
        }
    }
}
