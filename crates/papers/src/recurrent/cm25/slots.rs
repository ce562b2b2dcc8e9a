//! Numbers in the slots of plaintexts: residues modulo each packing modulus, masks, and matrices.

use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, NoiseExhausted, Plain, Poly, Scheme, SecretKey, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use vesica_protocols::bfv::inverse;

/// Slots of one plaintext, from the slots modulo each packing modulus.
pub(super) fn pack(scheme: &Scheme, residues: &[Vec<u64>]) -> Plain {
    let moduli = &scheme.params().plain;
    let t = scheme.plain_modulus();
    // 1 modulo its own modulus, 0 modulo the others.
    let units: Vec<u64> = moduli
        .iter()
        .map(|&p| {
            let others = t / p;
            others * inverse(others % p, p)
        })
        .collect();
    let slot = |place: usize| {
        let sum = units
            .iter()
            .zip(residues)
            .fold(0u128, |sum, (&unit, residues)| sum + u128::from(unit) * u128::from(residues[place]));
        (sum % u128::from(t)) as u64
    };
    let slots = Secret::new((0..scheme.slots()).map(slot).collect::<Vec<u64>>());
    scheme.encode(&slots)
}

/// Uniform numbers below `p`, of at most 32 bits.
pub(super) fn uniform(p: u64, count: usize, rng: &mut SecretRng) -> Secret<Vec<u64>> {
    let mask = u64::MAX >> (p - 1).leading_zeros();
    let mut numbers = Secret::new(Vec::with_capacity(count + 4));
    while numbers.len() < count {
        let block = rng.block();
        let draws = (0..4).map(|word| (block >> (32 * word)) as u64 & mask);
        numbers.extend(draws.filter(|&draw| draw < p));
    }
    numbers.truncate(count);
    numbers
}

/// A plaintext of uniform slots.
pub(super) fn uniform_plain(scheme: &Scheme, rng: &mut SecretRng) -> Plain {
    let residues: Vec<Vec<u64>> =
        scheme.params().plain.iter().map(|&p| uniform(p, scheme.slots(), rng).to_vec()).collect();
    pack(scheme, &residues)
}

/// For each slot, and modulo each packing modulus, a uniformly random invertible matrix of `size` rows:
/// the plaintext of each entry, row by row.
pub(super) fn invertible(scheme: &Scheme, size: usize, rng: &mut SecretRng) -> Vec<Plain> {
    let mut entries = vec![vec![vec![0; scheme.slots()]; scheme.params().plain.len()]; size * size];
    for (modulus, &p) in scheme.params().plain.iter().enumerate() {
        let mut drawn = uniform(p, scheme.slots() * size * size, rng);
        for (slot, matrix) in drawn.chunks_exact_mut(size * size).enumerate() {
            while !is_invertible(matrix, size, p) {
                matrix.copy_from_slice(&uniform(p, size * size, rng));
            }
            for (entry, &x) in entries.iter_mut().zip(matrix.iter()) {
                entry[modulus][slot] = x;
            }
        }
    }
    entries.iter().map(|residues| pack(scheme, residues)).collect()
}

/// The same as factors of ciphertexts with all primes.
pub(super) fn multipliers(scheme: &Scheme, size: usize, rng: &mut SecretRng) -> Vec<Poly<Values>> {
    let plains = Secret::new(invertible(scheme, size, rng));
    plains.iter().map(|plain| scheme.multiplier(plain, scheme.all_primes())).collect()
}

/// The limbs of each slot multiplied by a uniformly random invertible matrix: all zero if all were, and
/// uniform but not all zero otherwise.
pub(super) fn mixed(scheme: &Scheme, limbs: &[&Ciphertext<Values>], rng: &mut SecretRng) -> Vec<Ciphertext<Values>> {
    let factors = Secret::new(multipliers(scheme, limbs.len(), rng));
    let of_row = |factors: &[Poly<Values>]| {
        let products: Vec<_> = limbs.iter().copied().zip(factors).collect();
        scheme.combine(&products)
    };
    factors.chunks_exact(limbs.len()).map(of_row).collect()
}

