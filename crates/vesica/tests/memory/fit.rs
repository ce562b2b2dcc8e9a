//! The coefficients of the memory model from measured peaks.

/// What a peak is taken to be larger by.
const MARGIN: f64 = 1.08;

/// Peaks below this many bytes need no tight bound.
const SMALL: f64 = (4 << 20) as f64;

/// Fewest bytes for an own item: the item itself.
const OWN: f64 = 16.0;

/// `(1, n_s, n_r)` and the least that the bound may be there.
type Condition = ([f64; 3], f64);

/// KiB, bytes a sender's item and bytes a receiver's item, such that the bound lies above all
/// `(n_s, n_r, peak)` and close to them: of all corners of the region of such bounds, the one that
/// is least off.
pub fn fit(peaks: &[(usize, usize, usize)], own: usize) -> [u64; 3] {
    let mut conditions: Vec<Condition> = peaks
        .iter()
        .map(|&(senders, receivers, peak)| ([1.0, senders as f64, receivers as f64], peak as f64 * MARGIN))
        .collect();
    for place in 0..3 {
        let mut unit = [0.0; 3];
        unit[place] = 1.0;
        conditions.push((unit, if place == own { OWN } else { 0.0 }));
    }
    let value = |at: &[f64; 3], x: &[f64; 3]| at.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    let mut best: Option<(f64, [f64; 3])> = None;
    for i in 0..conditions.len() {
        for j in i + 1..conditions.len() {
            for k in j + 1..conditions.len() {
                let Some(x) = solve([conditions[i], conditions[j], conditions[k]]) else { continue };
                if conditions.iter().any(|(at, least)| value(at, &x) < least * (1.0 - 1e-9) - 1e-6) {
                    continue;
                }
                let off = |&(at, least): &Condition| (value(&at, &x) + SMALL) / (least / MARGIN + SMALL);
                let ratios = conditions[..peaks.len()].iter().map(off);
                let squares = ratios.clone().map(|ratio| ratio * ratio).sum::<f64>() / peaks.len() as f64;
                let score = squares + ratios.fold(0.0, f64::max);
                if best.is_none_or(|(least, _)| score < least) {
                    best = Some((score, x));
                }
            }
        }
    }
    let (_, [fixed, sender, receiver]) = best.expect("large coefficients bound all");
    [fixed / 1024.0, sender, receiver].map(|number| number.ceil() as u64)
}

/// Where three conditions are equations (Gauss and Jordan).
fn solve(conditions: [Condition; 3]) -> Option<[f64; 3]> {
    let mut rows = conditions.map(|([a, b, c], d)| [a, b, c, d]);
    for column in 0..3 {
        let pivot = (column..3).max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs()))?;
        if rows[pivot][column].abs() < 1e-9 {
            return None;
        }
        rows.swap(column, pivot);
        let of_pivot = rows[column];
        for (number, row) in rows.iter_mut().enumerate() {
            if number != column {
                let factor = row[column] / of_pivot[column];
                row.iter_mut().zip(of_pivot).for_each(|(one, other)| *one -= factor * other);
            }
        }
    }
    Some(std::array::from_fn(|place| rows[place][3] / rows[place][place]))
}

#[test]
fn a_fit_lies_above_all_peaks_and_on_those_that_follow_it() {
    let peaks: Vec<(usize, usize, usize)> =
        [(1 << 10, 1 << 20), (1 << 20, 1 << 10), (1 << 20, 1 << 20), (1 << 8, 1 << 8)]
            .map(|(s, r)| (s, r, 10_000 + 40 * s + 100 * r))
            .to_vec();
    let [fixed, sender, receiver] = fit(&peaks, 1);
    assert!(
        (43..=45).contains(&sender) && (108..=109).contains(&receiver) && fixed < 100,
        "{fixed} {sender} {receiver}"
    );
}
