//! The BCH code of OOS17, for keys of up to 76 bits.

use std::sync::LazyLock;

use vesica_party::{CostClass, Entry, Leak, Learner, Mode, Resistance, Rounds, Security, Status, Task};
use vesica_structures::facts::{KAPPA, LAMBDA, Paper, Unsupported};

use super::linear::LinearCode;
use super::{Code, CodeKeys};
use crate::ot_extension;
use crate::tasks::{BatchPrfRequest, OneOfNOt};

/// Elements of the field GF(2^9) without zero: the length of the code.
const LENGTH: usize = 511;

/// The primitive polynomial by which the field is made, `x^9 + x^4 + 1`.
const FIELD: u16 = 1 << 9 | 1 << 4 | 1;

/// `alpha^1 .. alpha^170` are roots of every code word.
const ROOTS: usize = 170;

/// By the BCH bound: one more than the consecutive roots.
const DISTANCE: usize = ROOTS + 1;

/// Bits of a key: [`LENGTH`] minus the degree of the generator polynomial.
const DIMENSION: usize = 76;

/// The primitive BCH code [511, 76, 171], *shortened* to the bits of the keys and *punctured* to the
/// distance that is wanted: words of keys with zeros in their high places have zeros in as many
/// places, which are left out; and each further place left out takes at most one of the distance.
pub struct Bch(LinearCode);

impl std::fmt::Debug for Bch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bch")
    }
}

/// What a corrupt receiver can try.
const GUESSED_SECRET: Leak = Leak {
    to: Learner::Receiver,
    what: "guesses at bits of the sender's secret of the code by a corrupt receiver, right ones unnoticed; a wrong one \
           stops the run",
    extra: None,
};

/// What a corrupt sender can try in the OTs below, where roles are swapped.
const GUESSED_OFFSET: Leak = Leak {
    to: Learner::Sender,
    what: "guesses at bits of the offset of the receiver's base OTs by a corrupt sender, right ones unnoticed; a wrong \
           one stops the run",
    extra: None,
};

impl Code for Bch {
    type Row = [u128; 4];
    type Task = OneOfNOt;
    const ENTRY: Entry = Entry {
        id: "ot-oos17",
        aliases: &[],
        variants: &[],
        task: OneOfNOt::NAME,
        paper: Paper {
            key: "OOS17",
            title: "Actively Secure 1-out-of-N OT Extension with Application to Private Set Intersection",
            reference: "M. Orrù, E. Orsini, P. Scholl, CT-RSA 2017, ePrint 2016/933",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the code is the paper's, BCH [511, 76, 171], shortened to the bits of the keys, and punctured to a \
             distance of 128 in the semi-honest mode, which makes no check, and of 168 in the malicious one",
            "the check has one linear combination over GF(2^128), the universal hash of SoftSpokenOT [Roy22, Figure \
             8], instead of 40 over GF(2), and so gives up 128 random transfers for masks instead of 40; up to 127 \
             more fill the last block",
            "the sender draws the challenge when all corrections have come, instead of a coin toss",
            "the OTs of keys are themselves extended from 128 (SoftSpokenOT)",
            "the correction travels row by row and not column by column",
        ],
        modes: &[
            Mode::semi_honest(Rounds::exactly(3), ot_extension::ASSUMPTIONS, &[]),
            Mode {
                security: Security::Malicious,
                corrupt_sender: Resistance::Malicious,
                corrupt_receiver: Resistance::Malicious,
                rounds: Rounds::exactly(7),
                assumptions: ot_extension::ASSUMPTIONS,
                leakage: &[GUESSED_SECRET, GUESSED_OFFSET],
            },
        ],
    };

    fn width(request: &BatchPrfRequest) -> Result<usize, Unsupported> {
        let key_bits = request.key_bits as usize;
        if key_bits > DIMENSION {
            return Err(Unsupported::new(
                format_args!("choices of {key_bits} bits by a BCH code"),
                format_args!("ask for at most {DIMENSION}"),
            ));
        }
        Ok(LENGTH - (DIMENSION - key_bits) - punctured(request.security))
    }

    fn new(_: &CodeKeys, request: &BatchPrfRequest) -> Result<Self, Unsupported> {
        let width = Self::width(request)?;
        let rows: Vec<_> = (0..request.key_bits as usize).map(|bit| row(bit, punctured(request.security))).collect();
        Ok(Self(LinearCode::new(&rows, width)))
    }

    fn words(&self, keys: &[u128], each: impl FnMut(usize, [u128; 4])) {
        self.0.words(keys, each);
    }
}

/// Places to leave out. A corrupt receiver passes the check with deviations in `e` columns with
/// probability `2^-e`, and has found these bits of the sender's secret then: so [`LAMBDA`] more
/// bits must be left than [`KAPPA`].
fn punctured(security: Security) -> usize {
    let wanted = match security {
        Security::SemiHonest => KAPPA,
        Security::Malicious => KAPPA + LAMBDA,
    };
    DISTANCE - wanted as usize
}

