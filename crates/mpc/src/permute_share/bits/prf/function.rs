//! The weak PRF, in the clear: its inputs, its matrix over F_3, and its outputs.

use vesica_kernels::aes::Aes128;
use vesica_kernels::transpose::transpose_128x128;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::batch::{Batch, STRIPES, WORDS};
use super::params::{KEY_BITS, MIDDLE};
use super::trits::{NUMBERS, Trits, ZERO, masked, sum};
use crate::binding::Binding;
use crate::permute_share::bits::words::Words;

/// Columns of the matrix that are multiplied at a time.
const COLUMNS: usize = 4;

/// Sums of so many columns, each taken no, one or two times.
const SUMS: u8 = 81;

/// Bits of a batch's evaluations, for each bit of an input.
pub(super) type Planes = Vec<[[u64; WORDS]; STRIPES]>;

/// A bit mask for each key bit: all ones where it is one.
pub(super) fn key_masks(key: &[u128]) -> impl Iterator<Item = u64> {
    (0..KEY_BITS).map(|j| ((key[j / 128] >> (j % 128) & 1) as u64).wrapping_neg())
}

/// The function but for its key, public and of one run.
pub(super) struct Function {
    inputs: Aes128,
    pub matrix: Matrix,
}

impl Function {
    /// The function of a run.
    pub fn new(binding: Binding) -> Self {
        Self { inputs: Aes128::new(binding.key("inputs of the weak PRF", &[])), matrix: Matrix::new(binding) }
    }

    /// Input `index`: AES of distinct blocks.
    fn input(&self, index: usize) -> [u128; KEY_BITS / 128] {
        let mut input = [0; KEY_BITS / 128];
        self.inputs.ctr((input.len() * index) as u128, &mut input);
        input
    }

    /// The inputs of a batch of evaluations; `index` says which input each has. Lanes without an
    /// evaluation get zeros.
    pub fn inputs(&self, batch: &Batch, index: impl Fn(usize) -> usize, planes: &mut Planes) {
        const TILES: usize = KEY_BITS / 128;
        let mut tiles = [[0u128; 128]; TILES];
        for stripe in 0..STRIPES {
            for part in 0..WORDS / 2 {
                for lane in 0..128 {
                    let evaluation = batch.evaluation(stripe, 128 * part + lane);
                    let mut input = evaluation.map_or([0; TILES], |evaluation| self.input(index(evaluation)));
                    tiles.iter_mut().zip(input).for_each(|(tile, block)| tile[lane] = block);
                    input.zeroize();
                }
                tiles.iter_mut().for_each(transpose_128x128);
                for (planes, lanes) in planes.iter_mut().zip(tiles.as_flattened()) {
                    planes[stripe][2 * part] = *lanes as u64;
                    planes[stripe][2 * part + 1] = (lanes >> 64) as u64;
                }
            }
        }
        tiles.zeroize();
    }

    /// Adds to the first bits of `outputs` the function's values at inputs `0..len` under `key`.
    pub fn add_outputs(&self, key: &[u128], len: usize, outputs: &mut Words) {
        let (mut planes, mut space) = (Secret::new(vec![[[0; WORDS]; STRIPES]; KEY_BITS]), Space::new());
        for batch in Batch::all(len) {
            self.inputs(&batch, |evaluation| evaluation, &mut planes);
            for ((trits, planes), mask) in space.inputs.iter_mut().zip(planes.iter()).zip(key_masks(key)) {
                *trits = planes.map(|ones| masked(&[ones, [0; WORDS]], mask));
            }
            let mut bits = [[0; WORDS]; STRIPES];
            for (stripe, bits) in bits.iter_mut().enumerate() {
                self.matrix.times(&space.inputs, stripe, &mut space.product);
                for [ones, _] in space.product.iter() {
                    bits.iter_mut().zip(ones).for_each(|(bit, one)| *bit ^= one);
                }
            }
            batch.each_word(|stripe, word, at, used| outputs.add(at, bits[stripe][word] & used));
            bits.zeroize();
        }
    }
}

/// What a product of a batch takes.
pub(super) struct Space {
    /// The factor: a trit for each key bit and evaluation.
    pub inputs: Secret<Vec<[Trits; STRIPES]>>,
    /// The product for the evaluations of one stripe.
    pub product: Secret<Vec<Trits>>,
}

impl Space {
    /// Zeros.
    pub fn new() -> Self {
        Self { inputs: Secret::new(vec![[ZERO; STRIPES]; KEY_BITS]), product: Secret::new(vec![ZERO; MIDDLE]) }
    }
}

/// A matrix over F_3 of [`MIDDLE`] rows and [`KEY_BITS`] columns: for [`COLUMNS`] of them at a
/// time, each row's trits as the digits of a number, the first column's the lowest one.
pub(super) struct Matrix(Vec<[u8; MIDDLE]>);

