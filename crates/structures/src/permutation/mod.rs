//! A network of switches that puts any number of wires into any order; each switch crosses its two
//! wires or does not. Waksman's network (1968) for arbitrary sizes (Beauquier, Darrot, "On
//! Arbitrary Size Waksman Networks and their Vulnerability", 2002).
//!
//! ```text
//!   a block of n wires, h = ceil(n / 2):
//!
//!   input i      --| in |-- wire i of the upper block, of h wires -----| out |-- output i
//!   input h + i  --|    |-- wire i of the lower block, of n - h wires -|     |-- output h + i
//! ```
//!
//! There are `n - h` switches `in`, and `h - 1` switches `out`: the upper block's last output
//! always is output `h - 1`, which no order minds. A block of one wire is the wire. In all that is
//! the sum of `ceil(log2 i)` over `i <= n` switches, [`switches`].
//!
//! Wires keep their places, and the switches of a block stand one after the other: `in`, the upper
//! block, the lower block, `out`. So a block is a stretch of the wires and of the switches alike:
//! small ones are worked off within the cache, and the two of a block are independent.

mod route;
mod runs;

pub use route::{NotAnOrder, route};
pub use runs::{Run, Runs};

/// Switches of the network of so many wires.
pub const fn switches(wires: usize) -> usize {
    let depth = crate::facts::ceil_log2(wires);
    // The sum of ceil(log2 i).
    (wires * depth as usize + 1).saturating_sub(1 << depth)
}

/// What the network does: switch `i` crosses where `settings[i]` says so.
///
/// # Panics
/// If there are not as many settings as the network has switches.
pub fn apply<T>(settings: &[bool], wires: &mut [T]) {
    assert_eq!(settings.len(), switches(wires.len()), "a setting for each switch");
    let (mut runs, mut settings) = (Runs::of(wires.len()), settings.iter());
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

    fn check(order: &[u32]) {
        let settings = route(order).unwrap();
        let mut wires: Vec<u32> = (0..order.len() as u32).collect();
        apply(&settings, &mut wires);
        assert_eq!(wires, order);
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
    fn there_are_as_many_switches_as_the_sum_says() {
        let mut sum = 0;
        for len in 0..3000 {
            sum += crate::facts::ceil_log2(len) as usize;
            assert_eq!(switches(len), sum, "{len} wires");
        }
        // A table of 2^20 items.
        assert_eq!(switches(1_363_149), 26_528_978);
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for order in [vec![0, 0], vec![1], vec![0, 1, 3], vec![2, 1, 2]] {
            assert_eq!(route(&order).err(), Some(NotAnOrder), "{order:?}");
        }
    }
}
