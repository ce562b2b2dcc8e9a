//! Cardinality by double blinding: Huberman, Franklin, Hogg, "Enhancing privacy and trust in
//! electronic communities" (EC 1999).
//!
//! The blindings of [`vesica_protocols::psi::hfh99`], in the paper's own form: everything is blinded twice,
//! and the sender shuffles.
//!
//! ```text
//!   Sender: X, a                                                      Receiver: Y, b
//!
//!                                1. b H(y), in chunks
//!      <------------------------------------------------------------------------
//!                                2. a H(x), in a random order, in chunks
//!      ------------------------------------------------------------------------>
//!                                3. a b H(y), in a random order
//!      ------------------------------------------------------------------------>
//!                                                                     b a H(x), count those among arrow 3
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `A`, `B` | [`Sender`], [`Receiver`] | the two communities |
//! | `x^a`, `y^b` | `exponent` | a party's secret blinding, a scalar |
//! | `h` | `hash_to_uniform` | hash to the group (RFC 9380, ristretto255), whose second half is in `map_and_multiply` |
//!
//! The random order of arrow 3 is the ascending one: to the receiver the points are pseudo-random,
//! and nothing else decides it.

mod messages;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::ecdh;
use vesica_protocols::psi::hfh99::PAPER;
use vesica_protocols::styles;
use vesica_protocols::tasks::{AggregateRequest, Cardinality, SIZES};

/// The protocol `ecdh-ca-hfh99`.
#[derive(Clone, Copy, Debug)]
pub enum EcdhCaHfh99 {}

impl Protocol for EcdhCaHfh99 {
    const ENTRY: Entry = Entry {
        id: "ecdh-ca-hfh99",
        aliases: &["hfh99-ca"],
        variants: &[],
        task: Cardinality::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_COUNT_BOTH),
        deviations: &["An elliptic curve group (Ristretto255) instead of the integers modulo a prime."],
        modes: &[Mode::semi_honest(Rounds::exactly(2), ecdh::ASSUMPTIONS, &[SIZES])],
    };
    type Task = Cardinality;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &AggregateRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::{Party, Security};
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::two_party;

    use super::messages::{Arrows, DoublyBlinded};
    use super::*;
    use vesica_protocols::ecdh::{exchange, random_exponent};
    use vesica_protocols::tasks::{AggregateOptions, AggregateSenderInput, Extent, SetFunctionality};

    /// The receiver gets its points back in an order that is not its own, and says nothing else.
    #[test]
    fn points_come_back_in_ascending_order() {
        let security = Security::SemiHonest;
        let request = Cardinality::request(&Extent::new(50, 60, security), &AggregateOptions::default());
        let params = Params::derive(&request).unwrap();
        let own: Vec<u128> = (100..160).collect();
        let ((), back) = two_party(
            |ch, rng| {
                let input = AggregateSenderInput { items: (0..50).collect(), ..AggregateSenderInput::default() };
                Sender::setup(&params, ch, rng)?.run(input, ch, rng)
            },
            |ch, _| {
                let exponent = random_exponent(&mut SecretRng::insecure_from_seed(8));
                exchange::receiver::<Arrows>(&own, 50, &exponent, ch)?;
                let mut back = vec![[0; 32]; 60];
                ch.recv_stream::<DoublyBlinded>(&mut back)?;
                Ok(back)
            },
        );
        assert!(back.is_sorted());
    }
}
