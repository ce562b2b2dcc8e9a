//! A network ([`vesica_structures::permutation`]) by layers of switches that do not wait for each
//! other: the first ones of all blocks that lie equally deep, from the outermost to the
//! innermost, then their last ones from the innermost to the outermost.

use vesica_structures::facts::ceil_log2;
use vesica_structures::permutation::{Network, Run};

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
fn own(network: Network, wires: usize, is_first: bool) -> usize {
    if is_first { wires / 2 } else { network.outs(wires) }
}

/// Switches of a layer.
pub(super) fn width(network: Network, wires: usize, layer: usize) -> usize {
    let (depth, is_first) = part(wires, layer);
    // Blocks that lie equally deep differ by one wire at most.
    let (blocks, size) = (1 << depth, wires >> depth);
    let larger = wires % blocks;
    larger * own(network, size + 1, is_first) + (blocks - larger) * own(network, size, is_first)
}

/// Calls `work` on all switches of a layer, at most 64 at a time, with the number of the first one of
/// them in the network's own order.
pub(super) fn each_run(network: Network, wires: usize, layer: usize, mut work: impl FnMut(Run, usize)) {
    let (depth, is_first) = part(wires, layer);
    let block = Block { network, start: 0, wires, first: 0 };
    block.descend(depth, &mut |Block { start, wires, first, .. }| {
        let (half, all) = (wires.div_ceil(2), own(network, wires, is_first));
        let first = if is_first { first } else { first + network.switches(wires) - all };
        for done in (0..all).step_by(64) {
            let (upper, len) = (start + done, (all - done).min(64));
            work(Run { upper, lower: upper + half, len }, first + done);
        }
    });
}

/// A block of a network by its first wire, how many it has, and its first switch.
struct Block {
    network: Network,
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
        let Self { network, start, wires, first } = self;
        let half = wires.div_ceil(2);
        let upper = first + wires - half;
        Self { wires: half, first: upper, ..self }.descend(depth - 1, work);
        let lower = upper + network.switches(half);
        Self { network, start: start + half, wires: wires - half, first: lower }.descend(depth - 1, work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::permutation::apply;
    use vesica_structures::rng::SecretRng;

    #[test]
    fn layers_do_what_the_network_does() {
        let mut rng = SecretRng::insecure_from_seed(3);
        let lens = (0..40).chain([63, 64, 65, 127, 129, 1000, 4097]);
        for (network, len) in lens.flat_map(|len| [(Network::Waksman, len), (Network::Benes, len)]) {
            // Any settings do, also those that routing never gives.
            let settings: Vec<bool> = (0..network.switches(len)).map(|_| rng.block() & 1 == 1).collect();
            let mut expected: Vec<usize> = (0..len).collect();
            let (mut wires, mut seen) = (expected.clone(), 0);
            apply(network, &settings, &mut expected);
            for layer in 0..layers(len) {
                let before = seen;
                each_run(network, len, layer, |run, first| {
                    for i in (0..run.len).filter(|i| settings[first + i]) {
                        wires.swap(run.upper + i, run.lower + i);
                    }
                    seen += run.len;
                });
                assert_eq!(seen - before, width(network, len, layer), "layer {layer} of {len} wires, {network:?}");
            }
            assert_eq!((wires, seen), (expected, settings.len()), "{len} wires, {network:?}");
        }
    }
}
