//! The right column of the figure.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Variant;
use super::messages::{Blinded, DoublyBlinded, FinishArrows};
use super::oprf::Outputs;
use super::params::Params;
use crate::ecdh::{Exponent, evaluate};
use crate::psi::finish;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, with its blinding `b`.
#[derive(Debug)]
pub struct Receiver<V: Variant> {
    params: Params,
    exponent: Secret<V::Exponent>,
}

impl<V: Variant> Party for Receiver<V> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: V::Exponent::random(rng) })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        _rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let params = &self.params;
        params.finish.check_receiver(&input)?;
        let session = ch.session();

        // Steps 1 and 2.
        let phase = ch.phase(Phase::HashItems);
        let points =
            evaluate::<Blinded<V>, DoublyBlinded<V>, _>(V::DOMAIN, &session, &input.items, &self.exponent, ch)?;
        drop(phase);
        let outputs = Outputs { session, points };

        // Steps 3 to 5.
        let phase = ch.phase(Phase::Match);
        let mut tags = finish::Receiver::new(&params.finish);
        tags.add(&outputs.tags(), 0..);
        drop(phase);
        tags.finish::<FinishArrows<V>>(input, outputs, ch)
    }
}
