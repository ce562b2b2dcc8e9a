//! The trees of a run, a few at a time: expanded by as many threads as there are, sent or received
//! by one.

use rayon::prelude::*;
use vesica_kernels::aes::GgmPrg;
use vesica_party::{Abort, Channel};
use vesica_structures::fields::Gf128;
use vesica_structures::secret::Secret;

use super::messages::Trees;
use crate::binding::Binding;
use crate::ot_extension::CorrelationHash;
use crate::pprf::{Tree, TreeShape, generators};

/// Trees whose messages are sent at a time.
const TREES_PER_MESSAGE: usize = 8;

/// The label from which the keys of the trees are derived.
pub(super) const LABEL: &str = "silent ggm";

/// Leaves of trees for which it pays to wake another thread.
const LEAVES_PER_THREAD_TASK: usize = 1 << 10;

/// Trees a thread: results do not depend on it.
fn share(shape: TreeShape) -> usize {
    TREES_PER_MESSAGE
        .div_ceil(rayon::current_num_threads())
        .max(LEAVES_PER_THREAD_TASK.div_ceil(shape.leaves))
        .min(TREES_PER_MESSAGE)
}

/// Does `work` on each of a few jobs, on this thread if there is one only.
fn in_parallel<J: Send>(jobs: impl Iterator<Item = J>, work: impl Fn(J) + Send + Sync) {
    let mut jobs: Vec<J> = jobs.collect();
    match jobs.len() {
        1 => jobs.pop().into_iter().for_each(work),
        _ => jobs.into_par_iter().for_each(work),
    }
}

/// The two pads of each tree and level, tree after tree, from the rows of the OTs, flipped as the
/// receiver asks.
pub fn sender_pads(binding: Binding, delta: u128, mut rows: Secret<Vec<u128>>, flips: &[u8]) -> Secret<Vec<[u128; 2]>> {
    for (i, row) in rows.iter_mut().enumerate() {
        *row ^= delta & u128::from(flips[i / 8] >> (i % 8) & 1).wrapping_neg();
    }
    let hash = CorrelationHash::new(binding);
    let zeros = Secret::new(hash.hash(&rows));
    rows.iter_mut().for_each(|row| *row ^= delta);
    let ones = Secret::new(hash.hash(&rows));
    Secret::new(zeros.iter().zip(ones.iter()).map(|(&zero, &one)| [zero, one]).collect())
}

/// Where the OTs' random choices, the bits by number, are not what the paths to `points` need: a bit each, tree after tree.
pub fn flips(shape: TreeShape, points: &[usize], choice: impl Fn(usize) -> bool) -> Vec<u8> {
    let depth = shape.depth();
    let transfers = points.len() * depth;
    let mut flips = vec![0u8; transfers.div_ceil(8)];
    for i in 0..transfers {
        let flip = choice(i) ^ away(points[i / depth], depth, i % depth + 1);
        flips[i / 8] |= u8::from(flip) << (i % 8);
    }
    flips
}

/// The bit of a punctured tree's path at `level` (1 is the top), turned around: which pad the
/// receiver needs.
pub(super) fn away(point: usize, depth: usize, level: usize) -> bool {
    point >> (depth - level) & 1 == 0
}

