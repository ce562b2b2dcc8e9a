//! The powers of a root of unity, as factors.

use super::modulus::{Factor, Modulus};

/// Factors, with values and quotients apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    pub values: Vec<u64>,
    pub quotients: Vec<u64>,
}

impl Roots {
    /// The powers of a root, by bit-reversed exponent.
    pub fn new(modulus: Modulus, n: usize, root: u64) -> Self {
        let mut roots = Self { values: vec![0; n], quotients: vec![0; n] };
        let bits = n.trailing_zeros();
        let (mut power, factor) = (1, modulus.factor(root));
        for i in 0..n {
            let place = i.reverse_bits() >> (usize::BITS - bits);
            let Factor { value, quotient } = modulus.factor(power);
            (roots.values[place], roots.quotients[place]) = (value, quotient);
            power = modulus.below(modulus.times(power, factor));
        }
        roots
    }

    /// The factors of the layer of `blocks` blocks.
    pub fn layer(&self, blocks: usize) -> impl Iterator<Item = Factor> {
        let places = blocks..2 * blocks;
        let pairs = self.values[places.clone()].iter().zip(&self.quotients[places]);
        pairs.map(|(&value, &quotient)| Factor { value, quotient })
    }
}
