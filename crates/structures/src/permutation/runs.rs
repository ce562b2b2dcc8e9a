//! The switches of a network in order, as runs of neighbours.

use super::Network;

/// Switches side by side: the `i`-th of them joins the wires `upper + i` and `lower + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first upper wire.
    pub upper: usize,
    /// The first lower wire, beyond all upper ones.
    pub lower: usize,
    /// The number of switches.
    pub len: usize,
}

impl Run {
    /// The upper and the lower wires.
    ///
    /// # Panics
    /// If the wires are those of a smaller network.
    pub fn of<T>(self, wires: &mut [T]) -> (&mut [T], &mut [T]) {
        let (upper, lower) = wires.split_at_mut(self.lower);
        (&mut upper[self.upper..][..self.len], &mut lower[..self.len])
    }
}

/// The runs of a network that are yet to come.
#[derive(Clone, Debug)]
pub struct Runs {
    network: Network,
    /// The last one is next.
    parts: Vec<Part>,
    /// The remainder of a run that was cut.
    rest: Option<Run>,
}

/// A block, or its last switches, by its first wire and how many it has.
#[derive(Clone, Copy, Debug)]
enum Part {
    Block(usize, usize),
    Out(usize, usize),
}

impl Runs {
    /// All switches of the network of `wires` wires.
    pub fn of(network: Network, wires: usize) -> Self {
        Self { network, parts: vec![Part::Block(0, wires)], rest: None }
    }

    /// The next run, or as much of it as is no longer than `most`, which is at least 1.
    pub fn next_up_to(&mut self, most: usize) -> Option<Run> {
        let run = match self.rest.take() {
            Some(rest) => rest,
            None => self.next_run()?,
        };
        let len = run.len.min(most);
        if len < run.len {
            self.rest = Some(Run { upper: run.upper + len, lower: run.lower + len, len: run.len - len });
        }
        Some(Run { len, ..run })
    }

    fn next_run(&mut self) -> Option<Run> {
        loop {
            let run = match self.parts.pop()? {
                Part::Block(_, 0 | 1) => continue,
                Part::Block(start, wires) => {
                    let half = wires.div_ceil(2);
                    self.parts.push(Part::Out(start, wires));
                    self.parts.push(Part::Block(start + half, wires - half));
                    self.parts.push(Part::Block(start, half));
                    Run { upper: start, lower: start + half, len: wires - half }
                }
                Part::Out(start, wires) => {
                    Run { upper: start, lower: start + wires.div_ceil(2), len: self.network.outs(wires) }
                }
            };
            if run.len > 0 {
                return Some(run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation::tests::NETWORKS;

    /// The wires of each switch, from runs of at most so many.
    fn one_by_one(network: Network, wires: usize, most: usize) -> Vec<(usize, usize)> {
        let mut runs = Runs::of(network, wires);
        let pairs = std::iter::from_fn(|| runs.next_up_to(most))
            .flat_map(|run| (0..run.len).map(move |i| (run.upper + i, run.lower + i)));
        pairs.collect()
    }

    #[test]
    fn runs_can_be_cut_anywhere() {
        for (network, wires) in NETWORKS.iter().flat_map(|&network| [0, 1, 2, 3, 100, 1000].map(|len| (network, len))) {
            let all = one_by_one(network, wires, usize::MAX);
            assert_eq!(all.len(), network.switches(wires));
            assert!(all.iter().all(|&(upper, lower)| upper < lower && lower < wires));
            assert!([1, 2, 7].into_iter().all(|most| one_by_one(network, wires, most) == all));
        }
    }

    /// Also at the switches that no routing crosses.
    #[test]
    fn every_wire_of_a_benes_network_of_a_power_of_two_meets_a_switch_in_each_layer() {
        for log in 1..10 {
            let mut met = vec![0; 1 << log];
            for (upper, lower) in one_by_one(Network::Benes, 1 << log, usize::MAX) {
                met[upper] += 1;
                met[lower] += 1;
            }
            assert!(met.iter().all(|&switches| switches == 2 * log - 1), "2^{log} wires: {met:?}");
        }
    }
}
