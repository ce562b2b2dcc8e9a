//! What both protocols do with the OTs of bins: ask for the keys in the own slots, and evaluate the other
//! side's slots.

use std::ops::Range;

use vesica_mpc::code_oprf::{Bch, Functions, Receiver};
use vesica_mpc::tasks::{Evaluations, PrfOutputs};
use vesica_party::{Abort, Channel};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::bins::{Hashed, Slots};

/// About how many evaluations are made at a time.
const EVALUATIONS_PER_BATCH: usize = 1 << 15;

/// Asks for the key in each slot: the value of each of `items` items at its slot, block after block. They are
/// worth nothing before the other side has checked what was asked.
pub(super) fn choose(
    oprf: Receiver<Bch>,
    slots: &Slots,
    items: usize,
    blocks: usize,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Secret<Vec<u128>>, Abort> {
    let mut of_items = Secret::new(vec![0; blocks * items]);
    let fill = |part: Range<usize>, keys: &mut [u128]| keys.copy_from_slice(&slots.keys[part]);
    let take = |part: Range<usize>, outputs: &PrfOutputs| {
        for (of_items, values) in of_items.chunks_exact_mut(items).zip(outputs.values.chunks_exact(part.len())) {
            for (slot, &value) in part.clone().zip(values) {
                if let Some(item) = slots.item(slot) {
                    of_items[item] = value;
                }
            }
        }
    };
    oprf.run_in_parts(fill, take, ch, rng)?;
    Ok(of_items)
}

/// Evaluates, for each item in this order, all `per_bin` slots of its bin at its key: `take` gets the values of
/// some items at a time, those of an item one after the other.
pub(super) fn evaluate(
    functions: &Functions<Bch>,
    hashed: &Hashed,
    per_bin: usize,
    order: &[u32],
    mut take: impl FnMut(&[u32], PrfOutputs) -> Result<(), Abort>,
) -> Result<(), Abort> {
    for items in order.chunks((EVALUATIONS_PER_BATCH / per_bin).max(1)) {
        let count = items.len() * per_bin;
        let mut evaluations = Evaluations { instances: Vec::with_capacity(count), keys: Vec::with_capacity(count) };
        for &item in items {
            let first = hashed.bins[item as usize] * per_bin as u32;
            evaluations.instances.extend(first..first + per_bin as u32);
            evaluations.keys.resize(evaluations.instances.len(), hashed.keys[item as usize]);
        }
        take(items, functions.evaluate(&evaluations))?;
    }
    Ok(())
}
