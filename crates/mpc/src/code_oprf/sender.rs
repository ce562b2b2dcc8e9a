//! The left column of the figure: evaluates the functions where it likes.

use std::ops::Range;

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::check;
use super::codes::Code;
use super::hash::RowHash;
use super::messages::Corrections;
use super::rows::{Columns, MatrixRow, ROWS_PER_PIECE, ROWS_PER_STRIP, ones};
use super::{Params, code_of};
use crate::ot_extension;
use crate::tasks::{Evaluations, PrfOutputs};

/// The sender, set up.
pub struct Sender<C: Code> {
    params: Params,
    /// `None` where there are no instances.
    base: Option<Base<C>>,
}

/// The functions of some instances, or of all: what the sender has once the corrections have come.
pub struct Functions<C: Code> {
    params: Params,
    /// `None` where there are no instances.
    base: Option<Base<C>>,
    /// The instance of the first row.
    first: usize,
    /// `q`, in pieces of [`ROWS_PER_PIECE`].
    pieces: Vec<Secret<Vec<C::Row>>>,
}

struct Base<C: Code> {
    /// `s`.
    secret: Secret<C::Row>,
    chosen: Columns,
    code: C,
    hash: RowHash,
}

impl<C: Code> Party for Sender<C> {
    type Params = Params;
    type Input = Evaluations;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.request.instances == 0 {
            return Ok(Self { params: *params, base: None });
        }
        let base = ch.reversed(|ch| ot_extension::receiver(&params.base(), ch, rng))?;
        let within: C::Row = ones(params.width);
        let base = Base {
            secret: Secret::new(C::Row::of(|q| base.bits.get(q).copied().unwrap_or(0) & within.blocks()[q])),
            chosen: Columns::new(base.chosen(params.width).iter().copied()),
            code: code_of(base.binding, params)?,
            hash: RowHash::new(base.binding, params),
        };
        Ok(Self { params: *params, base: Some(base) })
    }

    fn run(self, input: Evaluations, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        input.check(&self.params.request)?;
        let functions = self.functions(ch, rng)?;
        let _phase = ch.phase(Phase::OtExtension);
        Ok(functions.evaluate(&input))
    }
}

impl<C: Code> Sender<C> {
    /// All functions, for a caller that evaluates them part by part.
    ///
    /// # Errors
    /// If the receiver's corrections do not come, or do not pass the check of the malicious mode.
    pub fn functions(self, ch: &mut Channel, rng: &mut SecretRng) -> Result<Functions<C>, Abort> {
        let Self { params, base } = self;
        let mut functions = Functions { params, base, first: 0, pieces: Vec::new() };
        let Some(base) = &functions.base else { return Ok(functions) };
        let _phase = ch.phase(Phase::OtExtension);
        for first in (0..params.rows()).step_by(ROWS_PER_PIECE) {
            // Not before: until here the peer has sent nothing of them.
            functions.pieces.push(base.receive_rows(&params, first, ch)?);
        }
        if params.is_checked() {
            // Steps 2 and 3.
            check::challenge(&params, &base.code, &base.secret, &functions.pieces, ch, rng)?;
            // What was for the check alone is nobody's function.
            let instances = params.request.instances;
            functions.pieces.truncate(instances.div_ceil(ROWS_PER_PIECE));
            let before_last = functions.pieces.len().saturating_sub(1) * ROWS_PER_PIECE;
            if let Some(last) = functions.pieces.last_mut() {
                last.truncate(instances - before_last);
            }
        }
        Ok(functions)
    }

    /// The functions of some instances at a time, in order, while the corrections come; of all
    /// instances at once in the malicious mode, when the check has passed.
    ///
    /// # Errors
    /// As [`functions`](Self::functions).
    pub fn functions_in_parts(
        self,
        mut take: impl FnMut(Range<usize>, &Functions<C>),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let instances = self.params.request.instances;
        if self.params.is_checked() {
            let functions = self.functions(ch, rng)?;
            let _phase = ch.phase(Phase::OtExtension);
            if instances > 0 {
                take(0..instances, &functions);
            }
            return Ok(());
        }
        let Self { params, base } = self;
        let mut functions = Functions { params, base, first: 0, pieces: Vec::new() };
        let _phase = ch.phase(Phase::OtExtension);
        for first in (0..instances).step_by(ROWS_PER_PIECE) {
            let Some(base) = &functions.base else { break };
            functions.pieces = vec![base.receive_rows(&params, first, ch)?];
            functions.first = first;
            take(first..instances.min(first + ROWS_PER_PIECE), &functions);
        }
        Ok(())
    }
}

