//! The right column of the figure: the side that has the order.

use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Value;
use vesica_structures::packing::{packed_len, unpack};
use vesica_structures::permutation::Runs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Corrections, Flips, Masked};
use super::params::{ELEMENTS_PER_PIECE, NETWORK};
use super::{Params, settings, times};
use crate::silent::bulk::{self, ELEMENTS_PER_KEY};
use crate::tasks::{OtChosen, Permuted, low};

/// The receiver, set up.
pub struct Receiver<V: Value> {
    params: Params<V>,
    /// `c` of each switch, a byte each.
    choices: Secret<Vec<u8>>,
    /// `k_c`.
    pads: Secret<Vec<V>>,
}

impl<V: Value> Receiver<V> {
    /// The receiver, set up with random OTs that exist already, one a switch.
    ///
    /// # Errors
    /// If there are more or fewer.
    pub fn from_ots(params: &Params<V>, ots: &OtChosen) -> Result<Self, Unsupported> {
        params.check_ots(ots.chosen.len().max(ots.choices.len()))?;
        let low = low(params.bits);
        let choices = Secret::new(ots.choices.iter().map(|&choice| choice.into()).collect());
        let pads = Secret::new(ots.chosen.iter().map(|block| V::from_bits(block & low)).collect());
        Ok(Self { params: *params, choices, pads })
    }
}

impl<V: Value> Party for Receiver<V> {
    type Params = Params<V>;
    type Input = Vec<u32>;
    type Output = Permuted<V>;

    fn setup(params: &Params<V>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let switches = params.switches();
        let (mut pads, mut choices) =
            (Secret::new(vec![V::default(); switches]), Secret::new(Vec::with_capacity(switches)));
        if switches > 0 {
            let mut vole = bulk::Receiver::setup(&params.ots, ch, rng)?;
            let low = low(params.bits);
            for pads in pads.chunks_mut(params.ots.batch_len()) {
                let c = vole.next_batch(pads, ch, |pi, a, pads| {
                    let mut blocks = Secret::new([0; ELEMENTS_PER_KEY]);
                    let blocks = &mut blocks[..a.len()];
                    pi.mmo(a, blocks);
                    pads.iter_mut().zip(blocks).for_each(|(pad, block)| *pad = V::from_bits(*block & low));
                })?;
                choices.extend_from_slice(&c);
            }
        }
        Ok(Self { params: *params, choices, pads })
    }

    fn run(self, order: Vec<u32>, ch: &mut Channel, _: &mut SecretRng) -> Result<Permuted<V>, Abort> {
        let Self { params, choices, pads } = self;
        let _phase = ch.phase(Phase::Permute);
        let settings = settings(NETWORK, order, params.len)?;

        // Step 1.
        if !settings.is_empty() {
            let byte = |(settings, choices): (&[bool], &[u8])| {
                let flip = |(&setting, &choice): (&bool, &u8)| u8::from(setting) ^ choice;
                settings.iter().zip(choices).map(flip).rev().fold(0, |byte, flip| byte << 1 | flip)
            };
            ch.send_stream::<Flips>(&settings.chunks(8).zip(choices.chunks(8)).map(byte).collect::<Vec<u8>>())?;
        }

        // Step 2.
        let mut wires = Secret::new(vec![V::default(); params.len]);
        let mut runs = Runs::of(NETWORK, params.len);
        for (pads, settings) in pads.chunks(ELEMENTS_PER_PIECE).zip(settings.chunks(ELEMENTS_PER_PIECE)) {
            let corrections = receive::<Corrections, V>(pads.len(), params.bits, ch)?;
            let mut done = 0;
            while let Some(run) =
                Some(pads.len() - done).filter(|&left| left > 0).and_then(|left| runs.next_up_to(left))
            {
                let (upper, lower) = run.of(&mut wires);
                let switches = corrections[done..].iter().zip(&pads[done..]).zip(&settings[done..]);
                for ((upper, lower), ((&correction, &pad), &setting)) in upper.iter_mut().zip(lower).zip(switches) {
                    let added = pad + times(correction + *upper + *lower, setting);
                    *upper += added;
                    *lower += added;
                }
                done += run.len;
            }
        }

        // Step 3.
        for wires in wires.chunks_mut(ELEMENTS_PER_PIECE) {
            let masked = receive::<Masked, V>(wires.len(), params.bits, ch)?;
            wires.iter_mut().zip(masked).for_each(|(wire, masked)| *wire += masked);
        }
        Ok(Permuted { shares: std::mem::take(&mut *wires) })
    }
}

/// The next `count` elements of a stream.
fn receive<S: Stream<Element = u8>, V: Value>(count: usize, bits: u32, ch: &mut Channel) -> Result<Vec<V>, Abort> {
    let mut packed = vec![0; packed_len(count, bits)];
    ch.recv_stream::<S>(&mut packed)?;
    let mut elements = vec![V::default(); count];
    unpack(&packed, bits, &mut elements).ok_or(Abort::PeerMisbehaved(S::STEP, "bits beyond the last element"))?;
    Ok(elements)
}
