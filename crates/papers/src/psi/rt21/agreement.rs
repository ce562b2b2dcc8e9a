//! The receiver's messages of the key agreement: uniform strings.

use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::{EdwardsPoint, Scalar};
use rand_core::Rng;
use subtle::{ConditionallySelectable, ConstantTimeEq};
use vesica_structures::elligator;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// An exponent `b`, and a uniform string that represents `b B + T`, for a uniform `T` of small order.
///
/// Without `T` a string could be told from a random one: its point would have prime order. About
/// half of the points have no representative; how often another is drawn says nothing of `b` or of an
/// item.
pub(super) fn message(rng: &mut SecretRng) -> (Secret<Scalar>, [u8; 32]) {
    loop {
        let exponent = Secret::new(Scalar::random(rng));
        let random = rng.next_u32();
        let point = EdwardsPoint::mul_base(&exponent) + small(random as u8 & 7);
        if let Some(string) = elligator::representative(&point.to_montgomery().0, (random >> 3) as u8) {
            return (exponent, string);
        }
    }
}

/// The point of small order of this number, by a look at all of them.
fn small(number: u8) -> EdwardsPoint {
    let mut chosen = EIGHT_TORSION[0];
    for (at, point) in (0u8..).zip(&EIGHT_TORSION) {
        chosen.conditional_assign(point, at.ct_eq(&number));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::MontgomeryPoint;
    use sha2::Sha512;

    use super::*;
    use crate::ecdh::x25519::X25519;
    use crate::psi::rt21::keys::{checked, public_key};
    use vesica_protocols::ecdh::Exponent;

    #[test]
    fn both_sides_agree_on_a_key() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for _ in 0..20 {
            let a = X25519::random(&mut rng);
            let (b, string) = message(&mut rng);
            let point = MontgomeryPoint(elligator::map(&string));
            let key = checked(&public_key(&a)).unwrap();
            assert_eq!(a.times(&point), (key * *b).to_montgomery().0);
        }
    }

    /// All eight cosets of the prime-order subgroup appear: their order tells nothing.
    #[test]
    fn messages_are_on_the_whole_curve_and_use_all_bits() {
        let mut rng = SecretRng::insecure_from_seed(2);
        let (mut prime, mut ones) = (0, [0; 256]);
        const MESSAGES: usize = 400;
        for _ in 0..MESSAGES {
            let (_, string) = message(&mut rng);
            let point = MontgomeryPoint(elligator::map(&string)).to_edwards(0).unwrap();
            prime += usize::from(point.is_torsion_free());
            ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += usize::from(string[bit / 8] >> (bit % 8) & 1));
        }
        // An eighth, 50, and halves, 200: six standard deviations either way.
        assert!((10..90).contains(&prime), "{prime}");
        assert!(ones.iter().all(|ones| (140..260).contains(ones)), "{ones:?}");
    }

    /// RFC 9380, section 6.7.1, by way of the library's `encode_to_curve`: each of its points is eight times
    /// the map of some string, so that its eighths in all cosets include one with a representative.
    #[test]
    fn encodings_of_the_library_are_images_of_the_map() {
        for message in 0..20u8 {
            let encoded = EdwardsPoint::encode_to_curve::<Sha512>(&[&[message]], &[b"test"]);
            let eighth = encoded * Scalar::from(8u8).invert();
            let images = EIGHT_TORSION.iter().filter_map(|small| {
                let coordinate = (eighth + small).to_montgomery().0;
                let string = elligator::representative(&coordinate, 0)?;
                assert_eq!(elligator::map(&string), coordinate);
                Some(())
            });
            assert!(images.count() > 0);
        }
    }
}
