//! The attack on Figure 16 (circuit PSI), whose tags are never sent: what repeats within a bin
//! gives them away.
//!
//! For a key `t = H(x || j, r)` in bin `i` the hint `P` holds `t'_x ^ (r_i || payload_x ^ tau_i)`.
//! With `s` the receiver computes `t'_x` of any `x`, and takes it off. All of the sender's items of
//! a bin then show the same `r_i`; anything else shows random bits. To find `s`: the receiver's own
//! item of the bin shows `r_i` without any guess if it is common, so a guess is right that makes
//! another candidate show the same.

use rayon::prelude::*;
use vesica_papers::circuit_psi::ltsxq26::{BinsView, View};
use vesica_structures::fields::Gf128;

use super::play::PAYLOAD_BITS;
use super::{BLOCK, Line, STEPS, Secret, lines_of, recover, sweep};

/// What a key shows below the hint: `r_i`, and the payload under `tau_i`.
#[derive(Clone, Copy)]
struct Shown {
    tag: u64,
    payload: u64,
}

/// What came of the attack.
pub struct Outcome {
    /// What is known of `s`.
    pub secret: Secret,
    /// Items of the dictionary that are the sender's, ascending: those that share at least one of
    /// their bins with another one.
    pub found: Vec<usize>,
    /// The payload of each, up to a constant of its group, and the group. Groups are ordered by
    /// size: nearly all items are in group 0.
    pub payloads: Vec<(u64, u32)>,
}

impl Outcome {
    /// Items of group 0, and for how many of them the payload is `truth` up to one constant.
    pub fn judge_payloads(&self, truth: impl Fn(usize) -> u64) -> (usize, usize) {
        let first = self.found.iter().zip(&self.payloads).filter(|(_, (_, group))| *group == 0);
        let differences: Vec<u64> = first.map(|(&i, (payload, _))| payload ^ truth(i)).collect();
        let constant = differences.get(differences.len() / 2);
        (differences.len(), differences.iter().filter(|&difference| Some(difference) == constant).count())
    }
}

