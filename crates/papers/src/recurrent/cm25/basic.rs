//! Protocol 1 of the paper, the blueprint of Protocol 2, as printed: **broken**, of no use, and no row of the
//! registry. It is here to be read beside the paper.
//!
//! ```text
//!   Sender: X                                                              Receiver: Y
//!
//!   1. the scheme, and the sender's key for products
//!      ------------------------------------------------------------------------>
//!   2. (2) Enc_S(x_1), .., Enc_S(x_|X|)
//!      ------------------------------------------------------------------------>
//!   for each y:
//!                                        (3a) r uniform
//!                                        3. (3b) d = r + (x_1 - y) .. (x_|X| - y), under S
//!      <------------------------------------------------------------------------
//!                                        4. (3c) Enc_R(r)
//!      <------------------------------------------------------------------------
//!   (4a) decrypts d   (4b) rho uniform, not zero
//!   5. (4c) e = rho (Enc_R(r) - d)
//!      ------------------------------------------------------------------------>
//!                                                       (5) y is in X if e is zero
//! ```
//!
//! Items have 16 bits and are constants modulo `t = 65,537`; `r` and `rho` are constants, too. Modulo a
//! prime, a product is zero only where a factor is, so that outputs are right. The paper leaves the
//! parameters open. The products of an item have a depth of `log2 |X|`, and the modulus of Protocol 2's
//! repaired forms, 165 bits, has room for a depth of 4 and, by a prediction, of 5. Served are sets of at most 16
//! items, at `|Y| (|X| - 1)` products of ciphertexts.
//!
//! # What is wrong with it
//!
//! Theorem 1 of the paper asks for circuit privacy, which no step provides. The tests in `tests/basic.rs`
//! show that for BFV as the paper uses it, both halves of the claim fail between parties that follow the protocol:
//!
//! - *The sender recognises `y`.* Step 3b adds `r` to the first half of `d` only. The second half is a
//!   function of the encrypted items, `y` and the key for products: `|X| - 1` products for each guess.
//! - *The receiver reads all of `X` after `|X|` questions.* The second half of `e` is `rho` times the one of
//!   the receiver's own `Enc_R(r)`: a division gives `rho`, and `-e / rho` is the polynomial with the roots
//!   `X`, at `y`. So many of its values determine the polynomial.
//!
//! The repairs are those of Protocol 2: fresh encryptions of zero, and floods ([`super`]). A flood on
//! products of a depth of 4 would need a larger modulus.

use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::rlwe::bfv::{
    Ciphertext, Coefficients, NoiseExhausted, Plain, Poly, Scheme, SecretKey, Seed, SwitchKey, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{BasicKey, BasicMasks, BasicResults, BasicSet, BasicSums};
use super::params::scheme as scheme_of;
use super::tables::product;
use super::{Configuration, Form, slots};
use vesica_protocols::bfv::ciphertexts::{
    exhausted, receive_half, receive_halves, receive_seed, receive_short, send_half, send_short,
};

/// Items of a set, at most: a depth of 4.
pub const MOST_ITEMS: usize = 16;

/// Step 1: the scheme of both sides.
pub(super) fn scheme() -> &'static Scheme {
    scheme_of(Configuration::FastIntersection, Form::Repaired)
}

/// Refuses what step 1 has no parameters for.
///
/// # Errors
/// If the set has more than [`MOST_ITEMS`].
pub fn check_set(items: usize) -> Result<(), Unsupported> {
    if items <= MOST_ITEMS {
        return Ok(());
    }
    Err(Unsupported::new(
        format_args!("a set of {items} items: deeper products were not tried at this modulus"),
        format_args!("take at most {MOST_ITEMS} items, or Protocol 2"),
    ))
}

/// The plaintext that is this number in every slot.
pub(super) fn constant(scheme: &Scheme, number: u64) -> Plain {
    scheme.encode(&Secret::new(vec![number; scheme.slots()]))
}

/// What the sender sends once (step 2): first halves, numbered one after the other.
#[derive(Clone, Debug)]
pub struct Set {
    seed: Seed,
    /// A key for products, one for each digit.
    product: Vec<Poly<Values>>,
    /// The items.
    items: Vec<Poly<Values>>,
}

/// What the receiver asks of an item (step 3d).
#[derive(Clone, Debug)]
pub struct Question {
    /// `d`, under the sender's key.
    pub sum: Ciphertext<Coefficients>,
    /// What the second half of `mask` comes from.
    pub seed: Seed,
    /// The first half of `r` under the receiver's key.
    pub mask: Poly<Values>,
}

/// The left column of the figure.
#[derive(Debug)]
pub struct Sender {
    pub(super) key: SecretKey,
    pub(super) set: Set,
}

impl Sender {
    /// Steps 1 and 2.
    ///
    /// # Errors
    /// As [`check_set`].
    pub fn new(items: &[u16], rng: &mut SecretRng) -> Result<Self, Unsupported> {
        check_set(items.len())?;
        let scheme = scheme();
        let key = SecretKey::new(scheme, rng);
        let mut encryptor = key.encryptor(scheme, rng);
        let product = encryptor.product_key(rng);
        let encrypted = |&item: &u16| encryptor.encrypt(&Secret::new(constant(scheme, item.into())), rng);
        let items = items.iter().map(encrypted).collect();
        let set = Set { seed: encryptor.seed(), product, items };
        Ok(Self { key, set })
    }

