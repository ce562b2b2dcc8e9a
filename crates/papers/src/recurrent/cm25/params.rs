//! All numbers of the protocol: docs/parameters/cm25.md derives them.

use std::sync::OnceLock;

use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::PermutedShape;
use vesica_structures::rlwe::bfv::{self, Plain};
use vesica_structures::secret::Secret;

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

/// Most hash functions, `h`; the least number is three.
pub(super) const MOST_FUNCTIONS: usize = 4;
/// Bits of a right part of faithful forms: their smallest packing modulus is 40,961.
pub(super) const FAITHFUL_BITS: u32 = 15;
/// Values of a limb of repaired forms: their smallest packing modulus has two more.
const LIMB_VALUES: u64 = 65_535;

/// Items that a client asks about from one enrolment, at most: their false matches share one budget,
/// and what noise may say of them another.
pub const ITEMS_AN_ENROLMENT: u64 = 1 << 18;

/// Items that a prepared set answers, at most, for all clients together: what noise may say of the set
/// shares one budget.
pub const ITEMS_OF_A_SET: u64 = 1 << 20;

/// Flooded ciphertexts of a set, or of a client, at most: the floods are for so many.
const MOST_FLOODED: u64 = 1 << 23;

/// Tables side by side in a ciphertext, `k`.
fn tables_of(configuration: Configuration) -> usize {
    match configuration {
        Configuration::FastSetup => 2,
        Configuration::FastIntersection => 1,
    }
}

/// Values of a right part in the lowest limb of repaired forms, beside one of so many functions.
fn low_values(functions: usize) -> u64 {
    LIMB_VALUES / functions as u64
}

/// Limbs of right parts of so many bits, and of one of so many functions.
fn limbs_for(right_bits: u32, functions: usize) -> usize {
    let mut rest = (u128::MAX >> (u128::BITS - right_bits)) / u128::from(low_values(functions));
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
    /// Ciphertexts that an item's functions are multiplied to, by the receiver and then by the sender:
    /// `eta_s + 1` and `eta_r + 1`.
    pub partitions: [usize; 2],
    /// The sender's encryption scheme, of `n_s` coefficients.
    pub scheme: bfv::Params,
    /// The receiver's encryption scheme, of `n_r` coefficients.
    pub receivers: bfv::Params,
}

