//! Both sides' local work for one product, on the planes of a piece.
//!
//! The inputs are `u_i = s_i + t_i`, of which the owner has `s_i` and the chooser `t_i`. The
//! chooser sends `d = t + c`, the owner sets `z = s + d`, so that `u_i = z_i + c_i` and the product
//! is `sum over S of (product of z_i, i not in S) c^S`. The owner corrects each `a_S` but `a_0` to
//! that: the chooser's share is `p(c) + sum over S not empty of e_S c^S`, the owner's `a_0 +
//! product of all z_i`.

use std::array;
use std::ops::Range;

use super::params::Group;

/// A plane's words of a piece.
type Planes<'a> = &'a [Vec<u64>];

/// The owner's share, and into `corrections` the planes that it sends. `inputs` and `masked` are
/// planes of the piece one after the other.
pub(super) fn own(
    group: Group,
    coefficients: Planes<'_>,
    words: Range<usize>,
    inputs: &[u64],
    masked: &[u64],
    corrections: &mut [u64],
    share: &mut [u64],
) {
    match group.inputs {
        2 => own_n::<2>(group, coefficients, words, inputs, masked, corrections, share),
        3 => own_n::<3>(group, coefficients, words, inputs, masked, corrections, share),
        4 => own_n::<4>(group, coefficients, words, inputs, masked, corrections, share),
        _ => share.copy_from_slice(inputs),
    }
}

/// The chooser's share from its own `inputs` and the owner's `corrections`.
pub(super) fn choose(
    group: Group,
    evaluations: Planes<'_>,
    words: Range<usize>,
    inputs: &[u64],
    corrections: &[u64],
    share: &mut [u64],
) {
    match group.inputs {
        2 => choose_n::<2>(group, evaluations, words, inputs, corrections, share),
        3 => choose_n::<3>(group, evaluations, words, inputs, corrections, share),
        4 => choose_n::<4>(group, evaluations, words, inputs, corrections, share),
        _ => share.copy_from_slice(inputs),
    }
}

/// The products of all subsets of the factors.
fn products<const K: usize>(factors: [u64; K]) -> [u64; 16] {
    let mut products = [u64::MAX; 16];
    for set in 1..1 << K {
        products[set] = products[set & (set - 1)] & factors[set.trailing_zeros() as usize];
    }
    products
}

fn own_n<const K: usize>(
    group: Group,
    coefficients: Planes<'_>,
    words: Range<usize>,
    inputs: &[u64],
    masked: &[u64],
    corrections: &mut [u64],
    share: &mut [u64],
) {
    let len = words.len();
    let all = (1 << K) - 1;
    for (i, word) in words.enumerate() {
        let products = products::<K>(array::from_fn(|j| inputs[j * len + i] ^ masked[j * len + i]));
        let corrected = (1..=all).filter(|&set| group.corrects(set));
        for (place, set) in corrected.enumerate() {
            corrections[place * len + i] = products[all ^ set] ^ coefficients[set][word];
        }
        share[i] = products[all] ^ coefficients[0][word];
    }
}

fn choose_n<const K: usize>(
    group: Group,
    evaluations: Planes<'_>,
    words: Range<usize>,
    inputs: &[u64],
    corrections: &[u64],
    share: &mut [u64],
) {
    let len = words.len();
    let all = (1 << K) - 1;
    for (i, word) in words.enumerate() {
        let point: [u64; K] = array::from_fn(|j| evaluations[j][word]);
        let products = products::<K>(point);
        let mut sum = evaluations[K][word];
        let mut place = 0;
        for (set, monomial) in products[..=all].iter().enumerate().skip(1) {
            let correction = if group.corrects(set) {
                place += 1;
                corrections[(place - 1) * len + i]
            } else {
                // The coefficient is the owner's input s_j, and the factor s_j + d_j: what is left is d_j.
                let j = (all ^ set).trailing_zeros() as usize;
                inputs[j * len + i] ^ point[j]
            };
            sum ^= correction & monomial;
        }
        share[i] = sum;
    }
}
