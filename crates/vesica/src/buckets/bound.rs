//! The size of a bucket, in whole numbers only: both sides come to the same on every machine, and every
//! rounding is to the safe side. docs/parameters/buckets.md derives it.

use std::cmp::Ordering;

/// Weights below `2^-NEGLIGIBLE_BITS` end a sum.
const NEGLIGIBLE_BITS: i32 = 96;

/// The least size that `keys` distinct keys exceed in some of `buckets` buckets with probability at most
/// `2^-failure_bits`, if each key is in a bucket by itself and uniformly: the least `m` with
/// `buckets Pr[Bin(keys, 1 / buckets) > m] <= 2^-failure_bits`.
///
/// The sums are bounds, the tail's from above and the whole's from below, and lie within one part in
/// 2^40 of the exact ones; so `m` is never too small, and one too large only where the probability comes this
/// close to `2^-failure_bits`. For up to 2^32 keys and 2^16 buckets; beyond, and for one bucket,
/// it is `keys`.
pub fn bound(keys: usize, buckets: u32, failure_bits: u32) -> usize {
    let (n, b) = (keys as u64, u64::from(buckets));
    if keys <= 1 || b <= 1 || n > 1 << 32 || b > 1 << 16 || failure_bits > 1 << 10 {
        return keys;
    }
    // Weights are in units of the largest probability, which is that of this load:
    // Pr[k + 1] / Pr[k] = (n - k) / ((k + 1) (b - 1)).
    let mode = (n + 1) / b;
    let negligible = -NEGLIGIBLE_BITS - failure_bits as i32;
    // From above: weights[i] is that of load mode + i, down to a negligible one.
    let mut weights = vec![Scaled::ONE];
    let mut whole = Scaled::ONE;
    let (mut above, mut below) = (Scaled::ONE, Scaled::ONE);
    let mut load = mode;
    while load < n && above.is_at_least_power(negligible) {
        let (numerator, denominator) = (n - load, (load + 1) * (b - 1));
        above = above.times::<UP>(numerator, denominator);
        below = below.times::<DOWN>(numerator, denominator);
        whole = whole.plus::<DOWN>(below);
        weights.push(above);
        load += 1;
    }
    // All loads above, of which each is less likely than the one before it.
    let mut tail = above.times::<UP>(n - load, 1);
    let (mut below, mut less) = (Scaled::ONE, mode);
    while less > 0 && below.is_at_least_power(-NEGLIGIBLE_BITS) {
        below = below.times::<DOWN>(less * (b - 1), n - less + 1);
        whole = whole.plus::<DOWN>(below);
        less -= 1;
    }
    while load > mode {
        let Some(&weight) = weights.get((load - mode) as usize) else { break };
        let with = tail.plus::<UP>(weight);
        // All buckets', and the part by which the hash is not uniform.
        let all = with.times::<UP>(b, 1).times::<UP>((1 << 63) + 1, 1 << 63).times_power(failure_bits as i32);
        if all > whole {
            break;
        }
        tail = with;
        load -= 1;
    }
    load as usize
}

/// Rounds results up.
const UP: bool = true;
/// Rounds results down.
const DOWN: bool = false;

/// `mantissa 2^exponent`: zero, or with the mantissa's top bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scaled {
    mantissa: u64,
    exponent: i32,
}

impl Scaled {
    const ONE: Self = Self { mantissa: 1 << 63, exponent: -63 };
    const ZERO: Self = Self { mantissa: 0, exponent: i32::MIN / 2 };

    /// `wide 2^exponent`, and a little more where something `is_lost` below it; `wide` is 0 or has more than 64
    /// bits.
    fn rounded<const IS_UP: bool>(wide: u128, exponent: i32, is_lost: bool) -> Self {
        if wide == 0 {
            return Self::ZERO;
        }
        let excess = u64::BITS - wide.leading_zeros();
        let (mantissa, rest) = ((wide >> excess) as u64, wide & ((1 << excess) - 1));
        let exponent = exponent + excess as i32;
        if !IS_UP || (rest == 0 && !is_lost) {
            return Self { mantissa, exponent };
        }
        match mantissa.checked_add(1) {
            Some(mantissa) => Self { mantissa, exponent },
            None => Self { mantissa: 1 << 63, exponent: exponent + 1 },
        }
    }

    /// `self numerator / denominator`.
    fn times<const IS_UP: bool>(self, numerator: u64, denominator: u64) -> Self {
        let product = u128::from(self.mantissa) * u128::from(numerator);
        if product == 0 {
            return Self::ZERO;
        }
        let shift = product.leading_zeros();
        let (product, denominator) = (product << shift, u128::from(denominator));
        let exponent = self.exponent - shift as i32;
        let (quotient, rest) = (product / denominator, product % denominator);
        if quotient >> 64 != 0 {
            return Self::rounded::<IS_UP>(quotient, exponent, rest != 0);
        }
        // 2^127 divided by less than 2^64 has 64 bits: one more, and it has 65.
        let (bit, rest) = (2 * rest / denominator, 2 * rest % denominator);
        Self::rounded::<IS_UP>((quotient << 1) | bit, exponent - 1, rest != 0)
    }

    /// Whether this is `2^power` or more.
    fn is_at_least_power(self, power: i32) -> bool {
        self.exponent >= power - 63
    }

    /// `self 2^power`.
    fn times_power(self, power: i32) -> Self {
        Self { exponent: self.exponent + power, ..self }
    }

