//! A set as polynomials: what the server evaluates.

use rayon::prelude::*;
use vesica_structures::hashing::{HashFailure, SimpleTable};
use vesica_structures::rlwe::bfv::{Plain, Scheme};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Shape;
use super::dealing::{FREE, deal, deal_apart};
use super::interpolation::{Interpolation, expand};
use super::labels::no_limb;
use super::ring::{NO_LIMB, PLAIN};
use crate::recurrent::scramble::uniform;

/// For each column, part and power below the degree, the plaintext of the slots'
/// coefficients. That of the highest power is 1 in all slots, and not kept.
///
/// All polynomials have the full degree: what lacks are roots that are no limb.
///
/// With payloads, those of labels follow for each column and part: the polynomials of a lower degree
/// whose values at the limbs of items are the limbs of their labels, and at free places uniform.
#[derive(Debug)]
pub struct Polynomials {
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
        let dealt = deal(&shape, &SimpleTable::build_vartime(positions, shape.bins(), shape.capacity)?, rng);
        Ok(Self::of_dealt(scheme, shape, &dealt, limbs, None))
    }

    /// The same with labels, of each item `shape.limbs` times `shape.labels()` limbs.
    pub fn with_labels(
        scheme: &Scheme,
        shape: Shape,
        positions: &[[u32; 3]],
        limbs: &[u64],
        labels: &[u32],
        rng: &mut SecretRng,
    ) -> Result<Self, HashFailure> {
        let dealt = deal_apart(&shape, &SimpleTable::build_vartime(positions, shape.bins(), shape.capacity)?, limbs)?;
        Ok(Self::of_dealt(scheme, shape, &dealt, limbs, Some((labels, rng))))
    }

    fn of_dealt(
        scheme: &Scheme,
        shape: Shape,
        dealt: &[u32],
        limbs: &[u64],
        labels: Option<(&[u32], &mut SecretRng)>,
    ) -> Self {
        let (n, degree) = (scheme.slots(), shape.degree);
        let (labels, mut rngs) = match labels {
            Some((labels, rng)) => (labels, (0..shape.columns() * shape.parts).map(|_| rng.child()).collect()),
            None => (&[][..], Vec::new()),
        };
        let labels_of_limb = if rngs.is_empty() { 0 } else { shape.labels() };
        let mut coefficients = Secret::new(vec![0; shape.plaintexts() * n]);
        let of_part = |(number, out): (usize, &mut [u32]), mut rng: Option<&mut SecretRng>| {
            let (column, part) = (number / shape.parts, number % shape.parts);
            let (group, column) = (column / shape.columns_per_group(), column % shape.columns_per_group());
            // Power by power, the coefficients of all slots: of the items' polynomials, then of each label.
            let mut slots = vec![vec![0; n]; degree * (1 + labels_of_limb)];
            let mut polynomial = vec![0; degree + 1];
            let mut interpolation = Interpolation::new(degree);
            for bin in 0..shape.bins_per_group() {
                let places = &dealt[(group * shape.bins_per_group() + bin) * shape.places()..][..shape.places()];
                let own = places.iter().skip(part).step_by(shape.parts);
                for limb in 0..shape.limbs {
                    let (in_column, slot) = shape.place(bin, limb);
                    if in_column != column {
                        continue;
                    }
                    let limb_of = |item: u32| limbs[item as usize * shape.limbs + limb];
                    let roots = own.clone().filter(|&&item| item != FREE).map(|&item| limb_of(item));
                    expand(PLAIN, roots.chain(std::iter::repeat(NO_LIMB)), &mut polynomial);
                    for (slots, &coefficient) in slots.iter_mut().zip(&polynomial) {
                        slots[slot] = coefficient;
                    }
                    let Some(rng) = rng.as_deref_mut() else { continue };
                    interpolation.at((0..).zip(own.clone()).map(|(place, &item)| match item {
                        FREE => no_limb(place),
                        item => limb_of(item),
                    }));
                    for label in 0..labels_of_limb {
                        let values = own.clone().map(|&item| match item {
                            FREE => uniform(rng),
                            item => {
                                let of_item = item as usize * shape.limbs * labels_of_limb;
                                labels[of_item + label * shape.limbs + limb].into()
                            }
                        });
                        let polynomial = interpolation.through(values);
                        for (slots, &coefficient) in slots[(1 + label) * degree..].iter_mut().zip(polynomial) {
                            slots[slot] = coefficient;
                        }
                    }
                }
            }
            for (slots, out) in slots.iter().zip(out.chunks_exact_mut(n)) {
                let plain = scheme.encode(slots);
                out.iter_mut().zip(plain.coefficients()).for_each(|(out, &c)| *out = c as u32);
            }
        };
        let parts = coefficients.par_chunks_mut(degree * shape.values() * n).enumerate();
        if rngs.is_empty() {
            parts.for_each(|part| of_part(part, None));
        } else {
            parts.zip(&mut rngs).for_each(|(part, rng)| of_part(part, Some(rng)));
        }
        Self { shape, coefficients }
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

    /// The plaintexts of a column and part, from the constant coefficient on: number 0 are those with items
    /// as roots, the others those of labels.
    pub fn of_part(&self, scheme: &Scheme, column: usize, part: usize, number: usize) -> impl Iterator<Item = Plain> {
        let count = self.shape.degree * scheme.slots();
        let start = ((column * self.shape.parts + part) * self.shape.values() + number) * count;
        let all = self.coefficients[start..][..count].chunks_exact(scheme.slots());
        all.filter_map(|own| Plain::from_coefficients(scheme, own.iter().map(|&c| c.into()).collect()))
    }
}