impl Params {
    /// Parameters for a set of so many items of `item_bits` bits each, in tables of three or four hash functions.
    ///
    /// # Errors
    /// If the tables are not served, or a cell has no room for a right part.
    pub fn new(
        configuration: Configuration,
        form: Form,
        functions: usize,
        set_items: usize,
        item_bits: u32,
    ) -> Result<Self, Unsupported> {
        let tables = tables_of(configuration);
        let shape = shape(set_items, item_bits, tables, functions)?;
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
            Form::Repaired => limbs_for(shape.right_bits(), functions),
        };
        let scheme = scheme(configuration, form).params().clone();
        let partitions = match configuration {
            Configuration::FastSetup => [2; 2],
            Configuration::FastIntersection => [1; 2],
        };
        Ok(Self { configuration, form, set_items, shape, limbs, partitions, receivers: scheme.clone(), scheme })
    }

    /// The same with other partitions, `[eta_s + 1, eta_r + 1]`.
    ///
    /// # Errors
    /// If there are no such partitions, or the modulus has no room for their products.
    pub fn with_partitions(self, partitions: [usize; 2]) -> Result<Self, Unsupported> {
        let [asked, answered] = partitions;
        let functions = self.functions();
        if !(1..=functions).contains(&asked) || !(1..=asked).contains(&answered) {
            return Err(Unsupported::new(
                format_args!("{asked} partitions of {functions} differences, and {answered} of their products"),
                format_args!("take 1 to {functions} partitions, and no more of products than of differences"),
            ));
        }
        // Products of a plaintext modulus of 32 bits leave no room for a second one, of ciphertexts or with the
        // plaintexts of step 5c.
        if self.configuration == Configuration::FastSetup && (asked == 1 || answered != asked) {
            return Err(Unsupported::new(
                format_args!("{asked} and {answered} partitions in Fast Setup: their noise exceeds the modulus"),
                "take two partitions or more, as many in answers, or Fast Intersection",
            ));
        }
        if asked != answered && self.receivers != self.scheme {
            return Err(Unsupported::new(
                format_args!("products under the receiver's key in {} coefficients", self.receivers.degree),
                "take as many partitions in answers as in questions, or rings of one size",
            ));
        }
        Ok(Self { partitions, ..self })
    }

    /// The same with a receiver's scheme of `n_r` coefficients.
    ///
    /// # Errors
    /// If `n_s < n_r`, which the paper forbids, or there are no parameters for them.
    pub fn with_receivers_degree(self, degree: usize) -> Result<Self, Unsupported> {
        if degree > self.scheme.degree {
            return Err(Unsupported::new(
                format_args!("{degree} slots under the receiver's key for {} of the tables", self.scheme.degree),
                "take n_s >= n_r, as the paper says",
            ));
        }
        if degree == self.scheme.degree {
            return Ok(Self { receivers: self.scheme.clone(), ..self });
        }
        let is_served =
            self.configuration == Configuration::FastIntersection && self.form == Form::Repaired && degree == 4096;
        if !is_served || self.partitions[0] != self.partitions[1] {
            return Err(Unsupported::new(
                format_args!(
                    "{degree} coefficients under the receiver's key, {} under the sender's",
                    self.scheme.degree
                ),
                "take 4096 and 8192 in Fast Intersection, repaired, without products of the sender's",
            ));
        }
        Ok(Self { receivers: small_scheme().params().clone(), ..self })
    }

    /// Parameters for a set of so many items of 128 bits, which are compressed (Eqs. 4 and 5): in repaired
    /// forms as little as false matches allow, in faithful forms as much as cells ask for.
    ///
    /// # Errors
    /// If the tables are not served, or false matches are not within their budget.
    pub fn compressed(
        configuration: Configuration,
        form: Form,
        functions: usize,
        set_items: usize,
    ) -> Result<Self, Unsupported> {
        let item_bits = match form {
            Form::Faithful => {
                shape(set_items, u128::BITS, tables_of(configuration), functions)?.bin_bits + FAITHFUL_BITS
            }
            // Any of the items that a client asks about is compressed as one of the set's.
            Form::Repaired => FailureEvent::TagCollision.bits() + ITEMS_AN_ENROLMENT.ilog2() + ceil_log2(set_items),
        };
        let params = Self::new(configuration, form, functions, set_items, item_bits)?;
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
        let pairs = (self.functions() * (self.functions() - 1) / 2) as f64;
        let slots = (self.scheme.degree as f64 / pairs).log2();
        slots + f64::from(self.shape.right_bits()) - self.limbs as f64 - f64::from(ITEMS_AN_ENROLMENT.ilog2())
    }

    /// Hash functions, `h`.
    pub fn functions(&self) -> usize {
        self.shape.functions
    }

    /// The receiver's ciphertexts for one of the sender's, `n_s / n_r`.
    pub fn chunks(&self) -> usize {
        self.scheme.degree / self.receivers.degree
    }

    /// Ciphertexts of the tables' bins, each for all limbs.
    pub fn blocks(&self) -> usize {
        self.shape.bins().div_ceil(self.scheme.degree)
    }

    /// Ciphertexts of the tables.
    pub fn ciphertexts(&self) -> usize {
        self.blocks() * self.limbs
    }

    /// Sums `D` that travel for an item.
    pub fn sums(&self) -> usize {
        self.partitions[0] * self.limbs
    }

    /// Encrypted masks that travel for an item.
    pub fn masks(&self) -> usize {
        self.sums() * self.chunks()
    }

    /// Results `E` that travel for an item.
    pub fn results(&self) -> usize {
        self.partitions[1] * self.chunks() * self.limbs
    }

    /// How many items one prepared set may answer, so that its floods are within their budget.
    pub fn items_of_a_set(&self) -> u64 {
        ITEMS_OF_A_SET.min(MOST_FLOODED / self.sums().max(self.results()) as u64)
    }

    /// Whether the sender multiplies ciphertexts in step 5b.
    pub fn has_senders_products(&self) -> bool {
        self.partitions[0] != self.partitions[1]
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
        let (functions, low_values) = (self.functions() as u64, u128::from(low_values(self.functions())));
        let low = (right % low_values) as u64 * functions + u64::from(function);
        let mut rest = right / low_values;
        let higher = (1..self.limbs).map(|_| {
            let limb = (rest % u128::from(LIMB_VALUES)) as u64;
            rest /= u128::from(LIMB_VALUES);
            limb
        });
        std::iter::once(low).chain(higher).collect()
    }

    /// Bits of each of the four draws of a flood on sums `D`.
    pub(super) fn flood_bits_d(&self) -> u32 {
        match depth(self.functions(), self.partitions[0]) {
            0 | 1 => 73,
            _ => 98,
        }
    }

    /// Bits of each of the four draws of a flood on results `E`.
    pub(super) fn flood_bits_e(&self) -> u32 {
        if self.chunks() > 1 {
            return 84;
        }
        match depth(self.partitions[0], self.partitions[1]) {
            0 => 73,
            1 => 90,
            _ => FLOOD_BITS_MULTIPLIED,
        }
    }

    /// Primes that are left of sums `D` when noise is flooded: the one that is dropped before takes with
    /// it most of the noise of products.
    pub(super) fn primes_flooded_d(&self) -> usize {
        3
    }

    /// Primes that are left of results `E` when noise is flooded.
    pub(super) fn primes_flooded_e(&self) -> usize {
        if self.chunks() > 1 { 4 } else { 3 }
    }

    /// Primes that the sums `D` keep when they travel.
    pub(super) fn primes_of_d(&self) -> usize {
        2
    }

    /// Primes that the results `E` keep when they travel.
    pub(super) fn primes_of_e(&self) -> usize {
        2
    }

    /// The sender's scheme.
    pub(super) fn scheme(&self) -> &'static bfv::Scheme {
        scheme(self.configuration, self.form)
    }

    /// The receiver's scheme.
    pub(super) fn receivers(&self) -> &'static bfv::Scheme {
        if self.chunks() > 1 { small_scheme() } else { self.scheme() }
    }

    /// The slots of a plaintext of the sender's scheme, in plaintexts of the receiver's.
    pub(super) fn in_chunks(&self, plain: &Plain) -> Vec<Plain> {
        let slots = Secret::new(self.scheme().decode(plain));
        slots.chunks_exact(self.receivers.degree).map(|slots| self.receivers().encode(slots)).collect()
    }
}

