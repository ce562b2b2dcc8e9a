//! The matrices and constants of the instance.

use std::sync::OnceLock;

/// Bits of a block and of a key.
pub(super) const BITS: usize = 128;

/// S-boxes of a round, of 3 bits each; the other bits pass.
pub const SBOXES: usize = 31;

/// What the designers' third formula asks for, for 2^64 blocks under one key.
pub const ROUNDS: usize = 13;

/// Bits that go through an S-box in each round: the lowest ones.
pub(super) const BOXED: usize = 3 * SBOXES;

/// The rows of a matrix over GF(2).
pub(super) type Matrix = [u128; BITS];

/// What is public of a cipher.
pub(super) struct Instance {
    /// The linear layer of each round.
    pub linear: Vec<Matrix>,
    pub inverse: Vec<Matrix>,
    /// The constant of each round.
    pub constants: Vec<u128>,
    /// What makes the round keys out of the key: one that is added before the first round, and one
    /// for each round.
    pub keys: Vec<Matrix>,
}

pub(super) fn instance() -> &'static Instance {
    static INSTANCE: OnceLock<Instance> = OnceLock::new();
    INSTANCE.get_or_init(|| Instance::new(ROUNDS))
}

impl Instance {
    /// The cipher of so many rounds. The reference makes linear layers first, then constants, then
    /// the matrices of keys.
    pub fn new(rounds: usize) -> Self {
        let mut generator = Generator::new();
        let (linear, inverse) = (0..rounds).map(|_| generator.invertible()).unzip();
        let constants = (0..rounds).map(|_| generator.block()).collect();
        let keys = (0..=rounds).map(|_| generator.invertible().0).collect();
        Self { linear, inverse, constants, keys }
    }
}

/// The inverse of a matrix, unless it is singular.
fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let mut left = *matrix;
    let mut right: Matrix = std::array::from_fn(|row| 1 << row);
    for column in 0..BITS {
        let pivot = (column..BITS).find(|&row| left[row] >> column & 1 == 1)?;
        left.swap(column, pivot);
        right.swap(column, pivot);
        for row in (0..BITS).filter(|&row| row != column) {
            if left[row] >> column & 1 == 1 {
                left[row] ^= left[column];
                right[row] ^= right[column];
            }
        }
    }
    Some(right)
}

/// The generator of public bits: the shift register of Grain, which shrinks its own output.
struct Generator(u128);

impl Generator {
    /// All bits set, and 160 steps without output.
    fn new() -> Self {
        let mut generator = Self((1 << 80) - 1);
        (0..160).for_each(|_| {
            generator.step();
        });
        generator
    }

    fn step(&mut self) -> bool {
        let Self(state) = self;
        let next = (*state ^ *state >> 13 ^ *state >> 23 ^ *state >> 38 ^ *state >> 51 ^ *state >> 62) & 1;
        *state = *state >> 1 | next << 79;
        next == 1
    }

    /// Of each two bits, the second one where the first one is set.
    fn bit(&mut self) -> bool {
        loop {
            let (is_taken, bit) = (self.step(), self.step());
            if is_taken {
                return bit;
            }
        }
    }

    fn block(&mut self) -> u128 {
        (0..BITS).fold(0, |block, i| block | u128::from(self.bit()) << i)
    }

    /// The first matrix that has an inverse, and its inverse.
    fn invertible(&mut self) -> (Matrix, Matrix) {
        loop {
            let matrix = std::array::from_fn(|_| self.block());
            if let Some(inverse) = inverse(&matrix) {
                return (matrix, inverse);
            }
        }
    }
}
