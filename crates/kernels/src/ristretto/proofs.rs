//! What a proof of RFC 9497 takes from the group, several elements side by side.

use curve25519_dalek::Scalar;
use zeroize::Zeroizing;

use super::encoded::{Checked, Composites, ENCODED_BYTES, Encoded, Stated};
use super::points::{Compiled, Digits, MOST_LANES, Point};

/// Points of one lane that share doublings: more of them take more memory than is close.
const POINTS_A_LANE: usize = 4;

/// The lane that holds the generator beside a weighted sum.
const GENERATOR_OF_PROOF: u8 = 0b1000;

/// As above, where a proof is checked.
const GENERATOR_OF_CHECK: u8 = 0b0100;

/// The weighted sum of elements, in parts: one in each lane of each point. `None` if one is no element, or the
/// neutral one.
///
/// # Safety
/// The machine has the instructions of `F`. So for the functions below.
unsafe fn weighted<F: Compiled>(weights: &[Scalar], elements: &[Encoded]) -> Option<Vec<Point<F>>> {
    // Not for secrets: what is returned is moved.
    let of_weights = |scalars: &[Scalar]| {
        let mut digits = Digits::zero();
        digits.set_each(scalars);
        digits
    };
    let mut points = Vec::with_capacity(elements.len().div_ceil(F::LANES));
    for elements in elements.chunks(F::LANES) {
        // SAFETY: the caller vouches for the instructions.
        let (are_elements, point) = unsafe { F::decode(elements) };
        if !are_elements {
            return None;
        }
        points.push(point);
    }
    let digits: Vec<Digits> = weights.chunks(F::LANES).map(of_weights).collect();
    let at_a_time = points.chunks(POINTS_A_LANE).zip(digits.chunks(POINTS_A_LANE));
    // SAFETY: as above.
    Some(at_a_time.map(|(points, digits)| unsafe { F::sum_of_multiples(points, digits) }).collect())
}

/// [`super::composites`].
///
/// # Safety
/// As above.
pub(super) unsafe fn composites<F: Compiled>(
    weights: &[Scalar],
    elements: &[Encoded],
    key: &Scalar,
    nonce: &Scalar,
) -> Option<Composites> {
    // SAFETY: the caller vouches for the instructions.
    let sums = unsafe { weighted::<F>(weights, elements)? };
    let factors = Zeroizing::new([Scalar::ONE, *key, *nonce, *nonce]);
    let mut digits = Digits::zero();
    digits.set_each(&factors[..]);
    let mut encoded = [[0; ENCODED_BYTES]; 4];
    // SAFETY: as above.
    unsafe {
        let bases = F::total_or_generator(&sums, GENERATOR_OF_PROOF);
        F::encode(&F::sum_of_multiples(&[bases], std::slice::from_ref(&digits)), &mut encoded);
    }
    let [sum, sum_by_key, sum_by_nonce, generator_by_nonce] = encoded;
    Some(Composites { sum, sum_by_key, sum_by_nonce, generator_by_nonce })
}

/// [`super::checked`].
///
/// # Safety
/// As above.
pub(super) unsafe fn checked<F: Compiled>(weights: &[Scalar], stated: &Stated<'_>) -> Option<Checked> {
    let Stated { blinded, evaluated, public, challenge, response } = stated;
    let mut encoded = [[0; ENCODED_BYTES]; 4];
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let sums = [weighted::<F>(weights, blinded)?, weighted::<F>(weights, evaluated)?];
        let (is_key, public) = F::decode(&[**public; MOST_LANES][..F::LANES]);
        if !is_key {
            return None;
        }
        // M, M, G, M and Z, Z, B, Z: once the first, once the second, and twice their sum with both scalars.
        let left = F::total_or_generator(&sums[0], GENERATOR_OF_CHECK);
        let right = F::replaced(&F::total_or_generator(&sums[1], 0), GENERATOR_OF_CHECK, &public);
        let mut digits = [Digits::zero(), Digits::zero()];
        digits[0].set_each(&[Scalar::ONE, Scalar::ZERO, **response, **response]);
        digits[1].set_each(&[Scalar::ZERO, Scalar::ONE, **challenge, **challenge]);
        F::encode(&F::sum_of_multiples(&[left, right], &digits), &mut encoded);
    }
    let [blinded_sum, evaluated_sum, of_generator, of_sum] = encoded;
    Some(Checked { blinded_sum, evaluated_sum, of_generator, of_sum })
}
