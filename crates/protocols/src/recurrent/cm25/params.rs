//! All numbers of the protocol: docs/parameters/cm25.md derives them.

use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::PermutedShape;
use vesica_structures::rlwe::bfv;

/// The paper's two configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configuration {
    /// *Fast Setup*: two tables side by side in each ciphertext, two partitions.
    FastSetup,
    /// *Fast Intersection*: one table, one partition.
    FastIntersection,
}

/// The protocol as printed, or as it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As in the paper, at its parameters.
    Faithful,
    /// With what [`super`] lists as repairs.
    Repaired,
}

/// Hash functions, `h`.
pub(super) const FUNCTIONS: usize = 4;
/// Bits of `FUNCTIONS`.
const FUNCTION_BITS: u32 = FUNCTIONS.ilog2();
/// Bits of a limb: every packing modulus is above `2^15 + 1`, so that two more values are left.
pub(super) const LIMB_BITS: u32 = 15;

/// The parameters that both sides derive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The configuration.
    pub configuration: Configuration,
    /// The form.
    pub form: Form,
    /// Items of the set, `|X|`, at most.
    pub set_items: usize,
    /// The tables.
    pub shape: PermutedShape,
    /// Plaintexts that a cell is spread over.
    pub limbs: usize,
    /// The encryption scheme of both sides, `n_s = n_r`.
    pub scheme: bfv::Params,
}

impl Params {
    /// Parameters for a set of so many items of `item_bits` bits each.
    ///
    /// # Errors
    /// If the tables are not served, or a cell has no room for a right part.
    pub fn new(
        configuration: Configuration,
        form: Form,
        set_items: usize,
        item_bits: u32,
    ) -> Result<Self, Unsupported> {
        let tables = match configuration {
            Configuration::FastSetup => 2,
            Configuration::FastIntersection => 1,
        };
        let shape = Self::shape(set_items, item_bits, tables)?;
        let (limbs, scheme) = match form {
            Form::Faithful if shape.right_bits() > LIMB_BITS => {
                return Err(Unsupported::new(
                    format_args!(
                        "right parts of {} bits of items of {item_bits} bits, in cells of {LIMB_BITS} bits",
                        shape.right_bits()
                    ),
                    "choose a repaired form, which takes items of any width, or narrower items",
                ));
            }
            Form::Faithful => (1, bfv::Params::with_widths(4096, &[28, 27, 27, 27], &[40_961, 65_537][..tables], 14)),
            Form::Repaired => {
                let limbs = (shape.right_bits() + FUNCTION_BITS).div_ceil(LIMB_BITS) as usize;
                (limbs, bfv::Params::with_widths(8192, &[42, 41, 41, 41], &[65_537, 114_689][..tables], 18))
            }
        };
        Ok(Self { configuration, form, set_items, shape, limbs, scheme })
    }

    /// The smallest tables that hold the set.
    fn shape(set_items: usize, item_bits: u32, tables: usize) -> Result<PermutedShape, Unsupported> {
        let mut bin_bits = 1;
        loop {
            let shape = PermutedShape::new(item_bits, bin_bits, tables, FUNCTIONS)?;
            if shape.most_items(FailureEvent::HashTable.bits() - 1)? >= set_items {
                return Ok(shape);
            }
            bin_bits += 1;
        }
    }

    /// Ciphertexts of one kind that travel for a query, `eta_s + 1 = eta_r + 1`.
    pub fn partitions(&self) -> usize {
        match self.configuration {
            Configuration::FastSetup => 2,
            Configuration::FastIntersection => 1,
        }
    }

    /// Ciphertexts of the tables' bins, each for all limbs.
    pub fn blocks(&self) -> usize {
        self.shape.bins().div_ceil(self.scheme.degree)
    }

    /// What an empty bin has in each limb: no limb of an item.
    pub(super) fn empty(&self) -> u64 {
        1 << LIMB_BITS
    }

    /// What the receiver compares with where it does not ask: no limb of an item, and not
    /// [`empty`](Self::empty).
    pub(super) fn unasked(&self) -> u64 {
        (1 << LIMB_BITS) + 1
    }

    /// The limbs of what a bin holds of an item.
    pub(super) fn limbs_of(&self, right: u128, function: u8) -> Vec<u64> {
        // Right parts of up to 127 bits and the function do not fit 128 bits: the function goes into the
        // lowest limb first.
        let (low, rest) = match self.form {
            Form::Faithful => return vec![right as u64],
            Form::Repaired => {
                let low_bits = LIMB_BITS - FUNCTION_BITS;
                let low = (right as u64 & ((1 << low_bits) - 1)) << FUNCTION_BITS | u64::from(function);
                (low, right >> low_bits)
            }
        };
        let limb = |number: u32| (rest >> (LIMB_BITS * number)) as u64 & ((1 << LIMB_BITS) - 1);
        std::iter::once(low).chain((0..self.limbs as u32 - 1).map(limb)).collect()
    }

    /// Bits of each of the four draws of a flood on sums `D`.
    pub(super) fn flood_bits_d(&self) -> u32 {
        match self.configuration {
            Configuration::FastSetup => 73,
            Configuration::FastIntersection => 98,
        }
    }

    /// Primes that the sums `D` keep when they travel.
    pub(super) fn primes_of_d(&self) -> usize {
        2
    }

    /// Primes that the results `E` keep when they travel.
    pub(super) fn primes_of_e(&self) -> usize {
        2
    }
}

/// Primes that are left when noise is flooded: the one that is dropped before takes with it most of
/// the noise of products.
pub(super) const PRIMES_FLOODED: usize = 3;
/// Bits of each of the four draws of a flood on results `E`.
pub(super) const FLOOD_BITS_E: u32 = 73;

impl Params {
    /// The tables of the scheme.
    ///
    /// # Panics
    /// If its parameters are refused, which those of [`Params::new`] are not.
    #[expect(clippy::expect_used, reason = "a test makes the scheme of every configuration and form")]
    pub(super) fn scheme(&self) -> bfv::Scheme {
        bfv::Scheme::new(&self.scheme).expect("fixed parameters that are served")
    }
}