/// All leaves; sends the trees' messages as they are expanded. `done` gets the leaves of a few
/// trees at a time, in order.
///
/// # Errors
/// If the channel fails.
pub fn send(
    shape: TreeShape,
    binding: Binding,
    (pads, values): (&[[u128; 2]], &[Gf128]),
    leaves: &mut [Gf128],
    ch: &mut Channel,
    mut done: impl FnMut(&mut [Gf128]),
) -> Result<(), Abort> {
    let depth = shape.depth();
    let share = share(shape);
    let mut workers: Vec<_> = (0..TREES_PER_MESSAGE.div_ceil(share))
        .map(|_| (Tree::new(shape), Secret::new(vec![[0; 2]; shape.sums()])))
        .collect();
    let mut generators = generators(binding, LABEL);
    let mut message = vec![0; TREES_PER_MESSAGE * shape.message_blocks()];
    let parts = leaves
        .chunks_mut(TREES_PER_MESSAGE * shape.leaves)
        .zip(pads.chunks(TREES_PER_MESSAGE * depth))
        .zip(values.chunks(TREES_PER_MESSAGE));
    for ((leaves, pads), values) in parts {
        let prgs: Vec<GgmPrg> = generators.by_ref().take(values.len()).collect();
        let message = &mut message[..values.len() * shape.message_blocks()];
        let jobs = leaves
            .chunks_mut(share * shape.leaves)
            .zip(message.chunks_mut(share * shape.message_blocks()))
            .zip(pads.chunks(share * depth).zip(values.chunks(share)).zip(prgs.chunks(share)))
            .zip(&mut workers);
        in_parallel(jobs, |(((leaves, message), ((pads, values), prgs)), (tree, sums))| {
            let outputs = leaves.chunks_exact_mut(shape.leaves).zip(message.chunks_exact_mut(shape.message_blocks()));
            for ((leaves, message), ((pads, value), prg)) in outputs.zip(pads.chunks_exact(depth).zip(values).zip(prgs))
            {
                let total = tree.expand(prg, pads[0], bytemuck::cast_slice_mut(leaves), sums);
                let (pairs, fix) = message.as_chunks_mut::<2>();
                for ((pair, sum), pad) in pairs.iter_mut().zip(sums.iter()).zip(&pads[1..]) {
                    *pair = [sum[0] ^ pad[0], sum[1] ^ pad[1]];
                }
                fix[0] = total ^ value.0;
            }
        });
        ch.send_stream::<Trees>(message)?;
        done(leaves);
    }
    Ok(())
}

/// `w = v + delta e` at every position, from the sender's trees as they arrive. `done` gets them as
/// that of [`send`] does.
///
/// # Errors
/// If the channel fails.
pub fn receive(
    shape: TreeShape,
    binding: Binding,
    (points, pads, values): (&[usize], &[u128], &[Gf128]),
    leaves: &mut [Gf128],
    ch: &mut Channel,
    mut done: impl FnMut(&mut [Gf128]),
) -> Result<(), Abort> {
    let depth = shape.depth();
    let share = share(shape);
    let mut workers: Vec<_> = (0..TREES_PER_MESSAGE.div_ceil(share))
        .map(|_| (Tree::new(shape), Secret::new(vec![0; shape.sums()])))
        .collect();
    let mut generators = generators(binding, LABEL);
    let mut message = vec![0; TREES_PER_MESSAGE * shape.message_blocks()];
    let parts = leaves.chunks_mut(TREES_PER_MESSAGE * shape.leaves).zip(pads.chunks(TREES_PER_MESSAGE * depth));
    for ((leaves, pads), (points, values)) in
        parts.zip(points.chunks(TREES_PER_MESSAGE).zip(values.chunks(TREES_PER_MESSAGE)))
    {
        let message = &mut message[..values.len() * shape.message_blocks()];
        ch.recv_stream::<Trees>(message)?;
        let prgs: Vec<GgmPrg> = generators.by_ref().take(values.len()).collect();
        let jobs = leaves
            .chunks_mut(share * shape.leaves)
            .zip(message.chunks(share * shape.message_blocks()))
            .zip(pads.chunks(share * depth).zip(points.chunks(share)))
            .zip(values.chunks(share).zip(prgs.chunks(share)))
            .zip(&mut workers);
        in_parallel(jobs, |((((leaves, message), (pads, points)), (values, prgs)), (tree, sums))| {
            let each = leaves.chunks_exact_mut(shape.leaves).zip(message.chunks_exact(shape.message_blocks()));
            let known = pads.chunks_exact(depth).zip(points).zip(values.iter().zip(prgs));
            for ((leaves, message), ((pads, &point), (&value, prg))) in each.zip(known) {
                let (pairs, fix) = message.as_chunks::<2>();
                for ((level, pair), sum) in (2..).zip(pairs).zip(sums.iter_mut()) {
                    *sum = pair[usize::from(away(point, depth, level))] ^ pads[level - 1];
                }
                let others = tree.expand_punctured(prg, point, pads[0], sums, bytemuck::cast_slice_mut(leaves));
                leaves[point] = Gf128(fix[0] ^ others) + value;
            }
        });
        done(leaves);
    }
    Ok(())
}
