//! Packing: from many encryptions of a number each to one of a polynomial.
//!
//! The server has, for each of `c` columns, a number `b_i` and an element `a_i` of the ring such
//! that `b_i` less the constant coefficient of `a_i s` is about the column's sum. The trace over the
//! `c` automorphisms that leave `X^c` as it is takes `a_i s` to `c` times its coefficients at
//! multiples of `X^c`. So with `A_g = sum over i of X^i g(a_i / c)`, coefficient `i` of
//!
//! ```text
//!   B - sum over g of A_g g(s),   B = sum over i of b_i X^i,
//! ```
//!
//! is the sum of column `i`, for `i < c`; others are of no meaning. The `g(s)` are then switched to
//! `s` one after the other: in `A_g g(s)`, with `g = g' h`, a key that encrypts `h(s)` under `s`,
//! mapped by `g'`, leads to an element times `g'(s)`, which joins `A_g'`. That is the way of
//! InsPIRe (2025), which needs a key for each generator: powers of `h = 5^(d / 2c)`, and for `c = d`
//! also `X -> X^-1`.
//!
//! All of the `A_g`, and the digits by which keys are multiplied, depend on the records and on public
//! randomness alone, so that the server computes them once: what is left for a query is one sum of
//! products of digits and values of the client's keys.

use rayon::prelude::*;
use vesica_kernels::columns::{LANES, MOST_PRODUCTS};

use super::ring::{DEGREE, HALF, Ring, ring};

/// Digits of an element that is switched.
pub(super) const DIGITS: usize = 2;

// One sum takes all products of a packing.
const _: () = assert!((DEGREE - 1) * DIGITS <= MOST_PRODUCTS);
/// Bits of a digit: digits are signed, and at most half of `2^DIGIT_BITS` in absolute value.
pub(super) const DIGIT_BITS: u32 = 16;
/// Low bits that are rounded off before an element is cut into digits.
pub(super) const DROPPED_BITS: u32 = 18;

/// A switch from `g(s)` to `g'(s)`.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    key: usize,
    /// Whether the key's values have their halves swapped.
    is_swapped: bool,
    /// By how many places they are moved.
    shift: usize,
}

impl Switch {
    /// Where, among the values of a client's keys as [`doubled`] lays them out, those for one digit
    /// and the values from `half * HALF` on begin.
    pub fn start(self, digit: usize, half: usize) -> usize {
        let half = half ^ usize::from(self.is_swapped);
        ((self.key * DIGITS + digit) * 2 + half) * DEGREE + self.shift
    }

    /// The value of a key's element that is multiplied by value `i`.
    fn place(self, i: usize) -> usize {
        ((i / HALF) ^ usize::from(self.is_swapped)) * HALF + (i + self.shift) % HALF
    }
}

/// The values of a key's element, each half twice in a row, so that all of its shifts are windows.
pub(super) fn doubled(values: &[u64]) -> impl Iterator<Item = u64> + '_ {
    values.chunks(HALF).flat_map(|half| half.iter().chain(half).copied())
}

/// How many keys packing takes.
pub(super) const fn keys(columns: usize) -> usize {
    if columns == DEGREE { 2 } else { 1 }
}

/// The exponent of the automorphism whose image of `s` the key encrypts.
pub(super) fn key_exponent(columns: usize, key: usize) -> usize {
    match key {
        0 => (0..step(columns)).fold(1, |power, _| 5 * power % (2 * DEGREE)),
        _ => 2 * DEGREE - 1,
    }
}

/// The generator is 5 to this power.
fn step(columns: usize) -> usize {
    HALF / chain(columns)
}

/// The powers of the generator.
const fn chain(columns: usize) -> usize {
    if columns == DEGREE { HALF } else { columns }
}

/// All switches, in their order: the chain of the automorphisms with a minus sign first, if there is
/// one, and what is left of it last.
pub(super) fn switches(columns: usize) -> Vec<Switch> {
    let powers = || (1..chain(columns)).rev().map(|j| step(columns) * (j - 1));
    let mut switches = Vec::with_capacity(columns - 1);
    if columns == DEGREE {
        switches.extend(powers().map(|shift| Switch { key: 0, is_swapped: true, shift }));
    }
    switches.extend(powers().map(|shift| Switch { key: 0, is_swapped: false, shift }));
    if columns == DEGREE {
        switches.push(Switch { key: 1, is_swapped: false, shift: 0 });
    }
    switches
}

