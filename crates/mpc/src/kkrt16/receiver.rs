//! The right column of the figure: asks for one key of each instance.

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::code::{Code, RowHash};
use super::messages::Corrections;
use super::rows::{BLOCKS_PER_ROW, Columns, ROWS_PER_PIECE, ROWS_PER_STRIP};
use crate::binding::Binding;
use crate::ot_extension;
use crate::tasks::PrfOutputs;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// `None` where there are no instances.
    base: Option<Base>,
}

struct Base {
    zeros: Columns,
    ones: Columns,
    binding: Binding,
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u128>;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.request.instances == 0 {
            return Ok(Self { params: *params, base: None });
        }
        let base = ch.reversed(|ch| ot_extension::sender(&params.base(), ch, rng))?;
        let pairs = base.pairs(params.width);
        let column = |slot: usize| Columns::new(pairs.pairs.iter().map(move |pair| pair[slot]));
        Ok(Self { params: *params, base: Some(Base { zeros: column(0), ones: column(1), binding: base.binding }) })
    }

    fn run(self, asked: Vec<u128>, ch: &mut Channel, _: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        let asked = Secret::new(asked);
        let Self { params, base } = self;
        if asked.len() != params.request.instances {
            return Err(Unsupported::new(
                format_args!("{} keys asked of an OPRF", asked.len()),
                "ask each instance once, as agreed",
            )
            .into());
        }
        let mut outputs = PrfOutputs { values: vec![0; asked.len() * params.request.blocks] };
        let Some(Base { zeros, ones, binding }) = base else { return Ok(outputs) };
        let _phase = ch.phase(Phase::OtExtension);
        let (code, hash) = (Code::new(binding, params.width), RowHash::new(binding, &params));
        let mut rows = Secret::new(vec![[0; BLOCKS_PER_ROW]; ROWS_PER_PIECE.min(asked.len())]);
        let mut sent = vec![0; rows.len() * params.row_bytes()];
        for (piece, keys) in asked.chunks(ROWS_PER_PIECE).enumerate() {
            let (first, rows) = (piece * ROWS_PER_PIECE, &mut rows[..keys.len()]);
            let sent = &mut sent[..keys.len() * params.row_bytes()];
            // Step 1.
            let strips = keys
                .par_chunks(ROWS_PER_STRIP)
                .zip(rows.par_chunks_mut(ROWS_PER_STRIP))
                .zip(sent.par_chunks_mut(ROWS_PER_STRIP * params.row_bytes()));
            strips.enumerate().for_each(|(strip, ((keys, rows), sent))| {
                let first = first + strip * ROWS_PER_STRIP;
                zeros.rows(first, rows);
                let mut others = Secret::new(vec![[0; BLOCKS_PER_ROW]; rows.len()]);
                ones.rows(first, &mut others);
                code.words(keys, |i, word| {
                    let correction: [u8; 16 * BLOCKS_PER_ROW] =
                        bytemuck::cast::<super::rows::Row, _>(std::array::from_fn(|q| {
                            rows[i][q] ^ others[i][q] ^ word[q]
                        }));
                    sent[i * params.row_bytes()..][..params.row_bytes()]
                        .copy_from_slice(&correction[..params.row_bytes()]);
                });
            });
            ch.send_stream::<Corrections>(sent)?;
            for (block, out) in outputs.values.chunks_mut(asked.len()).enumerate() {
                let out = &mut out[first..][..keys.len()];
                rows.par_chunks(ROWS_PER_STRIP).zip(out.par_chunks_mut(ROWS_PER_STRIP)).enumerate().for_each(
                    |(strip, (rows, out))| {
                        hash.hash(block, rows, |i| (first + strip * ROWS_PER_STRIP + i) as u32, out);
                    },
                );
            }
        }
        Ok(outputs)
    }
}