/// The smallest tables that hold the set.
///
/// # Errors
/// For fewer than three functions, or more than four, and for sets that no tables are served for.
fn shape(set_items: usize, item_bits: u32, tables: usize, functions: usize) -> Result<PermutedShape, Unsupported> {
    if !(3..=MOST_FUNCTIONS).contains(&functions) {
        return Err(Unsupported::new(
            format_args!("tables of {functions} hash functions, of which nothing is known at a failure rate of 2^-40"),
            format_args!("take 3 or {MOST_FUNCTIONS}"),
        ));
    }
    // A table holds fewer items than it has bins.
    let mut bin_bits = ceil_log2(set_items.div_ceil(tables)).max(1);
    loop {
        let shape = PermutedShape::new(item_bits, bin_bits, tables, functions)?;
        // For some widths of tables of three functions there is no bound, but for wider ones.
        if shape.most_items(FailureEvent::HashTable.bits() - 1).is_ok_and(|most| most >= set_items) {
            return Ok(shape);
        }
        bin_bits += 1;
    }
}

/// Bits of each of the four draws of a flood on what is multiplied by ciphertexts, at a depth of two, and
/// then by the matrices of slots.
pub(super) const FLOOD_BITS_MULTIPLIED: u32 = 104;

/// Depth of products that bring `from` ciphertexts to `to`.
fn depth(from: usize, to: usize) -> u32 {
    ceil_log2(from.div_ceil(to))
}

/// Of `from` ciphertexts that are multiplied to `to`, those of one product.
pub(super) fn factors_of(product: usize, from: usize, to: usize) -> std::ops::Range<usize> {
    (product * from).div_ceil(to)..((product + 1) * from).div_ceil(to)
}

/// The scheme of a configuration and form, which is the same for all requests.
pub(super) fn scheme(configuration: Configuration, form: Form) -> &'static bfv::Scheme {
    static SCHEMES: [[OnceLock<bfv::Scheme>; 2]; 2] = [const { [const { OnceLock::new() }; 2] }; 2];
    let tables = tables_of(configuration);
    SCHEMES[configuration as usize][form as usize].get_or_init(|| {
        let params = match form {
            Form::Faithful => bfv::Params::with_widths(4096, &[28, 27, 27, 27], &[40_961, 65_537][..tables], 14),
            Form::Repaired => bfv::Params::with_widths(8192, &[42, 41, 41, 41], &[65_537, 114_689][..tables], 18),
        };
        made(&params)
    })
}

/// The receiver's scheme where `n_s > n_r`.
fn small_scheme() -> &'static bfv::Scheme {
    static SCHEME: OnceLock<bfv::Scheme> = OnceLock::new();
    SCHEME.get_or_init(|| made(&bfv::Params::with_widths(4096, &[28, 27, 27, 27], &[65_537], 14)))
}

fn made(params: &bfv::Params) -> bfv::Scheme {
    bfv::Scheme::new(params).unwrap_or_else(|refused| unreachable!("tests make all of them: {}", refused.what))
}
