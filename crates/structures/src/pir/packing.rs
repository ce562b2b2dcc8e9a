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
//! InsPIRe (2025). For `c < d`, the automorphisms are the powers of one, `h = 5^(d / 2c)`, so that one
//! key does; all `d` of them would need a second one.
//!
//! An element loses its lowest bits before it is switched, and what is left is small enough to be
//! multiplied by the key as it is: it is called a *digit*, although there is but one.
//!
//! All of the `A_g`, and the digits by which keys are multiplied, depend on the records and on public
//! randomness alone, so that the server computes them once: what is left for a query is one sum of
//! products of digits and values of the client's key.

use rayon::prelude::*;
use vesica_kernels::columns::{LANES, MOST_PRODUCTS};

use super::ring::{DEGREE, HALF, Ring, ring};

// One sum takes all products of a packing.
const _: () = assert!(HALF <= MOST_PRODUCTS);
/// Low bits that are rounded off an element before it is switched.
pub(super) const DROPPED_BITS: u32 = 26;
/// Bits of a digit: it is signed, and at most half of `2^DIGIT_BITS` in absolute value.
#[cfg(test)]
pub(super) const DIGIT_BITS: u32 = super::MODULUS_BITS - DROPPED_BITS;

/// A switch from `g(s)` to `g'(s)`.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    /// By how many places the key's values are moved.
    shift: usize,
}

impl Switch {
    /// Where, among the values of a client's key as [`doubled`] lays them out, those for the values
    /// from `half * HALF` on begin.
    pub fn start(self, half: usize) -> usize {
        half * DEGREE + self.shift
    }

    /// The value of a key that is multiplied by value `i`.
    fn place(self, i: usize) -> usize {
        i / HALF * HALF + (i + self.shift) % HALF
    }
}

/// The values of a key, each half twice in a row, so that all of its shifts are windows.
pub(super) fn doubled(values: &[u64]) -> impl Iterator<Item = u64> + '_ {
    values.chunks(HALF).flat_map(|half| half.iter().chain(half).copied())
}

/// The exponent of the automorphism whose image of `s` the key encrypts.
pub(super) fn key_exponent(columns: usize) -> usize {
    power_of_five(step(columns))
}

/// Five to this power, modulo `2 d`.
fn power_of_five(power: usize) -> usize {
    (0..power).fold(1, |product, _| 5 * product % (2 * DEGREE))
}

/// The generator is 5 to this power.
fn step(columns: usize) -> usize {
    HALF / columns
}

/// All switches, in their order.
pub(super) fn switches(columns: usize) -> Vec<Switch> {
    (1..columns).rev().map(|j| Switch { shift: step(columns) * (j - 1) }).collect()
}

/// What packing is precomputed to.
pub(super) struct Packing {
    /// For each block of [`LANES`] values, a row for the digit of each switch.
    pub rows: Vec<[u64; LANES]>,
    /// The coefficients of the packed encryption's `a`.
    pub a: Vec<u64>,
}

impl Packing {
    /// Precomputes the packing of columns whose elements are given by their values. `key` is the
    /// public half of the key, by its values.
    pub fn new(columns: Vec<Vec<u64>>, key: &[u64]) -> Self {
        let ring = ring();
        let switches = switches(columns.len());
        let mut rows = vec![[0; LANES]; DEGREE / LANES * switches.len()];
        let mut parts = images(columns);
        let mut a = parts.pop().expect("the identity is among the automorphisms");
        for (next, (switch, mut into)) in switches.iter().zip(parts.into_iter().rev()).enumerate() {
            let values = digit(ring, &a);
            for (i, into) in into.iter_mut().enumerate() {
                *into = ring.sum(*into, ring.product(values[i], key[switch.place(i)]));
            }
            for (block, values) in values.chunks_exact(LANES).enumerate() {
                rows[block * switches.len() + next].copy_from_slice(values);
            }
            a = into;
        }
        Self { rows, a: ring.coefficients(&a) }
    }
}

/// `A_g` for all automorphisms, by powers of the generator.
///
/// The value of `A_g` at `w^k` is the sum of `w^(i k)` times the value of `a_i` at `w^(g k)`. So for
/// each point `w^k'`, the values of all `a_i` there are the coefficients of a polynomial of which all
/// values at `w^(k' / g)` are wanted, and a transform of length `c` gives them.
fn images(columns: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let ring = ring();
    let count = columns.len();
    let (ntt, places) = ring.shorter(count);
    let scale = ring.modulus.factor(ring.modulus.inverse(count as u64));
    let step = step(count);
    // The inverses of the automorphisms' exponents, all of them 1 modulo 2 d / c.
    let inverses: Vec<usize> = (0..count).map(|g| ring.exponents()[(HALF - g * step) % HALF] as usize).collect();
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
            let switch = Switch { shift: g * step };
            (0..DEGREE).map(|i| by_point[switch.place(i)][g]).collect()
        })
        .collect()
}