/// What packing is precomputed to.
pub(super) struct Packing {
    /// For each block of [`LANES`] values, a row for each digit of each switch.
    pub rows: Vec<[u64; LANES]>,
    /// The coefficients of the packed encryption's `a`.
    pub a: Vec<u64>,
}

impl Packing {
    /// Precomputes the packing of columns whose elements are given by their values. `keys` are the
    /// public halves of the keys: their values, by key and digit.
    pub fn new(columns: Vec<Vec<u64>>, keys: &[Vec<u64>]) -> Self {
        let ring = ring();
        let count = columns.len();
        let mut parts = images(columns);
        let minus = parts.split_off(chain(count));
        let switches = switches(count);
        let rows_per_block = switches.len() * DIGITS;
        let mut rows = vec![[0; LANES]; DEGREE / LANES * rows_per_block];
        let mut next = 0;
        let mut switch = |from: &[u64], into: &mut Vec<u64>| {
            let switch = switches[next];
            for (digit, values) in digits(ring, from).into_iter().enumerate() {
                let key = &keys[switch.key * DIGITS + digit];
                for (i, into) in into.iter_mut().enumerate() {
                    *into = ring.sum(*into, ring.product(values[i], key[switch.place(i)]));
                }
                for (block, values) in values.chunks_exact(LANES).enumerate() {
                    rows[block * rows_per_block + next * DIGITS + digit].copy_from_slice(values);
                }
            }
            next += 1;
        };
        let mut collapse = |chain: Vec<Vec<u64>>| {
            chain.into_iter().rev().reduce(|from, mut into| {
                switch(&from, &mut into);
                into
            })
        };
        let (minus, plus) = (collapse(minus), collapse(parts));
        let mut a = plus.expect("the identity is among the automorphisms");
        if let Some(minus) = minus {
            switch(&minus, &mut a);
        }
        Self { rows, a: ring.coefficients(&a) }
    }
}

/// `A_g` for all automorphisms: by powers of the generator, those with a minus sign behind the others.
///
/// The value of `A_g` at `w^k` is the sum of `w^(i k)` times the value of `a_i` at `w^(g k)`. So for
/// each point `w^k'`, the values of all `a_i` there are the coefficients of a polynomial of which all
/// values at `w^(k' / g)` are wanted, and a transform of length `c` gives them.
fn images(columns: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let ring = ring();
    let count = columns.len();
    let (ntt, places) = ring.shorter(count);
    let scale = ring.modulus.factor(ring.modulus.inverse(count as u64));
    let (chain, step) = (chain(count), step(count));
    // The inverses of the automorphisms' exponents, all of them 1 modulo 2 d / c.
    let inverses: Vec<usize> = (0..count)
        .map(|g| {
            let half = if g < chain { 0 } else { HALF };
            ring.exponents()[half + (HALF - g % chain * step) % HALF] as usize
        })
        .collect();
    let by_point: Vec<Vec<u64>> = (0..DEGREE)
        .into_par_iter()
        .map(|point| {
            let k = ring.exponents()[point] as usize;
            let turn = k + 2 * DEGREE - DEGREE / count;
            let term = |(i, column): (usize, &Vec<u64>)| {
                let scaled = ring.modulus.times(column[point], scale);
                ring.modulus.times(scaled, ring.power(i * turn))
            };
            let mut polynomial: Vec<u64> = columns.iter().enumerate().map(term).collect();
            ntt.forward(&mut polynomial);
            let value = |&inverse: &usize| {
                let m = (inverse - 1) / (2 * DEGREE / count);
                polynomial[places[k * m % count] as usize]
            };
            inverses.iter().map(value).collect()
        })
        .collect();
    drop(columns);
    (0..count)
        .into_par_iter()
        .map(|g| {
            let switch = Switch { key: 0, is_swapped: g >= chain, shift: g % chain * step };
            (0..DEGREE).map(|i| by_point[switch.place(i)][g]).collect()
        })
        .collect()
}

