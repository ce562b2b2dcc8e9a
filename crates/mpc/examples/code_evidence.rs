//! What is known of the distance of the expand-convolute code, for the tables of
//! docs/parameters/silent-vole.md: first moments over random codes, and the box rule.
//!
//! All exponents are in nats for each of the `m` outputs. A message selects rows; a group of which
//! it selects `k = 1..4` rows puts a random set of `k` of the four places of one random line into
//! each of `w` strata. With `b_k m` such groups, `b_0 m` unselected ones, and `L m` lines a
//! stratum, the convolution's state is random on a share `f` of the lines (*active*) and zero on
//! the rest (*inactive*), where sets must cancel. The expected number of words of relative weight
//! up to `delta` is then `exp(m E)`, with
//!
//! ```text
//! E = H(b) + sum b_k ln C(4, k) + w P(b, f) + ln Pr[a random word of active positions has so few ones]
//! ```
//!
//! and `P` the exponent of the chance that all inactive lines of a stratum cancel, by the saddle
//! point of the generating function `phi(x)^(1 - f) e^(f sum x_k)`. There `phi(x) = sum_v C(4, v) /
//! 16 exp(sum x_k K_k(v) / C(4, k))`, with Krawtchouk polynomials `K_k`, is that of a line: the
//! Fourier sum over the characters of GF(2)^4. As `b` follows from `x` at the saddle point, the
//! search runs over `x`. (Single places drawn alone, for comparison, have `cosh(x)` instead of
//! `phi`.)
//!
//! The *distance* of the first table is the least `delta` with `E > 10^-6` for some share of
//! selected rows above 10^-4. Below that share `E` may be positive at every `delta`: those are the
//! box words and their likes, which lengths decide. For them the second table keeps what vanishes
//! in the exponent: `24 floor(w / 2)` conditions that end activity below each pair of strata, and a
//! factor of the number of places for each of `w - 1` free sides of a box. The least `f` at which
//! `m E`, with both, is not negative bounds all words of few rows: `f / 2`.
//!
//! The third table is for rank tests, by the count over sets of groups in
//! `vesica_mpc::silent::lucky`, which states what it counts: for each weight the longest vector
//! that it serves, the share of the average box, that of the luckiest region, and the bits that its
//! test leaves.

use std::f64::consts::LN_2;

use vesica_mpc::silent::lucky::{last_lengths, luckiest};
use vesica_mpc::silent::params::{DISTANCE, box_share, expander_weight};

/// Places of a line.
const LINE: usize = 4;

/// Binomials of 4.
const CHOOSE: [f64; LINE + 1] = [1.0, 4.0, 6.0, 4.0, 1.0];

/// `K_k(v) / C(4, k)` for `k` in `1..=4`: the mean of a character of weight `v` over the sets of
/// `k` places.
const CHARACTERS: [[f64; LINE + 1]; LINE] = [
    [1.0, 0.5, 0.0, -0.5, -1.0],
    [1.0, 0.0, -1.0 / 3.0, 0.0, 1.0],
    [1.0, -0.5, 0.0, 0.5, -1.0],
    [1.0, -1.0, 1.0, -1.0, 1.0],
];

/// The binary entropy.
fn entropy(p: f64) -> f64 {
    -[p, 1.0 - p].iter().map(|&p| plogp(p)).sum::<f64>()
}

fn plogp(p: f64) -> f64 {
    if p <= 0.0 { 0.0 } else { p * p.ln() }
}

/// How places are drawn.
#[derive(Clone, Copy)]
enum Form {
    /// Each place alone.
    Single,
    /// Four outputs, a line.
    Lines,
}

/// `E` without the last term, and the share of selected rows, where the saddle point has `x_k =
/// exp(logs[k - 1])`; nothing if no message has it there.
fn exponent(form: Form, logs: &[f64; LINE], f: f64, weight: f64) -> Option<(f64, f64)> {
    let x = logs.map(f64::exp);
    let (kinds, bins) = match form {
        Form::Single => (1, 2.0 / weight),
        Form::Lines => (LINE, 2.0 / weight / LINE as f64),
    };
    // The characters of a bin: their number over all, and their means for each kind.
    let characters: Vec<(f64, [f64; LINE])> = match form {
        Form::Single => vec![(0.5, [1.0; LINE]), (0.5, [-1.0; LINE])],
        Form::Lines => (0..=LINE).map(|v| (CHOOSE[v] / 16.0, std::array::from_fn(|k| CHARACTERS[k][v]))).collect(),
    };
    let terms: Vec<f64> =
        characters.iter().map(|(share, mean)| share.ln() + (0..kinds).map(|k| x[k] * mean[k]).sum::<f64>()).collect();
    let greatest = terms.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = terms.iter().map(|term| (term - greatest).exp()).sum();
    let (mut groups, mut strata) = ([0.0; LINE], bins * (1.0 - f) * (greatest + sum.ln()));
    for k in 0..kinds {
        let slope: f64 =
            terms.iter().zip(&characters).map(|(term, (_, mean))| (term - greatest).exp() / sum * mean[k]).sum();
        groups[k] = x[k] * bins * ((1.0 - f) * slope + f);
        strata += bins * f * x[k] - groups[k] * logs[k] + plogp(groups[k]) - groups[k] - groups[k] * bins.ln();
    }
    let (unit, total) = (1.0 / kinds as f64, groups.iter().sum::<f64>());
    if total > unit || groups[..kinds].iter().any(|&share| share.is_nan() || share <= 0.0) {
        return None;
    }
    // `H(b)` with shares that sum to `unit`.
    let mut messages = plogp(unit) - plogp(unit - total) - groups.iter().map(|&share| plogp(share)).sum::<f64>();
    if let Form::Lines = form {
        messages += (0..LINE).map(|k| groups[k] * CHOOSE[k + 1].ln()).sum::<f64>();
    }
    Some((messages + weight * strata, groups.iter().zip(1..).map(|(share, k)| share * f64::from(k)).sum()))
}

