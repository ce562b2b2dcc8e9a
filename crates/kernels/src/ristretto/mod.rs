//! Scalars times elements of the Ristretto group (RFC 9496): what all protocols on Diffie-Hellman
//! spend their time with.
//!
//! Where AVX-512 is there, elements are multiplied eight at a time, a lane of a register each. What
//! few elements are left take registers of half the width where IFMA is there: that is twice as fast
//! where registers of 512 bits are worked on half by half, and no slower elsewhere. Without AVX-512
//! elements are multiplied one after the other by `curve25519-dalek`, which is the definition. All
//! lanes go through the same steps, whatever their scalars are.

#[cfg(target_arch = "x86_64")]
mod doubles;
mod encoded;
#[cfg(target_arch = "x86_64")]
mod field;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod points;
mod portable;
#[cfg(target_arch = "x86_64")]
mod proofs;

use curve25519_dalek::Scalar;

#[cfg(target_arch = "x86_64")]
use crate::dispatch::Backend;
use crate::dispatch::backend;
pub use encoded::{Checked, Composites, ENCODED_BYTES, Encoded, Stated, Uniform};

/// The twin of a kernel for the backend.
macro_rules! twin {
    ($name:ident($($argument:expr),*)) => {
        match backend() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the twin is safe but for its target features, and `backend()` gives Vaes only where
            // `detect` found all of them.
            on if on >= Backend::Vaes => unsafe { ifma::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; a backend has the features of those below it.
            on if on >= Backend::Avx512 => unsafe { points::$name::<doubles::Doubles>($($argument),*) },
            _ => portable::$name($($argument),*),
        }
    };
}

/// Multiplies each element by `scalar`, in place.
///
/// Says whether all of them were elements, and none the neutral one; where it says no, `elements`
/// are zeros.
#[must_use]
pub fn multiply(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    twin!(multiply(scalar, elements))
}

/// `scalar` times the elements that the one-way map of RFC 9496 (section 4.3.4) derives from
/// `uniform`.
///
/// # Panics
/// If `out` is not as long as `uniform`.
pub fn map_and_multiply(scalar: &Scalar, uniform: &[Uniform], out: &mut [Encoded]) {
    assert_eq!(uniform.len(), out.len(), "an element for each input");
    twin!(map_and_multiply(scalar, uniform, out))
}

/// Multiplies each element by the scalar of its place, in place.
///
/// Says whether all of them were elements, and none the neutral one; where it says no, `elements` are zeros.
///
/// # Panics
/// If `elements` is not as long as `scalars`.
#[must_use]
pub fn multiply_by_each(scalars: &[Scalar], elements: &mut [Encoded]) -> bool {
    assert_eq!(scalars.len(), elements.len(), "a scalar for each element");
    twin!(multiply_by_each(scalars, elements))
}

/// As [`map_and_multiply`], with a scalar for each element.
///
/// # Panics
/// If `scalars`, `uniform` and `out` are not of one length.
pub fn map_and_multiply_by_each(scalars: &[Scalar], uniform: &[Uniform], out: &mut [Encoded]) {
    assert!(uniform.len() == scalars.len() && out.len() == scalars.len(), "bytes and a place for each scalar");
    twin!(map_and_multiply_by_each(scalars, uniform, out))
}

/// The elements that the one-way map of RFC 9496 (section 4.3.4) derives from `uniform`.
///
/// # Panics
/// If `out` is not as long as `uniform`.
pub fn map(uniform: &[Uniform], out: &mut [Encoded]) {
    assert_eq!(uniform.len(), out.len(), "an element for each input");
    twin!(map_all(uniform, out))
}

/// `scalar` times the sum of each element and of what the one-way map derives from its bytes of `uniform`, in place of
/// the element.
///
/// Says whether all of them were elements, and none the neutral one; where it says no, `elements` are zeros.
///
/// # Panics
/// If `elements` is not as long as `uniform`.
#[must_use]
pub fn add_map_and_multiply(scalar: &Scalar, elements: &mut [Encoded], uniform: &[Uniform]) -> bool {
    assert_eq!(uniform.len(), elements.len(), "bytes for each element");
    twin!(add_map_and_multiply(scalar, elements, uniform))
}

