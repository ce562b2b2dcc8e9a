//! mqRPMT: Chen, Zhang, Zhang, Dong, Liu, "Private Set Operations from Multi-Query Reverse Private
//! Membership Test" (PKC 2024, ePrint 2022/652), with the commutative weak pseudo-random function
//! `x -> a H(x)` on Ristretto255.
//!
//! ```text
//!   Sender (client): X in a random order, a                           Receiver (server): Y, b
//!
//!                                1. b H(y), in chunks
//!      <------------------------------------------------------------------------
//!                                2. a H(x_1), .. a H(x_n), in chunks
//!      ------------------------------------------------------------------------>
//!                                3. sorted digests of a b H(y), Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     e_i = 1 if the digest of b a H(x_i) is among them
//!                                [ 4 to 6: arrows I to III of the membership tests ]
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | client, server | sender, receiver | who asks about its items, who learns the bits |
//! | `k_1`, `k_2`, `F` | `exponent`, `blind_items`, `blind_points` | blindings of server and client |
//! | `e` | the places of common items | what the server learns, in the client's order |
//! | `Ω` | the order of arrow 3 | here all that is left of a permutation |

mod entries;
mod messages;
pub mod params;

use curve25519_dalek::scalar::Scalar;
use std::ops::RangeInclusive;
use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::{Digests, DoubleBlinding, Transfer};
use super::MembershipTest;
use crate::ecdh::digests::{self, digests};
use crate::ecdh::{exchange, random_exponent, shuffled};

pub use params::Params;

/// Domain of the digests of arrow 3.
const DIGEST_CONTEXT: &str = "vesica v1 czz24 2026 digest of a point";

/// The test of the rows of this paper.
#[derive(Debug)]
pub enum Czz24 {}

/// A side with its blinding, `a` or `b`.
#[derive(Debug)]
pub struct Blinding {
    params: Params,
    exponent: Secret<Scalar>,
}

impl MembershipTest for Czz24 {
    type Params = Params;
    type Sender = Blinding;
    type Receiver = Blinding;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = false;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        Ok(Params::new(sender_items, receiver_items))
    }

    fn places(params: &Params) -> usize {
        params.sender_items
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn sender(&params: &Params, _: &mut Channel, rng: &mut SecretRng) -> Result<Blinding, Abort> {
        Ok(Blinding { params, exponent: random_exponent(rng) })
    }

    fn receiver(&params: &Params, _: &mut Channel, rng: &mut SecretRng) -> Result<Blinding, Abort> {
        Ok(Blinding { params, exponent: random_exponent(rng) })
    }

    /// Steps 1 to 3.
    fn ask(
        Blinding { params, exponent }: Blinding,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u32>>, Abort> {
        let (order, shuffled) = shuffled(items, rng);
        let points = exchange::sender::<DoubleBlinding>(&shuffled, params.receiver_items, &exponent, ch)?;
        let digests = digests(DIGEST_CONTEXT, &ch.session(), points.chunks());
        digests::send::<Digests>(&digests, params.digest_bits, ch)?;
        Ok(order)
    }

    /// Steps 1 to 3.
    fn test(
        Blinding { params, exponent }: Blinding,
        items: &[u128],
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        let points = exchange::receiver::<DoubleBlinding>(items, params.sender_items, &exponent, ch)?;
        let own = digests(DIGEST_CONTEXT, &ch.session(), points.chunks());
        digests::find::<Digests>(&own, params.receiver_items, params.digest_bits, ch)
    }
}
