//! `spot-fast`: a polynomial for each bin of a two-choice table (Figure 7), some bins at a time.

use std::ops::Range;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_party::{Abort, Channel};
use vesica_structures::hashing::TwoChoiceShape;
use vesica_structures::ot_rows::rows_of;
use vesica_structures::polynomial::{LANES, Row, Small, evaluate_small};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::bins::Bins;
use super::keys::{Collected, OprfOutputs};
use super::messages::Polynomials;
use super::rows::{ReceiverRows, SenderRows};
use vesica_protocols::psi::finish;

/// Bins whose polynomials are sent at a time, and those that are a task of a thread.
const BINS_PER_MESSAGE: usize = 256;
const BINS_PER_THREAD_TASK: usize = 32;

/// How many items may move because another item of their bin has their coordinate; one such move
/// happens once in 2^39 runs of 2^20 items.
const MOVES: usize = 4;

/// Step 2 of the right column: sends the polynomials, and keeps the tags, proofs and keys of its
/// own items.
pub(super) fn send_polynomials(
    rows: &ReceiverRows<'_>,
    table: TwoChoiceShape,
    items: &[u128],
    collected: &mut Collected<finish::Receiver>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    // Step 2: each item goes to one of its two bins (the paper's Algorithm 1).
    let coordinates = |evaluations: &[u32]| rows.keys.hash(items, evaluations).coordinates;
    let bins = assign(table, rows.keys.positions(items), coordinates)?;
    for part in bins.parts(BINS_PER_MESSAGE) {
        let tasks: Vec<_> = part
            .clone()
            .step_by(BINS_PER_THREAD_TASK)
            .map(|first| (first..part.end.min(first + BINS_PER_THREAD_TASK), rng.child()))
            .collect();
        // Step 2: a polynomial P_i with P_i(y || b) = R(y || b) for each bin i.
        let done = tasks.into_par_iter().map(|(range, rng)| interpolate(rows, table, items, &bins, range, rng));
        for (words, made, places) in done.collect::<Result<Vec<_>, Abort>>()? {
            ch.send_stream::<Polynomials>(&words)?;
            // Step 3, the receiver's side of it: H(T(y || b)) for its own items.
            let numbers = bins.order[places].iter().map(|evaluation| evaluation / 2);
            collected.add(&made, numbers);
        }
    }
    Ok(())
}

/// Puts each item into one of its two bins, so that no two items of a bin share a coordinate.
fn assign(
    table: TwoChoiceShape,
    mut positions: Vec<[u32; 2]>,
    coordinates: impl Fn(&[u32]) -> Secret<Vec<u64>>,
) -> Result<Bins, Abort> {
    const FAILURE: Abort =
        Abort::StatisticalFailure("the receiver's items do not fit their bins; items must be distinct");
    // Items that had to move to their other bin, and that bin's choice.
    let mut moved: Vec<(u32, u8)> = Vec::new();
    for _ in 0..=MOVES {
        let mut choices = table.assign_vartime(&positions).map_err(|_| FAILURE)?;
        moved.iter().for_each(|&(item, choice)| choices[item as usize] = choice);
        let chosen = choices.iter().zip(&positions).enumerate();
        let chosen =
            chosen.map(|(item, (&choice, bins))| (2 * item as u32 + u32::from(choice), bins[usize::from(choice)]));
        let bins = Bins::new(table.bins, chosen);
        let Some(evaluation) = first_coincidence(&bins, &coordinates(&bins.order)) else { return Ok(bins) };
        let (item, choice) = (evaluation / 2, 1 - (evaluation % 2) as u8);
        if moved.iter().any(|&(other, _)| other == item) {
            return Err(FAILURE);
        }
        moved.push((item, choice));
        positions[item as usize] = [positions[item as usize][usize::from(choice)]; 2];
    }
    Err(FAILURE)
}

