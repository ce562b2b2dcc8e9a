//! The right column of the figure: gets `c` and `a`.

use rand_core::Rng;
use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Message, Party, Phase};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{CheckAnswer, CheckRequest, CodeSeed, Flips};
use super::params::{Params, SilentParams};
use super::{check, trees};
use crate::ot_extension::{self, CorrelationHash, ReceiverCorrelation, bit};
use crate::silent::code::Code;
use crate::small_field_vole;
#[cfg(test)]
use crate::tasks::CorrelationRequest;
use crate::tasks::VoleReceiver;

/// The receiver, set up: `c` is there and may be used, what is left of `a` is made by
/// [`run`](Party::run).
///
/// In the semi-honest mode the trees are yet to come (less than 1 MiB at any length, which the
/// channel holds while the receiver does other things, even streams at the sender on the same
/// fork), in the malicious mode they have passed their check. Without an input to wait for, whoever
/// needs `c` first can go on at once, and expand what the sender made in the meantime.
#[derive(Debug)]
pub struct Receiver<B: Value> {
    /// `a` is empty while anything is left to do.
    output: VoleReceiver<B>,
    rest: Rest,
}

/// The work that a receiver still has to do for `a` once it is set up.
#[derive(Debug)]
enum Rest {
    /// No work: the direct protocol makes `a` and `c` at once.
    Nothing,
    /// The trees are yet to be received.
    Trees(Box<Pending>),
    /// The leaves are yet to be compressed.
    Leaves(Box<Code>, Secret<Vec<Gf128>>),
}

/// The state that the receiver keeps until the trees come.
#[derive(Debug)]
struct Pending {
    params: SilentParams,
    base: ReceiverCorrelation,
    points: Secret<Vec<usize>>,
    code: Code,
}

impl<B: Value> From<VoleReceiver<B>> for Receiver<B> {
    /// The receiver of a VOLE that exists already.
    fn from(output: VoleReceiver<B>) -> Self {
        Self { output, rest: Rest::Nothing }
    }
}

impl<B: Value> Receiver<B> {
    /// `c`, as the output will have it.
    pub fn values(&self) -> &[B] {
        &self.output.c
    }
}

impl<B: Value> Party for Receiver<B> {
    type Params = Params;
    type Input = ();
    type Output = VoleReceiver<B>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        match params {
            Params::Direct(params) => {
                Ok(Self { output: small_field_vole::receive(params, ch, rng)?, rest: Rest::Nothing })
            }
            Params::Silent(params) => start(params, ch, rng),
        }
    }

    fn run(mut self, (): (), ch: &mut Channel, _: &mut SecretRng) -> Result<VoleReceiver<B>, Abort> {
        let _phase = ch.phase(Phase::Expand);
        match self.rest {
            Rest::Nothing => {}
            Rest::Trees(pending) => {
                // Step 2.
                let mut leaves = expand_trees::<B>(&pending.params, &pending.base, &pending.points, ch)?;
                self.output.a = pending.code.compress(&mut leaves);
            }
            Rest::Leaves(code, mut leaves) => self.output.a = code.compress(&mut leaves),
        }
        Ok(self.output)
    }
}

