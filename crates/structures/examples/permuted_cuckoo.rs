//! Experiments of reduced scale on cuckoo tables with permutation-based hashing: `cargo run --release -p
//! vesica-structures --example permuted_cuckoo -- WHAT`.
//!
//! | what | for |
//! |---|---|
//! | `depths BIN-BITS FUNCTIONS RUNS` | Figure 2 of CM25, in docs/paper-tables/cm25.md: loads by how far an insertion goes |
//! | `failures BIN-BITS FUNCTIONS RUNS` | the loads behind its Table I, there as well |
//! | nothing | docs/parameters/simple-and-cuckoo-hashing.md |
//!
//! `bench/papers-record` runs the first two, and keeps the JSON objects that they print.

use rand_core::Rng;
use rayon::prelude::*;
use vesica_structures::hashing::{PermutedHash, PermutedShape, PermutedTables, independent_bound};
use vesica_structures::rng::SecretRng;

/// `log2` of how many items an insertion moves at most, in CM25.
const DEPTH_LOG: u32 = 10;
/// `log2` of the deepest insertion of its Figure 2.
const MOST_DEPTH_LOG: u32 = 16;
/// Width of items in both experiments of CM25.
const ITEM_BITS: u32 = 32;
/// Runs for each measured rate.
const RUNS: u64 = 1 << 15;

/// A stream of distinct items of a shape.
fn items(shape: PermutedShape, rng: &mut SecretRng) -> impl Iterator<Item = u128> {
    let mut met = std::collections::HashSet::new();
    std::iter::from_fn(move || {
        loop {
            let item = rng.block() >> (128 - shape.item_bits);
            if met.insert(item) {
                return Some(item);
            }
        }
    })
}

/// An item in a bin, or on its way to one.
#[derive(Clone, Copy)]
struct Placed {
    item: u64,
    bins: [u32; 4],
    /// [`EMPTY`] for no item.
    function: u32,
}

const EMPTY: u32 = u32::MAX;

/// How far a table had come when an insertion failed.
#[derive(Clone, Copy)]
struct Failure {
    /// Items in the table.
    items: usize,
    /// How often an item had been moved.
    moves: u64,
}

/// Uniform below `count`, but for `2^-30`.
fn draw(rng: &mut SecretRng, count: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(count)) >> 32) as u32
}

/// Inserts random items as CM25 does, and says when the first insertion moves more than `2^i` items, for each
/// `i` up to `most_log`. A walk that is cut off later goes the same way up to there, so that one run serves
/// all limits.
fn walk(shape: PermutedShape, most_log: u32, rng: &mut SecretRng) -> Vec<Failure> {
    let hash = PermutedHash::new(rng.block(), shape);
    let functions = shape.functions as u32;
    let mut bins = vec![Placed { item: 0, bins: [0; 4], function: EMPTY }; shape.bins()];
    let (mut failures, mut moves) = (Vec::new(), 0);
    for items in 0.. {
        let mut moving = loop {
            let item = (rng.block() >> (128 - shape.item_bits)) as u64;
            let moving = Placed { item, bins: hash.place(item.into()).bins, function: draw(rng, functions) };
            let is_there = |&bin: &u32| bins[bin as usize].item == item && bins[bin as usize].function != EMPTY;
            if !moving.bins[..shape.functions].iter().any(is_there) {
                break moving;
            }
        };
        let mut steps = 0u64;
        loop {
            let moved = std::mem::replace(&mut bins[moving.bins[moving.function as usize] as usize], moving);
            if moved.function == EMPTY {
                break;
            }
            steps += 1;
            if steps > 1 << failures.len() {
                failures.push(Failure { items, moves: moves + steps });
                if failures.len() > most_log as usize {
                    return failures;
                }
            }
            let function = (moved.function + 1 + draw(rng, functions - 1)) % functions;
            moving = Placed { function, ..moved };
        }
        moves += steps;
    }
    unreachable!("a table is full some time")
}

/// Items that walks as in CM25 insert before the first failure.
fn walked(shape: PermutedShape, rng: &mut SecretRng) -> usize {
    walk(shape, DEPTH_LOG, rng)[DEPTH_LOG as usize].items
}

/// The results of `runs` runs with seeds of their own.
fn runs<T: Send>(runs: u64, of: impl Fn(&mut SecretRng) -> T + Sync) -> Vec<T> {
    (0..runs).into_par_iter().map(|seed| of(&mut SecretRng::insecure_from_seed(seed))).collect()
}

/// Figure 2 of CM25: what tables hold by `log2` of the limit.
fn depths(shape: PermutedShape, count: u64) {
    let runs = runs(count, |rng| walk(shape, MOST_DEPTH_LOG, rng));
    let list = |of: &dyn Fn(&[Failure]) -> f64| {
        let at = |log: usize| of(&runs.iter().map(|run| run[log]).collect::<Vec<_>>());
        (0..=MOST_DEPTH_LOG as usize).map(|log| format!("{:.4}", at(log))).collect::<Vec<_>>().join(",")
    };
    let load = |failure: &Failure| failure.items as f64 / shape.bins() as f64;
    let mean = |failures: &[Failure], of: &dyn Fn(&Failure) -> f64| failures.iter().map(of).sum::<f64>() / count as f64;
    println!(
        "{}\"mean_load\":[{}],\"least_load\":[{}],\"moves_per_item\":[{}]}}",
        opening(shape, count),
        list(&|failures| mean(failures, &load)),
        list(&|failures| failures.iter().map(load).fold(1.0, f64::min)),
        list(&|failures| mean(failures, &|failure| failure.moves as f64 / failure.items.max(1) as f64)),
    );
}

