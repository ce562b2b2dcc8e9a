//! The settings of a network for an order: Waksman's looping algorithm.

use super::Network;
use crate::secret::Secret;

/// Numbers that are not each of `0..len` once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an order names each place once")]
pub struct NotAnOrder;

/// Wires of a block whose two halves are worth two threads.
const MANY: usize = 1 << 15;

/// A place that nothing was found for yet.
const UNKNOWN: u32 = u32::MAX;

/// Settings of a network for which output `j` is input `order[j]`. Those of a Benes network are
/// those of Waksman's, and "not crossed" for the switches that Waksman's lacks.
///
/// Its memory accesses depend on the order; a program on the same machine that watches caches may
/// learn it.
///
/// # Errors
/// If the order does not name each input once.
///
/// # Panics
/// If there are `2^32 - 1` wires or more.
pub fn route(network: Network, order: &[u32]) -> Result<Secret<Vec<bool>>, NotAnOrder> {
    let wires = order.len();
    assert!(wires < UNKNOWN as usize, "wires are numbered by 32 bits");
    let filled = |value| Secret::new(vec![value; wires]);
    let (mut inputs, mut outputs) = (Secret::new(order.to_vec()), filled(UNKNOWN));
    for (output, &input) in (0..).zip(order) {
        let place = outputs.get_mut(input as usize).ok_or(NotAnOrder)?;
        if std::mem::replace(place, output) != UNKNOWN {
            return Err(NotAnOrder);
        }
    }
    let (mut next_inputs, mut next_outputs) = (filled(UNKNOWN), filled(UNKNOWN));
    let mut settings = Secret::new(vec![false; network.switches(wires)]);
    let own = Order { inputs: &mut inputs, outputs: &mut outputs };
    route_block(network, own, Order { inputs: &mut next_inputs, outputs: &mut next_outputs }, &mut settings);
    Ok(settings)
}

/// An order of a block's wires, both ways: `inputs[j]` is what output `j` is, `outputs[i]` where
/// input `i` goes.
struct Order<'a> {
    inputs: &'a mut [u32],
    outputs: &'a mut [u32],
}

impl<'a> Order<'a> {
    fn split_at(self, wire: usize) -> [Order<'a>; 2] {
        let (upper_inputs, lower_inputs) = self.inputs.split_at_mut(wire);
        let (upper_outputs, lower_outputs) = self.outputs.split_at_mut(wire);
        [Order { inputs: upper_inputs, outputs: upper_outputs }, Order { inputs: lower_inputs, outputs: lower_outputs }]
    }
}

/// Routes a block; `next` is overwritten by the orders of its two blocks, and `own` by theirs in
/// turn.
fn route_block(network: Network, own: Order<'_>, mut next: Order<'_>, settings: &mut [bool]) {
    let wires = own.inputs.len();
    if wires <= 2 {
        if let Some(crosses) = settings.first_mut() {
            *crosses = own.inputs[0] == 1;
        }
        return;
    }
    let half = wires.div_ceil(2);
    let (ins, rest) = settings.split_at_mut(wires - half);
    let (upper, rest) = rest.split_at_mut(network.switches(half));
    let (lower, outs) = rest.split_at_mut(network.switches(wires - half));

    next.inputs[..half].fill(UNKNOWN);
    // The last output of the upper block is output `half - 1`; what that leaves open are loops, each of
    // which may begin anywhere.
    trace(half - 1, &own, &mut next, ins, outs);
    for output in 0..half - 1 {
        if next.inputs[output] == UNKNOWN {
            trace(output, &own, &mut next, ins, outs);
        }
    }

    let [own_upper, own_lower] = own.split_at(half);
    let [next_upper, next_lower] = next.split_at(half);
    let upper = || route_block(network, next_upper, own_upper, upper);
    let lower = || route_block(network, next_lower, own_lower, lower);
    if wires >= MANY {
        rayon::join(upper, lower);
    } else {
        upper();
        lower();
    }
}

/// Leads output `first` through the upper block, hence the input beside its input through the lower
/// one, hence the output beside where that goes through the upper one, and so on, until the loop
/// closes or ends at the input that no switch has.
fn trace(first: usize, own: &Order<'_>, next: &mut Order<'_>, ins: &mut [bool], outs: &mut [bool]) {
    let half = own.inputs.len().div_ceil(2);
    let wire = |place: usize| if place < half { place } else { place - half };
    let beside = |place: usize| if place < half { place + half } else { place - half };
    let mut output = first;
    loop {
        let (input, to) = (own.inputs[output] as usize, wire(output));
        let from = wire(input);
        (next.inputs[to], next.outputs[from]) = (from as u32, to as u32);
        if let Some(crosses) = outs.get_mut(to) {
            *crosses = output >= half;
        }
        let Some(crosses) = ins.get_mut(from) else { return };
        *crosses = input >= half;

        let other = own.outputs[beside(input)] as usize;
        let to = wire(other);
        (next.inputs[half + to], next.outputs[half + from]) = (from as u32, to as u32);
        output = beside(other);
        if output == first {
            return;
        }
    }
}