/// The first evaluation whose coordinate another evaluation of its bin has as well.
fn first_coincidence(bins: &Bins, coordinates: &[u64]) -> Option<u32> {
    let mut sorted = Secret::new(Vec::<(u64, u32)>::new());
    (0..bins.len()).find_map(|bin| {
        let places = bins.places(bin..bin + 1);
        sorted.clear();
        sorted.extend(coordinates[places.clone()].iter().copied().zip(bins.order[places].iter().copied()));
        sorted.sort_unstable();
        sorted.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].1)
    })
}

/// The coefficients of some bins, and the outputs of their items.
fn interpolate(
    rows: &ReceiverRows<'_>,
    table: TwoChoiceShape,
    items: &[u128],
    bins: &Bins,
    range: Range<usize>,
    mut rng: SecretRng,
) -> Result<(Vec<u64>, OprfOutputs, Range<usize>), Abort> {
    let all = bins.places(range.clone());
    let hashed = rows.keys.hash(items, &bins.order[all.clone()]);
    let (own, differences) = rows.bins(range.clone());
    let mut outputs = Secret::new(vec![Row::default(); all.len()]);
    let mut words = Vec::with_capacity(range.len() * table.capacity * LANES);
    let mut small = Small::default();
    let mut points = Secret::new(Vec::with_capacity(table.capacity));
    let mut values = Secret::new(vec![Row::default(); table.capacity]);
    let mut coefficients = vec![Row::default(); table.capacity];
    for (bin, (own, differences)) in range.zip(own.iter().zip(differences.iter())) {
        let places = bins.places(bin..bin + 1);
        let places = places.start - all.start..places.end - all.start;
        let inputs = &hashed.inputs[places.clone()];
        rows_of(own, inputs, &mut outputs[places.clone()]);
        rows_of(differences, inputs, &mut values[..inputs.len()]);
        points.clear();
        points.extend_from_slice(&hashed.coordinates[places.clone()]);
        for (row, &coordinate) in outputs[places].iter_mut().zip(points.iter()) {
            row[LANES] = coordinate;
        }
        // The bin is filled up with random points.
        for value in &mut values[points.len()..] {
            let point = std::iter::repeat_with(|| rng.next_u64() | 1 << 63).find(|point| !points.contains(point));
            points.extend(point);
            value.fill_with(|| rng.next_u64());
        }
        small
            .interpolate(&points, &mut values, &mut coefficients)
            .map_err(|_| Abort::StatisticalFailure("two items of a bin have one coordinate; items must be distinct"))?;
        words.extend(coefficients.iter().flat_map(|row| &row[..LANES]));
    }
    Ok((words, OprfOutputs::of(rows.keys, rows.params, &outputs), all))
}

/// Step 2 of the left column: evaluates the polynomials as they come, each item in both of its
/// bins.
pub(super) fn evaluate_polynomials(
    rows: &SenderRows<'_>,
    table: TwoChoiceShape,
    items: &[u128],
    collected: &mut Collected<finish::Sender>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let positions = rows.keys.positions(items);
    let bins = Bins::new(table.bins, (0..).zip(positions.as_flattened().iter().copied()));
    let stride = table.capacity * LANES;
    let mut words = vec![0; BINS_PER_MESSAGE.min(table.bins) * stride];
    for part in bins.parts(BINS_PER_MESSAGE) {
        let words = &mut words[..part.len() * stride];
        ch.recv_stream::<Polynomials>(words)?;
        let tasks = words.par_chunks(BINS_PER_THREAD_TASK * stride).enumerate().map(|(task, words)| {
            let first = part.start + task * BINS_PER_THREAD_TASK;
            let range = first..part.end.min(first + BINS_PER_THREAD_TASK);
            // Step 2: Q(x || b) + s P_i(x || b).
            (evaluate(rows, table, items, &bins, range.clone(), words), bins.places(range))
        });
        // Step 3, the sender's side of it: H of these.
        for (made, places) in tasks.collect::<Vec<_>>() {
            let numbers = bins.order[places].iter().copied();
            collected.add(&made, numbers);
        }
    }
    Ok(())
}

