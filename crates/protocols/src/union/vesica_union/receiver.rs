//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::permute_share::bits;
use vesica_mpc::silent_ot;
use vesica_mpc::tasks::{BitsToPermute, OtChosen};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::messages::{Flips, Records, Tags};
use super::params::Parts;
use super::{PAD_CONTEXT, Params};
use crate::circuit_psi::{self, Matching};
use crate::tasks::{UnionReceiverInput, UnionReceiverOutput};
use crate::union::circuit::Circuit;
use crate::union::pads::Pads;
use crate::union::{bit_streams, oprf, plain};

/// The receiver, set up.
pub struct Receiver {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, unless a set is empty.
pub(super) struct SetUp {
    pub(super) oprf: oprf::Receiver,
    pub(super) rest: AfterOprf,
}

/// What is set up for the steps behind the OPRF.
pub(super) struct AfterOprf {
    ots: OtChosen,
    permutation: bits::Sender,
    pub(super) circuit: <Circuit as Matching>::Sender,
}

/// What the receiver has of each place before step 3.
pub(super) struct Shared {
    /// `b_i`.
    shares: Bits,
    ots: OtChosen,
}

impl SetUp {
    /// Step 1, and all that needs no input.
    fn new(parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            oprf: oprf::Receiver::setup(&parts.oprf, ch, rng)?,
            rest: AfterOprf {
                ots: silent_ot::Receiver::setup(&parts.ots, ch, rng)?.run((), ch, rng)?,
                permutation: ch.reversed(|ch| bits::Sender::setup(&parts.permutation, ch, rng))?,
                circuit: ch.reversed(|ch| Circuit::sender(&parts.circuit, ch, rng))?,
            },
        })
    }

    /// All up to step 3.
    pub(super) fn share(
        self,
        params: &Params,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Shared, Abort> {
        let Self { oprf, rest } = self;
        let values = oprf.ask(items, ch)?;
        rest.share(params, &values, ch, rng)
    }
}

impl AfterOprf {
    /// Circuit PSI on the OPRF's values, and the permutation.
    pub(super) fn share(
        self,
        params: &Params,
        values: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Shared, Abort> {
        let Self { ots, permutation, circuit } = self;
        let common = ch.reversed(|ch| Circuit::send(circuit, values, &circuit_psi::nothing, ch, rng))?;
        let shares = Bits::random(params.request.sender_items, rng);
        let input = BitsToPermute { values: common, shares: shares.clone() };
        ch.reversed(|ch| permutation.run(input, ch, rng))?;
        Ok(Shared { shares, ots })
    }
}

impl Shared {
    /// Step 3; the blocks `k_i[r_i]`.
    pub(super) fn flip(self, ch: &mut Channel) -> Result<OtChosen, Abort> {
        let Self { shares: mut flips, ots } = self;
        flips ^= &ots.choices.iter().copied().collect();
        bit_streams::send::<Flips>(&flips, ch)?;
        Ok(ots)
    }
}

/// Step 4: what the receiver's pads make of the strings, and which of them are new records. All
/// places take the same work.
pub(super) fn take(params: &Params, ots: &OtChosen, ch: &mut Channel) -> Result<(Vec<u8>, Bits), Abort> {
    let (places, width) = (params.request.sender_items, params.request.record_bytes);
    let block = |place: usize| ots.chosen[place];
    Pads::new(PAD_CONTEXT, ch, width, params.tag_bits).receive::<Records, Tags>(places, block, ch)
}

impl Party for Receiver {
    type Params = Params;
    type Input = UnionReceiverInput;
    type Output = UnionReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set_up = params.parts.as_ref().map(|parts| SetUp::new(parts, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), set_up })
    }

    fn run(
        self,
        input: UnionReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<UnionReceiverOutput, Abort> {
        let Self { params, set_up } = self;
        input.check(params.request.receiver_items)?;
        let Some(set_up) = set_up else { return plain::receive::<Records>(&params.request, ch) };
        let shared = set_up.share(&params, &input.items, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let ots = shared.flip(ch)?;
        Ok(plain::output(&params.request, take(&params, &ots, ch)?))
    }
}
