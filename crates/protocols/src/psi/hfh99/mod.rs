//! DH-PSI: Huberman, Franklin, Hogg, "Enhancing privacy and trust in electronic communities" (EC
//! 1999), after Meadows (S&P 1986).
//!
//! Two commuting blindings, `H(x) -> a H(x)` at the sender and `H(y) -> b H(y)` at the receiver, on
//! the group Ristretto255.
//!
//! ```text
//!   Sender: X, a                                                      Receiver: Y, b
//!
//!                                1. B_j = b H(y_j), in chunks
//!      <------------------------------------------------------------------------
//!                                2. D_j = a B_j, in chunks
//!      ------------------------------------------------------------------------>
//!                                                                     a H(y_j) = D_j / b
//!      (m_x, p_x, k_x) = G(a H(x))                                    (m_y, p_y, k_y) = G(a H(y))
//!                                3. sorted m_x, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if m_y is among them
//!                                4. (labelled) payload_x + k_x, in the order of 3
//!      ------------------------------------------------------------------------>
//!                                5. (both learn) sorted p_y of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `A`, `B` | [`Sender`], [`Receiver`] | the two communities |
//! | `x^a`, `y^b` | `exponent` | a party's secret blinding, a scalar |
//! | `h` | `hash_to_uniform` | hash to the group (RFC 9380, ristretto255), whose second half is in `map_and_multiply` |
//! | `(y^b)^a` | `DoublyBlinded` | both blindings on an item |
//!
//! The receiver runs at most `ecdh::CHUNKS_IN_FLIGHT` chunks ahead of the sender's answers, and the
//! sender blinds its own items between two answers: both compute all the time and neither streams
//! against the other.

mod messages;
mod oprf;
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
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper of the protocol, and of its version for cardinalities.
pub(crate) const PAPER: Paper = Paper {
    key: "HFH99",
    title: "Enhancing privacy and trust in electronic communities",
    reference: "Huberman, Franklin, Hogg. ACM Conference on Electronic Commerce 1999 (after Meadows, IEEE S&P 1986)",
};

/// The protocol `ecdh-hfh99`.
#[derive(Clone, Copy, Debug)]
pub enum EcdhHfh99 {}

impl Protocol for EcdhHfh99 {
    const ENTRY: Entry = Entry {
        id: "ecdh-hfh99",
        aliases: &["hfh99", "ecdh", "dh-psi"],
        variants: &[],
        task: Intersect::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        deviations: &[
            "An elliptic curve group (Ristretto255) instead of the integers modulo a prime.",
            "The receiver takes its own blinding off a doubly blinded point and compares hashes of a H(y) with hashes \
             of a H(x), as in the reading of this protocol as an oblivious pseudo-random function; the paper has it \
             blind a H(x) a second time. So the sender's items cost a short tag each and not a point, and the output \
             also gives keys for payloads. The views are simulated alike: a H(x) of an item outside of the \
             intersection is pseudo-random under DDH.",
            "The sender's tags are truncated to the width that their collisions allow, sorted and Golomb-Rice coded.",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(3), ecdh::DIGEST_ASSUMPTIONS, &[SIZES])],
    };
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::{Abort, Party, Security, Stream};
    use vesica_testkit::try_two_party;

    use super::messages::{Blinded, DoublyBlinded};
    use super::*;
    use crate::tasks::{IntersectReceiverInput, IntersectSenderInput};

    const BAD: [[u8; 32]; 2] = [[0; 32], [0xff; 32]];

    fn params() -> Params {
        let request = IntersectRequest {
            sender_items: 1,
            receiver_items: 1,
            security: Security::SemiHonest,
            payload_bytes: 0,
            both_learn: false,
        };
        Params::derive(&request).unwrap()
    }

    #[test]
    fn points_outside_of_the_group_are_caught_on_both_sides() {
        for bad in BAD {
            let (sender, _) = try_two_party(
                |ch, rng| {
                    Sender::setup(&params(), ch, rng)?.run(
                        IntersectSenderInput { items: vec![1], payloads: vec![] },
                        ch,
                        rng,
                    )
                },
                |ch, _| ch.send_stream::<Blinded>(&[bad]),
            );
            assert!(matches!(sender.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));
            let (_, receiver) = try_two_party(
                |ch, _| {
                    ch.recv_stream::<Blinded>(&mut [[0; 32]])?;
                    ch.send_stream::<DoublyBlinded>(&[bad])
                },
                |ch, rng| Receiver::setup(&params(), ch, rng)?.run(IntersectReceiverInput { items: vec![1] }, ch, rng),
            );
            assert!(matches!(receiver.result, Err(Abort::PeerMisbehaved(DoublyBlinded::STEP, _))));
        }
    }
}