/// The loads of Table I of CM25: of how many items `2^-i` of all tables have failed, for `i` from 0 on.
fn failures(shape: PermutedShape, count: u64) {
    let mut items = runs(count, |rng| walked(shape, rng));
    items.sort_unstable();
    let by_rate: Vec<usize> = (0..=count.ilog2()).map(|log| items[(count >> log) as usize - 1]).collect();
    println!("{}\"depth_log\":{DEPTH_LOG},\"items\":{by_rate:?}}}", opening(shape, count));
}

/// How both objects begin.
fn opening(shape: PermutedShape, runs: u64) -> String {
    let PermutedShape { item_bits, bin_bits, functions, .. } = shape;
    format!("{{\"bin_bits\":{bin_bits},\"functions\":{functions},\"item_bits\":{item_bits},\"runs\":{runs},")
}

/// The most items for which a table exists, of one sequence of items.
fn most(shape: PermutedShape, rng: &mut SecretRng) -> usize {
    let hash = PermutedHash::new(rng.block(), shape);
    let all: Vec<u128> = items(shape, rng).take(shape.bins() + 1).collect();
    let (mut exists, mut fails) = (0, all.len());
    while fails - exists > 1 {
        let middle = exists.midpoint(fails);
        if PermutedTables::build_vartime(&hash, &all[..middle]).is_ok() { exists = middle } else { fails = middle }
    }
    exists
}

/// How many of [`RUNS`] tables of so many items do not exist.
fn missing(shape: PermutedShape, count: usize) -> usize {
    let fails = |seed: &u64| {
        let mut rng = SecretRng::insecure_from_seed(*seed);
        let hash = PermutedHash::new(rng.block(), shape);
        let items: Vec<u128> = items(shape, &mut rng).take(count).collect();
        PermutedTables::build_vartime(&hash, &items).is_err()
    };
    (0..RUNS).into_par_iter().filter(fails).count()
}

fn mean_load(shape: PermutedShape, count: u64, of: fn(PermutedShape, &mut SecretRng) -> usize) -> f64 {
    runs(count, |rng| of(shape, rng)).iter().sum::<usize>() as f64 / count as f64 / shape.bins() as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((what, numbers)) = arguments.split_first() else { return existence() };
    let numbers: Vec<u32> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
    let [bin_bits, functions, runs] = numbers[..] else { panic!("three numbers: bin bits, functions, runs") };
    let shape = PermutedShape::new(ITEM_BITS, bin_bits, 1, functions as usize).expect("a shape");
    match what.as_str() {
        "depths" => depths(shape, runs.into()),
        "failures" => failures(shape, runs.into()),
        _ => panic!("`depths` or `failures`"),
    }
}

/// When tables exist, by walks and by augmenting paths.
fn existence() {
    println!("mean load at the first failure, 16 tables each: walk of depth 2^10 / any table exists");
    for bin_bits in [10, 12, 14] {
        for functions in 2..=4 {
            let shape = PermutedShape::new(64, bin_bits, 1, functions).expect("a shape");
            let [walk, most] = [walked, most].map(|of: fn(_, &mut _) -> _| mean_load(shape, 16, of));
            println!("2^{bin_bits} bins, {functions} functions: {walk:.3} / {most:.3}");
        }
    }
    println!("failures among 2^15 tables, and the bound; a line of log2(rate) by bins an item, at 2^-40");
    for (functions, bin_bits, counts) in
        [(3, 6, [46, 49, 52, 54]), (3, 8, [210, 218, 224, 228]), (4, 6, [54, 57, 59, 61]), (4, 8, [238, 242, 245, 248])]
    {
        let shape = PermutedShape::new(64, bin_bits, 1, functions).expect("a shape");
        let mut points = Vec::new();
        for count in counts {
            let failed = missing(shape, count);
            let rate = (failed as f64 / RUNS as f64).log2();
            let bound = independent_bound(count, shape.bins(), functions);
            println!(
                "2^{bin_bits} bins, {functions} functions, {count} items: {failed}, 2^{rate:.1}, bound 2^{bound:.1}"
            );
            if failed > 0 {
                points.push((shape.bins() as f64 / count as f64, rate));
            }
        }
        let n = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
        let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
            / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
        println!("  line: load {:.3} at 2^-40", 1.0 / (x + (-40.0 - y) / slope));
    }
    println!("failures among 2^15 tables of 2^8 bins, by the width of a right part");
    for (functions, counts) in [(3, [210, 220]), (4, [238, 244])] {
        for count in counts {
            for right_bits in [1, 2, 4, 6, 8, 12, 56] {
                let shape = PermutedShape::new(8 + right_bits, 8, 1, functions).expect("a shape");
                println!("{functions} functions, {count} items, {right_bits} bits: {}", missing(shape, count));
            }
        }
    }
}