impl<C: Code> Functions<C> {
    /// The functions' values. All evaluations of a run together are as many as agreed.
    ///
    /// # Panics
    /// If there is not an instance for each key, an instance is none of these functions', or a key is
    /// wider than agreed.
    pub fn evaluate(&self, input: &Evaluations) -> PrfOutputs {
        let Self { params, base, first, pieces } = self;
        let mut outputs = PrfOutputs { values: vec![0; input.keys.len() * params.request.blocks] };
        let Some(base) = base else {
            assert!(input.keys.is_empty(), "no functions are there to evaluate");
            return outputs;
        };
        let widest = input.keys.iter().fold(0, |all, key| all | key);
        assert!(widest & !params.key_mask() == 0, "keys of the agreed width");
        let mut inputs = Secret::new(vec![C::Row::of(|_| 0); ROWS_PER_PIECE.min(input.keys.len())]);
        for (part, keys) in input.keys.chunks(ROWS_PER_PIECE).enumerate() {
            let (start, inputs) = (part * ROWS_PER_PIECE, &mut inputs[..keys.len()]);
            let instances = &input.instances[start..][..keys.len()];
            let strips = keys
                .par_chunks(ROWS_PER_STRIP)
                .zip(instances.par_chunks(ROWS_PER_STRIP))
                .zip(inputs.par_chunks_mut(ROWS_PER_STRIP));
            strips.for_each(|((keys, instances), inputs)| {
                base.code.words(keys, |i, word| {
                    let number = instances[i] as usize - first;
                    let row = &pieces[number / ROWS_PER_PIECE][number % ROWS_PER_PIECE];
                    inputs[i] = C::Row::of(|q| row.blocks()[q] ^ word.blocks()[q] & base.secret.blocks()[q]);
                });
            });
            for (block, out) in outputs.values.chunks_mut(input.keys.len()).enumerate() {
                let strips = inputs
                    .par_chunks(ROWS_PER_STRIP)
                    .zip(instances.par_chunks(ROWS_PER_STRIP))
                    .zip(out[start..][..keys.len()].par_chunks_mut(ROWS_PER_STRIP));
                strips.for_each(|((inputs, instances), out)| base.hash.hash(block, inputs, |i| instances[i], out));
            }
        }
        outputs
    }
}

impl<C: Code> Base<C> {
    /// Step 1: `q_i` of the next instances from `first` on, up to [`ROWS_PER_PIECE`].
    fn receive_rows(&self, params: &Params, first: usize, ch: &mut Channel) -> Result<Secret<Vec<C::Row>>, Abort> {
        let (row_bytes, count) = (params.row_bytes(), ROWS_PER_PIECE.min(params.rows() - first));
        let mut corrections = vec![0; count * row_bytes];
        ch.recv_stream::<Corrections<C>>(&mut corrections)?;
        let mut rows = Secret::new(vec![C::Row::of(|_| 0); count]);
        let strips = rows.par_chunks_mut(ROWS_PER_STRIP).zip(corrections.par_chunks(ROWS_PER_STRIP * row_bytes));
        strips.enumerate().for_each(|(strip, (rows, corrections))| {
            self.chosen.rows(first + strip * ROWS_PER_STRIP, rows);
            for (row, bytes) in rows.iter_mut().zip(corrections.chunks_exact(row_bytes)) {
                let mut correction = C::Row::of(|_| 0);
                bytemuck::bytes_of_mut(&mut correction)[..row_bytes].copy_from_slice(bytes);
                *row = C::Row::of(|q| row.blocks()[q] ^ correction.blocks()[q] & self.secret.blocks()[q]);
            }
        });
        Ok(rows)
    }
}
