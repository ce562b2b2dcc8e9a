//! The left column of the figure: gets `delta` and both blocks of each OT.

use rayon::prelude::*;
use vesica_mpc::ot_parts::{CorrelationHash, Hashes, base_sender, batch_binding, send_trees, sender_pads};
use vesica_mpc::silent::messages::Flips;
use vesica_mpc::tasks::OtPairs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::code::Code;
use super::messages::CodeSeed;
use super::params::Params;
use super::{OTS_PER_BATCH, OTS_PER_TASK};

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(OtPairs);

impl Party for Sender {
    type Params = Params;
    type Input = ();
    type Output = OtPairs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = OtPairs { pairs: Vec::new() };
        each_batch(params, ch, rng, |batch| {
            // Not before: until here the peer has shown nothing. With all its space from the start, no copy is left behind.
            output.pairs.reserve_exact(params.len - output.pairs.len());
            output.pairs.extend_from_slice(&batch.pairs);
        })?;
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtPairs, Abort> {
        Ok(self.0)
    }
}

/// The OTs, batch by batch.
pub(super) fn each_batch(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
    mut keep: impl FnMut(OtPairs),
) -> Result<(), Abort> {
    if params.len == 0 {
        return Ok(());
    }
    let base = base_sender(&params.base(), ch, rng)?;
    let mut rows = base.columns.rows(0..params.base().blocks);
    if params.instances.is_empty() {
        keep(CorrelationHash::new(base.binding).pairs(&mut rows[..params.len], *base.delta));
        return Ok(());
    }

    let _phase = ch.phase(Phase::Expand);
    // Step 3.
    let CodeSeed(seed) = ch.recv(())?;
    // Step 1, of all instances.
    let flips: Vec<Flips> =
        params.instances.iter().map(|instance| ch.recv(instance.transfers())).collect::<Result<_, _>>()?;
    let mut left = params.len;
    for (number, ((instance, handed), Flips(flips))) in params.chain().zip(flips).enumerate() {
        let binding = batch_binding(base.binding, number);
        let transfers = Secret::new(rows[instance.secrets..][..instance.transfers()].to_vec());
        let pads = sender_pads(binding, *base.delta, transfers, &flips);
        let values = Secret::new(vec![Gf128(*base.delta); instance.blocks]);
        let mut leaves = Secret::new(vec![Gf128::default(); instance.positions()]);
        // Step 2.
        send_trees(instance.shape(), binding, (&pads, &values), &mut leaves, ch, |_| ())?;
        let made: &mut [u128] = bytemuck::cast_slice_mut(&mut leaves);
        Code::new(binding, seed).add(&rows[..instance.secrets], 0, made);
        let (next, own) = made.split_at(handed);
        let own = &own[..own.len().min(left)];
        left -= own.len();
        let hashes = Hashes::new(binding);
        for (batch, own) in own.chunks(OTS_PER_BATCH).enumerate() {
            keep(pairs(&hashes, batch * OTS_PER_BATCH, own, *base.delta));
        }
        rows = Secret::new(next.to_vec());
    }
    Ok(())
}

/// Both blocks of each OT of which `own` has the sender's; `first` is the number of the first in its instance.
fn pairs(hashes: &Hashes, first: usize, own: &[u128], delta: u128) -> OtPairs {
    let mut pairs = vec![[0; 2]; own.len()];
    let tasks = own.par_chunks(OTS_PER_TASK).zip(pairs.par_chunks_mut(OTS_PER_TASK)).enumerate();
    tasks.for_each(|(task, (own, pairs))| {
        hashes.each(first + task * OTS_PER_TASK, own, pairs, |pi, own, pairs| {
            pairs.iter_mut().zip(own).for_each(|(pair, &own)| *pair = [own, own ^ delta]);
            pi.mmo_in_place(pairs.as_flattened_mut());
        });
    });
    OtPairs { pairs }
}
