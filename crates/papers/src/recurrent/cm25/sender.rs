//! The left column of the figure, without its messages' bytes.

use vesica_structures::hashing::{HashFailure, PermutedHash, PermutedTables};
use vesica_structures::rlwe::bfv::{
    Ciphertext, Coefficients, NoiseExhausted, Plain, Poly, PublicKey, Scheme, SecretKey, SwitchKey, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::params::factors_of;
use super::receiver::{Keys, Question};
use super::setup::Setup;
use super::tables::product;
use super::turns::Turns;
use super::{Form, Params, slots};

/// The sender with its set in encrypted tables.
#[derive(Debug)]
pub struct Sender {
    pub(super) params: Params,
    /// The sender's own.
    pub(super) scheme: &'static Scheme,
    pub(super) key: SecretKey,
    pub(super) setup: Setup,
}

/// The receiver's keys, as the sender uses them.
#[derive(Debug)]
pub struct ReceiverKeys {
    pub(super) turns: Turns,
    public: PublicKey,
    /// None where the sender multiplies no ciphertexts.
    product: Option<SwitchKey>,
}

/// What comes back for a question (step 5d): for each partition and chunk, for each limb.
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
        let tables = PermutedTables::build_vartime(&hash, items)?;
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
        let scheme = self.params.receivers();
        let turns = Turns::new(scheme, &keys.seed, keys.turns);
        let first = Turns::count(scheme) as u64;
        let public = PublicKey::new(scheme, &keys.seed, first, keys.public);
        let product =
            self.params.has_senders_products().then(|| SwitchKey::new(scheme, &keys.seed, first + 1, keys.product));
        ReceiverKeys { turns, public, product }
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
        let (params, scheme) = (&self.params, self.params.receivers());
        let differences = self.differences(question)?;
        let mut results = Vec::with_capacity(params.partitions[1] * params.chunks());
        for ciphertexts in self.multiplied(&differences, keys) {
            for chunk in 0..params.chunks() {
                let limbs: Vec<_> = ciphertexts.iter().skip(chunk).step_by(params.chunks()).collect();
                // Step 5c.
                let limbs = slots::mixed(scheme, &limbs, rng);
                // Step 5d.
                let turn = rng.block();
                let turned = limbs.into_iter().map(|limb| keys.turns.turned(scheme, limb, turn));
                results.push(turned.map(|result| self.finish(result, keys, rng)).collect());
            }
        }
        // Rotations go over all chunks of a partition. Which functions' partition has the match is nobody's
        // business, either.
        let shuffled = if params.form == Form::Repaired { results.len() } else { params.chunks() };
        results.chunks_mut(shuffled).for_each(|results| shuffle(results, rng));
        Ok(Answer { results })
    }

    /// Step 5a: for each partition, for each limb and chunk.
    pub(super) fn differences(&self, question: &Question) -> Result<Vec<Vec<Ciphertext<Values>>>, NoiseExhausted> {
        let scheme = self.params.receivers();
        let mut numbered = (0..).zip(question.masks.iter().flatten());
        let mut of_sum = |sum: &Ciphertext<Coefficients>| {
            let sum = Secret::new(self.scheme.decrypt(sum, &self.key)?);
            let chunks = Secret::new(self.params.in_chunks(&sum));
            let of_chunk = |(chunk, (number, mask)): (&Plain, (u64, &Poly<Values>))| {
                let mut mask = scheme.expand(&question.seed, number, mask.clone());
                scheme.subtract_plain(&mut mask, chunk);
                mask
            };
            Ok(chunks.iter().zip(numbered.by_ref()).map(of_chunk).collect::<Vec<_>>())
        };
        let mut of_partition = |sums: &Vec<Ciphertext<Coefficients>>| {
            let limbs: Result<Vec<_>, NoiseExhausted> = sums.iter().map(&mut of_sum).collect();
            Ok(limbs?.into_iter().flatten().collect())
        };
        question.sums.iter().map(&mut of_partition).collect()
    }

    /// Step 5b: for each partition of the answer, for each limb and chunk.
    pub(super) fn multiplied(
        &self,
        differences: &[Vec<Ciphertext<Values>>],
        keys: &ReceiverKeys,
    ) -> Vec<Vec<Ciphertext<Values>>> {
        let [asked, answered] = self.params.partitions;
        let Some(key) = &keys.product else { return differences.to_vec() };
        let of_partition = |partition: usize| {
            let factors = &differences[factors_of(partition, asked, answered)];
            let of_place = |place: usize| factors.iter().map(|factor| factor[place].clone()).collect();
            (0..factors[0].len()).map(|place| product(self.params.receivers(), of_place(place), key)).collect()
        };
        (0..answered).map(of_partition).collect()
    }

    /// What leaves of a result.
    fn finish(
        &self,
        mut result: Ciphertext<Values>,
        keys: &ReceiverKeys,
        rng: &mut SecretRng,
    ) -> Ciphertext<Coefficients> {
        let scheme = self.params.receivers();
        if self.params.form == Form::Repaired {
            scheme.add(&mut result, &keys.public.zero(scheme, rng));
        }
        let mut result = scheme.ciphertext_coefficients(result);
        if self.params.form == Form::Repaired {
            scheme.switch_down(&mut result, self.params.primes_flooded_e());
            scheme.flood(&mut result, self.params.flood_bits_e(), rng);
        }
        scheme.switch_down(&mut result, self.params.primes_of_e());
        result
    }
}

pub(super) fn shuffle<T>(list: &mut [T], rng: &mut SecretRng) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(last + 1, rng));
    }
}

/// Uniform below `count`, but for `2^-100`.
pub(super) fn below(count: usize, rng: &mut SecretRng) -> usize {
    (rng.block() % count as u128) as usize
}
