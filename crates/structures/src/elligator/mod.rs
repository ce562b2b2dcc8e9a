//! Elligator 2 on Curve25519 (Bernstein, Hamburg, Krasnova, Lange, CCS 2013): points whose encoding
//! is a uniform string of 256 bits, and the point of any string.
//!
//! Points are given by their u-coordinates. A uniform point of the *whole* curve, small orders
//! included, has a representative with probability 1/2; of those that have one, the representative
//! is uniform except with `2^-249`. Everything is in constant time.

mod field;

use field::Element;
use zeroize::Zeroize;

/// The coefficient of `v^2 = u^3 + A u^2 + u`.
const A: Element = Element::small(486_662);

/// Bits that no representative uses; they are filled with random ones.
const UNUSED_BITS: u32 = 2;

/// The u-coordinate of the point that 32 bytes represent: `map_to_curve_elligator2` of RFC 9380, section 6.7.1,
/// of the low 254 bits.
pub fn map(representative: &[u8; 32]) -> [u8; 32] {
    let mut bytes = *representative;
    bytes[31] &= 0xff >> UNUSED_BITS;
    let mut r = Element::from_bytes(&bytes);
    let (one, two) = (Element::ONE, Element::small(2));
    let mut doubled_square = two * r.square();
    // 1 + 2 r^2 is never zero, as -1/2 is no square.
    let mut denominator = one + doubled_square;
    // u = -A / d, for which u^3 + A u^2 + u is -A (A^2 - A^2 d + d^2) / d^3.
    let mut squared = A.square() - A.square() * denominator + denominator.square();
    let on_curve = (-A * squared * denominator).square_mask();
    // The other one is -A - u = 2 r^2 u.
    let mut numerator = Element::select(on_curve, -A, -A * doubled_square);
    let coordinate = (numerator * denominator.inverse()).to_bytes();
    bytes.zeroize();
    for element in [&mut r, &mut doubled_square, &mut denominator, &mut squared, &mut numerator] {
        element.zeroize();
    }
    coordinate
}

/// A representative of one of the two points with this u-coordinate, if it has one. `random` chooses the
/// point and the unused bits by its low three bits; a u-coordinate has a representative for both
/// points or for neither.
pub fn representative(coordinate: &[u8; 32], random: u8) -> Option<[u8; 32]> {
    let u = Element::from_bytes(coordinate);
    let sum = u + A;
    let mask = std::hint::black_box(u64::from(random & 1)).wrapping_neg();
    // r = sqrt(-u / (2 (u + A))) or sqrt(-(u + A) / (2 u)).
    let (numerator, denominator) = (Element::select(mask, sum, u), Element::select(mask, u, sum));
    let (exists, root) = Element::sqrt_ratio(-numerator, denominator + denominator);
    // The neutral element, (0, 0) and u = -A have none, or none by this formula.
    let zero = Element::small(0);
    let special = u.equal_mask(zero) | sum.equal_mask(zero);
    let mut bytes = root.lower_half().to_bytes();
    bytes[31] |= (random & 0b110) << 5;
    (exists & !special != 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;
    use crate::rng::SecretRng;

    #[test]
    fn the_map_of_a_representative_is_the_point() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for _ in 0..200 {
            let mut bytes = [0; 32];
            rng.fill_bytes(&mut bytes);
            let coordinate = map(&bytes);
            for random in 0..8 {
                let found = representative(&coordinate, random).expect("an image");
                assert_eq!(map(&found), coordinate);
                assert_eq!(found[31] >> 6, random >> 1);
            }
            // One of both points is the one that we came from.
            let origin = representative(&coordinate, 0).unwrap();
            let other = representative(&coordinate, 1).unwrap();
            assert_ne!(origin, other);
            let mut low = bytes;
            low[31] &= 0x3f;
            // Of r and -r the lower one: r has 254 bits, and nearly all of these are the lower one.
            assert!(low == origin || low == other);
        }
    }

    /// The field elements of the messages of RFC 9380, appendix J.5.2 (the lower of `u` and `-u`), and images of which
    /// `curve25519-dalek` gave the appendix's points when they were multiplied by eight.
    #[test]
    fn the_map_is_that_of_rfc_9380() {
        let hex =
            |text: &str| std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal"));
        for (u, image) in [
            (
                "d09bcfb5c80f5f086cafb37682bd84a2afcd2006cd24ad8052fc7ebd4680c100",
                "56876b9405bacf2224330d4dbe392cfcaef99c68ab69da8a0be81efc25872e70",
            ),
            (
                "3b256e551a20cde58be94db087671cb7f6763a5d0f4a595694d59bd70aa3cf09",
                "f2a8dfadd7e40dc7e6c64e8af5e023090c767e109f8b94323f1f040c4f6adb36",
            ),
            (
                "ac5624c12c8a21c876bd3b3ff8894e4894956071cc3673286f10da6d0630a338",
                "551feacd88eecbd5d69fe8bfe09eda535d376fe4c274c8d6d70859bf9e8ef115",
            ),
        ] {
            assert_eq!(map(&hex(u)), hex(image));
        }
    }

    #[test]
    fn special_points_have_no_representative() {
        assert_eq!(representative(&[0; 32], 0), None);
        let minus_a = (-A).to_bytes();
        assert!((0..8).all(|random| representative(&minus_a, random).is_none()));
    }

    #[test]
    fn the_fields_operations_agree_with_its_laws() {
        let mut rng = SecretRng::insecure_from_seed(2);
        let one = Element::ONE.to_bytes();
        for _ in 0..100 {
            let [a, b] = [(); 2].map(|()| {
                let mut bytes = [0; 32];
                rng.fill_bytes(&mut bytes);
                Element::from_bytes(&bytes)
            });
            assert_eq!((a * a.inverse()).to_bytes(), one);
            assert_eq!(((a + b) * (a - b)).to_bytes(), (a.square() - b.square()).to_bytes());
            assert_eq!((a - b + b).to_bytes(), a.to_bytes());
            assert_eq!(a.square().square_mask(), u64::MAX);
            // 2 is no square.
            assert_eq!((a.square() * Element::small(2)).square_mask(), 0);
        }
        // The modulus is zero, and numbers from it are taken back.
        let mut modulus = [0xff; 32];
        (modulus[0], modulus[31]) = (0xed, 0x7f);
        assert_eq!(Element::from_bytes(&modulus).to_bytes(), [0; 32]);
        modulus[0] = 0xff;
        assert_eq!(Element::from_bytes(&modulus).to_bytes(), Element::small(18).to_bytes());
    }
}
