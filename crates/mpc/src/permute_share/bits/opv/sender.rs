//! The left column of the figure: the side that has the bits.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::Params;
use super::messages::{Flips, Links, Sums};
use super::network::{RADIX, each_run, layers};
use crate::permute_share::bits::words::Words;
use crate::silent::bulk::{self, ELEMENTS_PER_KEY};
use crate::tasks::BitsToPermute;

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// Of each OT, the first two bits of either pad: those of vectors' first levels, then those of
    /// their second ones, of which one bit serves.
    pub(super) pads: [[Words; 2]; 2],
}

impl Party for Sender {
    type Params = Params;
    type Input = BitsToPermute;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ots = params.ots.len;
        let mut pads: [[Words; 2]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| Words::zeros(ots)));
        if ots > 0 {
            let mut vole = bulk::Sender::setup(&params.ots, ch, rng)?;
            let (batch, delta) = (params.ots.batch_len(), Secret::new(vole.delta().0));
            let mut pairs = Secret::new(vec![0; batch.min(ots)]);
            for first in (0..ots).step_by(batch) {
                let pairs = &mut pairs[..batch.min(ots - first)];
                vole.next_batch(pairs, ch, |pi, b, pairs| {
                    let mut space = [[0; 2]; ELEMENTS_PER_KEY];
                    let hashes = &mut space[..b.len()];
                    hashes.iter_mut().zip(b).for_each(|(hashes, &b)| *hashes = [b, b ^ *delta]);
                    pi.mmo_in_place(hashes.as_flattened_mut());
                    for (pair, [zero, one]) in pairs.iter_mut().zip(&*hashes) {
                        *pair = (zero & 3 | (one & 3) << 2) as u8;
                    }
                    space.zeroize();
                })?;
                for (pad, bits) in pads.iter_mut().enumerate() {
                    for (bit, words) in bits.iter_mut().enumerate() {
                        words.fill(first, pairs, |pair| u64::from(pair >> (2 * pad + bit)));
                    }
                }
            }
        }
        Ok(Self { params: *params, pads })
    }

    fn run(self, input: BitsToPermute, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, pads } = self;
        let (len, vectors) = (params.len, params.vectors());
        input.check(len, params.kept)?;
        let _phase = ch.phase(Phase::Permute);

        // Step 1.
        let flips = Words::receive::<Flips>(2 * vectors, ch)?;

        let (mut sums, mut links) = (Words::zeros(2 * vectors), Words::zeros(vectors + len));
        links.add_all(&input.values);
        for layer in 0..layers(len) {
            let (before, after) = (layer * len, (layer + 1) * len);
            each_run(len, layer, |(begins, present)| {
                let (mut a, mut b) = ([0; RADIX], [0; RADIX]);
                for to in 0..RADIX {
                    let first = before + begins[to];
                    let second = vectors + first;
                    let [left, right] = turned(&pads, first, flips.word_at(first));
                    let [away_from_left, away_from_right] = turned(&pads, second, flips.word_at(second));
                    // Whoever turns left gets the pad of the right side, and vice versa.
                    let leaves = [right[0], right[1], left[0], left[1]];
                    sums.add(first, (leaves[1] ^ leaves[3] ^ away_from_left[0]) & present[to]);
                    sums.add(second, (leaves[0] ^ leaves[2] ^ away_from_right[0]) & present[to]);
                    for from in 0..RADIX {
                        let leaf = leaves[from] & present[to] & present[from];
                        a[from] ^= leaf;
                        b[to] ^= leaf;
                    }
                }
                for wire in 0..RADIX {
                    links.add(before + begins[wire], a[wire]);
                    links.add(after + begins[wire], b[wire]);
                }
            });
        }
        // Step 2.
        sums.send::<Sums>(2 * vectors, ch)?;
        // Step 3.
        links.add_all_at(vectors, &input.shares);
        links.send::<Links>(params.links(), ch)
    }
}

/// The bits of both pads of 64 OTs, exchanged where `flips` has ones.
fn turned(pads: &[[Words; 2]; 2], at: usize, flips: u64) -> [[u64; 2]; 2] {
    let [zero, one] = pads.each_ref().map(|pad| pad.each_ref().map(|bits| bits.word_at(at)));
    let exchanged = [0, 1].map(|bit| (zero[bit] ^ one[bit]) & flips);
    [zero, one].map(|pad| [pad[0] ^ exchanged[0], pad[1] ^ exchanged[1]])
}
