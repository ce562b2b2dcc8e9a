//! Decryption and comparison on shares.

use std::ops::RangeInclusive;
use std::sync::Arc;

use vesica_party::{Abort, Channel, Party};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::RoundKeys;
use super::instance::{BITS, BOXED, ROUNDS, instance};
use super::state::State;
use crate::bits::Bits;
use crate::gmw::{self, Builder, Circuit, Evaluator, Wire, open_to_receiver};

/// The longest indicator: the other half of a block is left for what makes plaintexts differ.
pub const MAX_INDICATOR_BITS: u32 = 64;

/// What both sides agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    blocks: usize,
    indicator_bits: u32,
    /// The S-boxes of a round, but for the one that is decrypted last.
    layer: gmw::Params,
    /// Those that the top bits go through last, and the comparison.
    last: gmw::Params,
}

impl Params {
    /// For so many blocks, and an indicator of this width.
    ///
    /// # Errors
    /// If the width is not in 1 to [`MAX_INDICATOR_BITS`], or there are more blocks than there are
    /// correlations to be had.
    pub fn new(blocks: usize, indicator_bits: u32) -> Result<Self, Unsupported> {
        if !(1..=MAX_INDICATOR_BITS).contains(&indicator_bits) {
            return Err(Unsupported::new(
                format_args!("matching {indicator_bits} bits of a decryption"),
                format_args!("use 1 to {MAX_INDICATOR_BITS}"),
            ));
        }
        let layer = gmw::Params::new(Arc::new(layer()), blocks)?;
        let last = gmw::Params::new(Arc::new(last(indicator_bits)), blocks)?;
        Ok(Self { blocks, indicator_bits, layer, last })
    }

    /// AND gates for each block.
    pub fn ands(&self) -> usize {
        (ROUNDS - 1) * self.layer.circuit().ands() + self.last.circuit().ands()
    }

    /// Bytes that both sides send.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (layer, last) = (self.layer.predicted_bytes(), self.last.predicted_bytes());
        let opened = (self.blocks.div_ceil(64) * size_of::<u64>()) as u64;
        let sum = |layer: &u64, last: &u64| (ROUNDS as u64 - 1) * layer + last + opened;
        sum(layer.start(), last.start())..=sum(layer.end(), last.end())
    }
}

/// The left column: for whoever has the blocks.
///
/// # Errors
/// If the channel fails.
///
/// # Panics
/// If there is another number of blocks.
pub fn ask(params: &Params, blocks: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    assert_eq!(blocks.len(), params.blocks, "as many blocks as agreed");
    let constants = &instance().constants;
    let shares = decide(params, State::of(blocks), |round| constants[round], 0, ch, rng)?;
    open_to_receiver(&[shares], ch).map(drop)
}

/// The right column: for each block whether its decryption starts with the indicator, from the top
/// bit on.
///
/// # Errors
/// If the channel fails.
pub fn test(
    params: &Params,
    keys: &RoundKeys,
    indicator: u64,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Bits, Abort> {
    let target = keys.get(0) ^ u128::from(indicator) << (BITS as u32 - params.indicator_bits);
    let shares = decide(params, State::zeros(params.blocks), |round| keys.get(round + 1), target, ch, rng)?;
    let opened = open_to_receiver(&[shares], ch)?;
    Ok(opened.and_then(|mut opened| opened.pop()).unwrap_or_default())
}

/// Either side's shares of the bits. `added` is its part of what the round ends with, and `target`
/// its part of what the top bits are to be after the last S-boxes.
fn decide(
    params: &Params,
    mut state: State,
    added: impl Fn(usize) -> u128,
    target: u128,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Bits, Abort> {
    for round in (0..ROUNDS).rev() {
        state.add(added(round));
        state.multiply(&instance().inverse[round]);
        if round > 0 {
            let evaluator = Evaluator::setup(&params.layer, ch, rng)?;
            let planes = evaluator.run((0..BOXED).map(|bit| state.plane(bit)).collect(), ch, rng)?;
            planes.iter().enumerate().for_each(|(bit, plane)| state.set_plane(bit, plane));
        }
    }
    let constant = |bit: usize| {
        let mask = ((target >> bit & 1) as u64).wrapping_neg();
        Bits::from_words(vec![mask; params.blocks.div_ceil(64)], params.blocks)
    };
    let planes = (first_plane(params.indicator_bits)..BITS).map(|bit| state.plane(bit));
    let inputs = planes.chain((BITS - params.indicator_bits as usize..BITS).map(constant)).collect();
    let evaluator = Evaluator::setup(&params.last, ch, rng)?;
    Ok(evaluator.run(inputs, ch, rng)?.pop().unwrap_or_default())
}

/// The lowest bit that the top bits depend on, through the S-boxes of one round.
fn first_plane(indicator_bits: u32) -> usize {
    let first = BITS - indicator_bits as usize;
    if first < BOXED { first - first % 3 } else { first }
}

/// The inverse S-boxes of a round.
fn layer() -> Circuit {
    let mut builder = Builder::new();
    let mut planes = builder.input_word(BOXED);
    invert(&mut builder, &mut planes);
    builder.finish(&planes)
}

/// The inverse S-boxes that the top bits depend on, and whether these are equal to as many further
/// inputs.
fn last(indicator_bits: u32) -> Circuit {
    let mut builder = Builder::new();
    let first = first_plane(indicator_bits);
    let mut planes = builder.input_word(BITS - first);
    let target = builder.input_word(indicator_bits as usize);
    invert(&mut builder, &mut planes[..BOXED.saturating_sub(first)]);
    let equal = builder.equal(&planes[planes.len() - target.len()..], &target);
    builder.finish(&[equal])
}

/// The inverse of the S-box: `(a, b, c)`, of which `c` is the lowest bit, becomes `(a + b + bc, b +
/// ac, a + b + c + ab)`.
fn invert(builder: &mut Builder, planes: &mut [Wire]) {
    for wires in planes.as_chunks_mut::<3>().0 {
        let [c, b, a] = *wires;
        let (bc, ac, ab) = (builder.and(b, c), builder.and(a, c), builder.and(a, b));
        let sum = builder.xor(a, b);
        let all = builder.xor(sum, c);
        *wires = [builder.xor(all, ab), builder.xor(b, ac), builder.xor(sum, bc)];
    }
}
