//! Labels: a payload under the keystream of its item, as numbers that polynomials take at the item's
//! limbs.

use vesica_structures::fields::Gf64;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

use super::polynomials::expand;
use super::ring::{LIMB_BITS, PLAIN};
use crate::bfv::inverse;

/// The point at which a free place has its value, by its number in the part: no limb of any item.
pub fn no_limb(place: u64) -> u64 {
    (1 << LIMB_BITS) + place
}

/// Cuts the bytes of a sealed payload into as many limbs as `out` has room for. Those that are beyond the
/// bytes are zero.
pub fn to_limbs(sealed: &[u8], out: &mut [u32]) {
    let mut bytes = vec![0; packed_len(out.len(), LIMB_BITS)];
    bytes[..sealed.len()].copy_from_slice(sealed);
    let mut limbs = vec![Gf64::default(); out.len()];
    // Bits behind the last limb are behind the last byte: there are at least as many bits as the payload has.
    let _is_clean = unpack(&bytes, LIMB_BITS, &mut limbs);
    out.iter_mut().zip(&limbs).for_each(|(out, limb)| *out = limb.0 as u32);
}

/// The bytes that [`to_limbs`] cut, of which `sealed` has room for. Of a number that is no limb, it takes
/// the low bits.
pub fn from_limbs(limbs: &[Gf64], sealed: &mut [u8]) {
    let mut bytes = Vec::new();
    pack(limbs, LIMB_BITS, &mut bytes);
    sealed.copy_from_slice(&bytes[..sealed.len()]);
}

/// Interpolation at some points, for several polynomials: each is a sum of the same basis polynomials,
/// of which each is 1 at its own point and 0 at the others (Lagrange).
pub struct Interpolation {
    count: usize,
    /// For each point the coefficients of its basis polynomial, the constant one first.
    basis: Secret<Vec<u64>>,
    points: Secret<Vec<u64>>,
    /// The monic polynomial whose roots are the points.
    product: Secret<Vec<u64>>,
    sum: Secret<Vec<u64>>,
}

impl Interpolation {
    /// For so many points, which are not known yet.
    pub fn new(count: usize) -> Self {
        let zeros = |count| Secret::new(vec![0; count]);
        Self { count, basis: zeros(count * count), points: zeros(count), product: zeros(count + 1), sum: zeros(count) }
    }

    /// Takes the points, residues of which no two are equal.
    pub fn at(&mut self, points: impl Iterator<Item = u64>) {
        self.points.iter_mut().zip(points).for_each(|(own, point)| *own = point);
        expand(PLAIN, self.points.iter().copied(), &mut self.product);
        for (&point, basis) in self.points.iter().zip(self.basis.chunks_exact_mut(self.count)) {
            // The product without the point's factor, and its value at the point, both by Horner's rule.
            let (mut coefficient, mut value) = (0, 0);
            for (basis, &of_product) in basis.iter_mut().zip(&self.product[1..]).rev() {
                coefficient = (of_product + point * coefficient) % PLAIN;
                *basis = coefficient;
                value = (coefficient + point * value) % PLAIN;
            }
            let scale = inverse(value, PLAIN);
            basis.iter_mut().for_each(|coefficient| *coefficient = *coefficient * scale % PLAIN);
        }
    }

    /// The coefficients of the polynomial with these values, which are residues; the constant one first.
    pub fn through(&mut self, values: impl Iterator<Item = u64>) -> &[u64] {
        self.sum.fill(0);
        for (value, basis) in values.zip(self.basis.chunks_exact(self.count)) {
            // Sums of hundreds of products of residues of 18 bits fit a word.
            self.sum.iter_mut().zip(basis).for_each(|(sum, coefficient)| *sum += value * coefficient);
        }
        self.sum.iter_mut().for_each(|sum| *sum %= PLAIN);
        &self.sum
    }
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;
    use crate::recurrent::scramble::uniform;
    use crate::unbalanced::powers::BASES;
    use crate::unbalanced::ring::NO_LIMB;

    #[test]
    fn interpolated_polynomials_have_their_values() {
        let mut rng = SecretRng::insecure_from_seed(7);
        let most = BASES.iter().map(|basis| basis.reach).max().unwrap();
        for count in [1, 2, 26, most] {
            let mut interpolation = Interpolation::new(count);
            for _ in 0..2 {
                // Limbs at some places; the others are free.
                let points: Vec<u64> =
                    (0..count as u64).map(|i| if i % 3 == 0 { no_limb(i) } else { i * 801 }).collect();
                assert!(points.iter().all(|&point| point < NO_LIMB));
                interpolation.at(points.iter().copied());
                for _ in 0..2 {
                    let values: Vec<u64> = points.iter().map(|_| uniform(&mut rng)).collect();
                    let polynomial = interpolation.through(values.iter().copied());
                    for (point, value) in points.iter().zip(values) {
                        let found = polynomial.iter().rev().fold(0, |sum, &c| (sum * point + c) % PLAIN);
                        assert_eq!(found, value, "{count} points, at {point}");
                    }
                }
            }
        }
    }

    #[test]
    fn payloads_come_back_from_their_limbs() {
        for (bytes, limbs) in [(1, 1), (2, 1), (16, 8), (17, 8), (17, 12), (100, 48), (1024, 482)] {
            let payload: Vec<u8> = (0..bytes).map(|i| (i * 37 + 255) as u8).collect();
            let mut cut = vec![u32::MAX; limbs];
            to_limbs(&payload, &mut cut);
            assert!(cut.iter().all(|&limb| limb < 1 << LIMB_BITS));
            let limbs: Vec<Gf64> = cut.iter().map(|&limb| Gf64(limb.into())).collect();
            let mut found = vec![0; bytes];
            from_limbs(&limbs, &mut found);
            assert_eq!(found, payload);
        }
    }
}