/// The values of an element's digit.
fn digit(ring: &Ring, values: &[u64]) -> Vec<u64> {
    let mut digit: Vec<u64> =
        ring.coefficients(values).into_iter().map(|x| ring.signed(without_low_bits(ring.centred(x)))).collect();
    ring.values(&mut digit);
    digit
}

/// The nearest multiple of `2^DROPPED_BITS`, over that.
fn without_low_bits(x: i64) -> i64 {
    (x + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_small_and_near_the_element() {
        let largest = ring().q() as i64 / 2;
        for x in [0, 1, -1, largest, -largest, largest - 70_000_000, 1 << (DROPPED_BITS - 1), 123_456_789_012] {
            let digit = without_low_bits(x);
            assert!(digit.abs() <= 1 << (DIGIT_BITS - 1), "{x}: {digit}");
            assert!(((digit << DROPPED_BITS) - x).abs() <= 1 << (DROPPED_BITS - 1), "{x}: {digit}");
        }
    }

    /// By the definition, coefficient by coefficient.
    #[test]
    fn images_are_sums_of_shifted_images_of_the_columns() {
        let ring = ring();
        for count in [64, 256, DEGREE / 2] {
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
            for g in [0, 1, count / 2, count - 1] {
                let exponent = power_of_five(g * step(count));
                assert_eq!(exponent % (2 * DEGREE / count), 1, "X^c stays");
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

    /// Two linear forms, in some coefficients of the packed encryption: that of the secret's coefficients,
    /// which the rounded-off bits make up, and that of the errors of a key, which the digits make up. Both
    /// have the norms that bits drawn at random would give them: what docs/parameters/pir.md takes
    /// from the seed's hash.
    #[test]
    fn remainders_and_digits_act_as_random_ones() {
        let ring = ring();
        let uniform = |from: u64, count: usize| -> Vec<Vec<u64>> {
            (from..from + count as u64).into_par_iter().map(|number| ring.uniform(&[3; 32], number)).collect()
        };
        let key = uniform(1 << 32, 1).remove(0);
        // Columns as they come from few records: one public element times entries that repeat.
        let mask = uniform(0, 1).remove(0);
        let columns: Vec<Vec<u64>> =
            (0..HALF).map(|i| mask.iter().map(|&x| ring.product(x, [0, 1, 0x7f][i % 3])).collect()).collect();
        let mut parts = images(columns.clone());
        let packing = Packing::new(columns, &key);
        let switches = switches(HALF);
        let places = [0, 1, 777, HALF - 1];
        let (mut of_secret, mut of_errors) =
            ([(); 4].map(|()| vec![0i64; DEGREE]), [(); 4].map(|()| vec![0i64; DEGREE]));
        // From the end: the element that is switched, by its values.
        let mut from = parts.pop().unwrap();
        for (n, &switch) in switches.iter().enumerate() {
            let rows = packing.rows.chunks_exact(switches.len());
            let values: Vec<u64> = rows.flat_map(|rows| rows[n]).collect();
            let digits: Vec<i64> = ring.coefficients(&values).into_iter().map(|x| ring.centred(x)).collect();
            let whole = ring.coefficients(&from).into_iter().map(|x| ring.centred(x));
            let rests: Vec<i64> = whole.zip(&digits).map(|(x, &digit)| x - (digit << DROPPED_BITS)).collect();
            assert!(rests.iter().all(|rest| rest.abs() <= 1 << (DROPPED_BITS - 1)));
            assert!(digits.iter().all(|digit| digit.abs() <= 1 << (DIGIT_BITS - 1)));
            // The images of the secret, and of the key's error, that they are multiplied by.
            for (forms, numbers, power) in
                [(&mut of_secret, &rests, switch.shift + 1), (&mut of_errors, &digits, switch.shift)]
            {
                let exponent = power_of_five(power);
                for (form, m) in forms.iter_mut().zip(places) {
                    for (i, place) in form.iter_mut().enumerate() {
                        let k = (m + 2 * DEGREE - exponent * i % (2 * DEGREE)) % (2 * DEGREE);
                        *place += if k < DEGREE { numbers[k] } else { -numbers[k - DEGREE] };
                    }
                }
            }
            let mut into = parts.pop().unwrap();
            for (i, into) in into.iter_mut().enumerate() {
                *into = ring.sum(*into, ring.product(values[i], key[switch.place(i)]));
            }
            from = into;
        }
        assert_eq!(ring.coefficients(&from), packing.a, "the same as the packing");
        for (forms, bits) in [(of_secret, DROPPED_BITS), (of_errors, DIGIT_BITS)] {
            let expected = (DEGREE * (HALF - 1)) as f64 * f64::from(2 * bits).exp2() / 12.0;
            for (form, m) in forms.iter().zip(places) {
                let norm: f64 = form.iter().map(|&x| (x as f64).powi(2)).sum();
                eprintln!("coefficient {m}, {bits} bits: {:.3} of the norm of random bits", norm / expected);
                assert!((0.8..1.2).contains(&(norm / expected)), "coefficient {m}: {}", norm / expected);
            }
        }
    }
}
