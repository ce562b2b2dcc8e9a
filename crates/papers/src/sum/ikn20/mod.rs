//! Intersection-sum: Ion, Kreuter, Nergiz, Patel, Saxena, Seth, Raykova, Shanahan, Yung, "On
//! Deploying Secure Computing: Private Intersection-Sum-with-Cardinality" (EuroS&P 2020, ePrint
//! 2019/723), its protocol on double blinding and homomorphic encryption.
//!
//! ```text
//!   Sender: X in a random order, values v, a, key s                   Receiver: Y, b
//!
//!                                1. an encryption of zeros
//!      ------------------------------------------------------------------------>
//!                                2. b H(y), in chunks
//!      <------------------------------------------------------------------------
//!                                3. a H(x_1), .. a H(x_n), in chunks
//!      ------------------------------------------------------------------------>
//!                                4. sorted digests of a b H(y), Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     J = the i for which the digest of b a H(x_i) is among them
//!                                5. Enc(v_1), .. Enc(v_n), a column at a time
//!      ------------------------------------------------------------------------>
//!                                6. Enc(sum of v_i over J, plus r), refreshed, for each column
//!      <------------------------------------------------------------------------
//!                                7. what that decrypts to
//!      ------------------------------------------------------------------------>
//!                                                                     minus r
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `P_1`, `P_2` | [`Receiver`], [`Sender`] | who has items, who has items with values |
//! | `k_1`, `k_2` | `exponent` | blindings of receiver and sender |
//! | `AGen`, `AEnc`, `ADec` | [`Key`](vesica_structures::rlwe::Key) | the sender's homomorphic encryption |
//! | `ASum`, `ARefresh` | [`Sum`](vesica_structures::rlwe::Sum) | what the receiver does |
//!
//! Values are elements of `Z_2^64`, and so are sums: the encryption adds in that ring itself. A
//! value costs 16 bytes, the key and each column's sum 128 KiB.

mod messages;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{Assumption, Attack, CostClass, Effort, Entry, Mode, Protocol, Rounds, Status, Task, assume};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rlwe::RingLwe;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::styles;
use vesica_protocols::tasks::{AggregateRequest, EXACT_COUNT, SIZES, Sum};

/// Domain of the hash to the group.
const DOMAIN: &[u8] = b"vesica-v1-ikn20-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
/// Domain of the digests of arrow 4.
const DIGEST_CONTEXT: &str = "vesica v1 ikn20 2026 digest of a point";

/// The protocol `ikn20`.
#[derive(Clone, Copy, Debug)]
pub enum Ikn20 {}

const RING_LWE: Assumption =
    Assumption::new("ring-LWE with 8192 coefficients, 124 bits and ternary secrets").attacked(Attack {
        falls: "the sender's values",
        takes: Effort::Primal(RingLwe { degree: 8192, modulus_bits: 124 }),
        source: "docs/parameters/ring-lwe-sums.md",
    });

impl Protocol for Ikn20 {
    const ENTRY: Entry = Entry {
        id: "ikn20",
        aliases: &["intersection-sum"],
        variants: &[],
        task: Sum::NAME,
        paper: Paper {
            key: "IKN20",
            title: "On Deploying Secure Computing: Private Intersection-Sum-with-Cardinality",
            reference: "Ion, Kreuter, Nergiz, Patel, Saxena, Seth, Raykova, Shanahan, Yung. IEEE EuroS&P 2020, ePrint \
                        2019/723",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_SUM),
        deviations: &[
            "The receiver learns the sum, not the party that has the values: the receiver adds a uniform r before it \
             lets the sender decrypt, and the sender returns the result.",
            "Homomorphic encryption by ring-LWE over Z_2^64, one value a coefficient, instead of Paillier: sums wrap \
             as the task says, no limb of a sum is revealed, and a value costs 16 bytes. A sum is refreshed by an \
             encryption of zero and a flood of noise.",
            "The receiver's items under both blindings travel as digests, truncated to the width that their \
             collisions allow, sorted (which shuffles them) and Golomb-Rice coded.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(5),
            assume![
                (discrete_logarithm "DDH on Ristretto255"),
                "hash-to-group is a random oracle",
                "BLAKE3 is a pseudo-random generator on group elements, and a random oracle for public polynomials",
                RING_LWE,
            ],
            &[SIZES, EXACT_COUNT],
        )],
    };
    type Task = Sum;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &AggregateRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
