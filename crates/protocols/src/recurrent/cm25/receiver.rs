//! The right column of the figure, without its messages' bytes.

use vesica_structures::hashing::PermutedHash;
use vesica_structures::rlwe::bfv::{
    Automorphism, Ciphertext, Coefficients, NoiseExhausted, Poly, PublicKey, Scheme, SecretKey, Seed, SwitchKey, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::params::{FUNCTIONS, PRIMES_FLOODED};
use super::sender::Answer;
use super::setup::Setup;
use super::{Form, Params, slots};

/// What the receiver sends once: the first halves of keys, numbered one after the other.
#[derive(Clone, Debug)]
pub struct Keys {
    /// What the second halves come from.
    pub seed: Seed,
    /// Keys for rotations by 1, 2, 4, .. places: one for each digit.
    pub rotations: Vec<Vec<Poly<Values>>>,
    /// The key that exchanges the rows: one for each digit.
    pub swap: Vec<Poly<Values>>,
    /// An encryption of zero.
    pub public: Poly<Values>,
}

/// What the receiver asks of an item (step 4d).
#[derive(Clone, Debug)]
pub struct Question {
    /// The sums `D`, under the sender's key: for each partition, for each limb.
    pub sums: Vec<Vec<Ciphertext<Coefficients>>>,
    /// What the second halves of `masks` come from.
    pub seed: Seed,
    /// The masks `R`, under the receiver's key: first halves, for each partition, for each limb.
    pub masks: Vec<Vec<Poly<Values>>>,
}

/// The receiver with the sender's encrypted tables.
#[derive(Debug)]
pub struct Receiver {
    pub(super) params: Params,
    pub(super) scheme: &'static Scheme,
    pub(super) hash: PermutedHash,
    /// What the sender sent once.
    pub(super) setup: Setup,
    product: SwitchKey,
    public: PublicKey,
    pub(super) key: SecretKey,
}

impl Receiver {
    /// Takes what the sender sent once.
    ///
    /// # Panics
    /// If it is not of the parameters' sizes.
    pub fn new(params: &Params, setup: Setup, rng: &mut SecretRng) -> Self {
        let key = SecretKey::new(params.scheme(), rng);
        Self::with_key(params, key, setup)
    }

    /// The receiver that has this key.
    pub(super) fn with_key(params: &Params, key: SecretKey, setup: Setup) -> Self {
        let scheme = params.scheme();
        assert_eq!(setup.cells.len(), params.ciphertexts(), "a ciphertext for each block and limb");
        let product = SwitchKey::new(scheme, &setup.seed, 0, setup.product.clone());
        let public = PublicKey::new(scheme, &setup.seed, scheme.digits() as u64, setup.public.clone());
        let hash = PermutedHash::new(setup.hash_key, params.shape);
        Self { params: params.clone(), scheme, hash, setup, product, public, key }
    }

    /// The ciphertext of this limb of this block. Its second half is made each time, since that takes half
    /// of the memory.
    fn cell(&self, block: usize, limb: usize) -> Ciphertext<Values> {
        let index = block * self.params.limbs + limb;
        let number = (self.scheme.digits() + 1 + index) as u64;
        self.scheme.expand(&self.setup.seed, number, self.setup.cells[index].clone())
    }

    /// What the sender gets once.
    pub fn keys(&self, rng: &mut SecretRng) -> Keys {
        let scheme = self.scheme;
        let mut encryptor = self.key.encryptor(scheme, rng);
        let rotations = (0..rotations(scheme))
            .map(|bit| encryptor.galois_key(&Automorphism::rotation(scheme, 1 << bit), rng))
            .collect();
        let swap = encryptor.galois_key(&Automorphism::swap(scheme), rng);
        let public = encryptor.public_key(rng);
        Keys { seed: encryptor.seed(), rotations, swap, public }
    }

    /// Step 4.
    pub fn ask(&self, item: u128, rng: &mut SecretRng) -> Question {
        let scheme = self.scheme;
        let mut encryptor = self.key.encryptor(scheme, rng);
        let (mut sums, mut masks) = (Vec::new(), Vec::new());
        for products in self.products(item) {
            let (mut of_limbs, mut masks_of_limbs) = (Vec::new(), Vec::new());
            for mut sum in products {
                // Steps 4c and 4d.
                let mask = Secret::new(slots::uniform_plain(scheme, rng));
                masks_of_limbs.push(encryptor.encrypt(&mask, rng));
                scheme.add_plain(&mut sum, &mask);
                of_limbs.push(self.finish(sum, rng));
            }
            sums.push(of_limbs);
            masks.push(masks_of_limbs);
        }
        Question { sums, seed: encryptor.seed(), masks }
    }

    /// Steps 4a and 4b: for each partition, for each limb.
    pub(super) fn products(&self, item: u128) -> Vec<Vec<Ciphertext<Values>>> {
        let (scheme, params) = (self.scheme, &self.params);
        let place = self.hash.place(item);
        let mut limbs: Vec<Vec<Ciphertext<Values>>> = vec![Vec::with_capacity(FUNCTIONS); params.limbs];
        for (function, &bin) in (0u8..).zip(&place.bins) {
            let (block, slot) = (bin as usize / scheme.slots(), bin as usize % scheme.slots());
            let values = params.limbs_of(place.right, function);
            for (limb, (differences, value)) in limbs.iter_mut().zip(values).enumerate() {
                let mut residues = vec![vec![params.unasked(); scheme.slots()]; params.shape.tables];
                residues[place.table as usize][slot] = value;
                let mut difference = self.cell(block, limb);
                scheme.subtract_plain(&mut difference, &slots::pack(scheme, &residues));
                differences.push(difference);
            }
        }
        let functions = FUNCTIONS / params.partitions();
        let of_partition = |partition: usize| {
            let differences = |limb: &Vec<Ciphertext<Values>>| {
                let mut level = limb[partition * functions..][..functions].to_vec();
                while level.len() > 1 {
                    level = level.chunks(2).map(|pair| scheme.multiply(&pair[0], &pair[1], &self.product)).collect();
                }
                level.remove(0)
            };
            limbs.iter().map(differences).collect()
        };
        (0..params.partitions()).map(of_partition).collect()
    }

    /// What leaves of a sum.
    fn finish(&self, mut sum: Ciphertext<Values>, rng: &mut SecretRng) -> Ciphertext<Coefficients> {
        if self.params.form == Form::Repaired {
            self.scheme.add(&mut sum, &self.public.zero(self.scheme, rng));
        }
        let mut sum = self.scheme.ciphertext_coefficients(sum);
        if self.params.form == Form::Repaired {
            self.scheme.switch_down(&mut sum, PRIMES_FLOODED);
            self.scheme.flood(&mut sum, self.params.flood_bits_d(), rng);
        }
        self.scheme.switch_down(&mut sum, self.params.primes_of_d());
        sum
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
        let slots = |result| {
            let plain = Secret::new(self.scheme.decrypt(result, &self.key)?);
            Ok(Secret::new(self.scheme.decode(&plain)))
        };
        results.iter().map(slots).collect()
    }

    /// The partition, the slot and the packing modulus of each zero.
    #[cfg(test)]
    pub(super) fn places(&self, answer: &Answer) -> Result<Vec<(usize, usize, usize)>, NoiseExhausted> {
        let mut places = Vec::new();
        for (partition, results) in answer.results.iter().enumerate() {
            let zeros = slots::zeros(self.scheme, &self.decrypted(results)?);
            places.extend(zeros.into_iter().map(|(slot, modulus)| (partition, slot, modulus)));
        }
        Ok(places)
    }
}

/// Rotations of powers of two within a row.
pub(super) fn rotations(scheme: &Scheme) -> u32 {
    scheme.slots().ilog2() - 1
}
