//! The side that asks.

use super::packing::{DROPPED_BITS, key_exponent};
use super::ring::{DEGREE, MODULUS_BITS, Small, errors, ring, ternary};
use super::{ENTRY_BITS, KEY_NUMBER, MASK_BITS, SUM_BITS, Seed, Shape};
use crate::fields::Gf64;
use crate::packing::{pack, packed_len, unpack};
use crate::rng::SecretRng;
use crate::secret::Secret;

/// What a client knows of a matrix of records.
pub struct Reader {
    shape: Shape,
    /// The uniform elements of the weights, by their values.
    masks: Vec<Vec<u64>>,
    /// That of the packing key.
    key: Vec<u64>,
    /// The values of the packed `a` of each part, modulo `2^MASK_BITS`.
    packed: Vec<Vec<u64>>,
}

/// A query under way: its secret, of 2 KiB.
#[derive(Debug)]
pub struct Asked(Small);

impl Reader {
    /// That of a matrix whose server gave these public bytes; `None` if there is another number of
    /// them. Any bytes of that number are valid.
    pub fn new(shape: Shape, seed: &Seed, public: &[u8]) -> Option<Self> {
        if public.len() != shape.public_bytes() {
            return None;
        }
        let ring = ring();
        let read = |part: &[u8]| {
            let mut words = vec![Gf64::default(); DEGREE];
            unpack(part, MASK_BITS, &mut words)?;
            let mut values = words.into_iter().map(|word| word.0).collect();
            ring.values(&mut values);
            Some(values)
        };
        Some(Self {
            shape,
            masks: (0..shape.groups() as u64).map(|i| ring.uniform(seed, i)).collect(),
            key: ring.uniform(seed, KEY_NUMBER),
            packed: public.chunks_exact(packed_len(DEGREE, MASK_BITS)).map(read).collect::<Option<_>>()?,
        })
    }

    /// A query for a record, of [`Shape::query_bytes`] bytes. What is sent and how long it takes to
    /// make does not depend on the record.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn query(&self, record: usize, rng: &mut SecretRng) -> (Vec<u8>, Asked) {
        assert!(record < self.shape.rows(), "a record of the matrix");
        let ring = ring();
        let small = ternary(rng);
        let secret = ring.values_of(&small);
        // Step by step: the key's element times the secret, an error, and what it encrypts.
        let mut key = Vec::with_capacity(DEGREE);
        let error = ring.values_of(&errors(DEGREE, rng));
        let image = ring.values_of(&image(&small, key_exponent(self.shape.columns())));
        let unit = ring.modulus.factor(1 << DROPPED_BITS);
        for (((&mask, &secret), &error), &image) in self.key.iter().zip(&*secret).zip(&*error).zip(&*image) {
            let masked = ring.sum(ring.product(mask, secret), error);
            key.push(ring.difference(masked, ring.modulus.below(ring.modulus.times(image, unit))));
        }
        let weight_bits = self.shape.weight_bits();
        let (unit, rounded) = (ring.q() >> ENTRY_BITS, ring.rounder(weight_bits));
        let mut weights: Vec<u64> = Vec::with_capacity(self.shape.rows());
        let errors = errors(self.shape.rows(), rng);
        for (group, mask) in self.masks.iter().enumerate() {
            let product: Secret<Vec<u64>> =
                Secret::new(mask.iter().zip(&*secret).map(|(&mask, &secret)| ring.product(mask, secret)).collect());
            let product = Secret::new(ring.coefficients(&product));
            for (row, (&masked, &error)) in (group * DEGREE..).zip(product.iter().zip(&errors[group * DEGREE..])) {
                // All ones where it is the row that is asked for, without a branch.
                let chosen = (((row ^ record) as u64).wrapping_sub(1) as i64 >> 63) as u64;
                weights.push(rounded(ring.sum(ring.sum(masked, ring.signed(error.into())), unit & chosen)));
            }
        }
        let mut bytes = Vec::with_capacity(self.shape.query_bytes());
        pack::<Gf64>(bytemuck::cast_slice(&key), MODULUS_BITS, &mut bytes);
        pack::<Gf64>(bytemuck::cast_slice(&weights), weight_bits, &mut bytes);
        (bytes, Asked(small))
    }

    /// The record that was asked for, from the answer; `None` if that has another length. Any bytes of
    /// [`Shape::answer_bytes`] give a record, in the same time.
    pub fn open(&self, asked: &Asked, answer: &[u8]) -> Option<Secret<Vec<u8>>> {
        if answer.len() != self.shape.answer_bytes() {
            return None;
        }
        let mut record = Secret::new(Vec::with_capacity(self.shape.record_bytes()));
        let secret = ring().values_of(&asked.0);
        for (packed, sums) in self.packed.iter().zip(answer.chunks_exact(answer.len() / self.shape.parts())) {
            for phase in self.phases(packed, &secret, sums)?.iter() {
                const HALF: u64 = 1 << (MASK_BITS - ENTRY_BITS - 1);
                record.push((phase.wrapping_add(HALF) >> (MASK_BITS - ENTRY_BITS)) as u8);
            }
        }
        Some(record)
    }

    /// The entries of a part times `2^(MASK_BITS - ENTRY_BITS)`, with noise, modulo `2^MASK_BITS`.
    fn phases(&self, packed: &[u64], secret: &[u64], sums: &[u8]) -> Option<Secret<Vec<u64>>> {
        let ring = ring();
        let mut words = Secret::new(vec![Gf64::default(); self.shape.columns()]);
        unpack(sums, SUM_BITS, &mut words)?;
        let product: Secret<Vec<u64>> =
            Secret::new(packed.iter().zip(secret).map(|(&a, &secret)| ring.product(a, secret)).collect());
        // As whole numbers: at most 2^11 times 2^22 in absolute value.
        let product = Secret::new(ring.coefficients(&product));
        let mut phases = Secret::new(Vec::with_capacity(words.len()));
        phases.extend(words.iter().zip(&**product).map(|(word, &product)| {
            let masked = word.0 << (MASK_BITS - SUM_BITS);
            masked.wrapping_sub(ring.centred(product) as u64) & ((1 << MASK_BITS) - 1)
        }));
        Some(phases)
    }

    /// The phases of an answer of one part.
    #[cfg(test)]
    pub(super) fn phases_of(&self, asked: &Asked, answer: &[u8]) -> Option<Secret<Vec<u64>>> {
        self.phases(&self.packed[0], &ring().values_of(&asked.0), answer)
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The polynomial with `X` replaced by `X^exponent`.
fn image(small: &Small, exponent: usize) -> Small {
    let mut image = Secret::new(vec![0; DEGREE]);
    for (i, &coefficient) in small.iter().enumerate() {
        let power = i * exponent % (2 * DEGREE);
        image[power % DEGREE] = if power < DEGREE { coefficient } else { -coefficient };
    }
    image
}