/// The part of the set-up that the sender waits for, and `c`.
fn start<B: Value>(params: &SilentParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<Receiver<B>, Abort> {
    let base = ot_extension::receiver(&params.correlation(), ch, rng)?;

    let _phase = ch.phase(Phase::Expand);
    let points: Secret<Vec<usize>> = Secret::new((0..params.trees).map(|_| below(params.block, rng)).collect());
    let values: Secret<Vec<B>> = base.elements(params.value_blocks(), params.width);
    let seed = rng.block();

    // Step 1.
    ch.send(&Flips(trees::flips(params.shape(), &points, |i| bit(&base.bits, i))))?;
    if !params.checked() {
        // Step 5, which then need not wait for the trees.
        ch.send(&CodeSeed(seed))?;
    }

    // The noise is compressed while the sender expands its trees.
    let code = Code::new(params.len, params.positions(), params.width, seed);
    let c = code.compress_noise(noise_places(params, &points).zip(values.iter().copied()));
    let output = VoleReceiver { c, a: Vec::new() };
    if !params.checked() {
        return Ok(Receiver { output, rest: Rest::Trees(Box::new(Pending { params: *params, base, points, code })) });
    }

    // Step 2.
    let leaves = expand_trees::<B>(params, &base, &points, ch)?;
    let _phase = ch.phase(Phase::Check);
    // Step 3.
    let chi = rng.block();
    let powers = check::Powers::new(chi, params.positions());
    let mut noise = Gf128(base.bits[params.mask_blocks().start]);
    for (place, &value) in noise_places(params, &points).zip(values.iter()) {
        noise += Gf128(powers.power(place + 1)) * value.embed();
    }
    ch.send(&CheckRequest { chi, noise: noise.0 })?;
    // Step 5, now that the sender's messages are fixed.
    ch.send(&CodeSeed(seed))?;
    // Step 4.
    let mask = Secret::new(base.columns.elements::<Gf128>(params.mask_blocks(), 128));
    let side = check::evaluate(chi, &leaves) ^ mask[0].0;
    let CheckAnswer(answer) = ch.recv(())?;
    if !bool::from(check::answer(base.binding, side).ct_eq(&answer)) {
        return Err(Abort::PeerMisbehaved(CheckAnswer::STEP, "the trees are not consistent"));
    }
    Ok(Receiver { output, rest: Rest::Leaves(Box::new(code), leaves) })
}

/// The noisy places among all positions.
pub(super) fn noise_places(params: &SilentParams, points: &[usize]) -> impl Iterator<Item = usize> {
    points.iter().enumerate().map(|(tree, point)| tree * params.block + point)
}

/// Uniform below `bound`, by rejection.
pub fn below(bound: usize, rng: &mut SecretRng) -> usize {
    let mask = bound.next_power_of_two() as u64 - 1;
    loop {
        let draw = (rng.next_u64() & mask) as usize;
        if draw < bound {
            return draw;
        }
    }
}

/// `w = v + delta e` at every position, from the sender's trees as they arrive.
fn expand_trees<B: Value>(
    params: &SilentParams,
    base: &ReceiverCorrelation,
    points: &[usize],
    ch: &mut Channel,
) -> Result<Secret<Vec<Gf128>>, Abort> {
    let rows = base.columns.rows(params.transfer_blocks());
    let pads = Secret::new(CorrelationHash::new(base.binding).hash(&rows[..params.transfers()]));
    let values = Secret::new(base.columns.elements::<B>(params.value_blocks(), params.width));
    let mut leaves = Secret::new(vec![Gf128::default(); params.positions()]);
    trees::receive(params.shape(), base.binding, (points, &pads, &values), &mut leaves, ch, |_| ())?;
    Ok(leaves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pprf::generators;
    use crate::pprf::tests::derivable;
    use crate::silent::SilentVole;
    use crate::silent::messages::Trees;
    use crate::tasks::{SubfieldVole, VoleSender};
    use vesica_party::{Protocol, Security, Task};
    use vesica_structures::fields::Gf64;
    use vesica_testkit::two_party;

    /// What a corrupt receiver takes for `delta * e` if its turns in the first tree are those of
    /// `turns`, from all that it derives and from the leaves alone; and `e`.
    fn attack(
        params: &SilentParams,
        turns: usize,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<([Gf128; 2], Gf128), Abort> {
        let base = ot_extension::receiver(&params.correlation(), ch, rng)?;
        let mut points = vec![0; params.trees];
        points[0] = turns;
        ch.send(&Flips(trees::flips(params.shape(), &points, |i| bit(&base.bits, i))))?;
        ch.send(&CodeSeed(1))?;
        let mut message = vec![0u128; params.trees * params.shape().message_blocks()];
        ch.recv_stream::<Trees>(&mut message)?;

        let depth = params.shape().depth();
        let pads = CorrelationHash::new(base.binding).hash(&base.columns.rows(params.transfer_blocks())[..depth]);
        let (pairs, fix) = message[..params.shape().message_blocks()].as_chunks::<2>();
        let sums: Vec<u128> = (2..)
            .zip(pairs)
            .map(|(level, pair)| pair[usize::from(trees::away(turns, depth, level))] ^ pads[level - 1])
            .collect();
        let prg = generators(base.binding, trees::LABEL).next().unwrap();
        let terms = derivable(params.shape(), &prg, turns, pads[0], &sums);
        let value = base.columns.elements::<Gf64>(params.value_blocks(), params.width)[0];
        let e = bytemuck::cast_slice::<u128, Gf64>(&base.bits[params.value_blocks()])[0];
        let taken = [&terms[..], &terms[..params.block]]
            .map(|terms| terms.iter().flatten().fold(Gf128(fix[0]) + value, |sum, &term| sum + Gf128(term)));
        Ok((taken, e.embed()))
    }

    #[test]
    fn c_is_there_once_set_up_and_before_the_trees_without_a_check() {
        for (len, security, waits) in
            [(100, Security::SemiHonest, true), (5000, Security::SemiHonest, false), (5000, Security::Malicious, true)]
        {
            let params = Params::new(&CorrelationRequest { len, security, width: None }, 64);
            let (sender, (early, receiver)) = two_party(
                |ch, rng| <SilentVole<Gf64> as Protocol>::Sender::setup(&params, ch, rng)?.run((), ch, rng),
                |ch, rng| {
                    let set_up = Receiver::<Gf64>::setup(&params, ch, rng)?;
                    assert_eq!(matches!(set_up.rest, Rest::Trees(_)), !waits, "{len}, {security}");
                    let early = set_up.values().to_vec();
                    Ok((early, set_up.run((), ch, rng)?))
                },
            );
            assert_eq!(early, receiver.c, "{len}, {security}");
            SubfieldVole::<Gf64>::holds(&(), &(), &sender, &receiver).unwrap();
        }
    }

    #[test]
    fn turns_that_leave_a_tree_do_not_give_delta() {
        for len in [5000, 1 << 14, 50_000] {
            let Params::Silent(params) =
                Params::new(&CorrelationRequest { len, security: Security::SemiHonest, width: None }, 64)
            else {
                panic!("long enough for trees")
            };
            for turns in [params.block - 1, params.block, (1 << params.shape().depth()) - 1] {
                let (sender, (taken, e)): (VoleSender, _) = two_party(
                    |ch, rng| {
                        <SilentVole<Gf64> as Protocol>::Sender::setup(&Params::Silent(params), ch, rng)?.run(
                            (),
                            ch,
                            rng,
                        )
                    },
                    |ch, rng| attack(&params, turns, ch, rng),
                );
                assert!(
                    taken.iter().all(|&taken| taken != sender.delta * e),
                    "{len} elements, turns {turns} in a tree of {}",
                    params.block
                );
            }
        }
    }
}