    /// `self + other`.
    fn plus<const IS_UP: bool>(self, other: Self) -> Self {
        let (large, small) = if self >= other { (self, other) } else { (other, self) };
        let [high, low] = [large, small].map(|number| u128::from(number.mantissa) << 63);
        let shift = (large.exponent - small.exponent) as u32;
        let (shifted, is_lost) = match shift {
            0..128 => (low >> shift, low & ((1 << shift) - 1) != 0),
            _ => (0, low != 0),
        };
        Self::rounded::<IS_UP>(high + shifted, large.exponent - 63, is_lost)
    }
}

impl Ord for Scaled {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa))
    }
}

impl PartialOrd for Scaled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vesica_structures::hashing::max_load;

    use super::*;

    /// Digits to base 2^32, the lowest first.
    #[derive(Clone, Default, PartialEq, Eq)]
    struct Big(Vec<u32>);

    impl Big {
        fn plus(&mut self, other: &Self, factor: u32) {
            let mut carry = 0;
            self.0.resize(self.0.len().max(other.0.len() + 1) + 1, 0);
            for (place, digit) in self.0.iter_mut().enumerate() {
                let added = u64::from(other.0.get(place).copied().unwrap_or(0)) * u64::from(factor);
                let sum = u64::from(*digit) + added + carry;
                (*digit, carry) = (sum as u32, sum >> 32);
            }
            assert_eq!(carry, 0);
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
        }

        fn times(&self, factor: u32) -> Self {
            let mut product = Self::default();
            product.plus(self, factor);
            product
        }

        fn is_below(&self, other: &Self) -> bool {
            (self.0.len(), self.0.iter().rev().collect::<Vec<_>>()) < (other.0.len(), other.0.iter().rev().collect())
        }
    }

    /// The bound by exact sums: `C(n, k) (b - 1)^(n - k)` of the `b^n` ways give a bucket `k` keys. The limit itself
    /// is too much, since the hash is not quite uniform.
    fn exact(keys: usize, buckets: u32, failure_bits: u32) -> usize {
        let mut ways = vec![Big(vec![1])];
        for _ in 0..keys {
            ways.push(Big::default());
            for k in (0..ways.len()).rev() {
                let mut sum = ways[k].times(buckets - 1);
                if k > 0 {
                    sum.plus(&ways[k - 1], 1);
                }
                ways[k] = sum;
            }
        }
        let mut all = Big(vec![1]);
        (0..keys).for_each(|_| all = all.times(buckets));
        let mut tail = Big::default();
        let mut bound = keys;
        while bound > 0 {
            tail.plus(&ways[bound], 1);
            let mut scaled = tail.times(buckets);
            (0..failure_bits).for_each(|_| scaled = scaled.times(2));
            if !scaled.is_below(&all) {
                break;
            }
            bound -= 1;
        }
        bound
    }

    #[test]
    fn small_bounds_are_those_of_exact_sums() {
        for keys in (0..40).chain([63, 64, 65, 100, 200]) {
            for buckets in [2, 3, 5, 64, 1000, 1 << 16] {
                for failure_bits in [1, 10, 40, 44] {
                    let expected = exact(keys, buckets, failure_bits);
                    assert_eq!(bound(keys, buckets, failure_bits), expected, "{keys} {buckets} {failure_bits}");
                }
            }
        }
    }

    /// The same by Python's decimal numbers of 60 digits.
    #[test]
    fn known_bounds() {
        assert_eq!(bound(1 << 22, 64, 40), 67_477, "2.96 % more than 2^16");
        assert_eq!(bound(1 << 22, 64, 44), 67_567, "3.10 %");
        assert_eq!([bound(0, 3, 40), bound(1, 3, 40), bound(7, 1, 40)], [0, 1, 7]);
    }

    proptest! {
        /// The other bound of this kind in the tree, which is by logarithms in floating point, with room for
        /// their errors and a series for the rest of the tail: at most a few per cent of the probability more.
        #[test]
        fn bounds_are_next_to_those_by_logarithms(
            log in 1.0f64..28.0,
            buckets in 2u32..5000,
            failure_bits in 20u32..60,
        ) {
            let keys = log.exp2() as usize;
            let (ours, theirs) = (bound(keys, buckets, failure_bits), max_load(keys, 1, buckets as usize, failure_bits));
            prop_assert!(ours <= theirs && theirs <= ours + 1 + ours / 10_000, "{} {}", ours, theirs);
        }

        #[test]
        fn bounds_grow_with_keys_and_hold_them_all(keys in 0usize..100_000, buckets in 1u32..2000) {
            let (now, next) = (bound(keys, buckets, 44), bound(keys + 1, buckets, 44));
            prop_assert!(now <= next && next <= now + 1 && now * buckets as usize >= keys);
        }

        /// Of what is not exact, results that are rounded up lie above those that are rounded down, and are the
        /// next number.
        #[test]
        fn rounding_is_in_its_direction(mantissa in 1u64 << 63.., numerator in 1u64.., denominator in 1u64..) {
            let number = Scaled { mantissa, exponent: 0 };
            let [up, down] = [number.times::<UP>(numerator, denominator), number.times::<DOWN>(numerator, denominator)];
            // down = floor of the quotient at its exponent, in whole numbers where these fit.
            let product = u128::from(mantissa) * u128::from(numerator);
            if (0..64).contains(&down.exponent) {
                let (low, high) = (u128::from(down.mantissa) << down.exponent, u128::from(up.mantissa) << up.exponent);
                let quotient = product / u128::from(denominator);
                prop_assert!(low <= quotient && quotient < low + (1 << down.exponent));
                let is_exact = low.checked_mul(u128::from(denominator)) == Some(product);
                prop_assert_eq!(high, if is_exact { low } else { low + (1 << down.exponent) });
            }
            prop_assert!(down <= up);
            let sum = (number.plus::<DOWN>(up), number.plus::<UP>(up));
            prop_assert!(sum.0 >= number && sum.0 >= up && sum.0 <= sum.1);
        }
    }
}
