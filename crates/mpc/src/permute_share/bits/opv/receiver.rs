//! The right column of the figure: the side that has the order.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::Params;
use super::messages::{Flips, Links, Sums};
use super::network::{RADIX, each_run, layers, route};
use crate::bits::Bits;
use crate::permute_share::bits::words::Words;
use crate::silent::bulk::{self, ELEMENTS_PER_KEY};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// The random choice of each OT.
    pub(super) choices: Words,
    /// The first two bits of the pad that it chose.
    pub(super) chosen: [Words; 2],
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u32>;
    type Output = Bits;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ots = params.ots.len;
        let (mut choices, mut chosen) = (Words::zeros(ots), [(); 2].map(|()| Words::zeros(ots)));
        if ots > 0 {
            let mut vole = bulk::Receiver::setup(&params.ots, ch, rng)?;
            let batch = params.ots.batch_len();
            let mut pads = Secret::new(vec![0; batch.min(ots)]);
            for first in (0..ots).step_by(batch) {
                let pads = &mut pads[..batch.min(ots - first)];
                let c = vole.next_batch(pads, ch, |pi, a, pads| {
                    let mut space = [0; ELEMENTS_PER_KEY];
                    let hashes = &mut space[..a.len()];
                    pi.mmo(a, hashes);
                    pads.iter_mut().zip(&*hashes).for_each(|(pad, hash)| *pad = (hash & 3) as u8);
                    space.zeroize();
                })?;
                choices.fill(first, &c, u64::from);
                chosen
                    .iter_mut()
                    .enumerate()
                    .for_each(|(bit, words)| words.fill(first, pads, |pad| (pad >> bit).into()));
            }
        }
        Ok(Self { params: *params, choices, chosen })
    }

    fn run(self, order: Vec<u32>, ch: &mut Channel, _: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { params, choices: mut flips, chosen } = self;
        let (len, vectors) = (params.len, params.vectors());
        let _phase = ch.phase(Phase::Permute);
        let sources = route(order, len)?;

        // Step 1.
        flips.add_all(&sources.first(2 * vectors));
        flips.send::<Flips>(2 * vectors, ch)?;
        // Step 2.
        let sums = Words::receive::<Sums>(2 * vectors, ch)?;
        // Step 3.
        let links = Words::receive::<Links>(params.links(), ch)?;

        let mut wires = Words::zeros(len);
        for layer in 0..layers(len) {
            let before = layer * len;
            let mut next = Words::zeros(len);
            each_run(len, layer, |(begins, present)| {
                // What comes in, and the leaves of each column; then those of each row.
                let mut columns = [0; RADIX];
                let mut rows = [0; RADIX];
                let mut turns = [[0; 2]; RADIX];
                for to in 0..RADIX {
                    let first = before + begins[to];
                    let second = vectors + first;
                    let [high, low] = [first, second].map(|at| sources.word_at(at));
                    let other_half = [0, 1].map(|bit| chosen[bit].word_at(first));
                    let pad = chosen[0].word_at(second);
                    // The leaf beside the punctured one is the other one of its half.
                    let sum = select(low, [sums.word_at(first), sums.word_at(second)]) ^ pad;
                    let beside = sum ^ select(low, [other_half[1], other_half[0]]);
                    let leaves = [
                        select(high, [beside & low, other_half[0]]),
                        select(high, [beside & !low, other_half[1]]),
                        select(high, [other_half[0], beside & low]),
                        select(high, [other_half[1], beside & !low]),
                    ];
                    for from in 0..RADIX {
                        let leaf = leaves[from] & present[to] & present[from];
                        columns[from] ^= leaf;
                        rows[to] ^= leaf;
                    }
                    turns[to] = [high, low];
                }
                for wire in 0..RADIX {
                    columns[wire] ^= wires.word_at(begins[wire]) ^ links.word_at(before + begins[wire]);
                }
                for to in 0..RADIX {
                    let [high, low] = turns[to];
                    let halves = [select(low, [columns[0], columns[1]]), select(low, [columns[2], columns[3]])];
                    next.add(begins[to], (select(high, halves) ^ rows[to]) & present[to]);
                }
            });
            wires = next;
        }
        let mut shares = wires.first(params.kept);
        shares ^= &links.part(vectors, params.kept);
        Ok(shares)
    }
}

/// Bits of the second word where `turns` has ones, of the first one elsewhere.
fn select(turns: u64, [zero, one]: [u64; 2]) -> u64 {
    zero ^ (zero ^ one) & turns
}
