//! The left column of the figure, without its messages' bytes.

use vesica_structures::hashing::{HashFailure, PermutedHash, PermutedTables};
use vesica_structures::rlwe::bfv::{
    Automorphism, Ciphertext, Coefficients, GaloisKey, NoiseExhausted, Poly, PublicKey, Scheme, SecretKey, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::params::{FLOOD_BITS_E, PRIMES_FLOODED};
use super::receiver::{Keys, Question};
use super::setup::Setup;
use super::{Form, Params, slots};

/// The sender with its set in encrypted tables.
#[derive(Debug)]
pub struct Sender {
    pub(super) params: Params,
    pub(super) scheme: &'static Scheme,
    pub(super) key: SecretKey,
    pub(super) setup: Setup,
}

/// The receiver's keys, as the sender uses them.
#[derive(Debug)]
pub struct ReceiverKeys {
    /// For rotations of each row by 1, 2, 4, .. places.
    rotations: Vec<GaloisKey>,
    swap: GaloisKey,
    public: PublicKey,
}

/// What comes back for a question (step 5d): for each partition, for each limb.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The results `E`, under the receiver's key.
    pub results: Vec<Vec<Ciphertext<Coefficients>>>,
}

impl Sender {
    /// Steps 1 to 3 for distinct items of [`item_bits`](vesica_structures::hashing::PermutedShape::item_bits)
    /// bits.
    ///
    /// # Errors
    /// If a table does not exist: a statistical failure, never tried again with another key.
    pub fn prepare(params: &Params, items: &[u128], rng: &mut SecretRng) -> Result<Self, HashFailure> {
        let scheme = params.scheme();
        let hash_key = rng.block();
        let hash = PermutedHash::new(hash_key, params.shape);
        let tables = PermutedTables::build(&hash, items)?;
        let key = SecretKey::new(scheme, rng);
        let mut encryptor = key.encryptor(scheme, rng);
        let product = encryptor.product_key(rng);
        let public = encryptor.public_key(rng);
        let mut cells = Vec::with_capacity(params.blocks() * params.limbs);
        for block in 0..params.blocks() {
            let mut limbs = vec![vec![vec![params.empty(); scheme.slots()]; params.shape.tables]; params.limbs];
            for table in 0..params.shape.tables {
                let first = block * scheme.slots();
                for bin in first..params.shape.bins().min(first + scheme.slots()) {
                    let Some(cell) = tables.cell(table, bin) else { continue };
                    for (limb, value) in limbs.iter_mut().zip(params.limbs_of(cell.right, cell.function)) {
                        limb[table][bin - first] = value;
                    }
                }
            }
            for residues in limbs {
                let plain = Secret::new(slots::pack(scheme, &residues));
                cells.push(encryptor.encrypt(&plain, rng));
            }
        }
        let setup = Setup { hash_key, seed: encryptor.seed(), product, public, cells };
        Ok(Self { params: params.clone(), scheme, key, setup })
    }

    /// What every receiver gets once.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The receiver's keys, expanded.
    pub fn receive(&self, keys: Keys) -> ReceiverKeys {
        let scheme = self.scheme;
        let mut first = 0;
        let mut galois = |automorphism, halves: Vec<Poly<Values>>| {
            let key = GaloisKey::new(scheme, automorphism, &keys.seed, first, halves);
            first += scheme.digits() as u64;
            key
        };
        let rotations = (0..)
            .zip(keys.rotations)
            .map(|(bit, halves)| galois(Automorphism::rotation(scheme, 1 << bit), halves))
            .collect();
        let swap = galois(Automorphism::swap(scheme), keys.swap);
        ReceiverKeys { rotations, swap, public: PublicKey::new(scheme, &keys.seed, first, keys.public) }
    }

    /// Step 5.
    ///
    /// # Errors
    /// If a sum has too much noise, which one of a receiver that follows the protocol does not have.
    pub fn answer(
        &self,
        keys: &ReceiverKeys,
        question: &Question,
        rng: &mut SecretRng,
    ) -> Result<Answer, NoiseExhausted> {
        let (scheme, limbs) = (self.scheme, self.params.limbs);
        let mut results = Vec::with_capacity(question.sums.len());
        for (partition, sums) in question.sums.iter().enumerate() {
            // Step 5a.
            let mut differences = Vec::with_capacity(limbs);
            for (limb, sum) in sums.iter().enumerate() {
                let number = (partition * limbs + limb) as u64;
                let mut masks = scheme.expand(&question.seed, number, question.masks[partition][limb].clone());
                let sum = Secret::new(scheme.decrypt(sum, &self.key)?);
                scheme.subtract_plain(&mut masks, &sum);
                differences.push(masks);
            }
            // Step 5b has no products: eta_s is eta_r. Step 5c.
            let factors: Vec<Poly<Values>> = slots::invertible(scheme, limbs, rng)
                .iter()
                .map(|plain| scheme.multiplier(plain, scheme.all_primes()))
                .collect();
            let turn = rng.block();
            let of_limb = |factors: &[Poly<Values>]| {
                let products: Vec<_> = differences.iter().zip(factors).collect();
                self.turned(scheme.combine(&products), turn, keys)
            };
            // Step 5d.
            let turned: Vec<Ciphertext<Values>> = factors.chunks_exact(limbs).map(of_limb).collect();
            results.push(turned.into_iter().map(|result| self.finish(result, keys, rng)).collect());
        }
        if self.params.form == Form::Repaired {
            // Which functions' partition has the match is nobody's business.
            for last in (1..results.len()).rev() {
                results.swap(last, below(last + 1, rng));
            }
        }
        Ok(Answer { results })
    }

    /// Rotated and swapped as the low bits of `turn` say, in time that does not depend on them.
    pub(super) fn turned(&self, mut result: Ciphertext<Values>, turn: u128, keys: &ReceiverKeys) -> Ciphertext<Values> {
        for (bit, key) in keys.rotations.iter().chain([&keys.swap]).enumerate() {
            let moved = self.scheme.apply(&result, key);
            self.scheme.select(turn >> bit & 1 == 1, &moved, &mut result);
        }
        result
    }

    /// What leaves of a result.
    fn finish(
        &self,
        mut result: Ciphertext<Values>,
        keys: &ReceiverKeys,
        rng: &mut SecretRng,
    ) -> Ciphertext<Coefficients> {
        if self.params.form == Form::Repaired {
            self.scheme.add(&mut result, &keys.public.zero(self.scheme, rng));
        }
        let mut result = self.scheme.ciphertext_coefficients(result);
        if self.params.form == Form::Repaired {
            self.scheme.switch_down(&mut result, PRIMES_FLOODED);
            self.scheme.flood(&mut result, FLOOD_BITS_E, rng);
        }
        self.scheme.switch_down(&mut result, self.params.primes_of_e());
        result
    }
}

/// Uniform below `count`, but for `2^-100`.
pub(super) fn below(count: usize, rng: &mut SecretRng) -> usize {
    (rng.block() % count as u128) as usize
}
