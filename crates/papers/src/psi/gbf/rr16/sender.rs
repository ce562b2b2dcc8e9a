//! The left column of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::Range;

use subtle::ConstantTimeEq;
use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::tasks::OtPairs;
use vesica_party::{Abort, Channel, Message, Party, Phase, Protocol, Stream};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::messages::{Choices, FinishArrows, Injection, OpenedSum};
use super::opened::Opened;
use super::salt::toss_as_sender;
use crate::psi::gbf::bit;
use crate::psi::gbf::filter::{Filter, Sums};
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    filter: Option<Filter>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let filter = if params.finish.is_empty() { None } else { Some(toss_as_sender(params, ch, rng)?) };
        Ok(Self { params: params.clone(), filter })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, filter } = self;
        params.finish.check_sender(&input)?;
        let Some(filter) = filter else { return Ok(params.finish.no_matches()) };

        let numbers = &params.numbers;
        let mut sums = Sums::new(&filter, &input.items);
        let mut claims = Claims { ones: 0, sum: 0 };
        for (group, cells) in numbers.groups.ranges().enumerate() {
            let transfers = <OtExtension as Protocol>::Sender::setup(&params.transfers, ch, rng)?;
            let pairs = transfers.run((), ch, rng)?;
            // Step 4.
            let phase = ch.phase(Phase::Check);
            let (challenge, opened) = Opened::draw(numbers, group, ch, rng);
            ch.send(&challenge)?;
            // Step 5.
            claims.receive(&params, &opened, &pairs, ch)?;
            drop(phase);
            // Step 6.
            let _phase = ch.phase(Phase::Decode);
            let strings = receive_strings(&params, cells.clone(), opened, &pairs, ch)?;
            sums.add(cells, &strings);
        }

        // Step 7: before anything that depends on the items is sent.
        let phase = ch.phase(Phase::Check);
        let OpenedSum(sum) = ch.recv(())?;
        if !bool::from(claims.sum.to_le_bytes().ct_eq(&sum)) {
            return Err(Abort::PeerMisbehaved(OpenedSum::STEP, "the opened strings are not those of the choices"));
        }
        drop(phase);

        // Steps 8 to 10.
        let mut tags = finish::Sender::new(&params.finish);
        sums.each_tag(|outputs, numbers| tags.add(outputs, numbers));
        tags.finish::<FinishArrows>(&input, sums, ch, rng)
    }
}

/// What the receiver says of all transfers that were opened so far.
struct Claims {
    ones: usize,
    /// The sum of the first strings of the zeros, which it must know.
    sum: u128,
}

impl Claims {
    /// Takes the choices of a group's opened transfers.
    fn receive(&mut self, params: &Params, opened: &Opened, pairs: &OtPairs, ch: &mut Channel) -> Result<(), Abort> {
        let mut choices = vec![0; params.numbers.choice_bytes()];
        ch.recv_stream::<Choices>(&mut choices)?;
        if (opened.count..8 * choices.len()).any(|stray| bit(&choices, stray)) {
            return Err(Abort::PeerMisbehaved(Choices::STEP, "choices of transfers that were not opened"));
        }
        for (place, number) in opened.iter().enumerate() {
            if bit(&choices, place) {
                self.ones += 1;
            } else {
                self.sum ^= pairs.pairs.get(number).map_or(0, |pair| pair[0]);
            }
        }
        if self.ones > params.numbers.most_ones {
            return Err(Abort::PeerMisbehaved(
                Choices::STEP,
                "more ones among the opened transfers than are tolerated",
            ));
        }
        Ok(())
    }
}

/// Receives which transfer each cell of a group has, an injection into those that were not opened, and
/// gives the second strings of these.
///
/// Memory is that of a group, whose size has a fixed bound.
fn receive_strings(
    params: &Params,
    cells: Range<usize>,
    opened: Opened,
    pairs: &OtPairs,
    ch: &mut Channel,
) -> Result<Secret<Vec<Gf128>>, Abort> {
    let mut used = opened.into_flags();
    let mut strings = Secret::new(Vec::with_capacity(cells.len()));
    let mut injective = true;
    table::receive::<Injection, Gf64>(cells.len(), params.numbers.index_bits(), ch, |_, numbers| {
        for number in numbers {
            let number = number.0 as usize;
            match (used.get_mut(number), pairs.pairs.get(number)) {
                (Some(used), Some(pair)) if !*used => {
                    *used = true;
                    strings.push(Gf128(pair[1]));
                }
                _ => injective = false,
            }
        }
    })?;
    if !injective {
        return Err(Abort::PeerMisbehaved(Injection::STEP, "a cell has an opened transfer, or that of another cell"));
    }
    Ok(strings)
}
