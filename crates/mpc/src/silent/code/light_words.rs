//! The box words: light words of the code, found by linear algebra.

use std::collections::HashMap;
use std::ops::Range;

use super::*;
use crate::silent::params::{DISTANCE, box_share};
use vesica_structures::rng::SecretRng;

/// The places of output `i` in every stratum, for all outputs, drawn as the code does: in each
/// stratum a vector of the places' own numbers is expanded.
fn places(code: &Code) -> Vec<Vec<usize>> {
    let mut places = vec![Vec::new(); code.outputs];
    for s in 0..code.weight {
        let mut numbers = vec![0u64; code.positions];
        code.stratum(s).for_each(|p| numbers[p] = p as u64);
        for (places, place) in places.iter_mut().zip(code.expand(&numbers)) {
            places.push(place as usize);
        }
    }
    places
}

/// A sum of rows of the generator: which outputs, and which positions it touches.
struct Word {
    rows: Vec<usize>,
    support: Vec<usize>,
}

/// The transposed convolution of rows from `range.end` down to `range.start`, with nothing above:
/// bit `r` of element `p` says whether position `p` is in row `r`.
fn spread(code: &Code, range: Range<usize>, sources: &HashMap<usize, u128>) -> Vec<u128> {
    let mut state = vec![0u128; range.len() + WINDOW];
    let mut taps = vec![0; code.positions];
    code.taps(0, &mut vec![0; code.positions.div_ceil(4)], &mut taps);
    for p in range.clone().rev() {
        let i = p - range.start;
        let reached = (1..=WINDOW).filter(|d| taps[p] >> (d - 1) & 1 == 1).fold(0, |sum, d| sum ^ state[i + d]);
        state[i] = reached ^ sources.get(&p).copied().unwrap_or(0);
    }
    state.truncate(range.len());
    state
}

/// A combination of conditions' bits that fulfils all of them, non-zero: there are more bits than
/// conditions.
fn kernel_vector(conditions: &[u128], bits: usize) -> u128 {
    let mut pivots: Vec<(usize, u128)> = Vec::new();
    for &condition in conditions {
        let reduced = pivots.iter().fold(condition, |c, &(bit, row)| c ^ (row & (c >> bit & 1).wrapping_neg()));
        if reduced == 0 {
            continue;
        }
        let bit = reduced.trailing_zeros() as usize;
        pivots.iter_mut().filter(|(_, row)| row >> bit & 1 == 1).for_each(|(_, row)| *row ^= reduced);
        pivots.push((bit, reduced));
    }
    let free = (0..bits).find(|&bit| pivots.iter().all(|&(pivot, _)| pivot != bit)).expect("more bits than conditions");
    pivots.iter().fold(1 << free, |vector, &(bit, row)| vector | (row >> free & 1) << bit)
}

/// A word of the rows whose places lie nearest to the borders between strata 0 and 1, 2 and 3, ..
/// (1 and 2, .. and the start for an odd weight), such that the state ends below each of these
/// borders.
fn box_word(code: &Code) -> Word {
    let odd = code.weight % 2;
    let places = places(code);
    let distance = |s: usize, place: usize| {
        if s % 2 == odd { code.stratum(s).end - 1 - place } else { place - code.stratum(s).start }
    };
    let radius: Vec<usize> =
        places.iter().map(|places| (0..code.weight).map(|s| distance(s, places[s])).max().unwrap()).collect();
    let count = WINDOW * (code.weight / 2) + 1;
    assert!(count <= 128, "rows are bits of one block");
    let mut order: Vec<usize> = (0..code.outputs).collect();
    order.sort_unstable_by_key(|&i| radius[i]);
    let rows = &order[..count];

    // From each border's highest place to the conditions below its lowest one; the odd stratum runs to
    // the start.
    let boxes: Vec<Range<usize>> = (0..code.weight.div_ceil(2))
        .map(|b| {
            let (low, high) = ((2 * b).saturating_sub(odd), 2 * b + 1 - odd);
            let top = rows.iter().map(|&i| places[i][high]).max().unwrap() + 1;
            let bottom = rows.iter().map(|&i| places[i][low]).min().unwrap();
            if odd == 1 && b == 0 { 0..top } else { bottom - WINDOW..top }
        })
        .collect();
    let sources = |selected: u128| {
        let mut sources = HashMap::new();
        for (r, &i) in rows.iter().enumerate().filter(|(r, _)| selected >> r & 1 == 1) {
            places[i].iter().for_each(|&place| *sources.entry(place).or_insert(0) ^= 1 << r);
        }
        sources
    };
    let all = sources(u128::MAX);
    let conditions: Vec<u128> =
        boxes.iter().skip(odd).flat_map(|range| spread(code, range.clone(), &all)[..WINDOW].to_vec()).collect();
    let selected = kernel_vector(&conditions, count);

    let chosen = sources(selected);
    let in_word = |state: &u128| state.count_ones() % 2 == 1;
    let support = boxes
        .iter()
        .flat_map(|range| {
            let states = spread(code, range.clone(), &chosen);
            range.clone().zip(states).filter(|(_, state)| in_word(state)).map(|(p, _)| p).collect::<Vec<_>>()
        })
        .collect();
    Word { rows: (0..count).filter(|r| selected >> r & 1 == 1).map(|r| rows[r]).collect(), support }
}

/// The relative weight of a box word, after the code itself has confirmed it on a random vector.
fn lightest(log: u32, weight: usize, seed: u128) -> f64 {
    let (outputs, positions) = (1 << log, 2 << log);
    let code = Code::with_weight(outputs, positions, weight, seed);
    let Word { rows, support } = box_word(&code);
    assert!(!rows.is_empty());
    let mut rng = SecretRng::insecure_from_seed(9);
    let mut x: Vec<Gf128> = (0..positions).map(|_| Gf128(rng.block())).collect();
    let expected = support.iter().fold(Gf128(0), |sum, &p| sum + x[p]);
    let out = code.compress(&mut x);
    assert_eq!(
        rows.iter().fold(Gf128(0), |sum, &i| sum + out[i]),
        expected,
        "2^{log} outputs, seed {seed}: the word is one of the code"
    );
    support.len() as f64 / positions as f64
}

#[test]
fn box_words_weigh_more_than_the_distance() {
    for log in [14, 17, 20] {
        for seed in [5, 6] {
            let weight = expander_weight(1 << log, 64);
            let found = lightest(log, weight, seed);
            assert!(found > DISTANCE, "2^{log} outputs, seed {seed}: a word of relative weight {found}");
            eprintln!("2^{log} outputs, seed {seed}: a word of relative weight {found:.4}");
            // The search finds what the rule expects.
            let expected = box_share(1 << log, weight) / 2.0;
            assert!(
                (0.9..1.05).contains(&(found / expected)),
                "2^{log} outputs, seed {seed}: {found}, expected {expected}"
            );
        }
    }
}

#[test]
fn a_narrower_expander_has_light_words() {
    let found = lightest(17, 5, 5);
    assert!(found < DISTANCE, "a word of relative weight {found}");
    // Even weights have the same words.
    for weight in [6, 8] {
        let ratio = lightest(17, weight, 5) / (box_share(1 << 17, weight) / 2.0);
        assert!((0.9..1.05).contains(&ratio), "weight {weight}: {ratio} of what is expected");
    }
}
