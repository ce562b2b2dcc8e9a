//! The rows of the registry: each configuration, repaired and as printed.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::service::Service;
use vesica_party::{
    Assumption, Attack, Choice, ChoiceValue, CostClass, Effort, Entry, Mode, Resistance, Rounds, Security, Status,
    Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rlwe::RingLwe;

use super::params::MOST_FUNCTIONS;
use super::{Client, Configuration, Form, RowParams, Server};
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// A row of the registry.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// The configuration.
    const CONFIGURATION: Configuration;
    /// The form.
    const FORM: Form;
}

/// The service of row `V`.
pub struct Cm25<V>(PhantomData<fn() -> V>);

impl<V: Variant> Service for Cm25<V> {
    const ENTRY: Entry = V::ENTRY;
    type Task = Intersect;
    type Params = RowParams;
    type Server = Server;
    type Client = Client;

    fn derive(request: &IntersectRequest) -> Result<RowParams, Unsupported> {
        Self::derive_chosen(request, &V::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<RowParams, Unsupported> {
        entry.require(request.security)?;
        let functions = if entry.chosen(HASHES.name) == "3" { 3 } else { MOST_FUNCTIONS };
        RowParams::derive(V::CONFIGURATION, V::FORM, functions, request)
    }

    fn terms(params: &RowParams) -> Vec<u8> {
        bytemuck::bytes_of(&params.to_words()).to_vec()
    }

    fn enrolment_bytes(params: &RowParams) -> RangeInclusive<u64> {
        let bytes = params.enrolment_bytes();
        bytes..=bytes
    }

    fn query_bytes(params: &RowParams) -> RangeInclusive<u64> {
        let bytes = params.query_bytes();
        bytes..=bytes
    }
}

const PAPER: Paper = Paper {
    key: "CM25",
    title: "Recurrent Private Set Intersection for Unbalanced Databases with Cuckoo Hashing and Leveled FHE",
    reference: "Chielle, Maniatakos. NDSS 2025",
};

pub(super) const COMPRESSED: &str = "Items are compressed to 15 bits more than the number of a bin has, the most that the packing \
                          modulus 40961 takes: 35 bits for a table of 2^20 bins. Eq. 4 asks for about 79 bits at 2^20 \
                          items, which the paper's parameters do not hold. A bin does not say which function filled \
                          it, either, so that an item that only the client has matches with probability up to 2^-13.";
pub(super) const SWITCHED: &str = "Keys are switched at the full modulus, by digits of 14 bits, and both sides send ciphertexts of \
                        two primes.";
pub(super) const RANDOM: &str = "Masks, factors and rotations come from a CSPRNG; the authors' code draws them from a Mersenne \
                      Twister with a seed of 32 bits.";
pub(super) const LOADS: &str = "Tables are the smallest powers of two for which a bound gives the probability that no table exists: a \
                     load of 0.88 for four hash functions. The paper extrapolates loads from experiments.";
const LOADS_OF_THREE: &str = "Tables are the smallest powers of two for which a bound gives the probability that no table exists: a load of 0.76 \
     for three hash functions, from 2^14 bins on. The paper extrapolates loads from experiments.";

/// How many hash functions, for which the paper has loads and its rows have four.
pub(super) const HASHES: Choice = Choice {
    name: "functions",
    what: "Hash functions of a cuckoo table, h.",
    values: &[
        ChoiceValue::new("4", "Four: tables are full to 0.88, and four cells of an item are multiplied.")
            .deviating(&[LOADS]),
        ChoiceValue::new("3", "Three: tables are full to 0.76 alone, and three cells of an item are multiplied.")
            .deviating(&[LOADS_OF_THREE]),
    ],
};
pub(super) const EXCHANGE: &str = "The rotation is followed by an exchange of the rows at random: a rotation alone does not bring \
                        a slot to every place.";
pub(super) const ENCRYPTION: &str = "Polynomials have 8192 coefficients and ciphertexts 165 bits, instead of 4096 and 109: drowned \
                          noise needs the room. Packing moduli are 65537 and, in Fast Setup, 114689.";
pub(super) const HIDDEN: &str = "What travels is first added to a fresh encryption of zero under the key of who decrypts it, and its \
                      noise is drowned. In the paper, the server recognises the item by the second half of D, and the \
                      client cells of the tables by that of E.";
pub(super) const INDEX: &str = "A bin holds the index of the hash function with the right part, which alone also matches items that \
                     other functions bring to the bin.";
pub(super) const LIMBS: &str = "Items are compressed to 60 + log2(n_s) bits under a key of the server: Eq. 4 also counts pairs within \
                     a set, which do no harm. A right part takes several plaintexts, its limbs. Step 5c multiplies the \
                     limbs of a slot by a uniformly random invertible matrix, so that no match of a part shows.";
const PARTITIONS: &str = "The server permutes the partitions. In the paper, the one with the match tells which two of the \
                          four hash functions placed the item.";

pub(super) const RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 8192 coefficients, 165 bits and ternary secrets, also where the key's own encryptions are known (circular \
     security of the keys for rotations and products)",
)
.attacked(attack(8192, 165));
const PRINTED_RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 4096 coefficients, 109 bits and ternary secrets, also where the key's own encryptions are known (circular \
     security of the keys for rotations and products)",
)
.attacked(attack(4096, 109));
pub(super) const FUNCTIONS: Assumption = Assumption::new(
    "AES under a random key, which both sides know, is a random function; keyed BLAKE3 gives uniform polynomials",
);

