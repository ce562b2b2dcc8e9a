//! The left column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::opprf;
use vesica_mpc::permute_share::bits;
use vesica_mpc::silent_ot;
use vesica_mpc::tasks::OtPairs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::{Flips, Records, Tags};
use super::params::Parts;
use super::{PAD_CONTEXT, Params};
use crate::circuit_psi::{Asked, Matching};
use crate::tasks::{UnionSenderInput, UnionSenderOutput};
use crate::union::circuit::Circuit;
use crate::union::pads::Pads;
use crate::union::{bit_streams, oprf, plain};

/// The sender, set up.
pub struct Sender {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, unless a set is empty.
pub(super) struct SetUp {
    oprf: oprf::Sender,
    ots: OtPairs,
    bins: usize,
    permutation: bits::Receiver,
    circuit: <Circuit as Matching>::Receiver,
}

/// The sender's items in their places.
pub(super) struct Placed {
    /// The item at each place.
    pub(super) items: Secret<Vec<u32>>,
    /// `a_i`.
    pub(super) shares: Bits,
    ots: OtPairs,
}

/// The full bins in a uniform order, then the empty ones. What lies at their places does not leave the
/// permutation: any order of them is as good.
fn order_of(full: &[u32], bins: usize, rng: &mut SecretRng) -> Secret<Vec<u32>> {
    let mut order = Secret::new(Vec::with_capacity(bins));
    let numbers = Secret::new(random_order(full.len(), rng));
    order.extend(numbers.iter().map(|&number| full[number as usize]));
    let mut full = full.iter().copied().peekable();
    order.extend((0..bins as u32).filter(|bin| full.next_if_eq(bin).is_none()));
    order
}

impl SetUp {
    /// Step 1, and all that needs no input. Circuit PSI comes last: its receiver leaves some of the
    /// set-up to its run.
    fn new(parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            oprf: oprf::Sender::setup(&parts.oprf, ch, rng)?,
            ots: silent_ot::Sender::setup(&parts.ots, ch, rng)?.run((), ch, rng)?,
            bins: parts.circuit.bins,
            permutation: ch.reversed(|ch| bits::Receiver::setup(&parts.permutation, ch, rng))?,
            circuit: ch.reversed(|ch| Circuit::receiver(&parts.circuit, ch, rng))?,
        })
    }

    /// All up to step 3.
    pub(super) fn place(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Placed, Abort> {
        let Self { oprf, ots, bins, permutation, circuit } = self;
        let values = oprf.evaluate(items, ch)?;
        // The order is routed while the receiver makes the hint.
        let ask = |opprf: opprf::Receiver, mut asked: Asked, ch: &mut Channel, rng: &mut SecretRng| {
            let order = order_of(&asked.bins, bins, rng);
            let route = |ch: &mut Channel| {
                let _phase = ch.phase(Phase::Permute);
                permutation.route(order.to_vec())
            };
            let (outputs, routed) = opprf.run_while(std::mem::take(&mut *asked.keys), route, ch, rng)?;
            Ok((outputs, (order, routed?)))
        };
        let (matched, besides) = ch.reversed(|ch| circuit.run_with(&values, ask, ch, rng))?;
        let (_, (order, routed)) = besides.ok_or(Abort::Unsupported(Unsupported::new(
            "a permutation of no bins",
            "give both sides items, or none of the set-up",
        )))?;
        let fresh = ch.reversed(|ch| routed.permute(ch))?;
        let first = &order[..items.len()];
        let mut shares: Bits = first.iter().map(|&bin| matched.membership.get(bin as usize)).collect();
        shares ^= &fresh;
        // As large as it gets at once: growing would leave copies.
        let mut placed = Secret::new(Vec::with_capacity(items.len()));
        placed.extend(first.iter().filter_map(|&bin| matched.items[bin as usize]));
        Ok(Placed { items: placed, shares, ots })
    }
}

/// Step 3: the `d_i`.
pub(super) fn receive_flips(places: usize, ch: &mut Channel) -> Result<Bits, Abort> {
    bit_streams::receive::<Flips>(places, ch)
}

impl Placed {
    /// Steps 3 and 4. A dummy, from the item `keys` on, is common here: nobody opens it.
    fn transfer(self, params: &Params, records: &[u8], keys: usize, ch: &mut Channel) -> Result<(), Abort> {
        let Self { items, mut shares, ots } = self;
        let _phase = ch.phase(Phase::Payload);
        shares ^= &items.iter().map(|&item| item as usize >= keys).collect();
        shares ^= &receive_flips(items.len(), ch)?;
        let width = params.request.record_bytes;
        let block = |place: usize| ots.pairs[place][usize::from(shares.get(place))];
        let cells = |places| plain::cells(records, width, &items[places]);
        Pads::new(PAD_CONTEXT, ch, width, params.tag_bits).send::<Records, Tags>(items.len(), cells, block, ch)
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
        let keys = input.items.len().saturating_sub(input.dummies);
        input.check(params.request.sender_items, params.request.record_bytes)?;
        match set_up {
            Some(set_up) => set_up.place(&input.items, ch, rng)?.transfer(&params, &input.records, keys, ch),
            None => plain::send::<Records>(&input.records, params.request.record_bytes, ch, rng),
        }?;
        Ok(UnionSenderOutput::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn full_bins_come_in_every_order_and_empty_ones_last() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
        for _ in 0..6000 {
            let order = order_of(&[1, 3, 4], 7, &mut rng);
            assert_eq!(order[3..], [0, 2, 5, 6]);
            *seen.entry(order[..3].to_vec()).or_default() += 1;
        }
        // Six orders, 1000 times each on average with a deviation of 29.
        assert!(seen.len() == 6 && seen.values().all(|&count| (800..=1200).contains(&count)), "{seen:?}");
        assert_eq!(*order_of(&[], 2, &mut rng), [0, 1]);
        assert_eq!(*order_of(&[0], 1, &mut rng), [0]);
    }
}
