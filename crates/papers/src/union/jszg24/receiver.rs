//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::permute_share;
use vesica_mpc::silent_ot;
use vesica_mpc::tasks::{OtChosen, ToPermute};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Flips, Records, Tags};
use super::params::Parts;
use super::{PAD_CONTEXT, Params};
use crate::union::jsz22;
use vesica_protocols::circuit_psi::{self, Matching};
use vesica_protocols::tasks::{UnionReceiverInput, UnionReceiverOutput};
use vesica_protocols::union::circuit::Circuit;
use vesica_protocols::union::pads::Pads;
use vesica_protocols::union::{bit_streams, plain};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, unless a set is empty.
pub(super) struct SetUp {
    ots: OtChosen,
    permutation: permute_share::Sender<Gf128>,
    pub(super) circuit: <Circuit as Matching>::Sender,
}

/// What the receiver has after the equality tests.
pub(super) struct Compared {
    /// `b_j`.
    pub(super) shares: Bits,
    ots: OtChosen,
    permutation: permute_share::Sender<Gf128>,
}

/// What the receiver has after step 4.
pub(super) struct Randomness {
    ots: OtChosen,
    permutation: permute_share::Sender<Gf128>,
}

impl SetUp {
    /// All that needs no input.
    fn new(parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            ots: silent_ot::Receiver::setup(&parts.ots, ch, rng)?.run((), ch, rng)?,
            permutation: ch.reversed(|ch| permute_share::Sender::setup(&parts.permutation, ch, rng))?,
            circuit: ch.reversed(|ch| Circuit::sender(&parts.circuit, ch, rng))?,
        })
    }

    /// Steps 1 to 3, and the equality tests of step 4.
    pub(super) fn compare(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Compared, Abort> {
        let Self { ots, permutation, circuit } = self;
        let shares = ch.reversed(|ch| Circuit::send(circuit, items, &circuit_psi::nothing, ch, rng))?;
        Ok(Compared { shares, ots, permutation })
    }
}

impl Compared {
    /// The rest of step 4, with arrow 1: the `r'_j` in the blocks of the OTs.
    pub(super) fn turn(self, ch: &mut Channel) -> Result<Randomness, Abort> {
        let Self { shares: mut flips, ots, permutation } = self;
        flips ^= &ots.choices.iter().copied().collect();
        bit_streams::send::<Flips>(&flips, ch)?;
        Ok(Randomness { ots, permutation })
    }
}

impl Randomness {
    /// Step 5: the `v_i`.
    pub(super) fn permute(self, ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u128>>, Abort> {
        let Self { ots, permutation } = self;
        let values = ots.chosen.iter().map(|&block| Gf128(block)).collect();
        let input = ToPermute { values, shares: jsz22::shares(ots.chosen.len(), rng) };
        let keys = Secret::new(input.shares.iter().map(|share| share.0).collect());
        ch.reversed(|ch| permutation.run(input, ch, rng))?;
        Ok(keys)
    }
}

/// Step 7: what the receiver's pads make of the strings, and which of them are new records.
pub(super) fn take(params: &Params, keys: &[u128], ch: &mut Channel) -> Result<(Vec<u8>, Bits), Abort> {
    let _phase = ch.phase(Phase::Payload);
    let pads = Pads::new(PAD_CONTEXT, ch, params.request.record_bytes, params.tag_bits);
    pads.receive::<Records, Tags>(keys.len(), |place| keys[place], ch)
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
        let keys = set_up.compare(&input.items, ch, rng)?.turn(ch)?.permute(ch, rng)?;
        Ok(plain::output(&params.request, take(&params, &keys, ch)?))
    }
}