impl Matrix {
    /// The uniform matrix of a run.
    fn new(binding: Binding) -> Self {
        let mut stream = binding.stream("matrix of the weak PRF");
        let mut next = || loop {
            let mut byte = [0];
            stream.fill(&mut byte);
            // As many of the bytes that are taken leave each remainder.
            if byte[0] < NUMBERS {
                break byte[0] % SUMS;
            }
        };
        Self((0..KEY_BITS / COLUMNS).map(|_| std::array::from_fn(|_| next())).collect())
    }

    /// The product for the evaluations of one stripe of `inputs`.
    ///
    /// For each four columns all sums are made once, and each row takes one of them: the method of
    /// the four Russians.
    pub fn times(&self, inputs: &[[Trits; STRIPES]], stripe: usize, product: &mut [Trits]) {
        product.fill(ZERO);
        let mut sums = [ZERO; SUMS as usize];
        for (columns, rows) in inputs.as_chunks::<COLUMNS>().0.iter().zip(&self.0) {
            let mut known = 1;
            for column in columns {
                for i in 0..2 * known {
                    sums[known + i] = sum(&sums[i], &column[stripe]);
                }
                known *= 3;
            }
            for (product, &row) in product.iter_mut().zip(rows) {
                *product = sum(product, &sums[usize::from(row)]);
            }
        }
        sums.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::super::trits::random;
    use super::super::trits::tests::trit;
    use super::*;
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::two_party;

    fn function() -> Function {
        two_party(|ch, _| Ok(Function::new(Binding::new(ch, "test"))), |_, _| Ok(())).0
    }

    fn element(matrix: &Matrix, row: usize, column: usize) -> u64 {
        u64::from(matrix.0[column / COLUMNS][row] / 3u8.pow((column % COLUMNS) as u32) % 3)
    }

    #[test]
    fn products_are_those_of_the_definition() {
        let Function { matrix, .. } = function();
        let mut space = Space::new();
        let seeds = SecretRng::insecure_from_seed(1).block();
        for (j, trits) in space.inputs.iter_mut().enumerate() {
            *trits = random(seeds, (j as u128) << 32, WORDS);
        }
        for stripe in [0, STRIPES - 1] {
            matrix.times(&space.inputs, stripe, &mut space.product);
            for (row, product) in space.product.iter().enumerate() {
                for lane in [0, 63, 64, 511] {
                    let terms = space.inputs.iter().enumerate();
                    let terms =
                        terms.map(|(j, trits)| element(&matrix, row, j) * u64::from(trit(&trits[stripe], lane)));
                    assert_eq!(u64::from(trit(product, lane)), terms.sum::<u64>() % 3, "row {row}, lane {lane}");
                }
            }
        }
    }

    /// The definition, without words: the parity of the remainders modulo three.
    #[test]
    fn outputs_are_those_of_the_definition() {
        let (function, rng) = (function(), &mut SecretRng::insecure_from_seed(2));
        let key = [(); KEY_BITS / 128].map(|()| rng.block());
        for len in [1, 64, 700, 3000] {
            let mut outputs = Words::zeros(len);
            function.add_outputs(&key, len, &mut outputs);
            for index in (0..len).step_by(7).chain([len - 1]) {
                let input = function.input(index);
                let products: Vec<u64> =
                    (0..KEY_BITS).map(|j| ((key[j / 128] & input[j / 128]) >> (j % 128) & 1) as u64).collect();
                let trit =
                    |row| (0..KEY_BITS).map(|j| element(&function.matrix, row, j) * products[j]).sum::<u64>() % 3;
                let expected = (0..MIDDLE).filter(|&row| trit(row) == 1).count() as u64 & 1;
                assert_eq!(outputs.word_at(index) & 1, expected, "input {index} of {len}");
            }
        }
    }

    #[test]
    fn the_matrix_is_uniform_and_of_one_run() {
        let matrices: [Matrix; 2] =
            two_party(|ch, _| Ok(["a", "b"].map(|name| Matrix::new(Binding::new(ch, name)))), |_, _| Ok(())).0;
        assert!(matrices[0].0 != matrices[1].0);
        let mut counts = [0u32; 3];
        for (row, column) in (0..MIDDLE).flat_map(|row| (0..KEY_BITS).map(move |column| (row, column))) {
            counts[element(&matrices[0], row, column) as usize] += 1;
        }
        let expected = (MIDDLE * KEY_BITS) as f64 / 3.0;
        let square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(square < 56.0, "{counts:?}");
    }

    #[test]
    fn outputs_are_balanced_and_no_two_keys_have_the_same() {
        let (function, rng, len) = (function(), &mut SecretRng::insecure_from_seed(3), 100_000);
        let outputs = [(); 2].map(|()| {
            let key = [(); KEY_BITS / 128].map(|()| rng.block());
            let mut outputs = Words::zeros(len);
            function.add_outputs(&key, len, &mut outputs);
            outputs.first(len)
        });
        let mut differ = outputs[0].clone();
        differ ^= &outputs[1];
        for bits in [&outputs[0], &outputs[1], &differ] {
            // 50000 on average, with a deviation of 158.
            assert!((48_735..51_265).contains(&bits.count_ones()), "{}", bits.count_ones());
        }
    }
}
