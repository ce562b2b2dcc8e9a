//! The left column.

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::opprf::params::block_widths;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::Evaluations;
use vesica_mpc::{
    code_oprf::{self, PseudoRandom},
    peqt,
};
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::{CuckooTable, Positions};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Parts;
use super::messages::{Carried, Hint, Quads as QuadsArrow};
use super::quads::{self, CELLS, Quads};
use vesica_protocols::circuit_psi::bins::{Hashes, split};
use vesica_protocols::circuit_psi::matching::{pairs, send_salt};
use vesica_protocols::circuit_psi::{Carry, Params};

/// The sender, set up. Empty where a set is.
pub struct Sender {
    params: Params<Parts>,
    parts: Option<(Hashes, peqt::Receiver, code_oprf::Sender<PseudoRandom>, code_oprf::Receiver<PseudoRandom>)>,
}

impl Sender {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some((parts, peqt)) = &params.parts else { return Ok(Self { params: params.clone(), parts: None }) };
        let hashes = send_salt(params, ch, rng)?;
        let phase = ch.phase(Phase::Equality);
        let peqt = ch.reversed(|ch| peqt::Receiver::setup(peqt, ch, rng))?;
        drop(phase);
        let first = code_oprf::Sender::setup(&parts.first, ch, rng)?;
        let second = ch.reversed(|ch| code_oprf::Receiver::setup(&parts.second, ch, rng))?;
        Ok(Self { params: params.clone(), parts: Some((hashes, peqt, first, second)) })
    }

    /// Steps 3 to 10: shares of membership. The receiver is told the other share of what is carried.
    pub(super) fn run(
        self,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        let tells = !self.params.is_empty() && self.params.carried_bytes > 0;
        let (membership, shares) = self.run_to_shares(items, carry, ch, rng)?;
        if tells {
            let _phase = ch.phase(Phase::Payload);
            ch.send_stream::<Carried>(&shares)?;
        }
        Ok(membership)
    }

    /// Steps 3 to 10: shares of membership and of what is carried, for each bin.
    pub(super) fn run_to_shares(
        self,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(Bits, Secret<Vec<u8>>), Abort> {
        let Self { params, parts } = self;
        let own = params.carried_bytes;
        let mut carried = Secret::new(vec![0; params.bins * own]);
        let (Some((hashes, peqt, first, second)), Some((sizes, _))) = (parts, &params.parts) else {
            return Ok((Bits::zeros(params.bins), carried));
        };

        // Steps 3 and 5.
        let phase = ch.phase(Phase::HashItems);
        let targets: Secret<Vec<u128>> =
            Secret::new((0..params.bins).map(|_| rng.block() >> (128 - sizes.target_bits)).collect());
        rng.fill_bytes(&mut carried);
        let hidden = |item: usize, bin: usize, out: &mut [u8]| {
            carry(item, bin, out);
            out.iter_mut().zip(&carried[bin * own..][..own]).for_each(|(out, mask)| *out ^= mask);
        };
        let pairs = pairs(&hashes, items, (|bin: usize| targets[bin], sizes.target_bits), own, hidden);
        let positions = Positions::new(hashes.further(), sizes.cells).of(&pairs.programmed.keys);
        drop(phase);
        // Step 4.
        let evaluations = Evaluations { instances: pairs.bins, keys: pairs.programmed.keys.clone() };
        let mut outputs = first.run(evaluations, ch, rng)?;
        outputs.values.iter_mut().zip(&pairs.programmed.values).for_each(|(output, value)| *output ^= value);
        // Step 6.
        let phase = ch.phase(Phase::Encode);
        let places = CuckooTable::build_vartime(&positions, sizes.cells).map_err(|_| {
            Abort::StatisticalFailure("the sender's items do not fit into the hint; items must be distinct")
        })?;
        for (width, masked) in block_widths(sizes.hint_bits).zip(outputs.values.chunks_exact(positions.len())) {
            let cell = |cell| Gf128(places.bin(cell).map_or_else(|| rng.block(), |entry| masked[entry.item as usize]));
            table::send::<Hint, Gf128>(&(0..sizes.cells).map(cell).collect::<Vec<_>>(), width, ch)?;
        }
        drop((phase, outputs, pairs.programmed, places));

        // Steps 8 and 9.
        let outputs = ch.reversed(|ch| second.run(targets.to_vec(), ch, rng))?;
        let phase = ch.phase(Phase::Decode);
        let output = |block: usize, bin: usize| outputs.values[block * params.bins + bin];
        let blocks = block_widths(sizes.quad_bits).count();
        let mut compared = Secret::new(Vec::with_capacity(params.bins));
        let mut unmasked = Secret::new(vec![0; own]);
        for piece in quads::pieces(params.bins) {
            let mut bytes = vec![0; Quads::len(piece.len(), sizes.quad_bits)];
            ch.recv_stream::<QuadsArrow>(&mut bytes)?;
            let quads = Quads::from_bytes(piece.len(), sizes.quad_bits, &bytes)
                .ok_or(Abort::PeerMisbehaved(QuadsArrow::STEP, "a nonce out of range or stray bits"))?;
            for (i, bin) in piece.enumerate() {
                let place = CELLS * i + quads::place([output(blocks, bin), output(blocks + 1, bin)], quads.nonces[i]);
                compared.push(split(
                    params.sigma,
                    |block| quads.cells[block][place].0 ^ output(block, bin),
                    blocks,
                    &mut unmasked,
                ) as u64);
                carried[bin * own..][..own].iter_mut().zip(unmasked.iter()).for_each(|(share, byte)| *share ^= byte);
            }
        }
        drop(phase);
        // Step 10.
        let _phase = ch.phase(Phase::Equality);
        Ok((ch.reversed(|ch| peqt.test(&compared, ch))?, carried))
    }
}
