//! Experiments of reduced scale on cuckoo tables with permutation-based hashing, for
//! docs/parameters/simple-and-cuckoo-hashing.md: `cargo run --release -p vesica-structures --example
//! permuted_cuckoo`.

use rayon::prelude::*;
use vesica_structures::hashing::{PermutedHash, PermutedShape, PermutedTables, independent_bound};
use vesica_structures::rng::SecretRng;

/// How far an insertion goes, in CM25.
const DEPTH: usize = 1 << 10;
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

/// Items that a random walk of at most [`DEPTH`] steps inserts before the first failure.
fn walk(shape: PermutedShape, rng: &mut SecretRng) -> usize {
    let hash = PermutedHash::new(rng.block(), shape);
    let mut choices = rng.child();
    let mut bins: Vec<Option<([u32; 4], usize)>> = vec![None; shape.bins()];
    for (count, item) in items(shape, rng).enumerate() {
        let mut moving = (hash.place(item).bins, choices.block() as usize % shape.functions);
        let mut steps = 0;
        while let Some((bins, last)) = bins[moving.0[moving.1] as usize].replace(moving) {
            steps += 1;
            if steps > DEPTH {
                return count;
            }
            let next = (last + 1 + choices.block() as usize % (shape.functions - 1)) % shape.functions;
            moving = (bins, next);
        }
    }
    unreachable!("a table is full some time")
}

/// The most items for which a table exists, of one sequence of items.
fn most(shape: PermutedShape, rng: &mut SecretRng) -> usize {
    let hash = PermutedHash::new(rng.block(), shape);
    let all: Vec<u128> = items(shape, rng).take(shape.bins() + 1).collect();
    let (mut exists, mut fails) = (0, all.len());
    while fails - exists > 1 {
        let middle = exists.midpoint(fails);
        if PermutedTables::build(&hash, &all[..middle]).is_ok() { exists = middle } else { fails = middle }
    }
    exists
}

/// How many of [`RUNS`] tables of so many items do not exist.
fn failures(shape: PermutedShape, count: usize) -> usize {
    let fails = |seed: &u64| {
        let mut rng = SecretRng::insecure_from_seed(*seed);
        let hash = PermutedHash::new(rng.block(), shape);
        let items: Vec<u128> = items(shape, &mut rng).take(count).collect();
        PermutedTables::build(&hash, &items).is_err()
    };
    (0..RUNS).into_par_iter().filter(fails).count()
}

fn mean_load(shape: PermutedShape, runs: u64, of: fn(PermutedShape, &mut SecretRng) -> usize) -> f64 {
    let sum: usize = (0..runs).into_par_iter().map(|seed| of(shape, &mut SecretRng::insecure_from_seed(seed))).sum();
    sum as f64 / runs as f64 / shape.bins() as f64
}

fn main() {
    println!("mean load at the first failure, 16 tables each: walk of depth 2^10 / any table exists");
    for bin_bits in [10, 12, 14] {
        for functions in 2..=4 {
            let shape = PermutedShape::new(64, bin_bits, 1, functions).expect("a shape");
            let [walk, most] = [walk, most].map(|of: fn(_, &mut _) -> _| mean_load(shape, 16, of));
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
            let failed = failures(shape, count);
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
                println!("{functions} functions, {count} items, {right_bits} bits: {}", failures(shape, count));
            }
        }
    }
}
