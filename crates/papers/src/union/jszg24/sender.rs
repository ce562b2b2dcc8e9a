//! The left column of the figure.

use vesica_mpc::permute_share;
use vesica_mpc::silent_ot;
use vesica_mpc::tasks::OtPairs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::{Flips, Records, Tags};
use super::params::Parts;
use super::{PAD_CONTEXT, Params};
use vesica_protocols::circuit_psi::{Matched, Matching};
use vesica_protocols::membership::NO_ITEM;
use vesica_protocols::tasks::{UnionSenderInput, UnionSenderOutput};
use vesica_protocols::union::circuit::Circuit;
use vesica_protocols::union::pads::Pads;
use vesica_protocols::union::{bit_streams, plain};

/// The sender, set up.
pub struct Sender {
    params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, unless a set is empty.
pub(super) struct SetUp {
    ots: OtPairs,
    permutation: permute_share::Receiver<Gf128>,
    circuit: <Circuit as Matching>::Receiver,
}

/// What the sender has after the equality tests.
pub(super) struct Compared {
    /// The item in each bin, and the `a_j`.
    pub(super) matched: Matched,
    ots: OtPairs,
    permutation: permute_share::Receiver<Gf128>,
}

/// What the sender has of each place before arrow 2.
pub(super) struct Placed {
    /// The item at each place, or [`NO_ITEM`].
    pub(super) items: Secret<Vec<u32>>,
    /// `u_i`.
    pub(super) keys: Secret<Vec<u128>>,
}

impl SetUp {
    /// All that needs no input. Circuit PSI comes last: its receiver leaves some of the set-up to its
    /// run.
    fn new(parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            ots: silent_ot::Sender::setup(&parts.ots, ch, rng)?.run((), ch, rng)?,
            permutation: ch.reversed(|ch| permute_share::Receiver::setup(&parts.permutation, ch, rng))?,
            circuit: ch.reversed(|ch| Circuit::receiver(&parts.circuit, ch, rng))?,
        })
    }

    /// Steps 1 to 3, and the equality tests of step 4.
    pub(super) fn compare(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Compared, Abort> {
        let Self { ots, permutation, circuit } = self;
        let matched = ch.reversed(|ch| Circuit::receive(circuit, items, ch, rng))?;
        Ok(Compared { matched, ots, permutation })
    }
}

impl Compared {
    /// Steps 4 and 5, with `order` as `pi`.
    pub(super) fn generate(
        self,
        order: &Secret<Vec<u32>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Placed, Abort> {
        let Self { matched, ots, permutation } = self;
        let mut chosen = bit_streams::receive::<Flips>(order.len(), ch)?;
        chosen ^= &matched.membership;
        let permuted = ch.reversed(|ch| permutation.run(order.to_vec(), ch, rng))?;
        // As large as they get at once: growing would leave copies.
        let mut items = Secret::new(Vec::with_capacity(order.len()));
        let mut keys = Secret::new(Vec::with_capacity(order.len()));
        for (bin, share) in order.iter().map(|&bin| bin as usize).zip(&permuted.shares) {
            items.push(matched.items[bin].unwrap_or(NO_ITEM));
            keys.push(match matched.items[bin] {
                Some(_) => ots.pairs[bin][usize::from(chosen.get(bin))] ^ share.0,
                None => rng.block(),
            });
        }
        Ok(Placed { items, keys })
    }
}

impl Placed {
    /// Step 6.
    fn transfer(self, params: &Params, records: &[u8], ch: &mut Channel) -> Result<(), Abort> {
        let Self { items, keys } = self;
        let _phase = ch.phase(Phase::Payload);
        let width = params.request.record_bytes;
        let cells = |places: std::ops::Range<usize>| {
            let mut cells = vec![0; places.len() * width];
            for (cell, &item) in cells.chunks_exact_mut(width).zip(&items[places]).filter(|(_, item)| **item != NO_ITEM)
            {
                cell.copy_from_slice(&records[item as usize * width..][..width]);
            }
            cells
        };
        let pads = Pads::new(PAD_CONTEXT, ch, width, params.tag_bits);
        pads.send::<Records, Tags>(items.len(), cells, |place| keys[place], ch)
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = UnionSenderInput;
    type Output = UnionSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set_up = params.parts.as_ref().map(|parts| SetUp::new(parts, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), set_up })
    }

    fn run(self, input: UnionSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<UnionSenderOutput, Abort> {
        let Self { params, set_up } = self;
        let width = params.request.record_bytes;
        input.check(params.request.sender_items, width)?;
        match set_up {
            Some(set_up) => {
                let compared = set_up.compare(&input.items, ch, rng)?;
                let order = Secret::new(random_order(params.bins, rng));
                compared.generate(&order, ch, rng)?.transfer(&params, &input.records, ch)
            }
            None => plain::send::<Records>(&input.records, width, ch, rng),
        }?;
        Ok(UnionSenderOutput::default())
    }
}
