//! Footnote 1 of the paper, carried over to Protocol 2: a random factor that is not zero takes the place of the
//! random summand, so that the sender learns the size of the intersection, too. Literally, which is **broken**,
//! and repaired; [`rows`] has messages and rows. The footnote stands at Protocol 1, which has no bins, tables and
//! partitions: of what is wrong below, the order and the test of guesses are the footnote's own, and the rest
//! comes with Protocol 2.
//!
//! ```text
//!   Sender: X                                                              Receiver: Y
//!
//!   1. what Protocol 2 sends once (repaired: and keys that turn slots, under the sender's key)
//!      ------------------------------------------------------------------------>
//!                                        repaired: the items in a random order
//!   for each y:
//!                                        (4a, 4b) M_i, as in Protocol 2
//!                                        (4c) R_i random, zero in no slot
//!                                        2. (4d) D_i = R_i M_i; repaired: rotate(R_i M_i)
//!      <------------------------------------------------------------------------
//!   (5a) decrypts D_i
//!   3. whether a slot is zero
//!      ------------------------------------------------------------------------>
//!                                        (6) y is in X if so
//! ```
//!
//! The sender decrypts zero exactly where `y` is in its set, and there is nothing left of `D` that the
//! receiver could decrypt. How the receiver then learns, the paper does not say; the sender tells it by a bit
//! an item. `eta_r` and the receiver's key drop out.
//!
//! # What is wrong with the printed form
//!
//! **Broken**, as the tests in `tests/counted.rs` show: the sender does not learn a size, but items.
//!
//! - *The slot of a zero is the item's bin* modulo the number of slots. The paper's only rotation is the
//!   sender's, of what it answers. At 2^20 bins, 222 of 911,705 items are left, and the test of guesses below,
//!   with the 40,960 factors that the slot of the zero may have, singles out one of them.
//! - *The packing modulus of a zero is the item's table*, `g(y)`: 110 of 904,934 items in Fast Setup.
//! - *The partition of a zero is the function* where each has its own: about a quarter of these.
//! - *The order of zeros is that of the receiver's items.*
//! - *The sender tests guesses of every item*, in its set or not: the second half of `D` is `R` times that of
//!   `M`, which is a function of `C`, `y` and keys. For a guess, it has `M` by a decryption, `R` from the
//!   slots of `D`, and checks.
//!
//! Fast Setup at its printed modulus has no room for the factors `R` after a product (noise of 2^76.7, where
//! 2^75.7 is exhausted): it is served with four partitions, where the paper has two.
//!
//! # The repaired form
//!
//! One table and one partition (Fast Intersection). The receiver does to `D` what the sender does to `E` in
//! Protocol 2: it multiplies the limbs of a slot by a random invertible matrix, turns the slots under keys of
//! the sender, adds a fresh encryption of zero, and floods. The items of a query are asked about in a random
//! order. What the sender sees of an item is a fresh ciphertext of uniform slots that are not zero, but for a
//! match, which is at a uniform place; and so of a query the number of matches, which is what it is to learn.
//! The receiver sees the encrypted tables and bits. docs/parameters/cm25.md has the noise and the floods.
//! With two tables, the zero's packing modulus would still be `g(y)`, and with several partitions its partition
//! the function: neither is served.
//!
//! Nothing holds against a side that does not follow the protocol. A sender may answer as it likes, and send keys
//! that re-randomise nothing; a receiver has a decryption oracle, as in Protocol 2. A receiver must not ask about
//! more than [`ITEMS_AN_ENROLMENT`](super::ITEMS_AN_ENROLMENT) items of one set-up: the client of [`rows`] counts them. An item that
//! is asked about twice counts twice.

pub mod rows;

use vesica_structures::facts::Unsupported;
use vesica_structures::hashing::HashFailure;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, NoiseExhausted, Poly, Seed, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::params::FLOOD_BITS_MULTIPLIED;
use super::sender::shuffle;
use super::tables::Tables;
use super::turns::Turns;
use super::{Configuration, Form, Params, Setup, slots};

/// Refuses parameters whose modulus has no room, and repaired ones with which a zero would tell its table or its
/// function.
///
/// # Errors
/// For Fast Setup with fewer than four partitions as printed, and for all but Fast Intersection with one
/// partition repaired.
pub fn check(params: &Params) -> Result<(), Unsupported> {
    let partitions = params.partitions[0];
    match (params.configuration, params.form) {
        (Configuration::FastIntersection, Form::Faithful) => Ok(()),
        (Configuration::FastSetup, Form::Faithful) if partitions == 4 => Ok(()),
        (Configuration::FastIntersection, Form::Repaired) if partitions == 1 => Ok(()),
        (_, Form::Faithful) => Err(Unsupported::new(
            format_args!(
                "{partitions} partitions in Fast Setup: the noise of their products times factors exceeds the modulus"
            ),
            "take four partitions, or Fast Intersection",
        )),
        (_, Form::Repaired) => Err(Unsupported::new(
            "a sender that learns the size of the intersection, in Fast Setup or with several partitions",
            "take one partition in Fast Intersection",
        )),
    }
}

/// What the sender sends once.
#[derive(Clone, Debug)]
pub struct CountedSetup {
    /// As in Protocol 2.
    pub setup: Setup,
    /// What the second halves of `turns` come from.
    pub seed: Seed,
    /// Keys that turn slots; none in the printed form.
    pub turns: Vec<Poly<Values>>,
}

