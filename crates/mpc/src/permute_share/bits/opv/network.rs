//! A network of permutations of four wires that puts any number of wires into any order: Clos's
//! network with radix four, that is a Benes network of which two levels are one.
//!
//! ```text
//!   a block of n wires, m = ceil(n / 4), in four stretches of m or m - 1:
//!
//!   wire g of stretch 0  --|     |-- wire g of block 0 --|     |-- wire g of stretch 0
//!   wire g of stretch 1  --| in  |-- wire g of block 1 --| out |-- wire g of stretch 1
//!   wire g of stretch 2  --|  g  |-- wire g of block 2 --|  g  |-- wire g of stretch 2
//!   wire g of stretch 3  --|     |-- wire g of block 3 --|     |-- wire g of stretch 3
//! ```
//!
//! Wires keep their places: a stretch of a block is a block of the next level. Where 4 does not divide
//! `n`, the last group has fewer than four wires. Blocks in the middle have at most four wires and are
//! one permutation. All blocks have as many levels, so that a layer is a permutation of all wires.
//!
//! **Every order has its permutations.** Take groups of inputs and of outputs as the nodes of a
//! graph, and wires as its edges; in place of each missing wire of the last groups stands an edge
//! between these two. Every node has four edges, and such a graph splits twice into halves, so that
//! each node has an edge of each of four colours. The colour of a wire is the block that it takes.
//! Edges of missing wires have different colours, since they meet; colours are named so that theirs
//! are the last.

use vesica_structures::facts::Unsupported;
use vesica_structures::secret::Secret;

use super::super::params::check_order;
use super::super::words::Words;

/// Wires of a permutation.
pub(super) const RADIX: usize = 4;

/// Levels of blocks above the middle ones.
fn levels(wires: usize) -> usize {
    std::iter::successors(Some(wires), |wires| Some(wires.div_ceil(RADIX))).take_while(|&wires| wires > RADIX).count()
}

/// Layers of the network of so many wires.
pub(super) fn layers(wires: usize) -> usize {
    if wires < 2 { 0 } else { 2 * levels(wires) + 1 }
}

/// Wires of each stretch of a block.
fn stretches(wires: usize) -> [usize; RADIX] {
    let groups = wires.div_ceil(RADIX);
    let full = wires + RADIX - RADIX * groups;
    std::array::from_fn(|stretch| if stretch < full { groups } else { groups - 1 })
}

/// The first wire of each stretch.
fn begins(sizes: [usize; RADIX]) -> [usize; RADIX] {
    std::array::from_fn(|stretch| sizes[..stretch].iter().sum())
}

/// Groups of a layer that lie side by side, at most 64: where their wires begin in each stretch, and
/// which of them there are.
pub(super) type Run = ([usize; RADIX], [u64; RADIX]);

/// Calls `work` on all groups of a layer.
pub(super) fn each_run(wires: usize, layer: usize, mut work: impl FnMut(Run)) {
    each_block(0, wires, layer.min(layers(wires) - 1 - layer), &mut |start, wires| {
        let sizes = stretches(wires);
        let begins = begins(sizes);
        for first in (0..sizes[0]).step_by(64) {
            let run: [_; RADIX] = std::array::from_fn(|i| match sizes[i].saturating_sub(first).min(64) {
                0 => (0, 0),
                len => (start + begins[i] + first, u64::MAX >> (64 - len)),
            });
            work((run.map(|(begin, _)| begin), run.map(|(_, present)| present)));
        }
    });
}

/// Calls `work` with the first wire and the number of wires of each block that lies so deep.
fn each_block(start: usize, wires: usize, depth: usize, work: &mut impl FnMut(usize, usize)) {
    match (wires, depth) {
        (0, _) => {}
        (_, 0) => work(start, wires),
        _ => {
            let sizes = stretches(wires);
            for (begin, size) in begins(sizes).into_iter().zip(sizes) {
                each_block(start + begin, size, depth - 1, work);
            }
        }
    }
}