/// Each scalar times the group's generator, without what the one-way map derives from its bytes of `uniform`.
///
/// # Panics
/// If `scalars`, `uniform` and `out` are not of one length.
pub fn generate_and_subtract_map(scalars: &[Scalar], uniform: &[Uniform], out: &mut [Encoded]) {
    assert!(uniform.len() == scalars.len() && out.len() == scalars.len(), "bytes and a place for each scalar");
    twin!(generate_and_subtract_map(scalars, uniform, out))
}

/// Each scalar times one element.
///
/// Says whether that was an element, and not the neutral one; where it says no, `out` are zeros. (Without a scalar
/// it says yes.)
///
/// # Panics
/// If `out` is not as long as `scalars`.
#[must_use]
pub fn multiply_each(element: &Encoded, scalars: &[Scalar], out: &mut [Encoded]) -> bool {
    assert_eq!(scalars.len(), out.len(), "a place for each scalar");
    twin!(multiply_each(element, scalars, out))
}

/// The elements of a proof for these weights, which are public; `None` if one of `elements` is no
/// element or the neutral one.
///
/// # Panics
/// If there are not as many weights as elements.
pub fn composites(weights: &[Scalar], elements: &[Encoded], key: &Scalar, nonce: &Scalar) -> Option<Composites> {
    assert_eq!(weights.len(), elements.len(), "a weight for each element");
    match backend() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above. Without IFMA the portable twin is faster.
        on if on >= Backend::Vaes => unsafe { ifma::composites(weights, elements, key, nonce) },
        _ => portable::composites(weights, elements, key, nonce),
    }
}

