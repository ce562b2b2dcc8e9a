//! The right column.

use rand_core::Rng;
use vesica_mpc::opprf::params::block_widths;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::{Evaluations, PrfOutputs};
use vesica_mpc::{
    code_oprf::{self, PseudoRandom},
    peqt,
};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::Positions;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Parts;
use super::messages::{Carried, Hint, Quads as QuadsArrow};
use super::quads::{self, CELLS, Quads};
use vesica_protocols::circuit_psi::bins::{Hashes, join, split};
use vesica_protocols::circuit_psi::matching::{place, receive_salt, unmatched};
use vesica_protocols::circuit_psi::params::POSITIONS;
use vesica_protocols::circuit_psi::{Asked, Matched, Params};

/// The receiver, set up. Empty where a set is.
pub struct Receiver {
    params: Params<Parts>,
    parts: Option<(Hashes, peqt::Sender, code_oprf::Receiver<PseudoRandom>, code_oprf::Sender<PseudoRandom>)>,
}

/// Three candidates a bin.
struct Candidates {
    /// `w_ib`.
    targets: Secret<Vec<u128>>,
    /// `c_ib`.
    carried: Secret<Vec<u8>>,
}

impl Receiver {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some((parts, peqt)) = &params.parts else { return Ok(Self { params: params.clone(), parts: None }) };
        let hashes = receive_salt(params, ch)?;
        let phase = ch.phase(Phase::Equality);
        let peqt = ch.reversed(|ch| peqt::Sender::setup(peqt, ch, rng))?;
        drop(phase);
        let first = code_oprf::Receiver::setup(&parts.first, ch, rng)?;
        let second = ch.reversed(|ch| code_oprf::Sender::setup(&parts.second, ch, rng))?;
        Ok(Self { params: params.clone(), parts: Some((hashes, peqt, first, second)) })
    }

    /// Steps 2 and 4 to 10. The sender then tells how its shares of payloads differ from the masks
    /// that it was given.
    pub(super) fn run(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        let is_told = !self.params.is_empty() && self.params.carried_bytes > 0;
        let mut matched = self.run_to_shares(items, ch, rng)?;
        if is_told {
            let _phase = ch.phase(Phase::Payload);
            let mut shares = vec![0; matched.carried.len()];
            ch.recv_stream::<Carried>(&mut shares)?;
            matched.carried.iter_mut().zip(shares).for_each(|(carried, share)| *carried ^= share);
        }
        Ok(matched)
    }

    /// Steps 2 and 4 to 10.
    pub(super) fn run_to_shares(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        let Self { params, parts } = self;
        let (Some((hashes, peqt, first, second)), Some((sizes, _))) = (parts, &params.parts) else {
            return Ok(unmatched(&params));
        };
        // Step 2.
        let phase = ch.phase(Phase::HashItems);
        let (placed, asked) = place(&hashes, items, params.bins)?;
        let positions = Positions::new(hashes.further(), sizes.cells).of(&asked.keys);
        drop(phase);
        // Steps 4 to 7.
        let outputs = first.run(asked.in_all_bins(params.bins, rng), ch, rng)?;
        let candidates = candidates(&params, sizes, &asked, &positions, outputs, ch, rng)?;

        // Step 8.
        let instances = (0..params.bins as u32).flat_map(|bin| [bin; POSITIONS]).collect();
        let evaluations = Evaluations { instances, keys: candidates.targets.to_vec() };
        let outputs = ch.reversed(|ch| second.run(evaluations, ch, rng))?;
        // Step 9.
        let phase = ch.phase(Phase::Encode);
        let own = params.carried_bytes;
        let mut masks = Secret::new(vec![0; params.bins * own]);
        rng.fill_bytes(&mut masks);
        let output = |block: usize, candidate: usize| outputs.values[block * POSITIONS * params.bins + candidate];
        let blocks = block_widths(sizes.quad_bits).count();
        let mut masked = Secret::new(vec![0; own]);
        for piece in quads::pieces(params.bins) {
            let mut quads = Quads::zero(piece.len(), sizes.quad_bits);
            quads.cells.iter_mut().flatten().for_each(|cell| *cell = Gf128(rng.block()));
            for (i, bin) in piece.enumerate() {
                let places = std::array::from_fn(|b| {
                    [output(blocks, POSITIONS * bin + b), output(blocks + 1, POSITIONS * bin + b)]
                });
                quads.nonces[i] =
                    quads::nonce(places).ok_or(Abort::StatisticalFailure("no nonce sets a bin's candidates apart"))?;
                for (b, blocks) in places.into_iter().enumerate() {
                    let (candidate, place) = (POSITIONS * bin + b, CELLS * i + quads::place(blocks, quads.nonces[i]));
                    let bytes = candidates.carried[candidate * own..][..own].iter().zip(&masks[bin * own..][..own]);
                    masked.iter_mut().zip(bytes).for_each(|(masked, (byte, mask))| *masked = byte ^ mask);
                    join(peqt.values()[bin].into(), params.sigma, &masked, |block, value| {
                        quads.cells[block][place] = Gf128(value ^ output(block, candidate));
                    });
                }
            }
            ch.send_stream::<QuadsArrow>(&quads.to_bytes(sizes.quad_bits))?;
        }
        drop(phase);
        // Step 10.
        let _phase = ch.phase(Phase::Equality);
        Ok(Matched { items: placed, membership: ch.reversed(|ch| peqt.test(ch))?, carried: masks })
    }
}

