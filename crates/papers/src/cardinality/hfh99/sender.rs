//! The left column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Arrows, DoublyBlinded};
use super::params::Params;
use vesica_protocols::ecdh::{exchange, random_exponent, shuffled};
use vesica_protocols::tasks::AggregateSenderInput;

/// The sender, with its blinding `a`.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    exponent: Secret<Scalar>,
}

impl Party for Sender {
    type Params = Params;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: random_exponent(rng) })
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let request = &self.params.request;
        input.check(request)?;

        // Steps 1 and 2.
        let (_, items) = shuffled(&input.items, rng);
        let points = exchange::sender::<Arrows>(&items, request.receiver_items, &self.exponent, ch)?;

        // Step 3.
        let _phase = ch.phase(Phase::Masks);
        ch.send_stream::<DoublyBlinded>(&points.sorted())
    }
}