/// From which stretch of its group each wire comes that leaves a layer: the high bits of all layers,
/// one after the other, then the low bits.
///
/// Its memory accesses depend on the order, as those of [`vesica_structures::permutation::route`].
///
/// # Errors
/// If the order does not name each of `wires` wires once.
pub(super) fn route(order: Vec<u32>, wires: usize) -> Result<Words, Unsupported> {
    let mut order = Secret::new(order);
    check_order(&order, wires)?;
    let all = layers(wires) * wires;
    let mut router = Router {
        wires,
        levels: levels(wires),
        sources: Words::zeros(2 * all),
        from: Secret::new(Vec::new()),
        to: Secret::new(Vec::new()),
        colours: Secret::new(Vec::new()),
    };
    if all > 0 {
        router.block(&mut order, 0, 0);
    }
    Ok(std::mem::replace(&mut router.sources, Words::zeros(0)))
}

/// No colour yet.
const UNKNOWN: u8 = u8::MAX;

/// What routing keeps; the vectors serve one block at a time. A wire of a block is named by its group
/// times four plus its stretch, and missing ones have names too.
struct Router {
    wires: usize,
    levels: usize,
    sources: Words,
    /// The input of each output.
    from: Secret<Vec<u32>>,
    /// The output of each input.
    to: Secret<Vec<u32>>,
    /// By outputs.
    colours: Secret<Vec<u8>>,
}

/// A wire's place in its block, by its name.
fn place(name: usize, begins: &[usize; RADIX]) -> usize {
    begins[name % RADIX] + name / RADIX
}

impl Router {
    /// The wire that leaves `layer` at `place` comes from `stretch` of its group.
    fn set(&mut self, layer: usize, place: usize, stretch: usize) {
        let (at, all) = (layer * self.wires + place, (2 * self.levels + 1) * self.wires);
        self.sources.add(at, (stretch >> 1) as u64);
        self.sources.add(all + at, (stretch & 1) as u64);
    }

    /// Routes a block; `order` is overwritten by those of its blocks.
    fn block(&mut self, order: &mut [u32], start: usize, depth: usize) {
        if depth == self.levels {
            order.iter().enumerate().for_each(|(i, &input)| self.set(depth, start + i, input as usize));
            return;
        }
        let sizes = stretches(order.len());
        let begins = begins(sizes);
        self.name_wires(order, &begins);
        self.halve(|_, name| name ^ 1, 0);
        let beside = |colours: &[u8], name: usize| {
            if colours[name ^ 2] & 2 == colours[name] & 2 { name ^ 2 } else { name ^ 3 }
        };
        self.halve(beside, 1);
        let colours = self.colour_names(sizes);

        let layers = 2 * self.levels + 1;
        for output in 0..self.colours.len() {
            let (colour, input) = (colours[usize::from(self.colours[output])], self.from[output] as usize);
            if output / RADIX < sizes[output % RADIX] {
                self.set(depth, start + begins[colour] + input / RADIX, input % RADIX);
                self.set(layers - 1 - depth, start + place(output, &begins), colour);
                order[begins[colour] + output / RADIX] = (input / RADIX) as u32;
            }
        }
        let mut rest = order;
        for (size, begin) in sizes.into_iter().zip(begins) {
            let (order, others) = rest.split_at_mut(size);
            if size > 0 {
                self.block(order, start + begin, depth + 1);
            }
            rest = others;
        }
    }

    /// Fills `from` and `to`; missing wires stay where they are.
    fn name_wires(&mut self, order: &[u32], begins: &[usize; RADIX]) {
        let names = RADIX * order.len().div_ceil(RADIX);
        self.from.clear();
        self.from.extend(0..names as u32);
        self.to.clear();
        self.to.extend(0..names as u32);
        self.colours.clear();
        self.colours.resize(names, 0);
        let name = |place: usize| {
            let stretch = begins.iter().rposition(|&begin| begin <= place).unwrap_or(0);
            (place - begins[stretch]) * RADIX + stretch
        };
        for (output, &input) in order.iter().enumerate() {
            let (output, input) = (name(output), name(input as usize));
            self.from[output] = input as u32;
            self.to[input] = output as u32;
        }
    }

