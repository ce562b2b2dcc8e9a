//! The left column of the figure: evaluates the functions where it likes.

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::code::{Code, RowHash};
use super::messages::Corrections;
use super::rows::{BLOCKS_PER_ROW, Columns, ROWS_PER_PIECE, ROWS_PER_STRIP, Row};
use crate::binding::Binding;
use crate::ot_extension;
use crate::tasks::{Evaluations, PrfOutputs};

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// `None` where there are no instances.
    base: Option<Base>,
}

/// The functions of a run: what the sender has once the corrections have come.
pub struct Functions {
    params: Params,
    /// `None` where there are no instances.
    base: Option<(Base, Vec<Secret<Vec<Row>>>)>,
}

struct Base {
    /// `s`.
    secret: Secret<Row>,
    chosen: Columns,
    binding: Binding,
}

impl Party for Sender {
    type Params = Params;
    type Input = Evaluations;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.request.instances == 0 {
            return Ok(Self { params: *params, base: None });
        }
        let base = ch.reversed(|ch| ot_extension::receiver(&params.base(), ch, rng))?;
        let mut secret = Secret::new([0; BLOCKS_PER_ROW]);
        secret.iter_mut().zip(base.bits.iter()).for_each(|(secret, bits)| *secret = *bits);
        let chosen = Columns::new(base.chosen(params.width).iter().copied());
        Ok(Self { params: *params, base: Some(Base { secret, chosen, binding: base.binding }) })
    }

    fn run(self, input: Evaluations, ch: &mut Channel, _: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        input.check(&self.params.request)?;
        let functions = self.functions(ch)?;
        let _phase = ch.phase(Phase::OtExtension);
        Ok(functions.evaluate(&input))
    }
}

impl Sender {
    /// Step 1, for a caller that evaluates the functions part by part.
    ///
    /// # Errors
    /// If the receiver's corrections do not come.
    pub fn functions(self, ch: &mut Channel) -> Result<Functions, Abort> {
        let Self { params, base } = self;
        let _phase = ch.phase(Phase::OtExtension);
        let with_rows = |base: Base| base.rows(&params, ch).map(|rows| (base, rows));
        Ok(Functions { params, base: base.map(with_rows).transpose()? })
    }
}

impl Functions {
    /// The functions' values. All evaluations of a run together are as many as agreed.
    ///
    /// # Panics
    /// If there is not an instance for each key, or no instance of that number.
    pub fn evaluate(&self, input: &Evaluations) -> PrfOutputs {
        let Self { params, base } = self;
        let mut outputs = PrfOutputs { values: vec![0; input.keys.len() * params.request.blocks] };
        let Some((base, rows)) = base else { return outputs };
        let (code, hash) = (Code::new(base.binding, params.width), RowHash::new(base.binding, params));
        let mut inputs = Secret::new(vec![[0; BLOCKS_PER_ROW]; ROWS_PER_PIECE.min(input.keys.len())]);
        for (piece, keys) in input.keys.chunks(ROWS_PER_PIECE).enumerate() {
            let (first, inputs) = (piece * ROWS_PER_PIECE, &mut inputs[..keys.len()]);
            let instances = &input.instances[first..][..keys.len()];
            let strips = keys
                .par_chunks(ROWS_PER_STRIP)
                .zip(instances.par_chunks(ROWS_PER_STRIP))
                .zip(inputs.par_chunks_mut(ROWS_PER_STRIP));
            strips.for_each(|((keys, instances), inputs)| {
                code.words(keys, |i, word| {
                    let row = &rows[instances[i] as usize / ROWS_PER_PIECE][instances[i] as usize % ROWS_PER_PIECE];
                    inputs[i] = std::array::from_fn(|q| row[q] ^ word[q] & base.secret[q]);
                });
            });
            for (block, out) in outputs.values.chunks_mut(input.keys.len()).enumerate() {
                let strips = inputs
                    .par_chunks(ROWS_PER_STRIP)
                    .zip(instances.par_chunks(ROWS_PER_STRIP))
                    .zip(out[first..][..keys.len()].par_chunks_mut(ROWS_PER_STRIP));
                strips.for_each(|((inputs, instances), out)| hash.hash(block, inputs, |i| instances[i], out));
            }
        }
        outputs
    }
}

impl Base {
    /// Step 1: `q_i` of each instance, in pieces, each of which is made when its corrections have
    /// come.
    fn rows(&self, params: &Params, ch: &mut Channel) -> Result<Vec<Secret<Vec<Row>>>, Abort> {
        let (row_bytes, instances) = (params.row_bytes(), params.request.instances);
        let mut pieces = Vec::new();
        let mut corrections = vec![0; ROWS_PER_PIECE.min(instances) * row_bytes];
        for first in (0..instances).step_by(ROWS_PER_PIECE) {
            let mut rows = Secret::new(vec![[0; BLOCKS_PER_ROW]; ROWS_PER_PIECE.min(instances - first)]);
            let corrections = &mut corrections[..rows.len() * row_bytes];
            ch.recv_stream::<Corrections>(corrections)?;
            let strips = rows.par_chunks_mut(ROWS_PER_STRIP).zip(corrections.par_chunks(ROWS_PER_STRIP * row_bytes));
            strips.enumerate().for_each(|(strip, (rows, corrections))| {
                self.chosen.rows(first + strip * ROWS_PER_STRIP, rows);
                for (row, correction) in rows.iter_mut().zip(corrections.chunks_exact(row_bytes)) {
                    let mut bytes = [0; 16 * BLOCKS_PER_ROW];
                    bytes[..row_bytes].copy_from_slice(correction);
                    let correction: Row = bytemuck::cast(bytes);
                    row.iter_mut()
                        .zip(correction)
                        .zip(*self.secret)
                        .for_each(|((row, correction), secret)| *row ^= correction & secret);
                }
            });
            pieces.push(rows);
        }
        Ok(pieces)
    }
}
