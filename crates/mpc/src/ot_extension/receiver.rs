//! The right column of the figure: gets `u` and `V`.

use std::ops::Range;

use vesica_kernels::xor::xor_into;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Value;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::check::UniversalHash;
use super::columns::{Columns, narrow, narrow_digits};
use super::correlation_hash::CorrelationHash;
use super::leaves::{SHAPE, TREES_LABEL, leaf_tags, sum_streams, tag_sum, tags_digest};
use super::messages::{Answer, Challenge, Corrections, TagSums, TreeSums};
use super::params::{CHUNK_BITS, CHUNKS, LEAVES, OtParams, Params, count_blocks};
use super::sender::levels;
use crate::base_ot;
use crate::binding::Binding;
use crate::pprf::{Tree, generators};
use crate::tasks::OtChosen;

/// The receiver's side of the correlation.
#[derive(Debug)]
pub struct ReceiverCorrelation {
    /// `u`, in blocks of 128 bits.
    pub bits: Secret<Vec<u128>>,
    /// `V`.
    pub columns: Columns,
    /// What the hashes of this run are bound to.
    pub binding: Binding,
}

impl ReceiverCorrelation {
    /// The chosen blocks of the correlation as `len` random OTs, whose choices are
    /// [`bits`](Self::bits).
    pub fn chosen(&self, len: usize) -> Secret<Vec<u128>> {
        let rows = self.columns.rows(0..len.div_ceil(128));
        let mut chosen = CorrelationHash::new(self.binding).hash(&rows);
        chosen.truncate(len);
        Secret::new(chosen)
    }

    /// VOLE over `B`: the values whose shares are [`Columns::elements`] of the same blocks and
    /// width.
    pub fn elements<B: Value>(&self, range: Range<usize>, width: u32) -> Secret<Vec<B>> {
        narrow(&self.bits[range], width)
    }

    /// VOLE over values of `width` bits: those whose shares are [`Columns::digits`] of the same
    /// blocks.
    pub fn digits(&self, range: Range<usize>, width: u32) -> Secret<Vec<u8>> {
        narrow_digits(&self.bits[range], width)
    }
}

/// Makes the receiver's side.
///
/// # Errors
/// If the channel fails, or the peer does not follow the protocol.
pub fn receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<ReceiverCorrelation, Abort> {
    let mut trees = ReceiverTrees::setup(params.checked(), ch, rng)?;
    let blocks = params.blocks_made();
    let (bits, columns) = trees.next_columns(blocks, ch)?;
    let binding = trees.binding;

    if params.checked() {
        let _phase = ch.phase(Phase::Check);
        // Step 4.
        let Challenge(chi) = ch.recv(())?;
        // Step 5.
        let hash = UniversalHash::new(chi, blocks);
        let hashes = (0..128).map(|n| hash.hash(columns.column(n))).collect();
        ch.send(&Answer { bits: hash.hash(&bits), columns: hashes })?;
    }
    Ok(ReceiverCorrelation { bits, columns, binding })
}

/// The receiver's small trees. Bits and columns come out of them part by part, each part once.
pub(crate) struct ReceiverTrees {
    /// What the hashes of this run are bound to.
    pub binding: Binding,
    leaves: Secret<Vec<u128>>,
    /// Blocks of each column that were made.
    made: u64,
}

impl ReceiverTrees {
    /// Plants the defect that tests look for: the next part uses all counters again.
    #[cfg(test)]
    pub fn rewind(&mut self) {
        self.made = 0;
    }

    /// Base OTs, step 1, and step 2 if it is `checked`.
    pub fn setup(checked: bool, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let (pads, binding) = ch.reversed(|ch| base_ot::send(128, ch, rng))?;

        let _phase = ch.phase(Phase::OtExtension);
        // Step 1.
        let mut leaves = Secret::new(vec![0; CHUNKS * LEAVES]);
        let mut sums = vec![[0; 2]; CHUNKS * SHAPE.sums()];
        let mut tree = Tree::new(SHAPE);
        let trees = leaves.chunks_exact_mut(LEAVES).zip(sums.chunks_exact_mut(SHAPE.sums()));
        for ((j, (leaves, sums)), prg) in trees.enumerate().zip(generators(binding, TREES_LABEL)) {
            tree.expand(&prg, pads[(j + 1) * CHUNK_BITS - 1], leaves, sums);
            for ((_, n), pair) in levels(j).skip(1).zip(sums) {
                *pair = [pair[0] ^ pads[n][0], pair[1] ^ pads[n][1]];
            }
        }
        ch.send(&TreeSums(sums))?;

        // Step 2.
        if checked {
            let tags = leaf_tags(binding, &leaves);
            let sums = tags.chunks_exact(LEAVES).map(tag_sum).collect();
            ch.send(&TagSums { sums, digest: tags_digest(binding, &tags) })?;
        }
        Ok(Self { binding, leaves, made: 0 })
    }

    /// Step 3 for the next `blocks` of each column: `u` and `V`.
    pub fn next_columns(&mut self, blocks: usize, ch: &mut Channel) -> Result<(Secret<Vec<u128>>, Columns), Abort> {
        let made = count_blocks(self.made, blocks)?;
        let _phase = ch.phase(Phase::OtExtension);
        let mut columns = Columns::none(blocks);
        let mut bits = Secret::new(vec![0; blocks]);
        for j in 0..CHUNKS {
            let mut own = Secret::new(vec![0; blocks]);
            sum_streams(&self.leaves[j * LEAVES..][..LEAVES], 0, self.made, &mut own, columns.next_chunk());
            if j == 0 {
                bits = own;
            } else {
                xor_into(&mut own, &bits);
                ch.send_stream::<Corrections>(&own)?;
            }
        }
        self.made = made;
        Ok((bits, columns))
    }
}

/// Bit `i` of a vector of blocks.
pub fn bit(bits: &[u128], i: usize) -> bool {
    bits[i / 128] >> (i % 128) & 1 == 1
}

/// The receiver of random OTs, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(OtChosen);

impl Party for Receiver {
    type Params = OtParams;
    type Input = ();
    type Output = OtChosen;

    fn setup(params: &OtParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = receiver(&params.correlation, ch, rng)?;
        let choices = (0..params.len).map(|i| bit(&base.bits, i)).collect();
        Ok(Self(OtChosen { choices, chosen: base.chosen(params.len).clone() }))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtChosen, Abort> {
        Ok(self.0)
    }
}
