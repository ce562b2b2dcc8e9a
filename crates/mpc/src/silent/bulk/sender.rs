//! The left column of the figure: gets `delta` and `b`.

use vesica_kernels::aes::Aes128;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::{Hashes, Params, Route, batch_binding};
use crate::ot_extension::{self, SenderCorrelation};
use crate::silent::code::Code;
use crate::silent::messages::{CodeSeed, Flips};
use crate::silent::params::SilentParams;
use crate::silent::trees;

/// The sender, before some batch.
pub(crate) struct Sender {
    params: Params,
    pub(super) base: SenderCorrelation,
    /// Work space of a batch.
    leaves: Secret<Vec<u128>>,
    batch: usize,
}

impl Sender {
    /// Makes the base correlation of all batches.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = ot_extension::sender(&params.correlation(), ch, rng)?;
        Ok(Self { params: *params, base, leaves: Secret::new(Vec::new()), batch: 0 })
    }

    /// The sender's `delta`, the same for all batches.
    pub fn delta(&self) -> Gf128 {
        Gf128(*self.base.delta)
    }

    /// Makes `b` of the next batch: `consume` turns parts of it into as many of `out`, which has
    /// the batch's length.
    pub fn next_batch<O: Send>(
        &mut self,
        out: &mut [O],
        ch: &mut Channel,
        consume: impl Fn(&Aes128, &[u128], &mut [O]) + Sync,
    ) -> Result<(), Abort> {
        let _phase = ch.phase(Phase::Expand);
        let binding = batch_binding(self.base.binding, self.batch);
        let hashes = Hashes::new(binding);
        match self.params.route {
            Route::Direct => {
                let b = Secret::new(self.base.columns.digits(0..self.params.correlation().blocks, self.params.width));
                hashes.each(0, bytemuck::cast_slice(&b), out, consume);
            }
            Route::Batches(shape, _) => {
                let code = self.convolved(&shape, ch)?;
                code.expand_into(&self.leaves, out, |first, b, out| hashes.each(first, b, out, &consume));
            }
        }
        self.batch += 1;
        Ok(())
    }

    /// Expands the trees of a batch and convolves their leaves.
    fn convolved(&mut self, shape: &SilentParams, ch: &mut Channel) -> Result<Code, Abort> {
        let binding = batch_binding(self.base.binding, self.batch);
        // Step 1.
        let Flips(flips) = ch.recv(shape.transfers())?;
        // Step 5.
        let CodeSeed(seed) = ch.recv(())?;
        let blocks = shape.batch_blocks(self.batch);
        let mut rows = self.base.columns.rows(blocks.transfers);
        rows.truncate(shape.transfers());
        let pads = trees::sender_pads(binding, *self.base.delta, rows, &flips);
        let values = Secret::new(self.base.columns.digits(blocks.values, shape.width));

        // Step 2.
        if self.leaves.is_empty() {
            self.leaves = Secret::new(vec![0; shape.positions()]);
        }
        let code = Code::new(shape.len, shape.positions(), shape.width, seed);
        let mut convolution = code.convolution::<u128>();
        trees::send(
            shape.shape(),
            binding,
            (&pads, &values[..shape.trees]),
            bytemuck::cast_slice_mut(&mut self.leaves),
            ch,
            |leaves| {
                convolution.next(bytemuck::cast_slice_mut(leaves));
            },
        )?;
        drop(convolution);
        Ok(code)
    }
}
