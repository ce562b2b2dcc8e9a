//! How often the band OKVS fails to encode, against the queue of `okvs::band::model`: the evidence
//! in docs/parameters/band-okvs.md.
//!
//! `cargo run --release -p vesica-structures --example band_evidence [factor]` (a few minutes)
//!
//! For rows narrow or tables short enough to fail measurably, it compares
//! - *measured*: failures of `Band::encode` over random seeds, with the 95% interval of Wilson;
//! - *queue*: the probability that some row is dependent, rows arriving by Poisson's law at every
//!   line, the queue stopped at the first failure: no bound, no stationarity;
//! - *bound*: `2 n row_failure(w - 7, n / (8 starts))`, what the tables of `Shape` are made of.

use vesica_structures::fields::Gf64;
use vesica_structures::okvs::band::{Band, Shape, model};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;

fn main() {
    let scale: u32 = std::env::args().nth(1).map_or(1, |scale| scale.parse().expect("a factor for the number of runs"));
    println!("| w | pairs | starts | load | runs | failures | measured (95%) | queue | measured - queue | bound |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (columns, pairs, runs) in
        [(32, 4000, 20_000), (32, 64_000, 3000), (48, 32_000, 6000), (64, 64_000, 4000), (96, 64_000, 4000)]
    {
        for bits in [3.0, 5.5, 8.0] {
            row(columns, pairs, runs * scale, bits);
        }
    }
}

/// One row of the table, at the load where the queue fails with about `2^-bits`.
fn row(columns: usize, pairs: usize, runs: u32, bits: f64) {
    let width = columns / 8;
    let (mut low, mut high) = (pairs / 16, pairs * 4);
    while high - low > 1 {
        let starts = (low + high) / 2;
        if queue_failure(&Shape { width, starts }, pairs).log2() > -bits { low = starts } else { high = starts }
    }
    let shape = Shape { width, starts: high };
    let queue = queue_failure(&shape, pairs).log2();
    let load = pairs as f64 / (8 * shape.starts) as f64;
    let bound = (2.0 * pairs as f64 * model::row_failure(columns - 7, load)).min(1.0).log2();

    let keys: Vec<u128> = (0..pairs as u128).collect();
    let values = vec![Gf64(0); pairs];
    // Seeds 1 to `runs` of a generator whose seed is the width.
    let mut seeds = SecretRng::insecure_from_seed(columns as u64);
    let failures = (0..runs)
        .filter(|_| {
            Band::with_shape(pairs, shape, seeds.block()).encode_vartime(&keys, &values, FreeCells::Zero).is_err()
        })
        .count();
    let [low, measured, high] = wilson(failures as f64, f64::from(runs)).map(f64::log2);
    println!(
        "| {columns} | {pairs} | {} | {load:.3} | {runs} | {failures} | 2^{measured:.2} (2^{low:.2} to 2^{high:.2}) | \
         2^{queue:.2} | {:+.2} bits | 2^{bound:.2} |",
        shape.starts,
        measured - queue,
    );
}

/// Probability that some row is dependent: rows Poisson at each line that is a start, the queue
/// empty before the first.
fn queue_failure(shape: &Shape, pairs: usize) -> f64 {
    let columns = 8 * shape.width;
    let mean = pairs as f64 / shape.starts as f64;
    let mut arrivals = vec![(-mean).exp()];
    for k in 1..columns.min(120) {
        arrivals.push(arrivals[k - 1] * mean / k as f64);
    }
    // independent[q]: a row that finds q leading columns in its band is independent of those before it.
    let independent: Vec<f64> = (0..columns).map(|q| 1.0 - (q as f64 - columns as f64).exp2()).collect();
    let mut waiting = vec![0.0; columns + 1];
    waiting[0] = 1.0;
    let mut next = waiting.clone();
    for _ in 0..shape.starts {
        next.fill(0.0);
        for (q, &probability) in waiting.iter().enumerate().filter(|&(_, &probability)| probability > 1e-30) {
            let mut alive = probability;
            for (k, arrivals) in arrivals.iter().enumerate().take(columns - q + 1) {
                next[q + k] += alive * arrivals;
                alive *= independent.get(q + k).copied().unwrap_or(0.0);
            }
        }
        std::mem::swap(&mut waiting, &mut next);
        for _ in 0..8 {
            for a in 1..=columns {
                let taken = waiting[a] * (1.0 - (-(a as f64)).exp2());
                waiting[a] -= taken;
                waiting[a - 1] += taken;
            }
        }
    }
    1.0 - waiting.iter().sum::<f64>()
}

/// Wilson's 95% interval around `failures / runs`: low end, estimate, high end.
fn wilson(failures: f64, runs: f64) -> [f64; 3] {
    const Z: f64 = 1.96;
    let p = failures / runs;
    let scale = 1.0 + Z * Z / runs;
    let centre = p + Z * Z / (2.0 * runs);
    let half = Z * (p * (1.0 - p) / runs + Z * Z / (4.0 * runs * runs)).sqrt();
    [(centre - half) / scale, p, (centre + half) / scale]
}
