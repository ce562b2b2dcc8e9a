//! The right column of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::Range;

use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::tasks::OtChosen;
use vesica_party::{Abort, Channel, Message, Party, Phase, Protocol};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::Params;
use super::messages::{Challenge, Choices, FinishArrows, Injection, OpenedSum};
use super::opened::Opened;
use super::params::CutAndChoose;
use super::salt::toss_as_receiver;
use crate::psi::gbf::filter::{Filter, Sums};
use crate::psi::gbf::packed;
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    filter: Option<Filter>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let filter = if params.finish.is_empty() { None } else { Some(toss_as_receiver(params, ch, rng)?) };
        Ok(Self { params: params.clone(), filter })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, filter } = self;
        params.finish.check_receiver(&input)?;
        let Some(filter) = filter else { return Ok(IntersectReceiverOutput::default()) };

        let numbers = &params.numbers;
        let items = Secret::new(input.items.clone());
        // The filter of a small set is filled up with random items.
        let mut filled = Secret::new(Vec::with_capacity(numbers.items));
        filled.extend_from_slice(&items);
        filled.resize_with(numbers.items, || rng.block());

        let mut sums = Sums::new(&filter, &items);
        let mut opened_sum = 0;
        for (group, cells) in numbers.groups.ranges().enumerate() {
            let transfers = <OtExtension as Protocol>::Receiver::setup(&params.transfers, ch, rng)?;
            let chosen = transfers.run((), ch, rng)?;
            // Step 4.
            let phase = ch.phase(Phase::Check);
            let challenge: Challenge = ch.recv(())?;
            let opened = Opened::expand(numbers, group, challenge, ch);
            if opened.count > numbers.most_opened {
                return Err(Abort::PeerMisbehaved(Challenge::STEP, "more transfers to open than were agreed"));
            }
            // Step 5.
            opened_sum ^= send_choices(numbers, &opened, &chosen, ch)?;
            drop(phase);
            // Step 6.
            let _phase = ch.phase(Phase::Encode);
            let mut unopened = Unopened::new(numbers, &opened, &chosen, rng)?;
            let taken = filter.gbf.taken_vartime(&filled, cells.clone());
            let strings = send_injection(numbers, cells.clone(), &taken, &mut unopened, &chosen, ch)?;
            sums.add(cells, &strings);
        }
        // Step 7.
        ch.send(&OpenedSum(opened_sum.to_le_bytes()))?;

        // Steps 8 to 10.
        let mut tags = finish::Receiver::new(&params.finish);
        sums.each_tag(|outputs, numbers| tags.add(outputs, numbers));
        tags.finish::<FinishArrows>(input, sums, ch)
    }
}

/// Sends the choices of opened transfers, and gives the sum of the strings of the zeros.
pub(super) fn send_choices(
    numbers: &CutAndChoose,
    opened: &Opened,
    chosen: &OtChosen,
    ch: &mut Channel,
) -> Result<u128, Abort> {
    let choice = |number: usize| chosen.choices.get(number).copied().unwrap_or_default();
    let string = |number: usize| chosen.chosen.get(number).copied().unwrap_or_default();
    ch.send_stream::<Choices>(&packed(opened.iter().map(choice), numbers.choice_bytes()))?;
    Ok(opened.iter().filter(|&number| !choice(number)).fold(0, |sum, number| sum ^ string(number)))
}

/// The unopened transfers by their choices, each list in a random order.
pub(super) struct Unopened {
    zeros: Secret<Vec<u32>>,
    ones: Secret<Vec<u32>>,
}

impl Unopened {
    /// Of a group.
    ///
    /// # Errors
    /// If there are not as many of either as any filter needs, with rare exceptions: so whether the run
    /// stops here does not depend on the items.
    pub(super) fn new(
        numbers: &CutAndChoose,
        opened: &Opened,
        chosen: &OtChosen,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let mut lists = [true, false].map(|_| Secret::new(Vec::with_capacity(numbers.transfers)));
        let [zeros, ones] = &mut lists;
        for number in opened.others() {
            let list = if chosen.choices.get(number).copied().unwrap_or_default() { &mut *ones } else { &mut *zeros };
            list.push(number as u32);
        }
        let [zeros, ones] = &lists;
        let [needed_zeros, needed_ones] = numbers.needed;
        if zeros.len() < needed_zeros || ones.len() < needed_ones {
            return Err(SHORTAGE);
        }
        let [zeros, ones] = [zeros, ones].map(|list| {
            let order = Secret::new(random_order(list.len(), rng));
            Secret::new(order.iter().filter_map(|&place| list.get(place as usize).copied()).collect::<Vec<u32>>())
        });
        Ok(Self { zeros, ones })
    }

    /// A transfer with this choice, none twice.
    pub(super) fn next(&mut self, one: bool) -> Option<u32> {
        if one { self.ones.pop() } else { self.zeros.pop() }
    }
}

const SHORTAGE: Abort = Abort::StatisticalFailure("the unopened transfers do not suffice for the filter");

/// Draws a transfer for each cell of a group, whose choice is the cell's bit, sends them, and gives their
/// strings.
fn send_injection(
    numbers: &CutAndChoose,
    cells: Range<usize>,
    taken: &[bool],
    unopened: &mut Unopened,
    chosen: &OtChosen,
    ch: &mut Channel,
) -> Result<Secret<Vec<Gf128>>, Abort> {
    let mut transfers = Secret::new(Vec::with_capacity(cells.len()));
    let mut strings = Secret::new(Vec::with_capacity(cells.len()));
    for &one in taken {
        let number = unopened.next(one).ok_or(SHORTAGE)?;
        transfers.push(Gf64(number.into()));
        strings.push(Gf128(chosen.chosen.get(number as usize).copied().unwrap_or_default()));
    }
    table::send::<Injection, Gf64>(&transfers, numbers.index_bits(), ch)?;
    Ok(strings)
}
