//! Networks of switches that put any number of wires into any order; each switch crosses its two
//! wires or does not. The Benes network ("Optimal Rearrangeable Multistage Connecting Networks",
//! Bell System Technical Journal, 1964) for arbitrary sizes (Chang, Melhem, "Arbitrary Size Benes
//! Networks", 1997), and Waksman's (1968) for arbitrary sizes (Beauquier, Darrot, "On Arbitrary
//! Size Waksman Networks and their Vulnerability", 2002).
//!
//! ```text
//!   a block of n wires, h = ceil(n / 2):
//!
//!   input i      --| in |-- wire i of the upper block, of h wires -----| out |-- output i
//!   input h + i  --|    |-- wire i of the lower block, of n - h wires -|     |-- output h + i
//! ```
//!
//! A block of one wire is the wire, one of two is a switch `in`. Larger ones of a Benes network have
//! `n - h` switches `in` and as many switches `out`. Waksman's has `h - 1` switches `out`: the upper
//! block's last output always is output `h - 1`, which no order minds. If `n` is odd, neither
//! network has a switch there. So a Benes network has one switch more in each block of an even
//! number of wires greater than two, `n / 2 - 1` in all if `n` is a power of two. [`route`] never
//! crosses these switches.
//!
//! Wires keep their places, and the switches of a block stand one after the other: `in`, the upper
//! block, the lower block, `out`. So a block is a stretch of the wires and of the switches alike:
//! small ones are worked off within the cache, and the two of a block are independent.

mod route;
mod runs;

pub use route::{NotAnOrder, route};
pub use runs::{Run, Runs};

/// How switches are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// The one with fewer switches.
    Waksman,
    /// The one whose blocks are symmetric.
    Benes,
}

impl Network {
    /// Switches of the network of so many wires.
    pub const fn switches(self, wires: usize) -> usize {
        let depth = crate::facts::ceil_log2(wires);
        // The sum of ceil(log2 i) over i <= wires.
        let waksman = (wires * depth as usize + 1).saturating_sub(1 << depth);
        match self {
            Self::Waksman => waksman,
            Self::Benes => waksman + even_blocks(wires),
        }
    }

    /// Switches `out` of a block of so many wires.
    pub const fn outs(self, wires: usize) -> usize {
        match self {
            Self::Waksman => wires.div_ceil(2).saturating_sub(1),
            Self::Benes if wires > 2 => wires / 2,
            Self::Benes => 0,
        }
    }
}

/// Blocks of an even number of wires greater than two.
const fn even_blocks(wires: usize) -> usize {
    let (mut count, mut depth) = (0, 0);
    while wires >> depth > 2 {
        // Blocks that lie equally deep have `size` wires, or one more.
        let (blocks, size) = (1 << depth, wires >> depth);
        let larger = wires % blocks;
        count += if size.is_multiple_of(2) { blocks - larger } else { larger };
        depth += 1;
    }
    count
}

/// What the network does: switch `i` crosses where `settings[i]` says so.
///
/// # Panics
/// If there are not as many settings as the network has switches.
pub fn apply<T>(network: Network, settings: &[bool], wires: &mut [T]) {
    assert_eq!(settings.len(), network.switches(wires.len()), "a setting for each switch");
    let (mut runs, mut settings) = (Runs::of(network, wires.len()), settings.iter());
    while let Some(run) = runs.next_up_to(usize::MAX) {
        let (upper, lower) = run.of(wires);
        for ((upper, lower), crosses) in upper.iter_mut().zip(lower).zip(&mut settings) {
            if *crosses {
                std::mem::swap(upper, lower);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SecretRng;
    use crate::shuffle::random_order;

    pub(super) const NETWORKS: [Network; 2] = [Network::Waksman, Network::Benes];

    fn check(order: &[u32]) {
        let [waksman, benes] = NETWORKS.map(|network| {
            let settings = route(network, order).unwrap();
            let mut wires: Vec<u32> = (0..order.len() as u32).collect();
            apply(network, &settings, &mut wires);
            assert_eq!(wires, order, "{network:?}");
            settings.iter().filter(|crosses| **crosses).count()
        });
        assert_eq!(waksman, benes, "a switch crosses that Waksman's network lacks");
    }

    /// All orders of `0..len` that begin with `order`.
    fn check_all(order: &mut Vec<u32>, len: u32) {
        if order.len() == len as usize {
            check(order);
        }
        for next in 0..len {
            if !order.contains(&next) {
                order.push(next);
                check_all(order, len);
                order.pop();
            }
        }
    }

    #[test]
    fn every_order_of_few_wires_is_routed() {
        for len in 0..=7 {
            check_all(&mut Vec::new(), len);
        }
    }

    #[test]
    fn orders_of_any_number_of_wires_are_routed() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for len in (8..100).chain([127, 128, 129, 1000, 4095, 4096, 4097, 50_001]) {
            check(&random_order(len, &mut rng));
            check(&(0..len as u32).collect::<Vec<_>>());
            check(&(0..len as u32).rev().collect::<Vec<_>>());
        }
    }

    #[test]
    fn there_are_as_many_switches_as_the_sums_say() {
        let (mut sum, mut benes) = (0, vec![0, 0, 1]);
        for len in 0..3000 {
            sum += crate::facts::ceil_log2(len) as usize;
            assert_eq!(Network::Waksman.switches(len), sum, "{len} wires");
            if len > 2 {
                benes.push(2 * (len / 2) + benes[len.div_ceil(2)] + benes[len / 2]);
            }
            assert_eq!(Network::Benes.switches(len), benes[len], "{len} wires");
        }
        // A table of 2^20 items.
        assert_eq!(NETWORKS.map(|network| network.switches(1_300_235)), [25_207_784, 25_427_688]);
    }

    /// CSSW25, section 6.3.1: Waksman's network needs `n / 2 - 1` switches less.
    #[test]
    fn a_benes_network_of_a_power_of_two_has_as_many_more_switches_as_the_paper_says() {
        for log in 1..40 {
            let [waksman, benes] = NETWORKS.map(|network| network.switches(1 << log));
            assert_eq!(benes - waksman, (1 << log) / 2 - 1, "2^{log} wires");
        }
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for order in [vec![0, 0], vec![1], vec![0, 1, 3], vec![2, 1, 2]] {
            assert_eq!(route(Network::Waksman, &order).err(), Some(NotAnOrder), "{order:?}");
        }
    }
}
