//! Steps 4, 6 and 7: the OPPRF from VOLE, which ignores bins.

use vesica_mpc::opprf;
use vesica_mpc::oprf::value_bits;
use vesica_mpc::tasks::{OpprfRequest, PrfOutputs};
use vesica_party::{Abort, Channel, Party, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::rng::SecretRng;

use crate::circuit_psi::params::unit;
use crate::circuit_psi::{Asked, BinOpprf, OpprfSizes, Pairs};

/// `WIDE` says that the OPRF's values fill `F`.
#[derive(Clone, Copy, Debug)]
pub enum VoleOpprf<const WIDE: bool> {}

impl<const WIDE: bool> BinOpprf for VoleOpprf<WIDE> {
    type Params = opprf::Params;
    type Sender = opprf::Sender;
    type Receiver = opprf::Receiver;

    /// A zero difference in one of the evaluations.
    fn failure(sender_keys: usize) -> u128 {
        let bits = if WIDE { Gf128::BITS } else { value_bits(Security::SemiHonest, sender_keys) };
        (sender_keys as u128).saturating_mul(unit(bits))
    }

    fn derive(sizes: &OpprfSizes) -> Result<opprf::Params, Unsupported> {
        let &OpprfSizes { receiver_keys, sender_keys, output_bits, okvs, runs, .. } = sizes;
        let request =
            OpprfRequest { receiver_keys, sender_keys, output_bits, security: Security::SemiHonest, wide: WIDE, runs };
        opprf::Params::derive(&request, okvs)
    }

    fn predicted_bytes(params: &opprf::Params) -> u64 {
        params.predicted_bytes()
    }

    fn program(sender: Self::Sender, pairs: Pairs, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        sender.run(pairs.programmed, ch, rng)
    }

    fn ask(
        receiver: Self::Receiver,
        mut asked: Asked,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<PrfOutputs, Abort> {
        receiver.run(std::mem::take(&mut *asked.keys), ch, rng)
    }
}
