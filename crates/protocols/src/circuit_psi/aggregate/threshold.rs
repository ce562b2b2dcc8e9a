//! The circuit that withholds the results of small groups: an instance for each group.

use std::sync::Arc;

use vesica_mpc::bits::Bits;
use vesica_mpc::gmw::{Builder, Circuit, Evaluator, Params, open_to_receiver};
use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use crate::tasks::AggregateOutput;

/// Bits of the numbers that go through the circuit. Their shares are modulo two to the power of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widths {
    /// Of each result.
    pub results: u32,
    /// Of the count.
    pub count: u32,
}

/// The sender's half of an evaluation: its shares of each result and of the count, for each group.
pub(super) fn send(
    circuit: Evaluator,
    results: &[&[u64]],
    counts: &[u64],
    widths: Widths,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let both = |words: &[u64], bits| known(words, bits).chain(unknown(words.len(), bits)).collect();
    let shares = circuit.run(inputs(results, counts, widths, both), ch, rng)?;
    open_to_receiver(&shares, ch).map(drop)
}

/// The receiver's half: the results of each group whose count reaches the threshold.
pub(super) fn receive(
    circuit: Evaluator,
    results: &[&[u64]],
    counts: &[u64],
    widths: Widths,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<AggregateOutput, Abort> {
    let groups = counts.len();
    let both = |words: &[u64], bits| unknown(words.len(), bits).chain(known(words, bits)).collect();
    let shares = circuit.run(inputs(results, counts, widths, both), ch, rng)?;
    // Opened to this side.
    let opened = open_to_receiver(&shares, ch)?.unwrap_or_default();
    let [shown, planes @ ..] = &opened[..] else { return Ok(AggregateOutput { groups: vec![None; groups] }) };
    // Those that are not shown are read, too: the sender may see how long this takes, and is not to
    // learn which are.
    let values: Vec<Vec<u64>> = (0..groups).map(|group| words(planes, group, widths.results)).collect();
    let shown = |(group, values)| shown.get(group).then_some(values);
    Ok(AggregateOutput { groups: values.into_iter().enumerate().map(shown).collect() })
}

/// The inputs of [`circuit`], where `both` gives the sender's share of words of so many bits, and behind it the receiver's.
fn inputs(results: &[&[u64]], counts: &[u64], widths: Widths, both: impl Fn(&[u64], u32) -> Vec<Bits>) -> Vec<Bits> {
    let mut inputs: Vec<Bits> = results.iter().flat_map(|result| both(result, widths.results)).collect();
    inputs.extend(both(counts, widths.count));
    inputs
}

/// Inputs: for each result the sender's share and the receiver's, `results[i]` bits each; the
/// sender's share of the count and the receiver's, `count_bits` bits each. Outputs: whether the
/// count is at least `at_least`; then the bits of each result if it is, else zeros.
pub(super) fn circuit(results: &[u32], count_bits: u32, at_least: u64) -> Arc<Circuit> {
    let mut builder = Builder::new();
    let shares: Vec<_> = results.iter().map(|&bits| [(); 2].map(|()| builder.input_word(bits as usize))).collect();
    let [ours, theirs] = [(); 2].map(|()| builder.input_word(count_bits as usize));
    let count = builder.add_in_few_rounds(&ours, &theirs);
    let bound = builder.constant_word(at_least, count_bits as usize);
    let shown = builder.at_least(&count, &bound);
    let mut outputs = vec![shown];
    for [ours, theirs] in &shares {
        for bit in builder.add_in_few_rounds(ours, theirs) {
            outputs.push(builder.and(shown, bit));
        }
    }
    Arc::new(builder.finish(&outputs))
}

/// Bytes of the outputs' shares when they are opened.
pub(super) fn opening_bytes(params: &Params) -> u64 {
    (params.circuit().outputs() * params.instances().div_ceil(64) * 8) as u64
}

/// The low `bits` bits of each word as inputs of the circuit, an instance a word: what this side
/// shares of words that it knows alone.
fn known(words: &[u64], bits: u32) -> impl Iterator<Item = Bits> {
    (0..bits).map(|bit| words.iter().map(|word| word >> bit & 1 == 1).collect())
}

/// This side's share of words that only the other side knows.
fn unknown(count: usize, bits: u32) -> impl Iterator<Item = Bits> {
    (0..bits).map(move |_| Bits::zeros(count))
}

/// Reads words back from planes of `bits` bits each.
fn words(planes: &[Bits], instance: usize, bits: u32) -> Vec<u64> {
    let word =
        |planes: &[Bits]| (0..).zip(planes).fold(0, |word, (bit, plane)| word | u64::from(plane.get(instance)) << bit);
    planes.chunks(bits as usize).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_show_nothing_and_large_ones_the_sums() {
        let circuit = circuit(&[64, 5], 4, 9);
        for (counts, shown) in [((3, 5), false), ((3, 6), true), ((15, 9), false), ((15, 10), true), ((0, 15), true)] {
            let (a, b): ((u64, u64), (u64, u64)) = ((u64::MAX - 4, 100), (30, 7));
            let word = |word: u64, bits: u32| (0..bits).map(move |bit| word >> bit & 1 == 1);
            let inputs: Vec<bool> = word(a.0, 64)
                .chain(word(a.1, 64))
                .chain(word(b.0, 5))
                .chain(word(b.1, 5))
                .chain(word(counts.0, 4))
                .chain(word(counts.1, 4))
                .collect();
            let outputs = circuit.evaluate(&inputs);
            assert_eq!(outputs[0], shown, "{counts:?}");
            let number = |bits: &[bool]| (0..).zip(bits).fold(0u64, |sum, (i, &bit)| sum | u64::from(bit) << i);
            let expected = if shown { (95, (30 + 7) % 32) } else { (0, 0) };
            assert_eq!((number(&outputs[1..65]), number(&outputs[65..])), expected, "{counts:?}");
        }
    }
}