/// The last term of `E`, negated.
fn lightness(delta: f64, f: f64) -> f64 {
    let active = 2.0 * f;
    if delta / f < 0.5 { active * (LN_2 - entropy(2.0 * delta / active)) } else { 0.0 }
}

/// The greatest `value(exponent, share of rows)` that an ascent from many places finds.
fn greatest(form: Form, f: f64, weight: f64, value: impl Fn(f64, f64) -> f64) -> f64 {
    let kinds = if let Form::Single = form { 1 } else { LINE };
    let at = |logs: &[f64; LINE]| exponent(form, logs, f, weight).map_or(f64::MIN, |(e, rows)| value(e, rows));
    let mut best = f64::MIN;
    // From all kinds alike, and from each kind nearly alone.
    for start in 0..15 * (kinds + 1) {
        let level = -14.0 + f64::from(start as u32 / (kinds as u32 + 1));
        let alone = start % (kinds + 1);
        let mut logs: [f64; LINE] =
            std::array::from_fn(|k| if alone == kinds || alone == k { level } else { level - 8.0 });
        let (mut found, mut step) = (at(&logs), 2.0);
        while step > 1e-4 {
            let before = found;
            for direction in 0..=kinds {
                for signed in [step, -step] {
                    let mut next = logs;
                    (0..kinds)
                        .filter(|&k| direction == kinds || direction == k)
                        .for_each(|k| next[k] = (next[k] + signed).max(-30.0));
                    let there = at(&next);
                    if there > found {
                        (logs, found) = (next, there);
                    }
                }
            }
            if found <= before {
                step *= 0.6;
            }
        }
        best = best.max(found);
    }
    best
}

/// The least relative weight at which words are expected as lengths grow, and the share of active
/// positions of such words.
fn distance(form: Form, weight: usize) -> (f64, f64) {
    let exponents: Vec<(f64, f64)> = (1..=60)
        .map(|i| f64::from(i) / 60.0)
        .map(|f| (f, greatest(form, f, weight as f64, |e, rows| if rows > 1e-4 { e } else { f64::MIN })))
        .collect();
    let (mut low, mut high, mut active) = (0.0, 0.12, 1.0);
    for _ in 0..16 {
        let delta = (low + high) / 2.0;
        match exponents.iter().find(|&&(f, e)| e - lightness(delta, f) > 1e-6) {
            Some(&(f, _)) => (high, active) = (delta, f),
            None => low = delta,
        }
    }
    (low, active)
}

/// Half of the least share `f` at which words of few rows are expected among `len` outputs.
fn lightest(form: Form, len: usize, weight: usize) -> f64 {
    let (m, conditions) = (len as f64, (24 * (weight / 2)) as f64 * LN_2);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..14 {
        let f = (low + high) / 2.0;
        let expected = greatest(form, f, weight as f64, |e, rows| {
            let count = rows * m;
            if count < 2.0 || rows > 0.01 { f64::MIN } else { m * e - conditions + (weight - 1) as f64 * count.ln() }
        });
        if expected > 0.0 { high = f } else { low = f }
    }
    high / 2.0
}

fn main() {
    println!("| w | distance, lines | active | distance, single places | active |");
    println!("|---|---|---|---|---|");
    for weight in [5, 6, 7, 8, 9, 10, 11, 13] {
        let [(lines, f), (single, g)] = [Form::Lines, Form::Single].map(|form| distance(form, weight));
        println!("| {weight} | {lines:.3} | {f:.2} | {single:.3} | {g:.2} |");
    }
    println!();
    println!("| m | w | average box word | bound | bound, a weight less | bound, single places |");
    println!("|---|---|---|---|---|---|");
    for log in [14, 17, 19, 20, 21, 22, 23, 24, 25, 26, 28] {
        let len = 1usize << log;
        let weight = expander_weight(len, 64);
        let word = box_share(len, weight) / 2.0;
        let [bound, less] = [weight, weight - 1].map(|weight| lightest(Form::Lines, len, weight));
        println!(
            "| 2^{log} | {weight} | {word:.3} | {bound:.3} | {less:.3} | {:.3} |",
            lightest(Form::Single, len, weight)
        );
        assert!(bound > DISTANCE);
    }
    println!();
    println!("| l | m | w | average box | luckiest region | ends | groups | cancellation, bits | bits left |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (width, words) in [(128u32, 128), (64, 64)] {
        // 1525 is the shortest vector that trees serve.
        for (len, weight) in last_lengths(width, 1525) {
            let average = ((24 * (weight / 2) + words) as f64 / len as f64).powf(1.0 / weight as f64).min(1.0);
            let found = luckiest(len, weight, words);
            println!(
                "| {width} | 2^{:.2} | {weight} | {average:.3} | {:.3} | {} | {} | {:.1} | {:.1} |",
                (len as f64).log2(),
                found.share,
                found.ends,
                found.groups,
                found.cancellation,
                found.bits
            );
            assert!(found.bits >= 128.0 && found.slope > 1.0);
        }
    }
}
