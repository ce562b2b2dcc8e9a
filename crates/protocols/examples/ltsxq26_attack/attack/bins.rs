//! The attack on Figure 16 (circuit PSI), whose masks are never sent: what repeats within a bin gives them away.
//!
//! For a key `t = H(x || j, r)` in bin `i` the hint `P` holds `t'_x ^ (r_i || payload_x ^ tau_i)`. With `s` the receiver computes `t'_x` of any `x`, and takes it off. All
//! of the sender's items of a bin then show the same `r_i`; anything else shows random bits. To find `s`: the receiver's own item of the bin shows `r_i` without any guess if it is
//! common, so a guess is right that makes another candidate show the same.

use rayon::prelude::*;

use super::{BLOCK, Line, STEPS, Secret, recover, sweep};

/// A place of an item: its bin, and the key that it has there.
#[derive(Clone, Copy)]
pub struct Place {
    /// `h_j(x)`.
    pub bin: u32,
    /// `H(x || j, r)`.
    pub key: u128,
}

/// What a key shows below the hint: `r_i`, and the payload under `tau_i`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// `r_i`, `lambda + log2 m` bits.
    pub tag: u64,
    /// The payload.
    pub payload: u64,
}

/// The receiver's view of Figure 16, up to the generic part, as functions of any item.
pub trait BinsView: Sync {
    /// `l`: bits of `s`.
    fn width(&self) -> u32;
    /// The item's three places.
    fn places(&self, items: &[u128]) -> Vec<[Place; 3]>;
    /// `A(t)` and `delta(t)` of each key.
    fn lines(&self, keys: &[u128]) -> Vec<Line>;
    /// What each key shows with its mask input.
    fn show(&self, keys: &[u128], inputs: &[u128], shown: &mut [Shown]);
    /// The receiver's table: the key in each bin that has one.
    fn own(&self) -> &[Option<u128>];
}

/// What came of the attack.
pub struct Outcome {
    /// What is known of `s`.
    pub secret: Secret,
    /// Items of the dictionary that are the sender's, ascending: those that share at least one of their bins with another one.
    pub found: Vec<usize>,
    /// The payload of each, up to a constant of its group, and the group. Groups are ordered by size: nearly all items are in group 0.
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

/// The attack by a receiver that followed the protocol.
pub fn circuit(view: &impl BinsView, dictionary: &[u128], budget: u64, mut ended: impl FnMut(&'static str)) -> Outcome {
    let places: Vec<Place> = sweep(dictionary, |items| view.places(items).into_flattened());
    let keys: Vec<u128> = places.par_iter().map(|place| place.key).collect();
    let lines = sweep(&keys, |keys| view.lines(keys));
    ended(STEPS[0]);

    let own: Vec<Option<u64>> = view.own().iter().map(|key| key.map(|key| own_tag(view, key))).collect();
    let tag_of = |i: usize| own[places[i].bin as usize];
    // There is nothing to check a guess by in a bin where the receiver has no item.
    let guessable: Vec<Line> = (0..lines.len()).map(|i| tag_of(i).map_or(Line::default(), |_| lines[i])).collect();
    let is_right = |i: usize, inputs: &[u128]| {
        let tag = tag_of(i)?;
        let mut shown = vec![Shown::default(); inputs.len()];
        view.show(&vec![keys[i]; inputs.len()], inputs, &mut shown);
        shown.iter().position(|shown| shown.tag == tag)
    };
    let secret = recover(view.width(), &guessable, budget, is_right);
    ended(STEPS[1]);

    let blocks = keys.par_chunks(BLOCK).zip(lines.par_chunks(BLOCK));
    let shown = blocks.flat_map_iter(|(keys, lines)| {
        let inputs: Vec<u128> = lines.iter().map(|line| line.a ^ (line.delta & secret.bits)).collect();
        let mut shown = vec![Shown::default(); keys.len()];
        view.show(keys, &inputs, &mut shown);
        shown
    });
    let shown: Vec<Shown> = shown.collect();
    let repeats = repeats(&places, &shown);
    let (found, payloads) = join(&repeats, view.own().len());
    ended(STEPS[2]);
    Outcome { secret, found, payloads }
}

/// What the receiver's own key shows; its `delta` is zero.
fn own_tag(view: &impl BinsView, key: u128) -> u64 {
    let mut shown = [Shown::default()];
    view.show(&[key], &[view.lines(&[key])[0].a], &mut shown);
    shown[0].tag
}

/// An item of the sender in one of its bins.
struct Repeat {
    bin: u32,
    item: u32,
    payload: u64,
}

/// The places whose tag shows up again in the same bin.
fn repeats(places: &[Place], shown: &[Shown]) -> Vec<Repeat> {
    let mut by_tag: Vec<(u32, u64, u32)> = (0..places.len()).map(|i| (places[i].bin, shown[i].tag, i as u32)).collect();
    by_tag.par_sort_unstable();
    let same = |a: &(u32, u64, u32), b: &(u32, u64, u32)| (a.0, a.1) == (b.0, b.1);
    let groups = by_tag.chunk_by(same).filter(|group| group.len() > 1);
    groups.flatten().map(|&(bin, _, i)| Repeat { bin, item: i / 3, payload: shown[i as usize].payload }).collect()
}

/// The items, and their payloads relative to one another. An item in two bins relates the bins' `tau`: payload ^ tau_i in one and payload ^ tau_j in the other.
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
    let rooted: Vec<(u64, u32)> = items.iter().map(|places| taus.root(places[0].bin)).map(|(root, tau)| (tau, root)).collect();
    let mut sizes = std::collections::HashMap::new();
    rooted.iter().for_each(|&(_, root)| *sizes.entry(root).or_insert(0) += 1);
    let mut order: Vec<(u32, u32)> = sizes.iter().map(|(&root, &size)| (size, root)).collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    let ranks: std::collections::HashMap<u32, u32> = order.iter().zip(0..).map(|(&(_, root), rank)| (root, rank)).collect();
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
