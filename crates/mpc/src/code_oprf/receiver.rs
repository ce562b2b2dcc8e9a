//! The right column of the figure: asks for one key of each instance.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::check;
use super::codes::Code;
use super::hash::RowHash;
use super::messages::Corrections;
use super::rows::{Columns, MatrixRow, ROWS_PER_PIECE, ROWS_PER_STRIP};
use super::{Params, code_of};
use crate::binding::Binding;
use crate::ot_extension;
use crate::tasks::{Evaluations, PrfOutputs};

/// The receiver, set up.
pub struct Receiver<C> {
    params: Params,
    /// `None` where there are no instances.
    base: Option<Base>,
    code: PhantomData<fn() -> C>,
}

struct Base {
    zeros: Columns,
    ones: Columns,
    binding: Binding,
}

impl<C: Code> Party for Receiver<C> {
    type Params = Params;
    type Input = Vec<u128>;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.request.instances == 0 {
            return Ok(Self { params: *params, base: None, code: PhantomData });
        }
        let base = ch.reversed(|ch| ot_extension::sender(&params.base(), ch, rng))?;
        let pairs = base.pairs(params.width);
        let column = |slot: usize| Columns::new(pairs.pairs.iter().map(move |pair| pair[slot]));
        let base = Base { zeros: column(0), ones: column(1), binding: base.binding };
        Ok(Self { params: *params, base: Some(base), code: PhantomData })
    }

    fn run(self, asked: Vec<u128>, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        let asked = Secret::new(asked);
        let request = self.params.request;
        if asked.len() != request.instances {
            return Err(Unsupported::new(
                format_args!("{} keys asked of an OPRF", asked.len()),
                "ask each instance once, as agreed",
            )
            .into());
        }
        Evaluations::check_width(&asked, &request)?;
        let mut outputs = PrfOutputs { values: vec![0; asked.len() * request.blocks] };
        let fill = |range: Range<usize>, keys: &mut [u128]| keys.copy_from_slice(&asked[range]);
        self.run_in_parts(
            fill,
            |range, part| {
                for (out, part) in outputs.values.chunks_mut(asked.len()).zip(part.values.chunks(range.len())) {
                    out[range.clone()].copy_from_slice(part);
                }
            },
            ch,
            rng,
        )?;
        Ok(outputs)
    }
}

impl<C: Code> Receiver<C> {
    /// The same for a caller that makes keys and takes values part by part: `fill` writes the keys of
    /// some instances, the same each time it is asked; `take` gets the values of some instances, in
    /// order. In the malicious mode they are not to be used before all has ended well.
    ///
    /// # Errors
    /// If the sender does not take what is sent, or a key is wider than agreed.
    pub fn run_in_parts(
        self,
        fill: impl Fn(Range<usize>, &mut [u128]) + Sync,
        mut take: impl FnMut(Range<usize>, &PrfOutputs),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let Self { params, base, .. } = self;
        let Some(Base { zeros, ones, binding }) = base else { return Ok(()) };
        let _phase = ch.phase(Phase::OtExtension);
        let (code, hash) = (code_of::<C>(binding, &params)?, RowHash::new(binding, &params));
        let (all, instances, row_bytes) = (params.rows(), params.request.instances, params.row_bytes());
        // Of the rows that are for the check alone.
        let random: Secret<Vec<u128>> =
            Secret::new((instances..all).map(|_| rng.block() & params.key_mask()).collect());
        let fill = |first: usize, keys: &mut [u128]| {
            let asked = keys.len().min(instances.saturating_sub(first));
            let (asked, further) = keys.split_at_mut(asked);
            if !asked.is_empty() {
                fill(first..first + asked.len(), asked);
            }
            let start = (first + asked.len()).saturating_sub(instances);
            further.copy_from_slice(&random[start..][..further.len()]);
        };

        let mut keys = Secret::new(vec![0; ROWS_PER_PIECE.min(all)]);
        let mut rows = Secret::new(vec![C::Row::of(|_| 0); keys.len()]);
        let mut sent = vec![0; rows.len() * row_bytes];
        let mut outputs = PrfOutputs { values: Vec::new() };
        for first in (0..all).step_by(ROWS_PER_PIECE) {
            let count = ROWS_PER_PIECE.min(all - first);
            let (keys, rows, sent) = (&mut keys[..count], &mut rows[..count], &mut sent[..count * row_bytes]);
            fill(first, keys);
            if keys.iter().fold(0, |all, key| all | key) & !params.key_mask() != 0 {
                return Err(Unsupported::new(
                    format_args!("a key of more than {} bits", params.request.key_bits),
                    "ask for keys of the agreed width",
                )
                .into());
            }
            // Step 1.
            let strips = keys
                .par_chunks(ROWS_PER_STRIP)
                .zip(rows.par_chunks_mut(ROWS_PER_STRIP))
                .zip(sent.par_chunks_mut(ROWS_PER_STRIP * row_bytes));
            strips.enumerate().for_each(|(strip, ((keys, rows), sent))| {
                let first = first + strip * ROWS_PER_STRIP;
                zeros.rows(first, rows);
                let mut others = Secret::new(vec![C::Row::of(|_| 0); rows.len()]);
                ones.rows(first, &mut others);
                code.words(keys, |i, word| {
                    let correction = C::Row::of(|q| rows[i].blocks()[q] ^ others[i].blocks()[q] ^ word.blocks()[q]);
                    sent[i * row_bytes..][..row_bytes].copy_from_slice(&bytemuck::bytes_of(&correction)[..row_bytes]);
                });
            });
            ch.send_stream::<Corrections<C>>(sent)?;

            let rows = &rows[..count.min(instances.saturating_sub(first))];
            if rows.is_empty() {
                continue;
            }
            outputs.values.resize(rows.len() * params.request.blocks, 0);
            for (block, out) in outputs.values.chunks_mut(rows.len()).enumerate() {
                rows.par_chunks(ROWS_PER_STRIP).zip(out.par_chunks_mut(ROWS_PER_STRIP)).enumerate().for_each(
                    |(strip, (rows, out))| {
                        hash.hash(block, rows, |i| (first + strip * ROWS_PER_STRIP + i) as u32, out);
                    },
                );
            }
            take(first..first + rows.len(), &outputs);
        }
        if params.is_checked() {
            // Steps 2 and 3.
            check::answer(&params, &zeros, fill, ch)?;
        }
        Ok(())
    }
}