/// Evaluations of a bin that are made at a time: their powers stay in the second-level cache.
const EVALUATIONS_PER_BATCH: usize = 1 << 10;

/// The outputs of the items that may be in some bins.
fn evaluate(
    rows: &SenderRows<'_>,
    table: TwoChoiceShape,
    items: &[u128],
    bins: &Bins,
    range: Range<usize>,
    words: &[u64],
) -> OprfOutputs {
    let all = bins.places(range.clone());
    let hashed = rows.keys.hash(items, &bins.order[all.clone()]);
    let own = rows.bins(range.clone());
    let mut outputs = Secret::new(vec![Row::default(); all.len()]);
    let (mut powers, mut values) = (Secret::new(Vec::new()), Secret::new(Vec::new()));
    let mut coefficients = vec![Row::default(); table.capacity];
    for ((bin, own), words) in range.zip(own.iter()).zip(words.chunks_exact(table.capacity * LANES)) {
        let places = bins.places(bin..bin + 1);
        let places = places.start - all.start..places.end - all.start;
        for (coefficient, words) in coefficients.iter_mut().zip(words.chunks_exact(LANES)) {
            coefficient[..LANES].copy_from_slice(words);
        }
        let (outputs, coordinates) = (&mut outputs[places.clone()], &hashed.coordinates[places.clone()]);
        rows_of(own, &hashed.inputs[places], outputs);
        // A bin has as many of the sender's items as there are, if the receiver's are few.
        for (outputs, coordinates) in
            outputs.chunks_mut(EVALUATIONS_PER_BATCH).zip(coordinates.chunks(EVALUATIONS_PER_BATCH))
        {
            values.resize(coordinates.len(), Row::default());
            evaluate_small(&coefficients, coordinates, &mut powers, &mut values);
            for ((row, value), &coordinate) in outputs.iter_mut().zip(values.iter()).zip(coordinates) {
                rows.correct(row, value, coordinate);
            }
        }
    }
    OprfOutputs::of(rows.keys, rows.params, &outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_with_the_coordinate_of_another_moves_to_its_other_bin() {
        let table = TwoChoiceShape { bins: 3, capacity: 2 };
        // Items 2 and 3 find bin 0 no fuller than their other one.
        let positions = vec![[1, 1], [2, 2], [0, 1], [0, 2]];
        let plain = |evaluations: &[u32]| {
            Secret::new(evaluations.iter().map(|&evaluation| u64::from(evaluation)).collect::<Vec<_>>())
        };
        let bins = assign(table, positions.clone(), plain).unwrap();
        assert_eq!(bins.places(0..1).len(), 2, "by the first choice all fit");
        // Items 2 and 3 have one coordinate at their first choices.
        let meeting = |evaluations: &[u32]| {
            Secret::new(evaluations.iter().map(|&evaluation| u64::from(evaluation & !2)).collect::<Vec<_>>())
        };
        let bins = assign(table, positions.clone(), meeting).unwrap();
        assert_eq!(first_coincidence(&bins, &meeting(&bins.order)), None);
        assert_eq!(bins.places(0..1).len(), 1);
        let moved = bins.order.iter().position(|evaluation| evaluation % 2 == 1).expect("an item moved");
        let (item, bin) = (bins.order[moved] / 2, (0..3).find(|&bin| bins.places(bin..bin + 1).contains(&moved)));
        assert_eq!(bin, Some(positions[item as usize][1] as usize));
        // Where all coordinates are one, no bin takes two.
        let one = |evaluations: &[u32]| Secret::new(vec![7; evaluations.len()]);
        assert!(matches!(
            assign(TwoChoiceShape { bins: 1, capacity: 2 }, vec![[0, 0]; 2], one),
            Err(Abort::StatisticalFailure(_))
        ));
    }
}
