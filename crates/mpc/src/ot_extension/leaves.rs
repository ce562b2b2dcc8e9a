//! From the leaves of a small tree to its columns.

use vesica_kernels::aes::Aes128;
use vesica_kernels::xor::{fold_rows, xor_into};
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::params::{CHUNK_BITS, LEAVES};
use crate::binding::Binding;
use crate::pprf::TreeShape;

/// Blocks of every leaf's stream that are summed at a time, so that the 256 leaves' shares stay in
/// cache.
const BLOCKS_PER_STRIP: usize = 16;

/// A leaf's tag for the consistency check of the trees.
pub(super) type Tag = [u128; 2];

/// The shape of a small tree.
pub(super) const SHAPE: TreeShape = TreeShape { leaves: LEAVES };

/// What the keys of the trees are derived by.
pub(super) const TREES_LABEL: &str = "ggm";

/// With `r_x` the stream of `leaves[x ^ puncture]` from block `first` on: adds `sum r_x` to `all`,
/// and to column `i` of `columns` the sum over `x` with bit `i` set.
///
/// The columns do not depend on leaf `puncture`, which may be anything; `all` does.
pub(super) fn sum_streams(leaves: &[u128], puncture: usize, first: u64, all: &mut [u128], columns: &mut [u128]) {
    let blocks = all.len();
    let streams: Vec<Aes128> = (0..LEAVES).map(|x| Aes128::new(leaves[x ^ puncture])).collect();
    let mut buffer = vec![0u128; LEAVES * BLOCKS_PER_STRIP];
    for start in (0..blocks).step_by(BLOCKS_PER_STRIP) {
        let strip = BLOCKS_PER_STRIP.min(blocks - start);
        let buffer = &mut buffer[..LEAVES * strip];
        for (stream, part) in streams.iter().zip(buffer.chunks_exact_mut(strip)) {
            stream.ctr(u128::from(first) + start as u128, part);
        }
        // Folds the upper half, whose numbers have bit i set, onto the lower.
        for i in (0..CHUNK_BITS).rev() {
            let (lower, upper) = buffer[..strip << (i + 1)].split_at_mut(strip << i);
            let column = &mut columns[i * blocks + start..][..strip];
            fold_rows(lower, upper, column);
        }
        xor_into(&mut all[start..start + strip], &buffer[..strip]);
    }
    buffer.zeroize();
}

/// The tag of every leaf: a hash, as nobody may find two leaves of one tag (a block cipher under
/// the leaf as key does not promise that).
pub(super) fn leaf_tags(binding: Binding, leaves: &[u128]) -> Secret<Vec<Tag>> {
    let (mut low, mut high) = (Secret::new(vec![0; leaves.len()]), Secret::new(vec![0; leaves.len()]));
    binding.digests("leaf tag", leaves, &mut low, &mut high);
    Secret::new(low.iter().zip(high.iter()).map(|(&low, &high)| [low, high]).collect())
}

pub(super) fn tag_sum(tags: &[Tag]) -> Tag {
    tags.iter().fold([0; 2], |sum, tag| [sum[0] ^ tag[0], sum[1] ^ tag[1]])
}

/// The hash of all tags of all trees.
pub(super) fn tags_digest(binding: Binding, tags: &[Tag]) -> [u8; 32] {
    binding.digest("leaf tags", &[bytemuck::cast_slice(tags)])
}
