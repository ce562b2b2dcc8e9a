//! Evidence for the bins of cuckoo hashing in PARAMETERS.md: how often no table exists, near the threshold where that can be measured.
//!
//! `cargo run --release -p vesica-structures --example cuckoo_evidence` takes about two minutes on one core. Everything is seeded.

use vesica_structures::hashing::{CuckooTable, Positions, hall_bound};

fn main() {
    println!("items  bins/item    runs  failures  -log2 rate  | line through the first and the last point, at 1.27");
    for (items, runs) in [(128, 200_000), (256, 150_000), (512, 80_000), (1024, 40_000), (2048, 20_000), (4096, 10_000), (8192, 5000)] {
        let digests: Vec<u128> = (0..items as u128).collect();
        let mut points = Vec::new();
        for per_mille in (1080..=1200).step_by(10) {
            let bins = (items * per_mille as usize).div_ceil(1000);
            let failed = |&seed: &u32| CuckooTable::build(&Positions::new(u128::from(seed), bins).of(&digests), bins).is_err();
            let failures = (0..runs).filter(failed).count();
            let rate = failures as f64 / f64::from(runs);
            let ratio = bins as f64 / items as f64;
            let bits = -rate.log2();
            println!("{items:<6} {ratio:>9.4} {runs:>7} {failures:>9} {bits:>11.2}");
            if failures >= 20 && rate < 0.5 {
                points.push((ratio, bits));
            }
            if failures < 20 {
                break;
            }
        }
        if let (Some(&(from, low)), Some(&(to, high))) = (points.first(), points.last())
            && to > from
        {
            println!("{items:<6} | {:.1} bits at 1.27", high + (high - low) / (to - from) * (1.27 - to));
        }
    }
    println!("\nbins by Hall's bound for 42 bits");
    for items in [4usize, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4095] {
        let bins = vesica_structures::hashing::cuckoo_bins(items, 42).expect("a supported size");
        println!("{items:<5} {bins:<5} {:.2}  2^{:.1}", bins as f64 / items as f64, hall_bound(items, bins));
    }
}
