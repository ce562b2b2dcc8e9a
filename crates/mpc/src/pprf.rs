//! Puncturable PRFs as GGM trees [GGM86, KPTZ13], many trees at once, level by level.
//!
//! A tree starts at its two nodes of level 1. Whoever expands it publishes, under pads of which the other party knows one of each pair, the
//! sum of all left and the sum of all right children of every further level. Who knows the pads that turn away from the path to a leaf
//! `alpha` gets every leaf but that one.

use vesica_kernels::aes::GgmPrg;
use vesica_structures::facts::ceil_log2;

/// The shape of each tree: `leaves >= 2` need not be a power of two; a level keeps the nodes above the first `leaves` leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeShape {
    /// Leaves of a tree.
    pub leaves: usize,
}

impl TreeShape {
    /// Levels below the root.
    pub fn depth(&self) -> usize {
        ceil_log2(self.leaves) as usize
    }

    /// Nodes of a level, the root being level 0.
    fn width(&self, level: usize) -> usize {
        self.leaves.div_ceil(1 << (self.depth() - level))
    }

    /// Published pairs of sums a tree: one a level below the first.
    pub fn sums(&self) -> usize {
        self.depth() - 1
    }
}

/// Expands trees of one shape, with scratch space that is kept.
pub(crate) struct Forest {
    shape: TreeShape,
    prg: GgmPrg,
    parents: Vec<u128>,
    children: Vec<u128>,
}

impl Forest {
    /// For trees of `shape` under the generator `prg`.
    pub fn new(shape: TreeShape, prg: GgmPrg) -> Self {
        Self { shape, prg, parents: Vec::new(), children: Vec::new() }
    }

    /// All leaves of the trees whose first levels are `first`, and their sums `[left, right]`: `sums[tree * shape.sums() + level - 2]`.
    pub fn expand(&mut self, first: &[[u128; 2]], leaves: &mut [u128], sums: &mut [[u128; 2]]) {
        let per_tree = self.shape.sums();
        self.parents.clear();
        self.parents.extend_from_slice(bytemuck::cast_slice(first));
        for level in 2..=self.shape.depth() {
            self.grow(first.len(), level);
            for (tree, nodes) in self.parents.chunks_exact(self.shape.width(level)).enumerate() {
                sums[tree * per_tree + level - 2] = both_sides(nodes);
            }
        }
        leaves.copy_from_slice(&self.parents);
    }

    /// All leaves but `points[tree]` of each tree, which is left zero. `first` holds the node of level 1 that turns away from the point,
    /// `sums[tree * shape.sums() + level - 2]` the sum on the side that does.
    pub fn expand_punctured(&mut self, points: &[usize], first: &[u128], sums: &[u128], leaves: &mut [u128]) {
        let (depth, per_tree) = (self.shape.depth(), self.shape.sums());
        self.parents.clear();
        for (&point, &first) in points.iter().zip(first) {
            let turns_right = point >> (depth - 1) & 1 == 1;
            self.parents.extend(if turns_right { [first, 0] } else { [0, first] });
        }
        for level in 2..=depth {
            self.grow(points.len(), level);
            for (tree, nodes) in self.parents.chunks_exact_mut(self.shape.width(level)).enumerate() {
                let path = points[tree] >> (depth - level);
                nodes[path] = 0;
                if let Some(sibling) = nodes.get_mut(path ^ 1) {
                    *sibling = 0;
                    let away = (path ^ 1) & 1;
                    nodes[path ^ 1] = sums[tree * per_tree + level - 2] ^ both_sides(nodes)[away];
                }
            }
        }
        leaves.copy_from_slice(&self.parents);
    }

    /// From level `level - 1` in `parents` to `level`, in `parents` again.
    fn grow(&mut self, trees: usize, level: usize) {
        let (width, doubled) = (self.shape.width(level), 2 * self.shape.width(level - 1));
        self.children.resize(trees * doubled, 0);
        self.prg.expand(&self.parents, &mut self.children);
        if width < doubled {
            for tree in 1..trees {
                self.children.copy_within(tree * doubled..tree * doubled + width, tree * width);
            }
            self.children.truncate(trees * width);
        }
        std::mem::swap(&mut self.parents, &mut self.children);
    }
}

impl Drop for Forest {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.parents);
        zeroize::Zeroize::zeroize(&mut self.children);
    }
}

/// The sum of the nodes at even places and that of those at odd places.
pub(crate) fn both_sides(nodes: &[u128]) -> [u128; 2] {
    let (pairs, last) = nodes.as_chunks::<2>();
    let mut sums = pairs.iter().fold([0; 2], |sums, pair| [sums[0] ^ pair[0], sums[1] ^ pair[1]]);
    if let [last] = last {
        sums[0] ^= last;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::rng::SecretRng;

    #[test]
    fn a_punctured_tree_has_every_other_leaf() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for leaves in [2usize, 3, 4, 5, 7, 8, 9, 33, 63, 64, 257] {
            let shape = TreeShape { leaves };
            let mut forest = Forest::new(shape, GgmPrg::new(1, 2));
            for point in 0..leaves {
                let trees = 3;
                let points: Vec<usize> = (0..trees).map(|tree| (point + tree) % leaves).collect();
                let first: Vec<[u128; 2]> = (0..trees).map(|_| [rng.block(), rng.block()]).collect();
                let mut full = vec![0; trees * leaves];
                let mut sums = vec![[0; 2]; trees * shape.sums()];
                forest.expand(&first, &mut full, &mut sums);

                let away = |tree: usize, level: usize| (points[tree] >> (shape.depth() - level) & 1) ^ 1;
                let known_first: Vec<u128> = (0..trees).map(|tree| first[tree][away(tree, 1)]).collect();
                let known_sums: Vec<u128> = (0..sums.len()).map(|i| sums[i][away(i / shape.sums(), i % shape.sums() + 2)]).collect();
                let mut punctured = vec![1; trees * leaves];
                forest.expand_punctured(&points, &known_first, &known_sums, &mut punctured);
                for (tree, &point) in points.iter().enumerate() {
                    assert_ne!(full[tree * leaves + point], 0);
                    full[tree * leaves + point] = 0;
                }
                assert_eq!(punctured, full, "{leaves} leaves, points {points:?}");
            }
        }
    }
}
