//! All numbers of the protocol: docs/parameters/cm25.md derives them.

use std::sync::OnceLock;

use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
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
/// Bits of a right part of faithful forms: their smallest packing modulus is 40,961.
pub(super) const FAITHFUL_BITS: u32 = 15;
/// Values of a limb of repaired forms: their smallest packing modulus has two more.
const LIMB_VALUES: u64 = 65_535;
/// Values of a right part in the lowest limb of repaired forms, beside the function.
const LOW_VALUES: u64 = LIMB_VALUES / FUNCTIONS as u64;

/// Items that a client asks about from one enrolment, at most: their false matches share one budget,
/// and what noise may say of them another.
pub const ITEMS_AN_ENROLMENT: u64 = 1 << 18;

/// Items that a prepared set answers, at most, for all clients together: what noise may say of the set
/// shares one budget.
pub const ITEMS_OF_A_SET: u64 = 1 << 20;

/// Flooded ciphertexts of a set, or of a client, at most: the floods are for so many.
pub(super) const MOST_FLOODED: u64 = 1 << 23;

/// Tables side by side in a ciphertext, `k`.
fn tables_of(configuration: Configuration) -> usize {
    match configuration {
        Configuration::FastSetup => 2,
        Configuration::FastIntersection => 1,
    }
}

/// Limbs of right parts of so many bits, and of the function.
fn limbs_for(right_bits: u32) -> usize {
    let mut rest = (u128::MAX >> (u128::BITS - right_bits)) / u128::from(LOW_VALUES);
    let mut limbs = 1;
    while rest > 0 {
        rest /= u128::from(LIMB_VALUES);
        limbs += 1;
    }
    limbs
}

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
        let tables = tables_of(configuration);
        let shape = Self::shape(set_items, item_bits, tables)?;
        let limbs = match form {
            Form::Faithful if shape.right_bits() > FAITHFUL_BITS => {
                return Err(Unsupported::new(
                    format_args!(
                        "right parts of {} bits of items of {item_bits} bits, in cells of {FAITHFUL_BITS} bits",
                        shape.right_bits()
                    ),
                    "choose a repaired form, which takes items of any width, or narrower items",
                ));
            }
            Form::Faithful => 1,
            Form::Repaired => limbs_for(shape.right_bits()),
        };
        let scheme = scheme(configuration, form).params().clone();
        Ok(Self { configuration, form, set_items, shape, limbs, scheme })
    }

    /// Parameters for a set of so many items of 128 bits, which are compressed (Eqs. 4 and 5): in repaired
    /// forms as little as false matches allow, in faithful forms as much as cells ask for.
    ///
    /// # Errors
    /// If the tables are not served, or false matches are not within their budget.
    pub fn compressed(configuration: Configuration, form: Form, set_items: usize) -> Result<Self, Unsupported> {
        let item_bits = match form {
            Form::Faithful => Self::shape(set_items, u128::BITS, tables_of(configuration))?.bin_bits + FAITHFUL_BITS,
            // Any of the items that a client asks about is compressed as one of the set's.
            Form::Repaired => FailureEvent::TagCollision.bits() + ITEMS_AN_ENROLMENT.ilog2() + ceil_log2(set_items),
        };
        let params = Self::new(configuration, form, set_items, item_bits)?;
        if form == Form::Repaired && params.mixed_match_bits() < f64::from(FailureEvent::ZeroDifference.bits()) {
            return Err(Unsupported::new(
                format_args!("limbs of two cells that may seem to be one item, of {set_items} items"),
                "choose another protocol, or a smaller set",
            ));
        }
        Ok(params)
    }

    /// `-log2` of the probability that an item outside of the set, of all that a client asks about, matches
    /// some limbs of one cell and the other limbs of another. For that, two of its functions have
    /// different bins of one slot.
    pub(super) fn mixed_match_bits(&self) -> f64 {
        if self.blocks() == 1 {
            return f64::INFINITY;
        }
        let pairs = (FUNCTIONS * (FUNCTIONS - 1) / 2) as f64;
        let slots = (self.scheme.degree as f64 / pairs).log2();
        slots + f64::from(self.shape.right_bits()) - self.limbs as f64 - f64::from(ITEMS_AN_ENROLMENT.ilog2())
    }

    /// The smallest tables that hold the set.
    fn shape(set_items: usize, item_bits: u32, tables: usize) -> Result<PermutedShape, Unsupported> {
        // A table holds fewer items than it has bins.
        let mut bin_bits = ceil_log2(set_items.div_ceil(tables)).max(1);
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

    /// Ciphertexts of the tables.
    pub fn ciphertexts(&self) -> usize {
        self.blocks() * self.limbs
    }

    /// Ciphertexts of one kind that travel for an item.
    pub fn travelling(&self) -> usize {
        self.partitions() * self.limbs
    }

    /// What an empty bin has in each limb: no limb of an item.
    pub(super) fn empty(&self) -> u64 {
        match self.form {
            Form::Faithful => 1 << FAITHFUL_BITS,
            Form::Repaired => LIMB_VALUES,
        }
    }

    /// What the receiver compares with where it does not ask: no limb of an item, and not
    /// [`empty`](Self::empty).
    pub(super) fn unasked(&self) -> u64 {
        self.empty() + 1
    }

    /// The limbs of what a bin holds of an item.
    pub(super) fn limbs_of(&self, right: u128, function: u8) -> Vec<u64> {
        if self.form == Form::Faithful {
            return vec![right as u64];
        }
        let low = (right % u128::from(LOW_VALUES)) as u64 * FUNCTIONS as u64 + u64::from(function);
        let mut rest = right / u128::from(LOW_VALUES);
        let higher = (1..self.limbs).map(|_| {
            let limb = (rest % u128::from(LIMB_VALUES)) as u64;
            rest /= u128::from(LIMB_VALUES);
            limb
        });
        std::iter::once(low).chain(higher).collect()
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
    /// The scheme.
    pub(super) fn scheme(&self) -> &'static bfv::Scheme {
        scheme(self.configuration, self.form)
    }
}

/// The scheme of a configuration and form, which is the same for all requests.
fn scheme(configuration: Configuration, form: Form) -> &'static bfv::Scheme {
    static SCHEMES: [[OnceLock<bfv::Scheme>; 2]; 2] = [const { [const { OnceLock::new() }; 2] }; 2];
    let tables = tables_of(configuration);
    SCHEMES[configuration as usize][form as usize].get_or_init(|| {
        let params = match form {
            Form::Faithful => bfv::Params::with_widths(4096, &[28, 27, 27, 27], &[40_961, 65_537][..tables], 14),
            Form::Repaired => bfv::Params::with_widths(8192, &[42, 41, 41, 41], &[65_537, 114_689][..tables], 18),
        };
        bfv::Scheme::new(&params).unwrap_or_else(|refused| unreachable!("tests make all four: {}", refused.what))
    })
}
