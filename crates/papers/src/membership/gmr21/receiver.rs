//! The right column of the figure.

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::opprf;
use vesica_mpc::permute_share;
use vesica_mpc::silent;
use vesica_mpc::tasks::{Programmed, ToPermute, VoleReceiver};
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::packing::{packed_len, unpack};
use vesica_structures::rng::SecretRng;

use super::messages::{Digests, Salt};
use super::params::DIGESTS_PER_PIECE;
use super::{Functions, Params};
use vesica_protocols::bins::POSITIONS;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    functions: Functions,
    opprf: opprf::Sender,
    permutation: permute_share::Sender<Gf64>,
    vole: VoleReceiver<Gf64>,
}

impl Receiver {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Salt(salt) = ch.recv(())?;
        let functions = Functions::derive(ch, params, &salt);
        let vole = silent::Receiver::<Gf64>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        let permutation = ch.reversed(|ch| permute_share::Sender::setup(&params.permutation, ch, rng))?;
        let opprf = ch.reversed(|ch| opprf::Sender::setup(&params.opprf, ch, rng))?;
        Ok(Self { params: params.clone(), functions, opprf, permutation, vole })
    }

    /// Steps 3 to 6; for each place whether its item is common.
    pub(super) fn test(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { params, functions, opprf, permutation, vole } = self;
        // Step 3.
        let phase = ch.phase(Phase::HashItems);
        let targets = (0..params.bins).map(|_| Gf64(rng.next_u64() >> (64 - params.sigma))).collect();
        let permuted = ToPermute { values: targets, shares: vole.c.clone() };
        let targets = &permuted.values;
        let positions = functions.bins.positions(items);
        let mut programmed = Programmed { keys: Vec::new(), values: Vec::new() };
        for choice in 0..POSITIONS {
            programmed.keys.extend(functions.bins.keys(choice, items));
            programmed.values.extend(positions.iter().map(|bins| u128::from(targets[bins[choice] as usize].0)));
        }
        drop((phase, positions));

        // Step 4.
        ch.reversed(|ch| opprf.run(programmed, ch, rng))?;
        // Step 5.
        ch.reversed(|ch| permutation.run(permuted, ch, rng))?;

        // Step 6.
        let _phase = ch.phase(Phase::Equality);
        let mut found = Bits::zeros(params.bins);
        for (piece, a) in vole.a.chunks(DIGESTS_PER_PIECE).enumerate() {
            let mut packed = vec![0; packed_len(a.len(), params.digest_bits)];
            ch.recv_stream::<Digests>(&mut packed)?;
            let mut digests = vec![Gf128::default(); a.len()];
            unpack(&packed, params.digest_bits, &mut digests)
                .ok_or(Abort::PeerMisbehaved(Digests::STEP, "bits beyond the last digest"))?;
            let own = functions.digests(piece * DIGESTS_PER_PIECE, a, params.digest_bits);
            for (place, (own, digest)) in (piece * DIGESTS_PER_PIECE..).zip(own.iter().zip(&digests)) {
                found.set(place, own == digest);
            }
        }
        Ok(found)
    }
}
