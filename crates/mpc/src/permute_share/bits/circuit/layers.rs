//! Waksman's network ([`vesica_structures::permutation`]) by layers of switches that do not wait for
//! each other: the first ones of all blocks that lie equally deep, from the outermost to the
//! innermost, then their last ones from the innermost to the outermost.

use vesica_structures::facts::ceil_log2;
use vesica_structures::permutation::{Run, switches};

/// Layers of the network of so many wires.
pub(super) fn layers(wires: usize) -> usize {
    (2 * ceil_log2(wires) as usize).saturating_sub(1)
}

/// How deep the blocks of a layer lie, and whether it holds their first switches.
fn part(wires: usize, layer: usize) -> (usize, bool) {
    let depth = ceil_log2(wires) as usize;
    if layer < depth { (layer, true) } else { (2 * depth - 2 - layer, false) }
}

/// Switches of a block: its first or its last ones.
fn own(wires: usize, is_first: bool) -> usize {
    if is_first { wires / 2 } else { wires.div_ceil(2).saturating_sub(1) }
}

/// Switches of a layer.
pub(super) fn width(wires: usize, layer: usize) -> usize {
    let (depth, is_first) = part(wires, layer);
    // Blocks that lie equally deep differ by one wire at most.
    let (blocks, size) = (1 << depth, wires >> depth);
    let larger = wires % blocks;
    larger * own(size + 1, is_first) + (blocks - larger) * own(size, is_first)
}

/// Calls `work` on all switches of a layer, at most 64 at a time, with the number of the first one of
/// them in the network's own order.
pub(super) fn each_run(wires: usize, layer: usize, mut work: impl FnMut(Run, usize)) {
    let (depth, is_first) = part(wires, layer);
    let block = Block { start: 0, wires, first: 0 };
    block.descend(depth, &mut |Block { start, wires, first }| {
        let (half, all) = (wires.div_ceil(2), own(wires, is_first));
        let first = if is_first { first } else { first + switches(wires) - all };
        for done in (0..all).step_by(64) {
            let (upper, len) = (start + done, (all - done).min(64));
            work(Run { upper, lower: upper + half, len }, first + done);
        }
    });
}

/// A block by its first wire, how many it has, and its first switch.
struct Block {
    start: usize,
    wires: usize,
    first: usize,
}

impl Block {
    /// Calls `work` on all blocks within this one that lie so deep.
    fn descend(self, depth: usize, work: &mut impl FnMut(Self)) {
        if depth == 0 {
            return work(self);
        }
        let Self { start, wires, first } = self;
        let half = wires.div_ceil(2);
        let upper = first + wires - half;
        Self { start, wires: half, first: upper }.descend(depth - 1, work);
        Self { start: start + half, wires: wires - half, first: upper + switches(half) }.descend(depth - 1, work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::permutation::{apply, route};
    use vesica_structures::rng::SecretRng;
    use vesica_structures::shuffle::random_order;

    #[test]
    fn layers_do_what_the_network_does() {
        let mut rng = SecretRng::insecure_from_seed(3);
        for len in (0..40).chain([63, 64, 65, 127, 129, 1000, 4097]) {
            let settings = route(&random_order(len, &mut rng)).unwrap();
            let mut expected: Vec<usize> = (0..len).collect();
            let (mut wires, mut seen) = (expected.clone(), 0);
            apply(&settings, &mut expected);
            for layer in 0..layers(len) {
                let before = seen;
                each_run(len, layer, |run, first| {
                    for i in (0..run.len).filter(|i| settings[first + i]) {
                        wires.swap(run.upper + i, run.lower + i);
                    }
                    seen += run.len;
                });
                assert_eq!(seen - before, width(len, layer), "layer {layer} of {len} wires");
            }
            assert_eq!((wires, seen), (expected, switches(len)), "{len} wires");
        }
    }
}
