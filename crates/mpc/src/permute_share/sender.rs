//! The left column of the figure: the side that has the values.

use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Value;
use vesica_structures::packing::{pack, packed_len};
use vesica_structures::permutation::Runs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Corrections, Flips, Masked};
use super::params::{ELEMENTS_PER_PIECE, NETWORK};
use super::{Params, times};
use crate::silent::bulk::{self, ELEMENTS_PER_KEY};
use crate::tasks::{OtPairs, ToPermute, low};

/// The sender, set up.
pub struct Sender<V: Value> {
    params: Params<V>,
    /// `k_0` and `k_0 + k_1` of each switch.
    pads: Secret<Vec<[V; 2]>>,
}

impl<V: Value> Sender<V> {
    /// The sender, set up with random OTs that exist already, one a switch.
    ///
    /// # Errors
    /// If there are more or fewer.
    pub fn from_ots(params: &Params<V>, ots: &OtPairs) -> Result<Self, Unsupported> {
        params.check_ots(ots.pairs.len())?;
        let low = low(params.bits);
        let pads = ots.pairs.iter().map(|&[zero, one]| [zero, zero ^ one].map(|block| V::from_bits(block & low)));
        Ok(Self { params: *params, pads: Secret::new(pads.collect()) })
    }
}

impl<V: Value> Party for Sender<V> {
    type Params = Params<V>;
    type Input = ToPermute<V>;
    type Output = ();

    fn setup(params: &Params<V>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut pads = Secret::new(vec![[V::default(); 2]; params.switches()]);
        if !pads.is_empty() {
            let mut vole = bulk::Sender::setup(&params.ots, ch, rng)?;
            let (delta, low) = (Secret::new(vole.delta().0), low(params.bits));
            for pads in pads.chunks_mut(params.ots.batch_len()) {
                vole.next_batch(pads, ch, |pi, b, pads| {
                    let mut blocks = Secret::new([[0; 2]; ELEMENTS_PER_KEY]);
                    let blocks = &mut blocks[..b.len()];
                    blocks.iter_mut().zip(b).for_each(|(block, &b)| *block = [b, b ^ *delta]);
                    pi.mmo_in_place(blocks.as_flattened_mut());
                    for (pads, [zero, one]) in pads.iter_mut().zip(blocks) {
                        *pads = [*zero, *zero ^ *one].map(|block| V::from_bits(block & low));
                    }
                })?;
            }
        }
        Ok(Self { params: *params, pads })
    }

    fn run(self, input: ToPermute<V>, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, pads } = self;
        input.check(params.len, params.bits)?;
        let _phase = ch.phase(Phase::Permute);

        // Step 1.
        let mut flips = vec![0; pads.len().div_ceil(8)];
        if !flips.is_empty() {
            ch.recv_stream::<Flips>(&mut flips)?;
        }
        if (pads.len()..8 * flips.len()).any(|i| flips[i / 8] >> (i % 8) & 1 == 1) {
            return Err(Abort::PeerMisbehaved(Flips::STEP, "bits beyond the last switch"));
        }

        // Step 2.
        let mut wires = Secret::new(input.values.clone());
        let mut runs = Runs::of(NETWORK, params.len);
        let mut corrections = Vec::with_capacity(ELEMENTS_PER_PIECE.min(pads.len()));
        let mut packed = Vec::with_capacity(packed_len(ELEMENTS_PER_PIECE.min(params.len), params.bits));
        for (pads, flips) in pads.chunks(ELEMENTS_PER_PIECE).zip(flips.chunks(ELEMENTS_PER_PIECE / 8)) {
            corrections.clear();
            while corrections.len() < pads.len() {
                let first = corrections.len();
                let Some(run) = runs.next_up_to(pads.len() - first) else { break };
                let (upper, lower) = run.of(&mut wires);
                let switches = upper.iter_mut().zip(lower).zip(&pads[first..]);
                corrections.extend(switches.enumerate().map(|(i, ((upper, lower), &[zero, both]))| {
                    let flip = flips[(first + i) / 8] >> ((first + i) % 8) & 1 == 1;
                    let correction = *upper + *lower + both;
                    let pad = zero + times(both, flip);
                    *upper += pad;
                    *lower += pad;
                    correction
                }));
            }
            packed.clear();
            pack(&corrections, params.bits, &mut packed);
            ch.send_stream::<Corrections>(&packed)?;
        }

        // Step 3.
        wires.iter_mut().zip(&input.shares).for_each(|(wire, &share)| *wire += share);
        for wires in wires.chunks(ELEMENTS_PER_PIECE) {
            packed.clear();
            pack(wires, params.bits, &mut packed);
            ch.send_stream::<Masked>(&packed)?;
        }
        Ok(())
    }
}