    /// Step 4.
    ///
    /// # Errors
    /// If a sum has too much noise, which one of a receiver that follows the protocol does not have.
    pub fn answer(&self, question: &Question, rng: &mut SecretRng) -> Result<Ciphertext<Coefficients>, NoiseExhausted> {
        let scheme = scheme();
        // Step 4a.
        let sum = Secret::new(scheme.decrypt(&question.sum, &self.key)?);
        // Step 4b.
        let t = scheme.plain_modulus();
        let factor = Secret::new(constant(scheme, 1 + slots::uniform(t - 1, 1, rng)[0]));
        // Step 4c.
        let mut difference = scheme.expand(&question.seed, 0, question.mask.clone());
        scheme.subtract_plain(&mut difference, &sum);
        let result = scheme.combine(&[(&difference, &scheme.multiplier(&factor, scheme.all_primes()))]);
        Ok(scheme.ciphertext_coefficients(result))
    }

    /// The left column for so many items of the receiver.
    ///
    /// # Errors
    /// What the channel says, or that noise is exhausted.
    pub fn run(&self, questions: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let scheme = scheme();
        ch.send_stream::<BasicKey>(&self.set.seed.to_bytes())?;
        self.set.product.iter().try_for_each(|half| send_half::<BasicKey>(scheme, half, ch))?;
        self.set.items.iter().try_for_each(|half| send_half::<BasicSet>(scheme, half, ch))?;
        for _ in 0..questions {
            let sum = receive_short::<BasicSums>(scheme, scheme.all_primes(), ch)?;
            let seed = receive_seed::<BasicMasks>(ch)?;
            let (_, mask) = receive_half::<BasicMasks>(scheme, ch)?;
            let result =
                self.answer(&Question { sum, seed, mask }, rng).map_err(|NoiseExhausted| exhausted::<BasicSums>())?;
            send_short::<BasicResults>(scheme, &result, ch)?;
        }
        Ok(())
    }
}

/// The right column of the figure.
#[derive(Debug)]
pub struct Receiver {
    pub(super) key: SecretKey,
    set: Set,
    product: SwitchKey,
}

impl Receiver {
    /// Takes what the sender sent once.
    pub fn new(set: Set, rng: &mut SecretRng) -> Self {
        let product = SwitchKey::new(scheme(), &set.seed, 0, set.product.clone());
        Self { key: SecretKey::new(scheme(), rng), set, product }
    }

    /// The product in step 3b.
    pub(super) fn product(&self, item: u16) -> Ciphertext<Values> {
        let scheme = scheme();
        let item = Secret::new(constant(scheme, item.into()));
        let difference = |(number, half): (u64, &Poly<Values>)| {
            let mut difference = scheme.expand(&self.set.seed, number, half.clone());
            scheme.subtract_plain(&mut difference, &item);
            difference
        };
        let differences: Vec<_> = (scheme.digits() as u64..).zip(&self.set.items).map(difference).collect();
        if differences.is_empty() {
            let mut one = scheme.nothing();
            scheme.add_plain(&mut one, &constant(scheme, 1));
            return one;
        }
        product(scheme, differences, &self.product)
    }

    /// Step 3.
    pub fn ask(&self, item: u16, rng: &mut SecretRng) -> Question {
        let scheme = scheme();
        // Step 3a.
        let mask = Secret::new(constant(scheme, slots::uniform(scheme.plain_modulus(), 1, rng)[0]));
        // Step 3b.
        let mut sum = self.product(item);
        scheme.add_plain(&mut sum, &mask);
        // Step 3c.
        let mut encryptor = self.key.encryptor(scheme, rng);
        let mask = encryptor.encrypt(&mask, rng);
        Question { sum: scheme.ciphertext_coefficients(sum), seed: encryptor.seed(), mask }
    }

    /// Step 5: whether the item is in the set.
    ///
    /// # Errors
    /// If a result has too much noise, which one of a sender that follows the protocol does not have.
    pub fn read(&self, result: &Ciphertext<Coefficients>) -> Result<bool, NoiseExhausted> {
        let plain = Secret::new(scheme().decrypt(result, &self.key)?);
        Ok(plain.coefficients().iter().fold(0, |any, &c| any | c) == 0)
    }

    /// The right column for these items, and a set of so many: whether each is in the set.
    ///
    /// # Errors
    /// What [`check_set`] and the channel say, or that noise is exhausted.
    pub fn run(set_items: usize, items: &[u16], ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<bool>, Abort> {
        check_set(set_items)?;
        let scheme = scheme();
        let seed = receive_seed::<BasicKey>(ch)?;
        let product = receive_halves::<BasicKey>(scheme, scheme.digits(), ch)?;
        let set = Set { seed, product, items: receive_halves::<BasicSet>(scheme, set_items, ch)? };
        let receiver = Self::new(set, rng);
        let ask = |&item: &u16| {
            let Question { sum, seed, mask } = receiver.ask(item, rng);
            send_short::<BasicSums>(scheme, &sum, ch)?;
            ch.send_stream::<BasicMasks>(&seed.to_bytes())?;
            send_half::<BasicMasks>(scheme, &mask, ch)?;
            let result = receive_short::<BasicResults>(scheme, scheme.all_primes(), ch)?;
            receiver.read(&result).map_err(|NoiseExhausted| exhausted::<BasicResults>())
        };
        items.iter().map(ask).collect()
    }
}