/// The generator polynomial: the product of the minimal polynomials of the roots, lowest coefficient
/// first.
static GENERATOR: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let powers = powers();
    let product = |a: u16, exponent: usize| match a {
        0 => 0,
        a => powers[(logarithm(&powers, a) + exponent) % LENGTH],
    };
    // A root's conjugates, by squaring, are the other roots of its minimal polynomial.
    let mut is_root = [false; LENGTH];
    for root in 1..=ROOTS {
        let mut conjugate = root;
        for _ in 0..9 {
            is_root[conjugate] = true;
            conjugate = 2 * conjugate % LENGTH;
        }
    }
    let mut generator = vec![1];
    for root in (0..LENGTH).filter(|&exponent| is_root[exponent]) {
        // Times x + alpha^root.
        let scaled: Vec<u16> = generator.iter().map(|&coefficient| product(coefficient, root)).collect();
        generator.insert(0, 0);
        generator.iter_mut().zip(scaled).for_each(|(coefficient, scaled)| *coefficient ^= scaled);
    }
    // All conjugates are there, so that the coefficients are bits.
    generator.into_iter().map(|coefficient| coefficient == 1).collect()
});

/// `alpha^0 .. alpha^510`.
fn powers() -> [u16; LENGTH] {
    let mut power = 1;
    std::array::from_fn(|_| {
        let this = power;
        power <<= 1;
        if power >> 9 == 1 {
            power ^= FIELD;
        }
        this
    })
}

/// The exponent of an element that is not zero.
fn logarithm(powers: &[u16; LENGTH], element: u16) -> usize {
    powers.iter().position(|&power| power == element).unwrap_or_default()
}

/// The code word of the key with this one bit, without its first `punctured` places: the multiple of
/// the generator polynomial that has this one among its highest 76 coefficients.
fn row(bit: usize, punctured: usize) -> [u128; 4] {
    let degree = LENGTH - DIMENSION;
    let mut remainder = vec![false; degree + bit + 1];
    remainder[degree + bit] = true;
    for top in (degree..=degree + bit).rev() {
        if remainder[top] {
            let multiple = &mut remainder[top - degree..=top];
            multiple.iter_mut().zip(GENERATOR.iter()).for_each(|(place, &coefficient)| *place ^= coefficient);
        }
    }
    remainder[degree + bit] = true;
    let mut row = [0; 4];
    for (place, _) in remainder[punctured..].iter().enumerate().filter(|(_, is_one)| **is_one) {
        row[place / 128] |= 1 << (place % 128);
    }
    row
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;

    fn request(key_bits: u32, security: Security) -> BatchPrfRequest {
        BatchPrfRequest { instances: 1, key_bits, evaluations: 1, evaluations_in_all: 1, blocks: 1, security }
    }

    /// `alpha` generates the whole group: only then do consecutive powers say anything of the
    /// distance.
    #[test]
    fn the_field_is_a_field() {
        let mut powers = powers();
        assert_eq!(powers[LENGTH - 1] << 1 ^ FIELD, 1);
        powers.sort_unstable();
        assert!((1..=LENGTH as u16).eq(powers));
    }

    /// The BCH bound: a cyclic code whose words have `alpha^1 .. alpha^170` as roots has distance 171.
    /// Its dimension is what the degree of the generator leaves.
    #[test]
    fn dimension_and_distance_are_those_of_the_paper() {
        assert_eq!(GENERATOR.len() - 1, LENGTH - DIMENSION);
        let powers = powers();
        for bit in [0, 1, 37, 75] {
            let word = row(bit, 0);
            let ones: Vec<usize> = (0..LENGTH).filter(|j| word[j / 128] >> (j % 128) & 1 == 1).collect();
            for root in 1..=170 {
                assert_eq!(ones.iter().fold(0, |sum, j| sum ^ powers[j * root % LENGTH]), 0, "bit {bit}, root {root}");
            }
            // Systematic, so that different bits have independent words.
            let top: Vec<usize> = ones.into_iter().filter(|&place| place >= LENGTH - DIMENSION).collect();
            assert_eq!(top, [LENGTH - DIMENSION + bit]);
        }
    }

    #[test]
    fn words_are_as_wide_as_keys_and_distance_ask() {
        let width = |bits, security| Bch::width(&request(bits, security)).unwrap();
        assert_eq!([76, 64, 1].map(|bits| width(bits, Security::SemiHonest)), [468, 456, 393]);
        assert_eq!([76, 64, 1].map(|bits| width(bits, Security::Malicious)), [508, 496, 433]);
        assert!(Bch::width(&request(77, Security::SemiHonest)).is_err());
    }

    #[test]
    fn random_words_and_those_of_light_keys_keep_the_distance() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for (security, distance) in [(Security::SemiHonest, 128), (Security::Malicious, 168)] {
            let request = request(76, security);
            let light = (0..76).flat_map(|i| (0..=i).map(move |j| 1 << i | 1 << j));
            let keys: Vec<u128> = light.chain((0..5000).map(|_| rng.block() >> 52 | 1)).collect();
            let (mut lightest, mut union) = (usize::MAX, [0; 4]);
            Bch::new(&[0; 4], &request).unwrap().words(&keys, |_, word| {
                lightest = lightest.min(word.iter().map(|block| block.count_ones() as usize).sum());
                union.iter_mut().zip(word).for_each(|(union, block)| *union |= block);
            });
            assert!(lightest >= distance, "{lightest} ones");
            assert_eq!(union, crate::code_oprf::rows::ones::<[u128; 4]>(Bch::width(&request).unwrap()));
        }
    }
}
