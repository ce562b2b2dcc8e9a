//! The right column of the figure, without its messages' bytes.

use vesica_structures::rlwe::bfv::{
    Ciphertext, Coefficients, Encryptor, NoiseExhausted, Plain, Poly, Scheme, SecretKey, Seed, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::sender::Answer;
use super::setup::Setup;
use super::tables::Tables;
use super::turns::Turns;
use super::{Params, slots};

/// What the receiver sends once: the first halves of keys, numbered one after the other.
#[derive(Clone, Debug)]
pub struct Keys {
    /// What the second halves come from.
    pub seed: Seed,
    /// Keys for [`Turns`].
    pub turns: Vec<Poly<Values>>,
    /// An encryption of zero.
    pub public: Poly<Values>,
    /// A key for products, one for each digit; none where the sender multiplies no ciphertexts.
    pub product: Vec<Poly<Values>>,
}

/// What the receiver asks of an item (step 4d).
#[derive(Clone, Debug)]
pub struct Question {
    /// The sums `D`, under the sender's key: for each partition, for each limb.
    pub sums: Vec<Vec<Ciphertext<Coefficients>>>,
    /// What the second halves of `masks` come from.
    pub seed: Seed,
    /// The masks `R`, under the receiver's key: first halves, for each partition, for each limb and chunk.
    pub masks: Vec<Vec<Poly<Values>>>,
}

/// The receiver with the sender's encrypted tables.
#[derive(Debug)]
pub struct Receiver {
    pub(super) tables: Tables,
    /// The receiver's own.
    pub(super) scheme: &'static Scheme,
    pub(super) key: SecretKey,
}

impl Receiver {
    /// Takes what the sender sent once.
    ///
    /// # Panics
    /// If it is not of the parameters' sizes.
    pub fn new(params: &Params, setup: Setup, rng: &mut SecretRng) -> Self {
        let key = SecretKey::new(params.receivers(), rng);
        Self::with_key(params, key, setup)
    }

    /// The receiver that has this key.
    pub(super) fn with_key(params: &Params, key: SecretKey, setup: Setup) -> Self {
        Self { tables: Tables::new(params, setup), scheme: params.receivers(), key }
    }

    /// What the sender gets once.
    pub fn keys(&self, rng: &mut SecretRng) -> Keys {
        let mut encryptor = self.key.encryptor(self.scheme, rng);
        let turns = Turns::halves(self.scheme, &mut encryptor, rng);
        let public = encryptor.public_key(rng);
        let product = if self.tables.params.has_senders_products() { encryptor.product_key(rng) } else { Vec::new() };
        Keys { seed: encryptor.seed(), turns, public, product }
    }

    /// Step 4.
    pub fn ask(&self, item: u128, rng: &mut SecretRng) -> Question {
        let tables = &self.tables;
        let mut encryptor = self.key.encryptor(self.scheme, rng);
        let (mut sums, mut masks) = (Vec::new(), Vec::new());
        for products in tables.products(item) {
            let (mut of_limbs, mut masks_of_limbs) = (Vec::new(), Vec::new());
            for mut sum in products {
                // Steps 4c and 4d.
                let mask = Secret::new(slots::uniform_plain(tables.scheme, rng));
                masks_of_limbs.extend(self.encrypted(&mask, &mut encryptor, rng));
                tables.scheme.add_plain(&mut sum, &mask);
                of_limbs.push(tables.finish(sum, tables.params.flood_bits_d(), rng));
            }
            sums.push(of_limbs);
            masks.push(masks_of_limbs);
        }
        Question { sums, seed: encryptor.seed(), masks }
    }

    /// A mask under the receiver's key: several ciphertexts if `n_s > n_r`.
    fn encrypted(&self, mask: &Plain, encryptor: &mut Encryptor<'_>, rng: &mut SecretRng) -> Vec<Poly<Values>> {
        let chunks = Secret::new(self.tables.params.in_chunks(mask));
        chunks.iter().map(|chunk| encryptor.encrypt(chunk, rng)).collect()
    }

    /// Step 6: whether the item is in the set.
    ///
    /// # Errors
    /// If a result has too much noise, which one of a sender that follows the protocol does not have.
    pub fn read(&self, answer: &Answer) -> Result<bool, NoiseExhausted> {
        let mut found = false;
        for results in &answer.results {
            // No branch on what was found.
            found |= slots::has_zero(self.scheme, &self.decrypted(results)?);
        }
        Ok(found)
    }

    /// The slots of the limbs of a result.
    fn decrypted(&self, results: &[Ciphertext<Coefficients>]) -> Result<Vec<Secret<Vec<u64>>>, NoiseExhausted> {
        slots::decrypted(self.scheme, results, &self.key)
    }

    /// The result, the slot and the packing modulus of each zero.
    #[cfg(test)]
    pub(super) fn places(&self, answer: &Answer) -> Result<Vec<(usize, usize, usize)>, NoiseExhausted> {
        let mut places = Vec::new();
        for (number, results) in answer.results.iter().enumerate() {
            let zeros = slots::zeros(self.scheme, &self.decrypted(results)?);
            places.extend(zeros.into_iter().map(|(slot, modulus)| (number, slot, modulus)));
        }
        Ok(places)
    }
}
