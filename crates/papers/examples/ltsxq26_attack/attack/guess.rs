//! The search for `s`, from candidates in ascending order of what is unknown about them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

/// What the receiver computes for a candidate item: the sender's tag input for it is `a ^ (s &
/// delta)`.
#[derive(Clone, Copy, Default)]
pub struct Line {
    /// `A(x)`.
    pub a: u128,
    /// `D(x) ^ Decode(P, x)`: zero for the receiver's own items.
    pub delta: u128,
}

/// What is known of `s`, and what it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Secret {
    /// The known bits, zero elsewhere.
    pub bits: u128,
    /// Where bits are known.
    pub known: u128,
    /// Candidates that turned out to be the sender's.
    pub hits: u32,
    /// Outer hashes computed.
    pub guesses: u64,
}

/// Guesses that are tested at once: enough for hash functions to run side by side.
const BATCH: usize = 64;

/// Guesses of one candidate that one thread takes in a row, as a power of two.
const STRETCH: u32 = 12;

/// The first `width` bits of `s` as far as `lines` give them for at most `budget` guesses.
/// `is_right(i, inputs)` says which of these inputs, if any, is the one that the sender used for
/// candidate `i`.
///
/// A candidate with `u` unknown bits below its `delta` takes `2^u` guesses if it is one of the
/// sender's, and as many in vain if it is not. So the lightest come first; each hit makes all
/// others lighter.
pub fn recover(
    width: u32,
    lines: &[Line],
    budget: u64,
    is_right: impl Fn(usize, &[u128]) -> Option<usize> + Sync,
) -> Secret {
    let all = u128::MAX >> (128 - width);
    let guesses = AtomicU64::new(0);
    let mut secret = Secret::default();
    while secret.known != all {
        let weights: Vec<u8> = lines.par_iter().map(|line| (line.delta & !secret.known).count_ones() as u8).collect();
        let lightest_first = (1..=width).try_for_each(|weight| {
            let bucket: Vec<usize> =
                (0..lines.len()).into_par_iter().filter(|&i| u32::from(weights[i]) == weight).collect();
            match search(&bucket, weight, lines, &secret, (&guesses, budget), &is_right) {
                Some(end) => ControlFlow::Break(end),
                None => ControlFlow::Continue(()),
            }
        });
        let ControlFlow::Break(Ok((candidate, input))) = lightest_first else { break };
        let line = lines[candidate];
        secret.bits |= (input ^ line.a) & line.delta;
        secret.known |= line.delta;
        secret.hits += 1;
    }
    Secret { guesses: guesses.into_inner(), ..secret }
}

/// The budget is spent.
struct Spent;

/// A candidate of the bucket that is the sender's, and its tag input.
fn search(
    bucket: &[usize],
    weight: u32,
    lines: &[Line],
    secret: &Secret,
    (guesses, budget): (&AtomicU64, u64),
    is_right: &(impl Fn(usize, &[u128]) -> Option<usize> + Sync),
) -> Option<Result<(usize, u128), Spent>> {
    let stretch = weight.min(STRETCH);
    // What the budget is for ends long before 2^32 stretches of the first candidate.
    let stretches = (weight - stretch).min(32);
    (0..(bucket.len() as u64) << stretches).into_par_iter().find_map_any(|task| {
        let candidate = bucket[(task >> stretches) as usize];
        let line = lines[candidate];
        let unknown = line.delta & !secret.known;
        let known = line.a ^ (line.delta & secret.bits);
        // Subsets of the unknown bits in ascending order, from the one whose high part is the task's.
        let mut subset = deposit(u128::from(task & ((1 << stretches) - 1)) << stretch, unknown);
        let mut left = 1usize << stretch;
        let mut inputs = [0; BATCH];
        while left > 0 {
            if guesses.fetch_add(left.min(BATCH) as u64, Ordering::Relaxed) >= budget {
                return Some(Err(Spent));
            }
            let batch = &mut inputs[..left.min(BATCH)];
            for input in batch.iter_mut() {
                *input = known ^ subset;
                subset = subset.wrapping_sub(unknown) & unknown;
            }
            if let Some(at) = is_right(candidate, batch) {
                return Some(Ok((candidate, batch[at])));
            }
            left -= batch.len();
        }
        None
    })
}

/// The low bits of `value`, spread over the ones of `tag`.
fn deposit(value: u128, mut tag: u128) -> u128 {
    let mut spread = 0;
    let mut place = 0;
    while tag != 0 {
        let lowest = tag & tag.wrapping_neg();
        if value >> place & 1 == 1 {
            spread |= lowest;
        }
        tag ^= lowest;
        place += 1;
    }
    spread
}