    /// Halves each colour: of two wires that are `beside` each other, as inputs or as outputs, one
    /// gets a colour of the other half. The `round`-th halving decides bit `1 - round` of colours.
    fn halve(&mut self, beside: impl Fn(&[u8], usize) -> usize, round: u32) {
        let names = self.colours.len();
        // The colours so far, by inputs and by outputs: those of this round are added in the end.
        let mut by_inputs = Secret::new(vec![0; names]);
        (0..names).for_each(|output| by_inputs[self.from[output] as usize] = self.colours[output]);
        let mut halves = Secret::new(vec![UNKNOWN; names]);
        for first in 0..names {
            let mut output = first;
            while halves[output] == UNKNOWN {
                halves[output] = 0;
                let other = self.to[beside(&by_inputs, self.from[output] as usize)] as usize;
                halves[other] = 2 >> round;
                output = beside(&self.colours, other);
            }
        }
        self.colours.iter_mut().zip(halves.iter()).for_each(|(colour, half)| *colour |= half);
    }

    /// The blocks that colours stand for: those of missing wires are the blocks without these.
    fn colour_names(&self, sizes: [usize; RADIX]) -> [usize; RADIX] {
        let last = self.colours.len() - RADIX;
        let is_missing = |stretch: usize| sizes[stretch] < sizes[0];
        let mut names = [RADIX; RADIX];
        for stretch in (0..RADIX).filter(|&stretch| is_missing(stretch)) {
            names[usize::from(self.colours[last + stretch])] = stretch;
        }
        let mut present = 0..;
        names.map(|name| if name < RADIX { name } else { present.next().unwrap_or(0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use vesica_structures::rng::SecretRng;
    use vesica_structures::shuffle::random_order;

    /// Where the network leads wires, and from which stretches, as one number.
    fn apply(order: &[u32]) -> Vec<u32> {
        let len = order.len();
        let sources = route(order.to_vec(), len).unwrap();
        let all = layers(len) * len;
        let mut wires: Vec<u32> = (0..len as u32).collect();
        for layer in 0..layers(len) {
            let mut next = vec![u32::MAX; len];
            each_run(len, layer, |(begins, present)| {
                for group in 0..64 {
                    for to in (0..RADIX).filter(|&to| present[to] >> group & 1 == 1) {
                        let at = layer * len + begins[to] + group;
                        let from = (sources.word_at(at) & 1) << 1 | sources.word_at(all + at) & 1;
                        assert_eq!(present[from as usize] >> group & 1, 1, "a wire that is missing");
                        let place = &mut next[begins[to] + group];
                        assert_eq!(*place, u32::MAX, "a place in two groups");
                        *place = wires[begins[from as usize] + group];
                    }
                }
            });
            wires = next;
        }
        wires
    }

    #[test]
    fn every_order_of_few_wires_is_routed() {
        fn check_all(order: &mut Vec<u32>, len: u32) {
            if order.len() == len as usize {
                assert_eq!(&apply(order), order);
            }
            for next in 0..len {
                if !order.contains(&next) {
                    order.push(next);
                    check_all(order, len);
                    order.pop();
                }
            }
        }
        (0..=7).for_each(|len| check_all(&mut Vec::new(), len));
    }

    #[test]
    fn orders_of_any_number_of_wires_are_routed() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for len in (8..90).chain([255, 256, 257, 258, 259, 1000, 1023, 1025, 20_003]) {
            let order = random_order(len, &mut rng);
            assert!(apply(&order) == order, "{len} wires");
            let reversed: Vec<u32> = (0..len as u32).rev().collect();
            assert!(apply(&reversed) == reversed, "{len} wires");
        }
    }

    /// Random orders of four wires lead to each of the 24 orders alike.
    #[test]
    fn orders_of_four_wires_are_uniform() {
        let (mut rng, mut counts) = (SecretRng::insecure_from_seed(2), HashMap::new());
        let runs = 24_000;
        for _ in 0..runs {
            *counts.entry(apply(&random_order(4, &mut rng))).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let expected = f64::from(runs) / 24.0;
        let square: f64 = counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        // 23 degrees of freedom: 110 is passed once in 2^40 runs.
        assert!(square < 110.0, "{counts:?}");
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for (order, wires) in [(vec![0, 0], 2), (vec![1], 1), (vec![0, 1], 3), (vec![0, 1, 2, 3, 5], 5)] {
            assert!(route(order, wires).is_err());
        }
    }
}