/// Whether the determinant is not zero. Takes time by the matrix, which is random.
fn is_invertible(matrix: &[u64], size: usize, p: u64) -> bool {
    let mut rows = Secret::new(matrix.to_vec());
    for column in 0..size {
        let Some(pivot) = (column..size).find(|row| rows[row * size + column] != 0) else { return false };
        for at in 0..size {
            rows.swap(pivot * size + at, column * size + at);
        }
        let scale = inverse(rows[column * size + column], p);
        for row in column + 1..size {
            let factor = rows[row * size + column] * scale % p;
            for at in column..size {
                let product = factor * rows[column * size + at] % p;
                rows[row * size + at] = (rows[row * size + at] + p - product) % p;
            }
        }
    }
    true
}

/// The slots of what ciphertexts hold.
///
/// # Errors
/// If one has too much noise.
pub(super) fn decrypted(
    scheme: &Scheme,
    ciphertexts: &[Ciphertext<Coefficients>],
    key: &SecretKey,
) -> Result<Vec<Secret<Vec<u64>>>, NoiseExhausted> {
    let slots = |ciphertext| {
        let plain = Secret::new(scheme.decrypt(ciphertext, key)?);
        Ok(Secret::new(scheme.decode(&plain)))
    };
    ciphertexts.iter().map(slots).collect()
}

/// Whether some slot is zero in all plaintexts, modulo one of the packing moduli. The work does not depend
/// on the answer.
pub(super) fn has_zero(scheme: &Scheme, plains: &[Secret<Vec<u64>>]) -> bool {
    let is_zero = |slot: usize, p: u64| plains.iter().fold(0, |any, slots| any | (slots[slot] % p)) == 0;
    let moduli = &scheme.params().plain;
    (0..scheme.slots()).fold(false, |found, slot| moduli.iter().fold(found, |found, &p| found | is_zero(slot, p)))
}

/// The place and the modulus of each slot that is zero in all plaintexts.
#[cfg(test)]
pub(super) fn zeros(scheme: &Scheme, plains: &[Secret<Vec<u64>>]) -> Vec<(usize, usize)> {
    let mut zeros = Vec::new();
    for (modulus, &p) in scheme.params().plain.iter().enumerate() {
        for slot in 0..scheme.slots() {
            if plains.iter().fold(0, |any, slots| any | (slots[slot] % p)) == 0 {
                zeros.push((slot, modulus));
            }
        }
    }
    zeros
}

#[cfg(test)]
mod tests {
    use vesica_structures::rlwe::bfv::Params;

    use super::*;

    #[test]
    fn residues_come_back_from_slots() {
        let scheme = Scheme::new(&Params::with_widths(4096, &[28, 27], &[40_961, 65_537], 14)).unwrap();
        let rng = &mut SecretRng::insecure_from_seed(1);
        let residues = [40_961, 65_537].map(|p| uniform(p, 4096, rng).to_vec());
        assert!(residues[1].iter().any(|&x| x >= 60_000) && residues[0].iter().all(|&x| x < 40_961));
        let slots = scheme.decode(&pack(&scheme, &residues));
        for (slot, &x) in slots.iter().enumerate() {
            assert_eq!([x % 40_961, x % 65_537], [residues[0][slot], residues[1][slot]]);
        }
    }

    #[test]
    fn matrices_without_an_inverse_are_told_from_others() {
        assert!(is_invertible(&[0, 1, 1, 0], 2, 7) && is_invertible(&[3], 1, 7));
        assert!(!is_invertible(&[0], 1, 7) && !is_invertible(&[2, 4, 3, 6], 2, 7));
        assert!(!is_invertible(&[1, 2, 3, 4, 5, 6, 5, 0, 2], 3, 7), "the third row is the sum of the others");
        assert!(is_invertible(&[1, 2, 3, 4, 5, 6, 5, 0, 1], 3, 7));
    }
}