/// The values of the digits of an element, the low digit first.
fn digits(ring: &Ring, values: &[u64]) -> [Vec<u64>; DIGITS] {
    let coefficients = ring.coefficients(values);
    let mut digits = [(); DIGITS].map(|()| Vec::with_capacity(DEGREE));
    for coefficient in coefficients {
        let mut rest = (ring.centred(coefficient) + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS;
        for digits in &mut digits {
            let digit = cut(&mut rest);
            digits.push(ring.signed(digit));
        }
    }
    digits.iter_mut().for_each(|digits| ring.values(digits));
    digits
}

/// Takes the lowest digit off: one between `-2^(DIGIT_BITS - 1)` and as much less one, or, of what no
/// more than fits is left, up to `2^(DIGIT_BITS - 1)`.
fn cut(rest: &mut i64) -> i64 {
    const BOUND: i64 = 1 << (DIGIT_BITS - 1);
    if *rest == BOUND {
        return std::mem::take(rest);
    }
    let digit = ((*rest + BOUND) & (2 * BOUND - 1)) - BOUND;
    *rest = (*rest - digit) >> DIGIT_BITS;
    digit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_small_and_make_up_the_element() {
        let ring = ring();
        let largest = ring.q() as i64 / 2;
        for x in [0, 1, -1, largest, -largest, largest - 70_000, 0x7fff_8000 << DROPPED_BITS, 123_456_789_012] {
            let mut rest = (x + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS;
            let digits: [i64; DIGITS] = [(); DIGITS].map(|()| cut(&mut rest));
            assert_eq!(rest, 0, "{x} has {DIGITS} digits");
            assert!(digits.iter().all(|digit| digit.abs() <= 1 << (DIGIT_BITS - 1)), "{x}: {digits:?}");
            let sum: i64 = digits.iter().rev().fold(0, |sum, digit| (sum << DIGIT_BITS) + digit);
            assert!(((sum << DROPPED_BITS) - x).abs() <= 1 << (DROPPED_BITS - 1), "{x}: {digits:?}");
        }
    }

    /// By the definition, coefficient by coefficient.
    #[test]
    fn images_are_sums_of_shifted_images_of_the_columns() {
        let ring = ring();
        for count in [64, DEGREE / 2, DEGREE] {
            // Few columns that are not zero; the first, the last, one between.
            let mut columns = vec![vec![0; DEGREE]; count];
            let chosen = [0, count / 3, count - 1];
            for &i in &chosen {
                columns[i] = ring.uniform(&[i as u8; 32], 5);
            }
            let coefficients: Vec<Vec<u64>> = chosen.iter().map(|&i| ring.coefficients(&columns[i])).collect();
            let images = images(columns);
            assert_eq!(images.len(), count);
            let inverse = ring.modulus.inverse(count as u64);
            for g in [0, 1, chain(count) - 1, count - 1] {
                let power = (0..g % chain(count) * step(count)).fold(1, |power, _| 5 * power % (2 * DEGREE));
                let exponent = if g < chain(count) { power } else { 2 * DEGREE - power };
                assert_eq!(exponent % (2 * DEGREE / count), 1 % (2 * DEGREE / count), "X^c stays");
                let mut expected = vec![0; DEGREE];
                for (&i, coefficients) in chosen.iter().zip(&coefficients) {
                    for (j, &c) in coefficients.iter().enumerate() {
                        let e = (i + exponent * j) % (2 * DEGREE);
                        let c = ring.product(c, inverse);
                        let c = if e < DEGREE { c } else { ring.difference(0, c) };
                        expected[e % DEGREE] = ring.sum(expected[e % DEGREE], c);
                    }
                }
                assert_eq!(ring.coefficients(&images[g]), expected, "{count} columns, automorphism {g}");
            }
        }
    }

    /// The form of the secret's coefficients that the rounded-off bits make up in some coefficients of
    /// the packed encryption has the norm that bits drawn at random would give it: what
    /// docs/parameters/pir.md takes from the seed's hash.
    #[test]
    fn remainders_act_as_random_ones() {
        let ring = ring();
        let uniform = |from: u64, count: usize| -> Vec<Vec<u64>> {
            (from..from + count as u64).into_par_iter().map(|number| ring.uniform(&[3; 32], number)).collect()
        };
        let keys = uniform(1 << 32, 2 * DIGITS);
        // Columns as they come from few records: one public element times entries that repeat.
        let mask = uniform(0, 1).remove(0);
        let columns: Vec<Vec<u64>> =
            (0..DEGREE).map(|i| mask.iter().map(|&x| ring.product(x, [0, 1, 0xffff][i % 3])).collect()).collect();
        let mut chains = images(columns.clone());
        let packing = Packing::new(columns, &keys);
        let switches = switches(DEGREE);
        let mut minus = chains.split_off(HALF);
        // From the end: the element that is switched, by its values.
        let mut held: Option<Vec<u64>> = None;
        let mut swapped = None;
        let mut forms = [0, 1, 777, DEGREE - 1].map(|m| (m, vec![0i64; DEGREE]));
        for (n, &switch) in switches.iter().enumerate() {
            let is_last = switch.key == 1;
            let chain = if switch.is_swapped { &mut minus } else { &mut chains };
            let from = match (is_last, held.take()) {
                (true, plus) => {
                    held = plus;
                    swapped.take().unwrap()
                }
                (false, Some(from)) => from,
                (false, None) => chain.pop().unwrap(),
            };
            // What its digits leave out, from the rows.
            let mut rest: Vec<i64> = ring.coefficients(&from).into_iter().map(|x| ring.centred(x)).collect();
            let mut into = if is_last { held.take().unwrap() } else { chain.pop().unwrap() };
            for digit in 0..DIGITS {
                let rows = packing.rows.chunks_exact(switches.len() * DIGITS);
                let values: Vec<u64> = rows.flat_map(|rows| rows[n * DIGITS + digit]).collect();
                for (i, into) in into.iter_mut().enumerate() {
                    *into =
                        ring.sum(*into, ring.product(values[i], keys[switch.key * DIGITS + digit][switch.place(i)]));
                }
                let shift = DROPPED_BITS + DIGIT_BITS * digit as u32;
                for (rest, c) in rest.iter_mut().zip(ring.coefficients(&values)) {
                    *rest -= ring.centred(c) << shift;
                }
            }
            assert!(rest.iter().all(|rest| rest.abs() <= 1 << (DROPPED_BITS - 1)));
            // The image of the secret that they are multiplied by, coefficient by coefficient.
            let power = (0..switch.shift + 1).fold(1, |power, _| 5 * power % (2 * DEGREE));
            let exponent = match (is_last, switch.is_swapped) {
                (true, _) => 2 * DEGREE - 1,
                (false, true) => 2 * DEGREE - power,
                (false, false) => power,
            };
            for (m, form) in &mut forms {
                for (i, place) in form.iter_mut().enumerate() {
                    let k = (*m + 2 * DEGREE - exponent * i % (2 * DEGREE)) % (2 * DEGREE);
                    *place += if k < DEGREE { rest[k] } else { -rest[k - DEGREE] };
                }
            }
            // A chain that has come to its end waits for the last switch.
            if switch.is_swapped && switch.shift == 0 {
                swapped = Some(into);
            } else {
                held = Some(into);
            }
        }
        assert_eq!(ring.coefficients(&held.unwrap()), packing.a, "the same as the packing");
        let expected = (DEGREE * (DEGREE - 1)) as f64 * f64::from(2 * DROPPED_BITS).exp2() / 12.0;
        for (m, form) in forms {
            let norm: f64 = form.iter().map(|&x| (x as f64).powi(2)).sum();
            eprintln!("coefficient {m}: {:.3} of the norm of random bits", norm / expected);
            assert!((0.8..1.2).contains(&(norm / expected)), "coefficient {m}: {}", norm / expected);
        }
    }
}
