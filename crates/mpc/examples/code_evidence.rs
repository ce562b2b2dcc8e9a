//! What is known of the distance of the expand-convolute code, for the tables of PARAMETERS.md: first moments over random codes, and the box rule.
//!
//! All exponents are in nats for each of the `m` outputs. A message selects `alpha m` rows, so `alpha m` places in each of `w` strata. The
//! convolution's state is random on a share `f` of the positions (*active*) and zero on the rest (*inactive*), where places must cancel in pairs. The
//! expected number of words of relative weight up to `delta` is then `exp(m E)`, with
//!
//! ```text
//! E = H(alpha) + w L even(alpha / L, f) + ln Pr[a random word of active positions has so few ones],     L the length of a stratum over m
//! ```
//!
//! maximised over `alpha` above 10^-4 and `f`; the distance is the least `delta` with `E > 10^-6`. (For smaller `alpha` some `E` is positive at every
//! `delta`: those words are the box words, which the box rule counts.) Costs of starting and ending activity (24 bits each, a few times)
//! vanish in the exponent: words with activity that ends a few times are those of the box rule.

use std::f64::consts::LN_2;

use vesica_mpc::silent::params::{DISTANCE, box_share, expander_weight};

/// The binary entropy.
fn entropy(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 { 0.0 } else { -p * p.ln() - (1.0 - p) * (1.0 - p).ln() }
}

fn ln_cosh(x: f64) -> f64 {
    x + (-2.0 * x).exp().ln_1p() - LN_2
}

/// `ln Pr` for each bin that every inactive bin (a share `1 - f`) gets an even number of balls, `balls` being their number for each bin: the saddle point of
/// the generating function `cosh(x)^(1 - f) e^(f x) / x^balls`.
fn even(balls: f64, f: f64) -> f64 {
    if balls <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (1e-12f64, 1e6f64);
    for _ in 0..80 {
        let x = (low * high).sqrt();
        if (1.0 - f) * x.tanh() + f < balls / x { low = x } else { high = x }
    }
    let x = (low * high).sqrt();
    (1.0 - f) * ln_cosh(x) + f * x - balls * x.ln() + balls * balls.ln() - balls
}

#[derive(Clone, Copy)]
enum Form {
    /// All `2 m` positions are convolved.
    Full,
    /// `m` positions are convolved, the message itself is the other half of the word.
    Systematic,
}

/// `E` for words of relative weight `delta`.
fn exponent(delta: f64, alpha: f64, f: f64, weight: f64, form: Form) -> f64 {
    let (convolved, rest) = match form {
        Form::Full => (2.0, 2.0 * delta),
        Form::Systematic => (1.0, 2.0 * delta - alpha),
    };
    if rest <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let (stratum, active) = (convolved / weight, f * convolved);
    let light = if rest / active < 0.5 { active * (LN_2 - entropy(rest / active)) } else { 0.0 };
    entropy(alpha) + weight * stratum * even(alpha / stratum, f) - light
}

/// The least relative weight at which words are expected, and the share of active positions of such words.
fn distance(weight: usize, form: Form) -> (f64, f64) {
    let best = |delta: f64| {
        let shares = (1..=60).map(|i| f64::from(i) / 60.0);
        let grid = shares.flat_map(|f| (1..=80).map(move |j| (f, 0.5 * (f64::from(j) / 80.0).powi(2))));
        grid.map(|(f, alpha)| (exponent(delta, alpha, f, weight as f64, form), f))
            .fold((f64::NEG_INFINITY, 0.0), |a, b| if b.0 > a.0 { b } else { a })
    };
    let (mut low, mut high) = (0.0, 0.12);
    for _ in 0..12 {
        let delta = (low + high) / 2.0;
        if best(delta).0 > 1e-6 { high = delta } else { low = delta }
    }
    (low, best(high).1)
}

fn main() {
    println!("| w | distance, all convolved | active | distance, systematic | active |");
    println!("|---|---|---|---|---|");
    for weight in [5, 7, 8, 9, 10, 11, 13] {
        let [(full, f), (systematic, g)] = [distance(weight, Form::Full), distance(weight, Form::Systematic)];
        println!("| {weight} | {full:.3} | {f:.2} | {systematic:.3} | {g:.2} |");
    }
    println!();
    println!("| m | w | share f of a box | its word, f / 2 | a weight less |");
    println!("|---|---|---|---|---|");
    for log in [14, 17, 20, 21, 22, 23, 24, 26, 28] {
        let len = 1usize << log;
        let weight = expander_weight(len);
        let [word, less] = [weight, weight - 1].map(|weight| box_share(len, weight) / 2.0);
        println!("| 2^{log} | {weight} | {:.3} | {word:.3} | {less:.3} |", 2.0 * word);
        assert!(word > DISTANCE);
    }
}
