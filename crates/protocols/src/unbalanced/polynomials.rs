//! A set as polynomials: what the server evaluates.

use rayon::prelude::*;
use vesica_structures::hashing::{HashFailure, SimpleTable};
use vesica_structures::rlwe::bfv::{Plain, Scheme};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::Shape;
use super::ring::{NO_LIMB, PLAIN};

/// A place without an item.
const FREE: u32 = u32::MAX;

/// For each column, part and power below the degree, the plaintext of the slots'
/// coefficients. That of the highest power is 1 in all slots, and not kept.
///
/// All polynomials have the full degree: what lacks are roots that are no limb.
#[derive(Debug)]
pub(super) struct Polynomials {
    shape: Shape,
    /// Coefficients of plaintexts, as many as a plaintext has, one plaintext after the other.
    coefficients: Secret<Vec<u32>>,
}

impl Polynomials {
    /// The polynomials of items with these positions and limbs, `shape.limbs` of each item.
    ///
    /// The items of a bin are dealt to its parts in their order, or at random.
    pub fn new(
        scheme: &Scheme,
        shape: Shape,
        positions: &[[u32; 3]],
        limbs: &[u64],
        rng: Option<&mut SecretRng>,
    ) -> Result<Self, HashFailure> {
        let dealt = deal(&shape, &SimpleTable::build(positions, shape.bins(), shape.capacity)?, rng);
        let n = scheme.slots();
        let mut coefficients = Secret::new(vec![0; shape.plaintexts() * n]);
        let of_part = |(number, out): (usize, &mut [u32])| {
            let (column, part) = (number / shape.parts, number % shape.parts);
            let (group, column) = (column / shape.columns_per_group(), column % shape.columns_per_group());
            // Power by power, the coefficients of all slots.
            let mut slots = vec![vec![0; n]; shape.degree];
            let mut polynomial = vec![0; shape.degree + 1];
            for bin in 0..shape.bins_per_group() {
                let places = &dealt[(group * shape.bins_per_group() + bin) * shape.places()..][..shape.places()];
                for limb in 0..shape.limbs {
                    let (in_column, slot) = shape.place(bin, limb);
                    if in_column != column {
                        continue;
                    }
                    let own = places.iter().skip(part).step_by(shape.parts).filter(|&&item| item != FREE);
                    let roots = own.map(|&item| limbs[item as usize * shape.limbs + limb]);
                    expand(PLAIN, roots.chain(std::iter::repeat(NO_LIMB)), &mut polynomial);
                    for (slots, &coefficient) in slots.iter_mut().zip(&polynomial) {
                        slots[slot] = coefficient;
                    }
                }
            }
            for (slots, out) in slots.iter().zip(out.chunks_exact_mut(n)) {
                let plain = scheme.encode(slots);
                out.iter_mut().zip(plain.coefficients()).for_each(|(out, &c)| *out = c as u32);
            }
        };
        coefficients.par_chunks_mut(shape.degree * n).enumerate().for_each(of_part);
        Ok(Self { shape, coefficients })
    }

    /// What [`coefficients`](Self::coefficients) gave; nothing where they are not those of plaintexts.
    pub fn from_coefficients(scheme: &Scheme, shape: Shape, coefficients: Vec<u32>) -> Option<Self> {
        let coefficients = Secret::new(coefficients);
        let are_below = coefficients.iter().all(|&c| u64::from(c) < scheme.plain_modulus());
        let are_all = coefficients.len() == shape.plaintexts() * scheme.slots();
        (are_below && are_all).then_some(Self { shape, coefficients })
    }

    /// All coefficients of all plaintexts.
    pub fn coefficients(&self) -> &[u32] {
        &self.coefficients
    }

    /// The plaintexts of a column and part, from the constant coefficient on.
    pub fn of_part(&self, scheme: &Scheme, column: usize, part: usize) -> impl Iterator<Item = Plain> {
        let start = (column * self.shape.parts + part) * self.shape.degree * scheme.slots();
        let all = self.coefficients[start..][..self.shape.degree * scheme.slots()].chunks_exact(scheme.slots());
        all.filter_map(|own| Plain::from_coefficients(scheme, own.iter().map(|&c| c.into()).collect()))
    }
}

/// For each bin, the item at each of its places, which belong to the parts in turn; the first places in
/// their order, or random ones.
fn deal(shape: &Shape, table: &SimpleTable, rng: Option<&mut SecretRng>) -> Vec<u32> {
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

/// The parts of the items that are dealt at random.
#[cfg(test)]
pub(super) fn dealt_parts(shape: &Shape, positions: &[[u32; 3]], rng: &mut SecretRng) -> Vec<usize> {
    let table = SimpleTable::build(positions, shape.bins(), shape.capacity).unwrap();
    let dealt = deal(shape, &table, Some(rng));
    let items = dealt.iter().enumerate().filter(|(_, item)| **item != FREE);
    items.map(|(place, _)| place % shape.places() % shape.parts).collect()
}

/// The monic polynomial with the first so many roots as it has room for, the constant coefficient
/// first.
#[inline(always)]
fn expand(t: u64, roots: impl Iterator<Item = u64>, polynomial: &mut [u64]) {
    let degree = polynomial.len() - 1;
    polynomial.fill(0);
    // The polynomial so far stands at the upper end.
    polynomial[degree] = 1;
    for (count, root) in roots.take(degree).enumerate() {
        let lowest = degree - count - 1;
        for i in lowest..degree {
            polynomial[i] = (polynomial[i] + (t - root) * polynomial[i + 1]) % t;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_have_their_roots_and_no_others() {
        let (t, roots) = (97, [3, 5, 5, 96]);
        let mut polynomial = [0; 5];
        expand(t, roots.into_iter().chain([1, 2]), &mut polynomial);
        for x in 0..t {
            let value = polynomial.iter().rev().fold(0, |value, &c| (value * x + c) % t);
            let product = roots.iter().fold(1, |product, &root| product * (x + t - root) % t);
            assert_eq!(value, product, "at {x}");
        }
    }
}
