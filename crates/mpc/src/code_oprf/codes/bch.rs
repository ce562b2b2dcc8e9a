//! The BCH code of OOS17, for keys of up to 76 bits.

use std::sync::LazyLock;

use vesica_party::{CostClass, Entry, Leak, Learner, Mode, Resistance, Rounds, Security, Status, Task};
use vesica_structures::facts::{KAPPA, LAMBDA, Paper, Unsupported};

use super::cyclic::Cyclic;
use super::linear::LinearCode;
use super::{Code, CodeKeys};
use crate::ot_extension;
use crate::tasks::{BatchPrfRequest, OneOfNOt};

/// The primitive BCH code [511, 76, 171].
static CODE: Cyclic = Cyclic {
    degree: 9,
    // x^9 + x^4 + 1
    field: 1 << 9 | 1 << 4 | 1,
    roots: 1..=170,
    dimension: DIMENSION,
    generator: LazyLock::new(|| CODE.make_generator()),
};

/// Bits of a key.
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
        Ok(CODE.length() - (DIMENSION - key_bits) - punctured(request.security))
    }

    fn new(_: &CodeKeys, request: &BatchPrfRequest) -> Result<Self, Unsupported> {
        let width = Self::width(request)?;
        let rows: Vec<[u128; 4]> =
            (0..request.key_bits as usize).map(|bit| CODE.row(bit, punctured(request.security))).collect();
        Ok(Self(LinearCode::new(&rows, width)))
    }

    fn words(&self, keys: &[u128], each: impl FnMut(usize, [u128; 4])) {
        self.0.words(keys.len(), |number, _| keys[number], each);
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
    CODE.distance() - wanted as usize
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;

    fn request(key_bits: u32, security: Security) -> BatchPrfRequest {
        BatchPrfRequest { instances: 1, key_bits, evaluations: 1, evaluations_in_all: 1, blocks: 1, security }
    }

    #[test]
    fn dimension_and_distance_are_those_of_the_paper() {
        CODE.check::<[u128; 4]>([0, 1, 37, 75].into_iter());
        assert_eq!((CODE.length(), CODE.distance()), (511, 171));
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
