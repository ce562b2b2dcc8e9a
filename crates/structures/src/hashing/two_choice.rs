//! Two-choice hashing: each item goes into one of two bins. A bin holds many items and has almost
//! no room to spare (PRTY19, section 4; Sanders, Egner, Korst 2003).

use super::HashFailure;
use super::max_load::{ln_factorial, ln_tail};

/// Items for each bin, but for the rounding; PRTY19 takes as many as lambda.
const MEAN: usize = 40;

/// Capacities for 2 bins and more, up to the number of bins before which each serves: the least for
/// which [`two_choice_bound`] of [`MEAN`] items a bin is below `2^-44`. One bin holds all items.
const CAPACITIES: [(usize, usize); 6] = [(3, 52), (4, 47), (5, 45), (7, 44), (10, 43), (19, 42)];

/// From 19 bins on, one more than the mean.
const CAPACITY: usize = MEAN + 1;

/// The bins of a table and the items that each holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoChoiceShape {
    /// Bins, 1 or more.
    pub bins: usize,
    /// Most items of a bin.
    pub capacity: usize,
}

impl TwoChoiceShape {
    /// Most items of a bin, whatever the number of items.
    pub const MOST: usize = 52;

    /// A table for `items` items that does not exist with probability at most `2^-44`.
    pub fn new(items: usize) -> Self {
        let bins = items.div_ceil(MEAN).max(1);
        let by_table =
            || CAPACITIES.iter().find(|(before, _)| bins < *before).map_or(CAPACITY, |&(_, capacity)| capacity);
        Self { bins, capacity: if bins == 1 { items } else { by_table() } }
    }

    /// The two bins that 128 uniform bits give; they may be one.
    #[inline]
    pub fn positions(&self, bits: u128) -> [u32; 2] {
        [bits as u64, (bits >> 64) as u64].map(|half| ((u128::from(half) * self.bins as u128) >> 64) as u32)
    }

    /// Chooses a bin of its two for each item: 0 or 1, which one. Time depends on the positions.
    ///
    /// # Errors
    /// Exactly if no choice keeps to the capacity.
    pub fn assign_vartime(&self, positions: &[[u32; 2]]) -> Result<Vec<u8>, HashFailure> {
        let mut choices = vec![0u8; positions.len()];
        let mut loads = vec![0u32; self.bins];
        positions.iter().for_each(|&[first, _]| loads[first as usize] += 1);
        // PRTY19, Algorithm 1, and its second pass again as long as it may help.
        for _ in 0..PASSES {
            for (&positions, choice) in positions.iter().zip(&mut choices) {
                let (here, there) =
                    (positions[usize::from(*choice)] as usize, positions[usize::from(1 - *choice)] as usize);
                let better = loads[there] + 1 < loads[here];
                loads[here] -= u32::from(better);
                loads[there] += u32::from(better);
                *choice ^= u8::from(better);
            }
            if loads.iter().all(|&load| load as usize <= self.capacity) {
                return Ok(choices);
            }
        }
        self.repair(positions, &mut choices, &mut loads)?;
        Ok(choices)
    }

    /// Moves one item after another out of bins that are too full, along shortest paths to bins
    /// with room: by Hall's theorem there is one as long as there is any table.
    fn repair(&self, positions: &[[u32; 2]], choices: &mut [u8], loads: &mut [u32]) -> Result<(), HashFailure> {
        let mut members = vec![Vec::new(); self.bins];
        for (item, (positions, &choice)) in (0u32..).zip(positions.iter().zip(&*choices)) {
            members[positions[usize::from(choice)] as usize].push(item);
        }
        let mut reached_by = vec![None; self.bins];
        for full in 0..self.bins {
            while loads[full] as usize > self.capacity {
                reached_by.fill(None);
                let mut queue = std::collections::VecDeque::from([full]);
                let mut room = None;
                while let (Some(bin), None) = (queue.pop_front(), room) {
                    for &item in &members[bin] {
                        let other = positions[item as usize][usize::from(1 - choices[item as usize])] as usize;
                        if other != full && reached_by[other].is_none() {
                            reached_by[other] = Some((item, bin));
                            queue.push_back(other);
                            if (loads[other] as usize) < self.capacity {
                                room = Some(other);
                                break;
                            }
                        }
                    }
                }
                let mut bin = room.ok_or(HashFailure)?;
                loads[bin] += 1;
                loads[full] -= 1;
                while let Some((item, from)) = reached_by[bin] {
                    choices[item as usize] ^= 1;
                    members[from].retain(|&member| member != item);
                    members[bin].push(item);
                    bin = from;
                }
            }
        }
        Ok(())
    }
}

/// Passes of Algorithm 1 before bins are repaired one by one.
const PASSES: usize = 4;