/// Step 7: what the hint has for each bin; something random for empty ones.
fn candidates(
    params: &Params<Parts>,
    sizes: &Parts,
    asked: &Asked,
    positions: &[[u32; POSITIONS]],
    outputs: PrfOutputs,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Candidates, Abort> {
    let _phase = ch.phase(Phase::Decode);
    let (own, count) = (params.carried_bytes, POSITIONS * params.bins);
    let mut values = Secret::new(Vec::with_capacity(count * block_widths(sizes.hint_bits).count()));
    let mut cells = vec![Gf128(0); sizes.cells];
    for (width, outputs) in block_widths(sizes.hint_bits).zip(outputs.values.chunks_exact(params.bins)) {
        table::receive::<Hint, Gf128>(sizes.cells, width, ch, |place, part| cells[place].copy_from_slice(part))?;
        let mut full = asked.bins.iter().zip(positions).peekable();
        for (bin, output) in outputs.iter().enumerate() {
            match full.next_if(|&(&full, _)| full as usize == bin) {
                Some((_, positions)) => values.extend(positions.map(|position| cells[position as usize].0 ^ output)),
                None => values.extend([(); POSITIONS].map(|()| rng.block())),
            }
        }
    }
    let blocks = values.len() / count;
    let mut candidates =
        Candidates { targets: Secret::new(Vec::with_capacity(count)), carried: Secret::new(vec![0; count * own]) };
    for candidate in 0..count {
        let carried = &mut candidates.carried[candidate * own..][..own];
        candidates.targets.push(split(sizes.target_bits, |block| values[block * count + candidate], blocks, carried));
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;
    use vesica_testkit::{assert_uniform, try_two_party, two_party};

    use super::*;
    use crate::circuit_psi::cgs22::{Sender, params};
    use vesica_protocols::circuit_psi::{Exchangeable, MatchingRequest};

    const ITEMS: usize = 300;
    const OWN: usize = 8;

    /// All items are common, and all payloads alike: neither the candidates nor what either side is
    /// left with show them.
    #[test]
    fn payloads_are_masked_at_every_step() {
        let items: Vec<u128> = (0..ITEMS as u128).collect();
        let request = MatchingRequest {
            sender_items: ITEMS,
            receiver_items: ITEMS,
            security: Security::SemiHonest,
            carried_bytes: OWN,
            exchangeable: Exchangeable::new(peqt::Variant::Leaves),
            runs: 1,
        };
        let params = params::derive(&request).unwrap();
        let send = |ch: &mut Channel, rng: &mut SecretRng| {
            Sender::setup(&params, ch, rng)?.run_to_shares(&items, &|_, _, out| out.fill(7), ch, rng)
        };
        let ((_, sender), receiver) =
            two_party(send, |ch, rng| Receiver::setup(&params, ch, rng)?.run_to_shares(&items, ch, rng));
        assert_uniform(&sender, "the sender's share");
        assert_uniform(&receiver.carried, "the receiver's share");

        // The receiver stops there.
        let mut seen = Vec::new();
        try_two_party(send, |ch, rng| {
            let Receiver { params, parts } = Receiver::setup(&params, ch, rng)?;
            let ((hashes, _, first, _), (sizes, _)) = (parts.expect("a set"), params.parts.as_ref().expect("a set"));
            let (_, asked) = place(&hashes, &items, params.bins)?;
            let positions = Positions::new(hashes.further(), sizes.cells).of(&asked.keys);
            let outputs = first.run(asked.in_all_bins(params.bins, rng), ch, rng)?;
            seen = candidates(&params, sizes, &asked, &positions, outputs, ch, rng)?.carried.to_vec();
            Ok(())
        });
        assert_uniform(&seen, "the candidates");
    }
}
