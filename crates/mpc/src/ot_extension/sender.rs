//! The left column of the figure: gets `delta` and `W = V + delta u`.

use subtle::{Choice, ConstantTimeEq};
use vesica_party::{Abort, Channel, Message, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::check::UniversalHash;
use super::columns::Columns;
use super::correlation_hash::CorrelationHash;
use super::leaves::{SHAPE, TREES_LABEL, leaf_tags, sum_streams, tag_sum, tags_digest};
use super::messages::{Answer, Challenge, Corrections, TagSums, TreeSums};
use super::params::{CHUNK_BITS, CHUNKS, LEAVES, OtParams, Params, count_blocks};
use crate::base_ot;
use crate::binding::Binding;
use crate::pprf::{Tree, generators};
use crate::tasks::OtPairs;

/// The sender's side of the correlation.
#[derive(Debug)]
pub struct SenderCorrelation {
    /// Bit `n` belongs to column `n`.
    pub delta: Secret<u128>,
    /// `W`.
    pub columns: Columns,
    /// What the hashes of this run are bound to.
    pub binding: Binding,
}

impl SenderCorrelation {
    /// The correlation as `len` random OTs.
    pub fn pairs(&self, len: usize) -> OtPairs {
        let mut rows = self.columns.rows(0..len.div_ceil(128));
        CorrelationHash::new(self.binding).pairs(&mut rows[..len], *self.delta)
    }
}

/// Makes the sender's side.
///
/// # Errors
/// If the channel fails, or the peer does not follow the protocol.
pub fn sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<SenderCorrelation, Abort> {
    let mut trees = SenderTrees::setup(params.checked(), ch, rng)?;
    let blocks = params.blocks_made();
    let columns = trees.next_columns(blocks, ch)?;
    let SenderTrees { delta, binding, .. } = trees;

    if params.checked() {
        let _phase = ch.phase(Phase::Check);
        // Step 4.
        let chi = rng.block();
        ch.send(&Challenge(chi))?;
        // Step 5.
        let answer: Answer = ch.recv(())?;
        let hash = UniversalHash::new(chi, blocks);
        let wrong = (0..128).fold(0, |wrong, n| {
            let expected = answer.columns[n] ^ (answer.bits & (*delta >> n & 1).wrapping_neg());
            wrong | (hash.hash(columns.column(n)) ^ expected)
        });
        if wrong != 0 {
            return Err(Abort::PeerMisbehaved(Answer::STEP, "the corrections are not consistent"));
        }
    }
    Ok(SenderCorrelation { delta, columns, binding })
}

/// The sender's small trees. Columns come out of them part by part, each part once.
pub(crate) struct SenderTrees {
    /// Bit `n` belongs to column `n`.
    pub delta: Secret<u128>,
    /// What the hashes of this run are bound to.
    pub binding: Binding,
    leaves: Secret<Vec<u128>>,
    /// The leaf of each tree that this side lacks.
    points: Secret<Vec<usize>>,
    /// Blocks of each column that were made.
    made: u64,
}

impl SenderTrees {
    /// Plants the defect that tests look for: the next part uses all counters again.
    #[cfg(test)]
    pub fn rewind(&mut self) {
        self.made = 0;
    }

    /// Base OTs, step 1, and step 2 if it is `checked`.
    pub fn setup(checked: bool, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // In a tree the node that turns away from the path is on side NOT delta: that is the pad to choose.
        let choices = Secret::new(rng.block());
        let delta = Secret::new(!*choices);
        let choice_bits = (0..128).map(|n| Choice::from((*choices >> n & 1) as u8));
        let (pads, binding) = ch.reversed(|ch| base_ot::receive(choice_bits, ch, rng))?;

        let _phase = ch.phase(Phase::OtExtension);
        // Step 1.
        let TreeSums(sums) = ch.recv(())?;
        let points: Secret<Vec<usize>> = Secret::new((0..CHUNKS).map(|j| chunk(*delta, j)).collect());
        let mut leaves = Secret::new(vec![0; CHUNKS * LEAVES]);
        let mut away = Secret::new(vec![0; SHAPE.sums()]);
        let mut tree = Tree::new(SHAPE);
        let trees = leaves.chunks_exact_mut(LEAVES).zip(sums.chunks_exact(SHAPE.sums()));
        for ((j, (leaves, sums)), prg) in trees.enumerate().zip(generators(binding, TREES_LABEL)) {
            for (((_, n), pair), away) in levels(j).skip(1).zip(sums).zip(away.iter_mut()) {
                *away = pads[n] ^ select(pair, *choices >> n & 1);
            }
            tree.expand_punctured(&prg, points[j], pads[(j + 1) * CHUNK_BITS - 1], &away, leaves);
        }

        // Step 2.
        if checked {
            let TagSums { sums, digest } = ch.recv(())?;
            let mut tags = leaf_tags(binding, &leaves);
            for (j, tags) in tags.chunks_exact_mut(LEAVES).enumerate() {
                tags[points[j]] = sums[j];
                tags[points[j]] = tag_sum(tags);
            }
            if !bool::from(tags_digest(binding, &tags).ct_eq(&digest)) {
                return Err(Abort::PeerMisbehaved(TagSums::STEP, "the small trees are not consistent"));
            }
        }
        Ok(Self { delta, binding, leaves, points, made: 0 })
    }

    /// Step 3 for the next `blocks` of each column.
    pub fn next_columns(&mut self, blocks: usize, ch: &mut Channel) -> Result<Columns, Abort> {
        let made = count_blocks(self.made, blocks)?;
        let _phase = ch.phase(Phase::OtExtension);
        let mut columns = Columns::none(blocks);
        let mut unused = Secret::new(vec![0; blocks]);
        let mut correction = vec![0u128; blocks];
        for j in 0..CHUNKS {
            let chunk = columns.next_chunk();
            sum_streams(&self.leaves[j * LEAVES..][..LEAVES], self.points[j], self.made, &mut unused, chunk);
            if j == 0 {
                continue;
            }
            ch.recv_stream::<Corrections>(&mut correction)?;
            for (n, column) in (j * CHUNK_BITS..).zip(chunk.chunks_exact_mut(blocks.max(1))) {
                let mask = (*self.delta >> n & 1).wrapping_neg();
                for (block, correction) in column.iter_mut().zip(&correction) {
                    *block ^= correction & mask;
                }
            }
        }
        self.made = made;
        Ok(columns)
    }
}

/// The element of `pair` that `choice`, 0 or 1, names.
fn select(pair: &[u128; 2], choice: u128) -> u128 {
    pair[0] ^ ((pair[0] ^ pair[1]) & choice.wrapping_neg())
}

/// Chunk `j` of `delta`: the leaf at which tree `j` is punctured.
fn chunk(delta: u128, j: usize) -> usize {
    (delta >> (j * CHUNK_BITS)) as usize % LEAVES
}

/// The levels of tree `j` from the top, each with its base OT: the top level decides the highest
/// bit of the chunk.
pub(super) fn levels(j: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..=CHUNK_BITS).map(move |level| (level, (j + 1) * CHUNK_BITS - level))
}

/// The sender of random OTs, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(OtPairs);

impl Party for Sender {
    type Params = OtParams;
    type Input = ();
    type Output = OtPairs;

    fn setup(params: &OtParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(sender(&params.correlation, ch, rng)?.pairs(params.len)))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtPairs, Abort> {
        Ok(self.0)
    }
}