/// An upper bound of `log2` of the probability that no table exists, for independent uniform
/// positions.
///
/// By Hall's theorem none exists exactly if for some set of `s` bins more than `s capacity` items
/// have both positions in it. Those are binomially distributed, with probability `(s / bins)^2`;
/// the union bound goes over the sets.
pub fn two_choice_bound(items: usize, bins: usize, capacity: usize) -> f64 {
    let ln_sets = |s: usize| ln_factorial(bins) - ln_factorial(s) - ln_factorial(bins - s);
    let term = |s: usize| (ln_sets(s) + ln_tail(items, (s as f64 / bins as f64).powi(2), capacity * s)).exp();
    (1..bins).map(term).sum::<f64>().log2()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::Rng;

    use super::*;
    use crate::rng::SecretRng;

    fn positions(items: usize, shape: TwoChoiceShape, seed: u64) -> Vec<[u32; 2]> {
        let mut rng = SecretRng::insecure_from_seed(seed);
        (0..items).map(|_| shape.positions(rng.block())).collect()
    }

    fn loads(shape: TwoChoiceShape, positions: &[[u32; 2]], choices: &[u8]) -> Vec<usize> {
        let mut loads = vec![0; shape.bins];
        positions
            .iter()
            .zip(choices)
            .for_each(|(positions, &choice)| loads[positions[usize::from(choice)] as usize] += 1);
        loads
    }

    #[test]
    fn capacities_are_within_their_bound_and_least() {
        for bins in (2..100).chain([128, 400, 1000, 5000, 26_215]) {
            let TwoChoiceShape { bins, capacity } = TwoChoiceShape::new(MEAN * bins);
            assert!(capacity <= TwoChoiceShape::MOST);
            assert!(two_choice_bound(MEAN * bins, bins, capacity) < -44.0, "{bins} bins of {capacity}");
            assert!(
                capacity == CAPACITY || two_choice_bound(MEAN * bins, bins, capacity - 1) > -44.0,
                "{bins} bins of {capacity}"
            );
        }
        assert_eq!(TwoChoiceShape::new(0), TwoChoiceShape { bins: 1, capacity: 0 });
        assert_eq!(TwoChoiceShape::new(40), TwoChoiceShape { bins: 1, capacity: 40 });
        assert_eq!(TwoChoiceShape::new(1 << 20), TwoChoiceShape { bins: 26_215, capacity: 41 });
    }

    #[test]
    fn items_find_their_places() {
        for items in [0, 1, 41, 100, 999, 5000, 1 << 17] {
            let shape = TwoChoiceShape::new(items);
            let positions = positions(items, shape, 3);
            let choices = shape.assign_vartime(&positions).unwrap();
            assert!(loads(shape, &positions, &choices).iter().all(|&load| load <= shape.capacity), "{items} items");
        }
    }

    /// No room at all: Algorithm 1 leaves bins too full, and the repair ends where there is a
    /// table.
    #[test]
    fn full_tables_are_found_by_repair() {
        let shape = TwoChoiceShape { bins: 50, capacity: 20 };
        let found = (0..20).filter(|&seed| {
            let positions = positions(1000, shape, seed);
            shape.assign_vartime(&positions).is_ok_and(|choices| loads(shape, &positions, &choices) == vec![20; 50])
        });
        assert!(found.count() > 15);
    }

    proptest! {
        /// Against Hall's condition itself, on tables so small that failures are common.
        #[test]
        fn agrees_with_halls_condition(seed: u64, items in 0usize..20, bins in 1usize..6, capacity in 1usize..5) {
            let shape = TwoChoiceShape { bins, capacity };
            let positions = positions(items, shape, seed);
            let exists = (0u32..1 << bins).all(|set| {
                let inside = positions.iter().filter(|positions| positions.iter().all(|position| set >> position & 1 == 1)).count();
                inside <= set.count_ones() as usize * capacity
            });
            let choices = shape.assign_vartime(&positions);
            prop_assert_eq!(choices.is_ok(), exists);
            if let Ok(choices) = choices {
                prop_assert!(loads(shape, &positions, &choices).iter().all(|&load| load <= capacity));
            }
        }
    }

    /// Failures of small tables, which are frequent, stay below the bound: 2000 runs of each.
    #[test]
    fn failures_are_no_more_than_the_bound_says() {
        let mut rng = SecretRng::insecure_from_seed(8);
        for (items, bins, capacity) in [(40, 4, 12), (60, 3, 24), (100, 10, 11), (200, 40, 6)] {
            let shape = TwoChoiceShape { bins, capacity };
            let failures = (0..2000)
                .filter(|_| shape.assign_vartime(&positions(items, shape, rng.next_u64())).is_err())
                .count() as f64;
            let expected = 2000.0 * two_choice_bound(items, bins, capacity).exp2();
            assert!(
                failures <= expected + 4.0 * expected.sqrt() + 4.0,
                "{items} items in {bins} bins of {capacity}: {failures} of {expected}"
            );
        }
    }
}
