//! How the items of a bin are dealt to its parts.

use rayon::prelude::*;
use vesica_structures::hashing::{HashFailure, SimpleTable};
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;

use super::Shape;

/// A place without an item.
pub const FREE: u32 = u32::MAX;

/// For each bin, the item at each of its places, which belong to the parts in turn; the first places in
/// their order, or random ones.
pub fn deal(shape: &Shape, table: &SimpleTable, rng: Option<&mut SecretRng>) -> Vec<u32> {
    let mut dealt = vec![FREE; shape.bins() * shape.places()];
    let mut order: Vec<u32> = (0..shape.places() as u32).collect();
    let mut rng = rng;
    for (bin, places) in dealt.chunks_exact_mut(shape.places()).enumerate() {
        if let Some(rng) = rng.as_deref_mut() {
            order = random_order(shape.places(), rng);
        }
        for (entry, &place) in table.bin(bin).iter().zip(&order) {
            places[place as usize] = entry.item;
        }
    }
    dealt
}

/// The same, such that no two items of a part have a limb in common: polynomials of labels have one
/// value at a limb.
///
/// An item that shares limbs with at most `d` others of its bin always finds a place if there are `2 d`
/// parts or more: docs/parameters/unbalanced.md says why, and how likely that is.
///
/// # Errors
/// If an item finds none.
pub fn deal_apart(shape: &Shape, table: &SimpleTable, limbs: &[u64]) -> Result<Vec<u32>, HashFailure> {
    let mut dealt = vec![FREE; shape.bins() * shape.places()];
    dealt.par_chunks_exact_mut(shape.places()).enumerate().try_for_each(|(bin, places)| {
        let mut parts = Parts { shape, limbs, parts: vec![Vec::with_capacity(shape.degree); shape.parts] };
        for (number, entry) in table.bin(bin).iter().enumerate() {
            parts.take(entry.item, number % shape.parts)?;
        }
        for (part, items) in parts.parts.iter().enumerate() {
            places.iter_mut().skip(part).step_by(shape.parts).zip(items).for_each(|(place, &item)| *place = item);
        }
        Ok(())
    })?;
    Ok(dealt)
}

/// The parts of a bin.
struct Parts<'a> {
    shape: &'a Shape,
    /// Of all items.
    limbs: &'a [u64],
    /// The items of each part.
    parts: Vec<Vec<u32>>,
}

impl Parts<'_> {
    /// Gives an item to the first part from `first` on that can take it. If there is none, another item
    /// leaves its part for it.
    fn take(&mut self, item: u32, first: usize) -> Result<(), HashFailure> {
        let count = self.parts.len();
        if let Some(part) = (0..count).map(|i| (first + i) % count).find(|&part| self.can_take(part, item)) {
            self.parts[part].push(item);
            return Ok(());
        }
        for part in (0..count).filter(|&part| self.is_apart(part, item)) {
            for place in 0..self.parts[part].len() {
                let moved = self.parts[part][place];
                if let Some(other) = (0..count).find(|&other| self.can_take(other, moved)) {
                    self.parts[part][place] = item;
                    self.parts[other].push(moved);
                    return Ok(());
                }
            }
        }
        Err(HashFailure)
    }

    fn can_take(&self, part: usize, item: u32) -> bool {
        self.parts[part].len() < self.shape.degree && self.is_apart(part, item)
    }

    /// Whether an item has no limb in common with one of the part.
    fn is_apart(&self, part: usize, item: u32) -> bool {
        let limbs = |item: u32| &self.limbs[item as usize * self.shape.limbs..][..self.shape.limbs];
        let own = limbs(item);
        self.parts[part].iter().all(|&other| limbs(other).iter().zip(own).all(|(x, y)| x != y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unbalanced::Form;

    /// One bin, items with two limbs each.
    fn dealt(parts: usize, degree: usize, limbs: &[u64]) -> Result<Vec<u32>, HashFailure> {
        let (form, capacity) = (Form::Together, parts * degree);
        let shape = Shape { form, limbs: 2, groups: 1, capacity, parts, degree, basis: 0, payload_bytes: 1 };
        let count = limbs.len() / 2;
        let table = SimpleTable::build_vartime(&vec![[0, 1, 2]; count], shape.bins(), capacity).unwrap();
        deal_apart(&shape, &table, limbs).map(|mut dealt| {
            dealt.truncate(capacity);
            let mut items: Vec<u32> = dealt.iter().copied().filter(|&item| item != FREE).collect();
            items.sort_unstable();
            assert_eq!(items, (0..count as u32).collect::<Vec<_>>(), "each item once");
            for part in 0..parts {
                let of_part = dealt.iter().skip(part).step_by(parts).filter(|&&item| item != FREE);
                for index in 0..2 {
                    let mut own: Vec<u64> = of_part.clone().map(|&item| limbs[2 * item as usize + index]).collect();
                    own.sort_unstable();
                    assert!(own.windows(2).all(|pair| pair[0] != pair[1]), "part {part}, limb {index}");
                }
            }
            dealt
        })
    }

    /// In turn, where nothing is in the way: as without payloads.
    #[test]
    fn items_without_common_limbs_are_dealt_in_turn() {
        assert_eq!(dealt(3, 2, &[1, 1, 2, 2, 3, 3, 4, 4]).unwrap(), [0, 1, 2, 3, FREE, FREE]);
    }

    #[test]
    fn items_with_a_common_limb_come_into_different_parts() {
        // The fourth would come to the first, with which it shares its second limb.
        assert_eq!(dealt(3, 2, &[1, 1, 2, 2, 3, 3, 4, 1]).unwrap(), [0, 1, 2, FREE, 3, FREE]);
        // The last one shares limbs with the only item of the part that has room: another one goes there.
        let limbs = [1, 1, 2, 2, 3, 3, 2, 4];
        assert_eq!(dealt(2, 2, &limbs).unwrap(), [3, 1, 2, 0]);
        assert_eq!(dealt(2, 2, &[1, 1, 1, 2, 1, 3]), Err(HashFailure), "three with one limb");
        // With the same limb at different places, they need not go apart.
        assert_eq!(dealt(1, 2, &[1, 2, 2, 1]).unwrap(), [0, 1]);
    }

    /// Twice as many parts as an item has others with a limb of its own: all find a place, however full it is.
    #[test]
    fn a_full_bin_is_dealt_where_the_bound_says_so() {
        let mut rng = SecretRng::insecure_from_seed(5);
        for degree in 1..6 {
            for _ in 0..200 {
                // Groups of four with a limb in common, the other limb their own: three others each.
                let parts = 6;
                let count = parts * degree;
                let order = random_order(count, &mut rng);
                let limbs: Vec<u64> = order.iter().flat_map(|&i| [u64::from(i / 4), u64::from(i)]).collect();
                dealt(parts, degree, &limbs).unwrap();
            }
        }
    }
}
