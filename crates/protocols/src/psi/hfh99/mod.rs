//! DH-PSI: Huberman, Franklin, Hogg, "Enhancing privacy and trust in electronic communities" (EC
//! 1999), after Meadows (S&P 1986).
//!
//! Two commuting blindings, `H(x) -> a H(x)` at the sender and `H(y) -> b H(y)` at the receiver. The
//! rows differ in their group: Ristretto255, Curve25519 by u-coordinates (X25519), secp256k1.
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
//! | `x^a`, `y^b` | `exponent` | a party's secret blinding, of the row's type `Exponent` |
//! | `h` | `Exponent::hash_and_multiply` | hash to the group (RFC 9380) |
//! | `(y^b)^a` | `DoublyBlinded` | both blindings on an item |
//!
//! The receiver runs at most `ecdh::CHUNKS_IN_FLIGHT` chunks ahead of the sender's answers, and the
//! sender blinds its own items between two answers: both compute all the time and neither streams
//! against the other.
//!
//! `ecdh-hfh99` may send a filter of the tags on arrow 3 instead of their list
//! ([`finish::compare`](crate::psi::finish::compare)).

mod messages;
mod oprf;
pub mod params;
mod receiver;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{ChoiceValue, CostClass, Entry, Mode, Protocol, Role, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::ecdh::{self, Exponent};
use crate::psi::finish::compare;
use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper of the protocol, and of its version for cardinalities.
pub const PAPER: Paper = Paper {
    key: "HFH99",
    title: "Enhancing privacy and trust in electronic communities",
    reference: "Huberman, Franklin, Hogg. ACM Conference on Electronic Commerce 1999 (after Meadows, IEEE S&P 1986)",
};

/// A row of the registry: a group.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// Domain of the hash to the group.
    const DOMAIN: &'static [u8];
    /// The exponents of the group.
    type Exponent: Exponent;
}

/// An encoded point of a row.
pub type PointOf<V> = <<V as Variant>::Exponent as Exponent>::Point;

/// The protocol of row `V`.
pub struct Hfh99<V>(PhantomData<fn() -> V>);

impl<V: Variant> Protocol for Hfh99<V> {
    const ENTRY: Entry = V::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender<V>;
    type Receiver = Receiver<V>;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive::<V>(request, entry)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        params.finish.further_memory(role)
    }
}

/// How this reading of the protocol differs from the paper.
pub const OWN_BLINDING: &str = "The receiver takes its own blinding off a doubly blinded point and compares hashes of a \
                            H(y) with hashes of a H(x), as in the reading of this protocol as an oblivious \
                            pseudo-random function; the paper has it blind a H(x) a second time. So the sender's \
                            items cost a short tag each and not a point, and the output also gives keys for payloads. \
                            The views are simulated alike: a H(x) of an item outside of the intersection is \
                            pseudo-random under DDH.";
/// How the sender's tags travel.
pub const TAGS: &str = "The sender's tags are truncated to the width that their collisions allow, sorted and Golomb-Rice \
                    coded.";

/// `ecdh-hfh99`: Ristretto255.
#[derive(Clone, Copy, Debug)]
pub enum Ristretto {}

const ENTRY: Entry = Entry {
    id: "ecdh-hfh99",
    aliases: &["hfh99", "ecdh", "dh-psi"],
    variants: &[compare::choice(&[LIST, compare::VACUUM, compare::FUSE])],
    task: Intersect::NAME,
    paper: PAPER,
    status: Status::Recommended,
    cost: CostClass::GroupOperations,
    map_and_compare: Some(styles::DH_PSI),
    deviations: &["An elliptic curve group (Ristretto255) instead of the integers modulo a prime.", OWN_BLINDING, TAGS],
    modes: &[Mode::semi_honest(Rounds::exactly(3), ecdh::DIGEST_ASSUMPTIONS, &[SIZES])],
};

/// What makes way for a filter.
const LIST: ChoiceValue = compare::list(&[TAGS]);

impl Variant for Ristretto {
    const ENTRY: Entry = ENTRY;
    const DOMAIN: &'static [u8] = b"vesica-v1-ecdh-hfh99-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
    type Exponent = curve25519_dalek::Scalar;
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use vesica_party::{Abort, Party, Security, Stream};
    use vesica_testkit::try_two_party;

    use super::messages::{Blinded, DoublyBlinded};
    use super::*;
    use crate::tasks::{IntersectReceiverInput, IntersectSenderInput};

    fn params<V: Variant>() -> Params {
        let request = IntersectRequest {
            sender_items: 1,
            receiver_items: 1,
            security: Security::SemiHonest,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        Params::derive::<V>(&request, &<Hfh99<V>>::ENTRY).unwrap()
    }

    fn bad_points_are_caught<V: Variant>() {
        let mut ones = PointOf::<V>::zeroed();
        bytemuck::bytes_of_mut(&mut ones).fill(0xff);
        for bad in [PointOf::<V>::zeroed(), ones] {
            let (sender, _) = try_two_party(
                |ch, rng| {
                    Sender::<V>::setup(&params::<V>(), ch, rng)?.run(
                        IntersectSenderInput { items: vec![1], payloads: vec![] },
                        ch,
                        rng,
                    )
                },
                |ch, _| ch.send_stream::<Blinded<V>>(&[bad]),
            );
            assert!(matches!(sender.result, Err(Abort::PeerMisbehaved(step, _)) if step == <Blinded<V>>::STEP));
            let (_, receiver) = try_two_party(
                |ch, _| {
                    ch.recv_stream::<Blinded<V>>(&mut [PointOf::<V>::zeroed()])?;
                    ch.send_stream::<DoublyBlinded<V>>(&[bad])
                },
                |ch, rng| {
                    let input = IntersectReceiverInput { items: vec![1] };
                    Receiver::<V>::setup(&params::<V>(), ch, rng)?.run(input, ch, rng)
                },
            );
            assert!(matches!(receiver.result, Err(Abort::PeerMisbehaved(step, _)) if step == <DoublyBlinded<V>>::STEP));
        }
    }

    #[test]
    fn points_outside_of_the_group_are_caught_on_both_sides() {
        bad_points_are_caught::<Ristretto>();
    }
}