/// What the receiver asks of an item: `D`, for each partition, for each limb.
pub type CountedQuestion = Vec<Vec<Ciphertext<Coefficients>>>;

/// The left column of the variant in which the sender learns the size of the intersection. **Broken** where the
/// parameters have the printed form: then the sender learns items.
#[derive(Debug)]
pub struct CountingSender {
    pub(super) sender: super::Sender,
    setup: CountedSetup,
}

impl CountingSender {
    /// Steps 1 to 3.
    ///
    /// # Errors
    /// If a table does not exist: a statistical failure, never tried again with another key.
    ///
    /// # Panics
    /// If [`check`] refuses the parameters.
    pub fn prepare(params: &Params, items: &[u128], rng: &mut SecretRng) -> Result<Self, HashFailure> {
        assert!(check(params).is_ok(), "parameters that are not refused");
        Self::prepare_unchecked(params, items, rng)
    }

    pub(super) fn prepare_unchecked(params: &Params, items: &[u128], rng: &mut SecretRng) -> Result<Self, HashFailure> {
        let sender = super::Sender::prepare(params, items, rng)?;
        let mut encryptor = sender.key.encryptor(sender.scheme, rng);
        let turns = match params.form {
            Form::Faithful => Vec::new(),
            Form::Repaired => Turns::halves(sender.scheme, &mut encryptor, rng),
        };
        let setup = CountedSetup { setup: sender.setup().clone(), seed: encryptor.seed(), turns };
        Ok(Self { sender, setup })
    }

    /// What every receiver gets once.
    pub fn setup(&self) -> &CountedSetup {
        &self.setup
    }

    /// Step 5, for the questions of a query: what the sender learns, and answers.
    ///
    /// # Errors
    /// If a sum has too much noise, which one of a receiver that follows the protocol does not have.
    pub fn answer(&self, questions: &[CountedQuestion]) -> Result<Vec<bool>, NoiseExhausted> {
        questions.iter().map(|question| self.has_zero(question)).collect()
    }

    fn has_zero(&self, question: &CountedQuestion) -> Result<bool, NoiseExhausted> {
        question.iter().try_fold(false, |found, limbs| {
            let slots = slots::decrypted(self.sender.scheme, limbs, &self.sender.key)?;
            Ok(found | slots::has_zero(self.sender.scheme, &slots))
        })
    }
}

/// The right column of the variant in which the sender learns the size of the intersection. **Broken** where the
/// parameters have the printed form: then the sender learns items.
#[derive(Debug)]
pub struct CountingReceiver {
    pub(super) tables: Tables,
    /// None in the printed form.
    pub(super) turns: Option<Turns>,
}

impl CountingReceiver {
    /// Takes what the sender sent once.
    ///
    /// # Panics
    /// If it is not of the parameters' sizes, or if [`check`] refuses the parameters.
    pub fn new(params: &Params, setup: CountedSetup) -> Self {
        assert!(check(params).is_ok(), "parameters that are not refused");
        Self::new_unchecked(params, setup)
    }

    pub(super) fn new_unchecked(params: &Params, setup: CountedSetup) -> Self {
        let CountedSetup { setup, seed, turns } = setup;
        let turns = (params.form == Form::Repaired).then(|| Turns::new(params.scheme(), &seed, turns));
        Self { tables: Tables::new(params, setup), turns }
    }

    /// Step 4, for the items of a query: the questions, and which item each of them is about.
    pub fn ask(&self, items: &[u128], rng: &mut SecretRng) -> (Vec<CountedQuestion>, Secret<Vec<usize>>) {
        let order = self.order(items.len(), rng);
        (order.iter().map(|&item| self.question(items[item], rng)).collect(), order)
    }

    /// Which item of a query each question is about.
    fn order(&self, items: usize, rng: &mut SecretRng) -> Secret<Vec<usize>> {
        let mut order = Secret::new((0..items).collect::<Vec<usize>>());
        if self.turns.is_some() {
            shuffle(&mut order, rng);
        }
        order
    }

    fn question(&self, item: u128, rng: &mut SecretRng) -> CountedQuestion {
        let scheme = self.tables.scheme;
        let of_partition = |limbs: Vec<Ciphertext<Values>>| {
            // Step 4c.
            let mut limbs = slots::mixed(scheme, &limbs.iter().collect::<Vec<_>>(), rng);
            // Step 4d.
            if let Some(turns) = &self.turns {
                let turn = rng.block();
                limbs = limbs.into_iter().map(|limb| turns.turned(scheme, limb, turn)).collect();
            }
            limbs.into_iter().map(|limb| self.tables.finish(limb, FLOOD_BITS_MULTIPLIED, rng)).collect()
        };
        self.tables.products(item).into_iter().map(of_partition).collect()
    }

    /// Step 6: whether each item is in the set, from the answers and what [`ask`](Self::ask) said.
    ///
    /// # Panics
    /// If there is not an answer for each item.
    pub fn read(&self, answers: &[bool], order: &[usize]) -> Vec<bool> {
        assert_eq!(answers.len(), order.len(), "an answer for each item");
        let mut found = vec![false; order.len()];
        order.iter().zip(answers).for_each(|(&item, &answer)| found[item] = answer);
        found
    }
}
