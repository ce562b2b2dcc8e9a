//! The figures of docs/ltsxq26.md on a receiver that follows Figure 15 of LTSXQ26, where `l` is
//! 128: what its first hit takes.

use vesica_structures::rng::SecretRng;

const WIDTH: usize = 128;

/// `Pr[a delta has at most w ones]`, for every `w`.
fn distribution() -> Vec<f64> {
    let mut share = 0.5f64.powi(WIDTH as i32);
    let mut sum = 0.0;
    (0..=WIDTH)
        .map(|w| {
            sum += share;
            share *= (WIDTH - w) as f64 / (w + 1) as f64;
            sum
        })
        .collect()
}

/// The median weight of the lightest of `count` deltas.
fn lightest(count: f64) -> usize {
    distribution().iter().position(|&share| (1.0 - share).powf(count) <= 0.5).expect("some weight is reached")
}

/// `log2` of the median and of the mean number of hashes until a guess is right: of `dictionary`
/// candidates, lightest first, `own` are the sender's. A candidate of weight `w` that is not takes
/// `2^w` guesses, one that is a uniform share of them.
fn first_hit(dictionary: f64, own: f64) -> (f64, f64) {
    let (distribution, mut rng) = (distribution(), SecretRng::insecure_from_seed(7));
    let mut uniform = || ((rng.block() >> 75) as f64 + 0.5) / f64::exp2(53.0);
    let mut works: Vec<f64> = (0..20_000)
        .map(|_| {
            let (mut place, mut work) = (0.0, 0.0);
            loop {
                // The next in the order of weights: places are those of a Poisson process.
                place -= uniform().ln() / dictionary;
                let guesses = distribution
                    .iter()
                    .position(|&share| share >= place)
                    .map_or(f64::INFINITY, |w| f64::exp2(w as f64));
                if uniform() < own / dictionary {
                    return work + guesses * uniform();
                }
                work += guesses;
            }
        })
        .collect();
    works.sort_by(f64::total_cmp);
    (works[works.len() / 2].log2(), (works.iter().sum::<f64>() / works.len() as f64).log2())
}

#[test]
fn the_figures_of_the_document_are_those_of_the_count() {
    assert_eq!([1 << 20, 1 << 21, 1 << 24].map(|count| lightest(f64::from(count))), [37, 36, 34]);
    let items = f64::exp2(20.0);
    let (sixteenth, sixteenth_mean) = first_hit(16.0 * items, items);
    let (half, half_mean) = first_hit(2.0 * items, items);
    eprintln!("a sixteenth: 2^{sixteenth:.2}, mean 2^{sixteenth_mean:.2}; half: 2^{half:.2}, mean 2^{half_mean:.2}");
    assert!((39.5..40.0).contains(&sixteenth) && (41.0..41.7).contains(&sixteenth_mean));
    assert!((36.4..36.9).contains(&half) && (37.8..38.3).contains(&half_mean));
}