const fn attack(degree: u32, modulus_bits: u32) -> Attack {
    Attack {
        falls: "the server's set, and what clients ask",
        takes: Effort::Primal(RingLwe { degree, modulus_bits }),
        source: "docs/parameters/cm25.md",
    }
}

pub(super) const fn entry(
    id: &'static str,
    status: Status,
    deviations: &'static [&'static str],
    modes: &'static [Mode],
) -> Entry {
    Entry {
        id,
        aliases: &[],
        variants: &[HASHES],
        task: Intersect::NAME,
        paper: PAPER,
        status,
        cost: CostClass::Lattice,
        map_and_compare: Some(styles::HE_PRODUCTS),
        deviations,
        modes,
    }
}

/// `cm25-fast-setup-repaired`: two tables in each ciphertext, two partitions, repaired.
#[derive(Clone, Copy, Debug)]
pub enum FastSetupRepaired {}

impl Variant for FastSetupRepaired {
    const ENTRY: Entry = entry(
        "cm25-fast-setup-repaired",
        Status::Sound,
        &[ENCRYPTION, HIDDEN, INDEX, LIMBS, PARTITIONS, EXCHANGE, LOADS],
        &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                RING_LWE,
                FUNCTIONS,
                "the noise of a product of two ciphertexts, at three primes, has a root mean square of at most 2^15 \
                 (2^5 by an average-case analysis, a largest coefficient of 2^7.2 measured)",
            ],
            &[SIZES],
        )],
    );
    const CONFIGURATION: Configuration = Configuration::FastSetup;
    const FORM: Form = Form::Repaired;
}

/// `cm25-fast-intersection-repaired`: one table, one partition, repaired.
#[derive(Clone, Copy, Debug)]
pub enum FastIntersectionRepaired {}

impl Variant for FastIntersectionRepaired {
    const ENTRY: Entry = entry(
        "cm25-fast-intersection-repaired",
        Status::Sound,
        &[ENCRYPTION, HIDDEN, INDEX, LIMBS, EXCHANGE, LOADS],
        &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                RING_LWE,
                FUNCTIONS,
                "the noise of a product of up to four ciphertexts, at three primes, has a root mean square of at most 2^40 \
                 (2^16 by an average-case analysis, a largest coefficient of 2^18.2 measured)",
            ],
            &[SIZES],
        )],
    );
    const CONFIGURATION: Configuration = Configuration::FastIntersection;
    const FORM: Form = Form::Repaired;
}

/// Probability of a false match of faithful forms: at most four bins, filled at 0.88 at most, and right parts of 15
/// bits.
pub(super) const FALSE_MATCH_BITS: Option<u32> = Some(13);

pub(super) const FAITHFUL_MODE: Mode = Mode {
    security: Security::SemiHonest,
    corrupt_sender: Resistance::None,
    corrupt_receiver: Resistance::None,
    rounds: Rounds::exactly(3),
    assumptions: assume![PRINTED_RING_LWE, FUNCTIONS,],
    leakage: &[SIZES],
};
const FAITHFUL_MODES: &[Mode] = &[FAITHFUL_MODE];

/// `cm25-fast-setup`: Fast Setup as printed.
#[derive(Clone, Copy, Debug)]
pub enum FastSetup {}

impl Variant for FastSetup {
    const ENTRY: Entry = entry(
        "cm25-fast-setup",
        Status::Broken {
            how: "the server recognises the client's item by the second half of D, which masks do not change; the client \
                  tells tables with the same answer apart by the second half of E, and two of the four hash functions \
                  by the partition that has the match; nothing drowns noise; items that only the client has match. See \
                  docs/parameters/cm25.md; cm25-fast-setup-repaired is sound between parties that follow it",
            false_match_bits: FALSE_MATCH_BITS,
        },
        &[COMPRESSED, EXCHANGE, SWITCHED, RANDOM, LOADS],
        FAITHFUL_MODES,
    );
    const CONFIGURATION: Configuration = Configuration::FastSetup;
    const FORM: Form = Form::Faithful;
}

/// `cm25-fast-intersection`: Fast Intersection as printed.
#[derive(Clone, Copy, Debug)]
pub enum FastIntersection {}

impl Variant for FastIntersection {
    const ENTRY: Entry = entry(
        "cm25-fast-intersection",
        Status::Broken {
            how: "the server recognises the client's item by the second half of D, which masks do not change; the client \
                  tells tables with the same answer apart by the second half of E; nothing drowns noise; items that \
                  only the client has match. See docs/parameters/cm25.md; cm25-fast-intersection-repaired is sound \
                  between parties that follow it",
            false_match_bits: FALSE_MATCH_BITS,
        },
        &[COMPRESSED, EXCHANGE, SWITCHED, RANDOM, LOADS],
        FAITHFUL_MODES,
    );
    const CONFIGURATION: Configuration = Configuration::FastIntersection;
    const FORM: Form = Form::Faithful;
}