/// The elements by which a proof with these weights is checked; `None` if one of those that are stated is no
/// element or the neutral one. All of it is public.
///
/// # Panics
/// If there are not as many weights as elements of either kind.
pub fn checked(weights: &[Scalar], stated: &Stated<'_>) -> Option<Checked> {
    let (blinded, evaluated) = (stated.blinded.len(), stated.evaluated.len());
    assert!(weights.len() == blinded && weights.len() == evaluated, "a weight for each pair");
    match backend() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as for `composites`.
        on if on >= Backend::Vaes => unsafe { ifma::checked(weights, stated) },
        _ => portable::checked(weights, stated),
    }
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
    use proptest::prelude::*;

    use super::*;
    use crate::testing;

    fn bytes<const N: usize>(seed: u64) -> [u8; N] {
        let words = testing::words(seed, N / 16);
        std::array::from_fn(|i| words[i / 16].to_le_bytes()[i % 16])
    }

    fn scalars() -> impl Iterator<Item = Scalar> + Clone {
        let edges = [0u64, 1, 2, 7, 8, 9, 15, 16, 0x8888_8888, 0x7777_7777_7777_7777, u64::MAX].map(Scalar::from);
        let negated = edges.map(|scalar| -scalar);
        edges.into_iter().chain(negated).chain((0..9).map(|seed| Scalar::from_bytes_mod_order(bytes(seed))))
    }

    /// RFC 9496, appendix A.3: what the one-way map gives.
    #[test]
    fn the_map_is_that_of_rfc_9496() {
        let cases = [
            (
                "5d1be09e3d0c82fc538112490e35701979d99e06ca3e2b5b54bffe8b4dc772c14d98b696a1bbfb5ca32c436cc61c16563790306c79eaca7705668b47dffe5bb6",
                "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46",
            ),
            (
                "f116b34b8f17ceb56e8732a60d913dd10cce47a6d53bee9204be8b44f6678b270102a56902e2488c46120e9276cfe54638286b9e4b3cdb470b542d46c2068d38",
                "f26e5b6f7d362d2d2a94c5d0e7602cb4773c95a2e5c31a64f133189fa76ed61b",
            ),
        ];
        for (uniform, expected) in cases {
            let got = testing::on_every_backend(|| {
                let mut out = [[0; ENCODED_BYTES]];
                map_and_multiply(&Scalar::ONE, &[hex(uniform)], &mut out);
                out
            });
            assert_eq!(got[0], hex(expected));
        }
    }

    #[test]
    fn products_are_those_of_the_group_for_every_scalar_and_length() {
        for (i, scalar) in scalars().enumerate() {
            let uniform: Vec<Uniform> = (0..i % 19).map(|seed| bytes(1000 + seed as u64)).collect();
            let got = testing::on_every_backend(|| {
                let mut out = vec![[0; ENCODED_BYTES]; uniform.len()];
                map_and_multiply(&scalar, &uniform, &mut out);
                let mut again = out.clone();
                let valid = multiply(&scalar, &mut again);
                (out, valid, again)
            });
            let points: Vec<RistrettoPoint> = uniform.iter().map(RistrettoPoint::from_uniform_bytes).collect();
            let times =
                |factor: Scalar| points.iter().map(|point| (point * factor).compress().to_bytes()).collect::<Vec<_>>();
            assert_eq!(got.0, times(scalar));
            assert_eq!(got.1, uniform.is_empty() || scalar != Scalar::ZERO, "the neutral element is refused");
            assert_eq!(got.2, times(scalar * scalar));
        }
    }

    /// What base OTs take from the group: sums with mapped elements, differences from them, and many multiples of one
    /// element.
    #[test]
    fn sums_and_differences_with_mapped_elements_are_those_of_the_group() {
        for (count, factor) in (0..=19).zip(scalars().skip(1)) {
            let uniform: Vec<Uniform> = (0..count).map(|seed| bytes(2000 + seed)).collect();
            let elements: Vec<RistrettoPoint> =
                (0..count).map(|seed| RistrettoPoint::from_uniform_bytes(&bytes(3000 + seed))).collect();
            let encoded: Vec<Encoded> = elements.iter().map(|element| element.compress().to_bytes()).collect();
            let each: Vec<Scalar> = scalars().cycle().skip(count as usize).take(count as usize).collect();
            let one = RistrettoPoint::from_uniform_bytes(&bytes(4000)).compress().to_bytes();
            let got = testing::on_every_backend(|| {
                let mut out = vec![vec![[0; ENCODED_BYTES]; count as usize]; 3];
                let mut sums = encoded.clone();
                map(&uniform, &mut out[0]);
                generate_and_subtract_map(&each, &uniform, &mut out[1]);
                let mut products = encoded.clone();
                let valid = [
                    add_map_and_multiply(&factor, &mut sums, &uniform),
                    multiply_by_each(&each, &mut products),
                    multiply_each(&one, &each, &mut out[2]),
                    multiply_each(&[0xff; 32], &each, &mut vec![[0; ENCODED_BYTES]; count as usize]),
                ];
                let mut mapped = encoded.clone();
                map_and_multiply_by_each(&each, &uniform, &mut mapped);
                out.extend([sums, products, mapped]);
                (out, valid)
            });
            let mapped: Vec<RistrettoPoint> = uniform.iter().map(RistrettoPoint::from_uniform_bytes).collect();
            let one = CompressedRistretto(one).decompress().expect("an element");
            let expected: [Vec<RistrettoPoint>; 6] = [
                mapped.clone(),
                each.iter().zip(&mapped).map(|(scalar, mapped)| RistrettoPoint::mul_base(scalar) - mapped).collect(),
                each.iter().map(|scalar| one * scalar).collect(),
                elements.iter().zip(&mapped).map(|(element, mapped)| (element + mapped) * factor).collect(),
                elements.iter().zip(&each).map(|(element, scalar)| element * scalar).collect(),
                mapped.iter().zip(&each).map(|(mapped, scalar)| mapped * scalar).collect(),
            ];
            assert_eq!(got.0.len(), expected.len());
            for (got, expected) in got.0.iter().zip(&expected) {
                assert_eq!(*got, expected.iter().map(|point| point.compress().to_bytes()).collect::<Vec<_>>());
            }
            assert_eq!(got.1, [true, true, true, count == 0], "{count}");
            for bad in [[0; 32], [0xff; 32]] {
                let mut elements = encoded.clone();
                let Some(place) = elements.get_mut(count as usize / 2) else { continue };
                *place = bad;
                let got = testing::on_every_backend(|| {
                    let (mut sums, mut products) = (elements.clone(), elements.clone());
                    let valid = add_map_and_multiply(&factor, &mut sums, &uniform);
                    (valid, multiply_by_each(&each, &mut products), sums, products)
                });
                let zeros = vec![[0; ENCODED_BYTES]; count as usize];
                assert_eq!(got, (false, false, zeros.clone(), zeros));
            }
        }
    }

    /// Sums over lanes, over registers and over what shares doublings.
    #[test]
    fn composites_are_those_of_the_group() {
        let elements: Vec<RistrettoPoint> = (0..80).map(|i| RistrettoPoint::from_uniform_bytes(&bytes(i))).collect();
        let encoded: Vec<Encoded> = elements.iter().map(|element| element.compress().to_bytes()).collect();
        let weights: Vec<Scalar> = scalars().cycle().take(80).collect();
        for (count, (key, nonce)) in (0..=80).zip(scalars().cycle().zip(scalars().skip(3).cycle())) {
            let (weights, encoded) = (&weights[80 - count..], &encoded[80 - count..]);
            let got = testing::on_every_backend(|| composites(weights, encoded, &key, &nonce));
            let sum: RistrettoPoint =
                weights.iter().zip(&elements[80 - count..]).map(|(weight, element)| weight * element).sum();
            let products = [sum, key * sum, nonce * sum, RistrettoPoint::mul_base(&nonce)];
            let [sum, sum_by_key, sum_by_nonce, generator_by_nonce] = products.map(|point| point.compress().to_bytes());
            assert_eq!(got, Some(Composites { sum, sum_by_key, sum_by_nonce, generator_by_nonce }), "{count} elements");
            for bad in [[0; 32], [0xff; 32]] {
                let mut encoded = encoded.to_vec();
                let Some(place) = encoded.get_mut(count / 2) else { continue };
                *place = bad;
                let refused = testing::on_every_backend(|| composites(weights, &encoded, &key, &nonce));
                assert_eq!(refused, None, "{bad:x?} among {count}");
            }
        }
    }

    /// Sums over lanes and registers of two lists, and each part of what is stated where it belongs.
    #[test]
    fn what_a_proof_is_checked_by_is_of_the_group() {
        let element = |seed| RistrettoPoint::from_uniform_bytes(&bytes(seed));
        let encoded = |point: RistrettoPoint| point.compress().to_bytes();
        let [blinded, evaluated] = [5000, 6000].map(|seed| (seed..seed + 40).map(element).collect::<Vec<_>>());
        let weights: Vec<Scalar> = scalars().cycle().take(40).collect();
        let key = element(7000);
        for (count, (c, s)) in (0..=40).zip(scalars().cycle().zip(scalars().skip(5).cycle())) {
            let sum = |elements: &[RistrettoPoint]| weights.iter().zip(&elements[..count]).map(|(w, e)| w * e).sum();
            let (m, z): (RistrettoPoint, RistrettoPoint) = (sum(&blinded), sum(&evaluated));
            let expected = Checked {
                blinded_sum: encoded(m),
                evaluated_sum: encoded(z),
                of_generator: encoded(RistrettoPoint::mul_base(&s) + c * key),
                of_sum: encoded(s * m + c * z),
            };
            let lists =
                [&blinded, &evaluated].map(|list| list[..count].iter().copied().map(encoded).collect::<Vec<_>>());
            let check = |lists: &[Vec<Encoded>; 2], public: &Encoded| {
                testing::on_every_backend(|| {
                    let [blinded, evaluated] = lists.each_ref().map(Vec::as_slice);
                    checked(&weights[..count], &Stated { blinded, evaluated, public, challenge: &c, response: &s })
                })
            };
            assert_eq!(check(&lists, &encoded(key)), Some(expected), "{count} pairs");
            for bad in [[0; 32], [0xff; 32]] {
                assert_eq!(check(&lists, &bad), None, "no key: {bad:x?}");
                for side in 0..2 {
                    let mut lists = lists.clone();
                    let Some(place) = lists[side].get_mut(count / 2) else { continue };
                    *place = bad;
                    assert_eq!(check(&lists, &encoded(key)), None, "{bad:x?} among {count}");
                }
            }
        }
    }

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
    }

    /// Halves at the edges of the field, and those for which the map's `v` is zero: it takes them
    /// to the neutral element.
    #[test]
    fn the_map_takes_every_input() {
        let mut modulus = [0xffu8; 32];
        (modulus[0], modulus[31]) = (0xed, 0x7f);
        let mut small = [0; 32];
        let halves: Vec<[u8; 32]> = (0..40)
            .map(|i| {
                small[0] = i;
                let mut near = modulus;
                near[0] = near[0].wrapping_add(i).wrapping_sub(20);
                if i % 2 == 0 { small } else { near }
            })
            .chain([[0xff; 32], [0; 32], modulus])
            .chain([
                hex("45e4a3b534d5cf8a559215f1d2564332ea91148c66abcb8a6814840ba7aa4c7a"),
                hex("40256ac5e4c73af6057c6d5120f90c4362ab4ad9015bc365598daca048bac400"),
            ])
            .collect();
        let uniform: Vec<Uniform> =
            halves.iter().flat_map(|a| halves.iter().map(|b| [*a, *b].concat().try_into().unwrap())).collect();
        let got = testing::on_every_backend(|| {
            let mut out = vec![[0; ENCODED_BYTES]; uniform.len()];
            map_and_multiply(&Scalar::ONE, &uniform, &mut out);
            out
        });
        assert!(got.contains(&[0; ENCODED_BYTES]), "the neutral element is among them");
        for (got, uniform) in got.iter().zip(&uniform) {
            assert_eq!(got, RistrettoPoint::from_uniform_bytes(uniform).compress().as_bytes());
        }
    }

    /// All small and all nearly maximal values, by what dalek says of them, and a square root of
    /// -1, where the root's denominator is zero.
    #[test]
    fn what_is_no_encoding_is_refused_in_every_lane() {
        let good = RistrettoPoint::from_uniform_bytes(&bytes(3)).compress().to_bytes();
        let candidates = (0..=255u8).flat_map(|low| {
            [0x00, 0x7f, 0x80, 0xff].into_iter().map(move |high| {
                let mut bytes = [if high == 0x7f || high == 0xff { 0xff } else { 0 }; 32];
                (bytes[0], bytes[31]) = (low, high);
                bytes
            })
        });
        let root = hex("b0a00e4a271beec478e42fad0618432fa7d7fb3d99004d2b0bdfc14f8024832b");
        let mut refused = 0;
        for (i, candidate) in candidates.chain([root]).enumerate() {
            let expected = candidate != [0; 32] && CompressedRistretto(candidate).decompress().is_some();
            refused += usize::from(!expected);
            let got = testing::on_every_backend(|| {
                let mut elements = [good; 11];
                elements[i % 11] = candidate;
                multiply(&Scalar::from(5u8), &mut elements)
            });
            assert_eq!(got, expected, "{candidate:x?}");
        }
        assert!((600..1000).contains(&refused), "{refused} refused: both kinds are among the candidates");
    }

    proptest! {
        #[test]
        fn any_bytes_are_treated_alike(scalar in any::<[u8; 32]>(), uniform in proptest::collection::vec(any::<[[u8; 32]; 2]>(), 0..20), wild in any::<[u8; 32]>()) {
            let scalar = Scalar::from_bytes_mod_order(scalar);
            let uniform: Vec<Uniform> = uniform.iter().map(|halves| halves.concat().try_into().unwrap()).collect();
            testing::on_every_backend(|| {
                let mut out = vec![[0; ENCODED_BYTES]; uniform.len()];
                map_and_multiply(&scalar, &uniform, &mut out);
                let mut wild = [wild];
                let valid = multiply(&scalar, &mut wild);
                (out, valid, wild)
            });
        }
    }
}