/// The attack by a receiver that followed the protocol with the items `own`.
pub fn circuit(
    view: &BinsView,
    own: &[u128],
    dictionary: &[u128],
    budget: u64,
    mut ended: impl FnMut(&'static str),
) -> Outcome {
    let places: Vec<(u32, u128)> = sweep(dictionary, |items| view.places(items).into_flattened());
    let keys: Vec<u128> = places.par_iter().map(|&(_, key)| key).collect();
    let lines = sweep(&keys, |keys| lines_of(&view.opprf.oprf, keys));
    let hinted = sweep(&keys, |keys| hinted(view, keys));
    ended(STEPS[0]);

    let own = own_tags(view, own);
    let tag_of = |i: usize| own[places[i].0 as usize];
    // There is nothing to check a guess by in a bin where the receiver has no item.
    let guessable: Vec<Line> = (0..lines.len()).map(|i| tag_of(i).map_or(Line::default(), |_| lines[i])).collect();
    let is_right = |i: usize, inputs: &[u128]| {
        let tag = tag_of(i)?;
        let same = inputs.len();
        show(view, &vec![keys[i]; same], &vec![hinted[i]; same], inputs).iter().position(|shown| shown.tag == tag)
    };
    let secret = recover(width(view), &guessable, budget, is_right);
    ended(STEPS[1]);

    let blocks = keys.par_chunks(BLOCK).zip(hinted.par_chunks(BLOCK)).zip(lines.par_chunks(BLOCK));
    let shown = blocks.flat_map_iter(|((keys, hinted), lines)| {
        let inputs: Vec<u128> = lines.iter().map(|line| line.a ^ (line.delta & secret.bits)).collect();
        show(view, keys, hinted, &inputs)
    });
    let shown: Vec<Shown> = shown.collect();
    let repeats = repeats(&places, &shown);
    let (found, payloads) = join(&repeats, view.items.len());
    ended(STEPS[2]);
    Outcome { secret, found, payloads }
}

/// `l`: bits of `s`.
pub fn width(view: &BinsView) -> u32 {
    view.opprf.params.oprf.width as u32
}

/// What the hint holds at each key.
fn hinted(view: &BinsView, keys: &[u128]) -> Vec<Gf128> {
    view.opprf.hinted(0, keys).expect("sizes of the run")
}

/// What each key shows with its tag input.
fn show(view: &BinsView, keys: &[u128], hinted: &[Gf128], inputs: &[u128]) -> Vec<Shown> {
    let View { params, .. } = &view.opprf;
    let (width, tag_bits) = (params.output_bits, params.output_bits - PAYLOAD_BITS);
    assert!(width <= 128, "r_i and payload in one block: {width} bits");
    let inputs: Vec<Gf128> = inputs.iter().copied().map(Gf128).collect();
    let values = view.opprf.shown(0, keys, hinted, &inputs);
    let parts =
        |value: u128| Shown { tag: value as u64 & (u64::MAX >> (64 - tag_bits)), payload: (value >> tag_bits) as u64 };
    values.into_iter().map(parts).collect()
}

/// What the receiver's own key of each bin shows, if the bin has one; its `delta` is zero.
fn own_tags(view: &BinsView, items: &[u128]) -> Vec<Option<u64>> {
    let places = view.places(items);
    let key = |(bin, item): (usize, &Option<u32>)| {
        places[(*item)? as usize].iter().find(|place| place.0 as usize == bin).map(|place| place.1)
    };
    let keys: Vec<Option<u128>> = view.items.iter().enumerate().map(key).collect();
    let full: Vec<u128> = keys.iter().flatten().copied().collect();
    let inputs: Vec<u128> = lines_of(&view.opprf.oprf, &full).iter().map(|line| line.a).collect();
    let mut shown = show(view, &full, &hinted(view, &full), &inputs).into_iter();
    keys.iter().map(|key| key.and_then(|_| shown.next()).map(|shown| shown.tag)).collect()
}

/// An item of the sender in one of its bins.
struct Repeat {
    bin: u32,
    item: u32,
    payload: u64,
}

/// The places whose tag shows up again in the same bin.
fn repeats(places: &[(u32, u128)], shown: &[Shown]) -> Vec<Repeat> {
    let mut by_tag: Vec<(u32, u64, u32)> = (0..places.len()).map(|i| (places[i].0, shown[i].tag, i as u32)).collect();
    by_tag.par_sort_unstable();
    let same = |a: &(u32, u64, u32), b: &(u32, u64, u32)| (a.0, a.1) == (b.0, b.1);
    let groups = by_tag.chunk_by(same).filter(|group| group.len() > 1);
    groups.flatten().map(|&(bin, _, i)| Repeat { bin, item: i / 3, payload: shown[i as usize].payload }).collect()
}

/// The items, and their payloads relative to one another. An item in two bins relates the bins'
/// `tau`: payload ^ tau_i in one and payload ^ tau_j in the other.
fn join(repeats: &[Repeat], bins: usize) -> (Vec<usize>, Vec<(u64, u32)>) {
    let mut sorted: Vec<&Repeat> = repeats.iter().collect();
    sorted.sort_unstable_by_key(|repeat| repeat.item);
    let items: Vec<&[&Repeat]> = sorted.chunk_by(|a, b| a.item == b.item).collect();
    let mut taus = Differences::new(bins);
    for places in &items {
        for place in &places[1..] {
            taus.relate(places[0].bin, place.bin, places[0].payload ^ place.payload);
        }
    }
    let rooted: Vec<(u64, u32)> =
        items.iter().map(|places| taus.root(places[0].bin)).map(|(root, tau)| (tau, root)).collect();
    let mut sizes = std::collections::HashMap::new();
    rooted.iter().for_each(|&(_, root)| *sizes.entry(root).or_insert(0) += 1);
    let mut order: Vec<(u32, u32)> = sizes.iter().map(|(&root, &size)| (size, root)).collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    let ranks: std::collections::HashMap<u32, u32> =
        order.iter().zip(0..).map(|(&(_, root), rank)| (root, rank)).collect();
    let payloads = items.iter().zip(&rooted).map(|(places, (tau, root))| (places[0].payload ^ tau, ranks[root]));
    (items.iter().map(|places| places[0].item as usize).collect(), payloads.collect())
}

/// Known differences between unknown values: a forest, each node with its difference to its parent.
struct Differences(Vec<(u32, u64)>);

impl Differences {
    fn new(count: usize) -> Self {
        Self((0..count as u32).map(|i| (i, 0)).collect())
    }

    /// A node's root and the difference to it. Paths are halved on the way.
    fn root(&mut self, mut node: u32) -> (u32, u64) {
        let mut total = 0;
        loop {
            let (parent, difference) = self.0[node as usize];
            if parent == node {
                return (node, total);
            }
            let (above, more) = self.0[parent as usize];
            self.0[node as usize] = (above, difference ^ more);
            total ^= difference ^ more;
            node = above;
        }
    }

    fn relate(&mut self, a: u32, b: u32, difference: u64) {
        let ((a, to_a), (b, to_b)) = (self.root(a), self.root(b));
        if a != b {
            self.0[a as usize] = (b, to_a ^ difference ^ to_b);
        }
    }
}
