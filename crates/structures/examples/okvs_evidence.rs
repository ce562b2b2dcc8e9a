//! Evidence for docs/parameters/clustered-okvs.md: failure counts against the bound, and how
//! peeling goes.
//!
//! `cargo run --release -p vesica-structures --example okvs_evidence` takes about two minutes on
//! one core. Everything is seeded.

use std::time::Instant;

use vesica_structures::fields::Gf64;
use vesica_structures::okvs::clustered::{Clustered, expected_dependencies};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;

fn main() {
    failures();
    peeling();
    sizes();
}

fn keys(count: usize, seed: u64) -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| rng.block()).collect()
}

/// Encodes under many seeds with a budget that is large enough to be seen spent.
fn failures() {
    println!("pairs    bits  bins  sparse  dense    runs  failures  bound (in runs)");
    for (count, failure_bits, runs) in [
        (2, 4, 100_000),
        (10, 4, 100_000),
        (10, 8, 100_000),
        (100, 6, 100_000),
        (100, 10, 100_000),
        (1000, 10, 50_000),
        (1 << 12, 10, 8000),
        (1 << 14, 10, 2000),
        (110_000, 3, 800),
    ] {
        let keys = keys(count, 1);
        let values = vec![Gf64(1); count];
        let table = |seed| Clustered::new(count, failure_bits, seed).expect("a supported size");
        let failed =
            (0..runs).filter(|&seed| table(seed).encode_vartime(&keys, &values, FreeCells::Zero).is_err()).count();
        let shape = table(0).shape();
        let mut bound =
            shape.bins as f64 * expected_dependencies(shape.capacity, shape.sparse) * (-f64::from(shape.dense)).exp2();
        if shape.bins > 1 {
            bound += (-f64::from(failure_bits + 1)).exp2();
        }
        println!(
            "{count:<8} {failure_bits:>4} {:>5} {:>7} {:>6} {runs:>7} {failed:>9}  {:.1}",
            shape.bins,
            shape.sparse,
            shape.dense,
            bound * runs as f64
        );
    }
}

/// Rows set aside by bin, and the time of an encoding in the pool of all cores.
fn peeling() {
    println!("\npairs     bins   runs  bins with rows set aside  most rows  milliseconds, median and most");
    for (count, runs) in
        [(1 << 10, 1000), (1 << 12, 500), (1 << 14, 200), (51_200, 100), (100_000, 50), (1 << 18, 20), (1 << 20, 10)]
    {
        let values = vec![Gf64(1); count];
        let (mut bins, mut aside, mut most, mut times) = (0, 0, 0, Vec::new());
        for run in 0..runs {
            let keys = keys(count, run);
            let okvs = Clustered::new(count, 42, 1).expect("a supported size");
            let rows = okvs.rows_set_aside_vartime(&keys).expect("bins overflow with probability 2^-43");
            bins = rows.len();
            aside += rows.iter().filter(|&&rows| rows > 0).count();
            most = most.max(rows.into_iter().max().unwrap_or(0));
            let start = Instant::now();
            okvs.encode_vartime(&keys, &values, FreeCells::Zero).expect("encoding fails with probability 2^-42");
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
        println!(
            "{count:<9} {bins:>4} {runs:>6} {aside:>13} of {:<9} {most:>9}  {median:.2}, {longest:.2}",
            bins as u64 * runs
        );
    }
}

/// The sizes that the engine uses, with their bound.
fn sizes() {
    println!("\npairs       bins  capacity  sparse  dense  m         m/pairs  dependencies (log2)  overflow bits");
    for log in 3..=26 {
        let count = 1usize << log;
        let shape = Clustered::new(count, 42, 0).expect("a supported size").shape();
        println!(
            "2^{log:<8} {:>5} {:>9} {:>7} {:>6}  {:<9} {:.4}   {:>8.2} {:>20}",
            shape.bins,
            shape.capacity,
            shape.sparse,
            shape.dense,
            shape.cells(),
            shape.cells() as f64 / count as f64,
            expected_dependencies(shape.capacity, shape.sparse).log2(),
            if shape.bins == 1 { "none".into() } else { 43.to_string() },
        );
    }
}
