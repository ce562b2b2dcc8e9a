//! PSI-CA: De Cristofaro, Gasti, Tsudik, "Fast and Private Computation of Cardinality of Set
//! Intersection and Union" (CANS 2012, ePrint 2011/141).
//!
//! ```text
//!   Sender (server): X, a                                             Receiver (client): Y, b
//!
//!                                1. b H(y), in chunks
//!      <------------------------------------------------------------------------
//!                                2. a b H(y), in a random order
//!      ------------------------------------------------------------------------>
//!                                                                     a H(y) = (a b H(y)) / b, in that order
//!   t = H'(a H(x))                                                    t = H'(a H(y))
//!                                3. sorted t of the sender, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     count the own t among them
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `R'_s`, `R'_c` | `exponent` | the blindings of server and client |
//! | `a_i`, `a'_i` | `Blinded`, `DoublyBlinded` | arrows 1 and 2 |
//! | `Π` | the ascending order of arrow 2 | to the receiver the points are pseudo-random, and nothing else decides it |
//! | `ts_j`, `tc_i` | `digests` | hashes of points under the sender's blinding alone |
//!
//! The sender's items cost a digest each and no point, so it is the one to take where the sender
//! has more items than the receiver; with as many on both sides, `czz24-cardinality` sends as much.

mod messages;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::ecdh;
use crate::styles;
use crate::tasks::{AggregateRequest, Cardinality, SIZES};

/// Domain of the hash to the group.
const DOMAIN: &[u8] = b"vesica-v1-ecdh-ca-cgt12-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
/// Domain of `H'`.
const DIGEST_CONTEXT: &str = "vesica v1 ecdh-ca-cgt12 2026 digest of a point";

/// The protocol `ecdh-ca-cgt12`.
#[derive(Clone, Copy, Debug)]
pub enum EcdhCaCgt12 {}

impl Protocol for EcdhCaCgt12 {
    const ENTRY: Entry = Entry {
        id: "ecdh-ca-cgt12",
        aliases: &["cgt12", "psi-ca"],
        variants: &[],
        task: Cardinality::NAME,
        paper: Paper {
            key: "CGT12",
            title: "Fast and Private Computation of Cardinality of Set Intersection and Union",
            reference: "De Cristofaro, Gasti, Tsudik. CANS 2012, ePrint 2011/141",
        },
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_COUNT),
        deviations: &[
            "An elliptic curve group (Ristretto255) instead of a subgroup of the integers modulo a prime.",
            "No key exchange (the paper's X, Y and the factor that both parties derive from them): both know that \
             factor, so that it hides nothing from either, and what it hides from those who listen the link encrypts. \
             a H(x) of an item outside of the intersection is pseudo-random under DDH.",
            "Digests are truncated to the width that their collisions allow, sorted (which shuffles them) and \
             Golomb-Rice coded.",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(2), ecdh::DIGEST_ASSUMPTIONS, &[SIZES])],
    };
    type Task = Cardinality;
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

#[cfg(test)]
mod tests {
    use vesica_party::{Abort, Party, Security, Stream};
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::{try_two_party, two_party};

    use super::messages::{Blinded, Digests, DoublyBlinded};
    use super::*;
    use crate::ecdh::{blind_items, digests, random_exponent};
    use crate::tasks::{AggregateOptions, AggregateReceiverInput, AggregateSenderInput, Extent, SetFunctionality};

    #[test]
    fn points_outside_of_the_group_are_caught_on_both_sides() {
        let security = Security::SemiHonest;
        let request = Cardinality::request(&Extent::new(1, 1, security), &AggregateOptions::default());
        let params = Params::derive(&request).unwrap();
        for bad in [[0; 32], [0xff; 32]] {
            let (sender, _) = try_two_party(
                |ch, rng| {
                    let input = AggregateSenderInput { items: vec![1], ..AggregateSenderInput::default() };
                    Sender::setup(&params, ch, rng)?.run(input, ch, rng)
                },
                |ch, _| ch.send_stream::<Blinded>(&[bad]),
            );
            assert!(matches!(sender.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));
            let (_, receiver) = try_two_party(
                |ch, _| {
                    ch.recv_stream::<Blinded>(&mut [[0; 32]])?;
                    ch.send_stream::<DoublyBlinded>(&[bad])
                },
                |ch, rng| {
                    let input = AggregateReceiverInput { items: vec![1], ..AggregateReceiverInput::default() };
                    Receiver::setup(&params, ch, rng)?.run(input, ch, rng)
                },
            );
            assert!(matches!(receiver.result, Err(Abort::PeerMisbehaved(DoublyBlinded::STEP, _))));
        }
    }

    /// The receiver gets its points back in an order that is not its own, and says nothing else.
    #[test]
    fn points_come_back_in_ascending_order() {
        let security = Security::SemiHonest;
        let request = Cardinality::request(&Extent::new(50, 60, security), &AggregateOptions::default());
        let params = Params::derive(&request).unwrap();
        two_party(
            |ch, rng| {
                let input = AggregateSenderInput { items: (0..50).collect(), ..AggregateSenderInput::default() };
                Sender::setup(&params, ch, rng)?.run(input, ch, rng)
            },
            |ch, _| {
                let exponent = random_exponent(&mut SecretRng::insecure_from_seed(8));
                ch.send_stream::<Blinded>(&blind_items(
                    DOMAIN,
                    &ch.session(),
                    &(100..160).collect::<Vec<u128>>(),
                    &exponent,
                ))?;
                let mut back = vec![[0; 32]; 60];
                ch.recv_stream::<DoublyBlinded>(&mut back)?;
                assert!(back.is_sorted());
                digests::find::<Digests>(&[], 50, params.digest_bits, ch)
            },
        );
    }
}
