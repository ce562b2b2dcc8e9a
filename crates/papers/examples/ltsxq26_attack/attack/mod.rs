//! What the receiver of LTSXQ26 learns beyond its output: the sender's secret `s` and, with it, the
//! sender's set within a dictionary.
//!
//! The sender's tag input for `x` is `C(x) ^ (s & Decode(P, x))`. By `C(x) = A(x) ^ (s & D(x))`
//! that is
//!
//! ```text
//!     A(x) ^ (s & delta(x)),    delta(x) = D(x) ^ Decode(P, x).
//! ```
//!
//! The receiver has all `a_i`, `b_i` and `P`, so it computes `A(x)` and `delta(x)` of any `x`. It
//! does not know `s`, and needs only those bits of it that lie below the ones of `delta(x)`.
//!
//! Nothing in `psi` and `bins` sees the sender's input or secret: the receiver's view is all there
//! is. `play` runs the protocol to get one. docs/ltsxq26.md has the outcomes.

pub mod bins;
mod guess;
pub mod play;
pub mod scene;
mod tags;

use rayon::prelude::*;
use vesica_papers::psi::ltsxq26::oracle::Oracle;
use vesica_papers::psi::ltsxq26::{Variant, View};
use vesica_structures::fields::Gf128;

pub use guess::{Line, Secret, recover};
use tags::TagSet;

/// Rows whose strings have at most 128 bits: all broken ones.
pub trait Narrow: Variant<Oracle: Oracle<Bits = Gf128>> {}

impl<V: Variant<Oracle: Oracle<Bits = Gf128>>> Narrow for V {}

/// What came of an attack.
pub struct Outcome {
    /// What is known of `s`.
    pub secret: Secret,
    /// Which items of the dictionary are the sender's, ascending.
    pub found: Vec<usize>,
}

/// The steps of an attack: a caller that asks is told when each has ended.
pub const STEPS: [&str; 3] =
    ["A(x) and delta(x) of the dictionary", "the search for s", "the sender's function on the dictionary"];

/// Items that a thread takes at once.
const BLOCK: usize = 1 << 12;

/// The attack on Figure 14. `guess_from` are the candidates by which `s` is found: the whole
/// dictionary for a receiver that followed the protocol; its own set for one that flipped a bit of
/// each of its values (Figure 15), each of which then has one unknown bit.
pub fn psi<V: Narrow>(
    view: &View<V>,
    guess_from: Option<&[u128]>,
    dictionary: &[u128],
    budget: u64,
    mut ended: impl FnMut(&'static str),
) -> Outcome {
    let tags = TagSet::new(view.tags.clone());
    let lines = sweep(dictionary, |items| lines_of(view, items));
    ended(STEPS[0]);

    let width = view.params.width as u32;
    let is_right = |item: u128, inputs: &[u128]| {
        let inputs: Vec<Gf128> = inputs.iter().copied().map(Gf128).collect();
        view.tags_of(&inputs, &vec![item; inputs.len()]).iter().position(|&tag| tags.contains(tag))
    };
    let secret = match guess_from {
        None => recover(width, &lines, budget, |i, inputs| is_right(dictionary[i], inputs)),
        Some(own) => {
            recover(width, &sweep(own, |items| lines_of(view, items)), budget, |i, inputs| is_right(own[i], inputs))
        }
    };
    ended(STEPS[1]);
    let found = evaluate(view, &secret, &tags, dictionary, &lines);
    ended(STEPS[2]);
    Outcome { secret, found }
}

fn lines_of<V: Narrow>(view: &View<V>, items: &[u128]) -> Vec<Line> {
    let (a, delta) = view.a_and_delta(items).expect("sizes of a run");
    a.iter().zip(&delta).map(|(a, delta)| Line { a: a.0, delta: delta.0 }).collect()
}

/// A function of blocks of items over all items, on all threads.
fn sweep<T: Send>(items: &[u128], of: impl Fn(&[u128]) -> Vec<T> + Send + Sync) -> Vec<T> {
    items.par_chunks(BLOCK).flat_map_iter(of).collect()
}

/// The items whose tags the sender sent, among those of which all needed bits of `s` are known.
fn evaluate<V: Narrow>(
    view: &View<V>,
    secret: &Secret,
    tags: &TagSet,
    dictionary: &[u128],
    lines: &[Line],
) -> Vec<usize> {
    let blocks = dictionary.par_chunks(BLOCK).zip(lines.par_chunks(BLOCK)).enumerate();
    let found = blocks.flat_map_iter(|(block, (items, lines))| {
        let inputs: Vec<Gf128> = lines.iter().map(|line| Gf128(line.a ^ (line.delta & secret.bits))).collect();
        let sent = view.tags_of(&inputs, items);
        let is_known = |line: &Line| line.delta & !secret.known == 0;
        let members = (0..items.len()).filter(|&i| is_known(&lines[i]) && tags.contains(sent[i]));
        members.map(|i| block * BLOCK + i).collect::<Vec<_>>()
    });
    found.collect()
}
