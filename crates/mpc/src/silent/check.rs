//! The consistency check of the trees: both vectors as polynomials, compared at a random point.

use vesica_kernels::clmul::{gf128_inner_product, gf128_mul, gf128_powers};
use vesica_structures::fields::Gf128;

use crate::binding::Binding;

/// Positions whose powers are held at a time.
const POWERS_PER_BATCH: usize = 1024;

/// `sum chi^(p + 1) x[p]`: two different vectors agree at no more than `x.len()` of the `2^128`
/// points.
pub(super) fn evaluate(chi: u128, x: &[Gf128]) -> u128 {
    let mut powers = vec![0; POWERS_PER_BATCH];
    gf128_powers(chi, &mut powers);
    let step = powers[POWERS_PER_BATCH - 1];
    // Horner over batches, the last one first.
    bytemuck::cast_slice::<Gf128, u128>(x)
        .chunks(POWERS_PER_BATCH)
        .rev()
        .fold(0, |sum, batch| gf128_mul(sum, step) ^ gf128_inner_product(&powers[..batch.len()], batch))
}

/// Powers of a point. Neither time nor addresses depend on the exponent.
pub(super) struct Powers {
    /// `chi^(2^k) - 1`.
    squares: Vec<u128>,
}

impl Powers {
    /// Powers of `chi` for exponents up to `greatest`.
    pub fn new(chi: u128, greatest: usize) -> Self {
        let bits = greatest.checked_ilog2().map_or(0, |log| log as usize + 1);
        let squares = std::iter::successors(Some(chi), |&square| Some(gf128_mul(square, square)));
        Self { squares: squares.take(bits).map(|square| square ^ 1).collect() }
    }

    /// `chi^exponent`.
    pub fn power(&self, exponent: usize) -> u128 {
        self.squares.iter().enumerate().fold(1, |product, (k, square)| {
            let bit = (exponent >> k & 1) as u128;
            gf128_mul(product, 1 ^ (square & bit.wrapping_neg()))
        })
    }
}

/// What the sender answers if its side of the check comes to `value`.
pub(super) fn answer(binding: Binding, value: u128) -> [u8; 32] {
    binding.digest("trees' check", &[&value.to_le_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_repeated_products() {
        let chi = 0xfedc_ba98_7654_3210_1234_5678_9abc_def1;
        let powers = Powers::new(chi, 70);
        (0..=70).fold(1, |product, exponent| {
            assert_eq!(powers.power(exponent), product, "{exponent}");
            gf128_mul(product, chi)
        });
    }

    #[test]
    fn the_polynomial_is_evaluated_term_by_term() {
        let chi = 0x1234_5678_9abc_def0_0fed_cba9_8765_4321;
        for len in [0usize, 1, 5, POWERS_PER_BATCH, POWERS_PER_BATCH + 1, 3 * POWERS_PER_BATCH + 7] {
            let x: Vec<Gf128> = (0..len as u128)
                .map(|i| Gf128(i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) | 1))
                .collect();
            let powers = Powers::new(chi, len);
            let expected = x.iter().enumerate().fold(0, |sum, (p, x)| sum ^ gf128_mul(powers.power(p + 1), x.0));
            assert_eq!(evaluate(chi, &x), expected, "{len}");
        }
    }
}
