//! The right column of the figure: gets `c` and `a`.

use vesica_kernels::aes::Aes128;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::{Hashes, Params, Route, batch_binding};
use crate::ot_extension::{self, CorrelationHash, ReceiverCorrelation, bit};
use crate::silent::code::Code;
use crate::silent::messages::{CodeSeed, Flips};
use crate::silent::params::SilentParams;
use crate::silent::receiver::{below, noise_places};
use crate::silent::trees;

/// The receiver, before some batch.
pub(crate) struct Receiver {
    params: Params,
    base: ReceiverCorrelation,
    /// The noisy places and the seed of the code, for each batch.
    pub(super) choices: Vec<(Secret<Vec<usize>>, u128)>,
    /// Work space of a batch.
    leaves: Secret<Vec<u128>>,
    batch: usize,
}

impl Receiver {
    /// Makes the base correlation of all batches, and sends all that the sender waits for.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = ot_extension::receiver(&params.correlation(), ch, rng)?;
        let _phase = ch.phase(Phase::Expand);
        let mut choices = Vec::new();
        if let Route::Batches(shape, batches) = params.route {
            for batch in 0..batches {
                let points: Secret<Vec<usize>> =
                    Secret::new((0..shape.trees).map(|_| below(shape.block, rng)).collect());
                let seed = rng.block();
                // Step 1.
                let bits = &base.bits[shape.batch_blocks(batch).transfers];
                ch.send(&Flips(trees::flips(shape.shape(), &points, |i| bit(bits, i))))?;
                // Step 5.
                ch.send(&CodeSeed(seed))?;
                choices.push((points, seed));
            }
        }
        Ok(Self { params: *params, base, choices, leaves: Secret::new(Vec::new()), batch: 0 })
    }

    /// Makes `c` and `a` of the next batch: `consume` turns parts of `a` into as many of `out`,
    /// which has the batch's length. Returns `c`, a byte each.
    pub fn next_batch<O: Send>(
        &mut self,
        out: &mut [O],
        ch: &mut Channel,
        consume: impl Fn(&Aes128, &[u128], &mut [O]) + Sync,
    ) -> Result<Secret<Vec<u8>>, Abort> {
        let _phase = ch.phase(Phase::Expand);
        let hashes = Hashes::new(batch_binding(self.base.binding, self.batch));
        let mut c = match self.params.route {
            Route::Direct => {
                let blocks = 0..self.params.correlation().blocks;
                let a = Secret::new(self.base.columns.digits(blocks.clone(), self.params.width));
                hashes.each(0, bytemuck::cast_slice(&a), out, consume);
                self.base.digits(blocks, self.params.width)
            }
            Route::Batches(shape, _) => {
                let (code, c) = self.convolved(&shape, ch)?;
                code.expand_into(&self.leaves, out, |first, a, out| hashes.each(first, a, out, &consume));
                c
            }
        };
        c.truncate(out.len());
        self.batch += 1;
        Ok(c)
    }

    /// `c` of a batch, made while the sender expands its trees; then expands these and convolves
    /// their leaves.
    fn convolved(&mut self, shape: &SilentParams, ch: &mut Channel) -> Result<(Code, Secret<Vec<u8>>), Abort> {
        let binding = batch_binding(self.base.binding, self.batch);
        let (points, seed) = &self.choices[self.batch];
        let blocks = shape.batch_blocks(self.batch);
        let code = Code::new(shape.len, shape.positions(), shape.width, *seed);
        let noise = self.base.digits(blocks.values.clone(), shape.width);
        let c = Secret::new(code.compress_sparse(noise_places(shape, points).zip(noise.iter().copied())));

        let rows = self.base.columns.rows(blocks.transfers);
        let pads = Secret::new(CorrelationHash::new(binding).hash(&rows[..shape.transfers()]));
        let values = Secret::new(self.base.columns.digits(blocks.values, shape.width));
        if self.leaves.is_empty() {
            self.leaves = Secret::new(vec![0; shape.positions()]);
        }
        let mut convolution = code.convolution::<u128>();
        // Step 2.
        trees::receive(
            shape.shape(),
            binding,
            (points, &pads, &values[..shape.trees]),
            bytemuck::cast_slice_mut(&mut self.leaves),
            ch,
            |leaves| {
                convolution.next(bytemuck::cast_slice_mut(leaves));
            },
        )?;
        drop(convolution);
        Ok((code, c))
    }
}
