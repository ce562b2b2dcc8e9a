//! The sender's encrypted tables, at the receiver.

use vesica_structures::hashing::PermutedHash;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, PublicKey, Scheme, SwitchKey, Values};
use vesica_structures::rng::SecretRng;

use super::params::factors_of;
use super::setup::Setup;
use super::{Form, Params, slots};

/// What a receiver computes with that needs no key of its own.
#[derive(Debug)]
pub struct Tables {
    pub(super) params: Params,
    /// The sender's.
    pub(super) scheme: &'static Scheme,
    pub(super) hash: PermutedHash,
    /// What the sender sent once.
    pub(super) setup: Setup,
    product: SwitchKey,
    public: PublicKey,
}

impl Tables {
    /// Takes what the sender sent once.
    ///
    /// # Panics
    /// If it is not of the parameters' sizes.
    pub fn new(params: &Params, setup: Setup) -> Self {
        let scheme = params.scheme();
        assert_eq!(setup.cells.len(), params.ciphertexts(), "a ciphertext for each block and limb");
        let product = SwitchKey::new(scheme, &setup.seed, 0, setup.product.clone());
        let public = PublicKey::new(scheme, &setup.seed, scheme.digits() as u64, setup.public.clone());
        let hash = PermutedHash::new(setup.hash_key, params.shape);
        Self { params: params.clone(), scheme, hash, setup, product, public }
    }

    /// The ciphertext of this limb of this block. Its second half is made each time, since that takes half
    /// of the memory.
    fn cell(&self, block: usize, limb: usize) -> Ciphertext<Values> {
        let index = block * self.params.limbs + limb;
        let number = (self.scheme.digits() + 1 + index) as u64;
        self.scheme.expand(&self.setup.seed, number, self.setup.cells[index].clone())
    }

    /// Steps 4a and 4b: for each partition, for each limb.
    pub(super) fn products(&self, item: u128) -> Vec<Vec<Ciphertext<Values>>> {
        let (scheme, params) = (self.scheme, &self.params);
        let place = self.hash.place(item);
        let mut limbs: Vec<Vec<Ciphertext<Values>>> = vec![Vec::with_capacity(params.functions()); params.limbs];
        for (function, &bin) in (0u8..).zip(&place.bins[..params.functions()]) {
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
        let partitions = params.partitions[0];
        let of_partition = |partition: usize| {
            let factors = factors_of(partition, params.functions(), partitions);
            limbs.iter().map(|limb| product(scheme, limb[factors.clone()].to_vec(), &self.product)).collect()
        };
        (0..partitions).map(of_partition).collect()
    }

    /// What leaves of a sum, flooded by so many bits.
    pub(super) fn finish(
        &self,
        mut sum: Ciphertext<Values>,
        flood_bits: u32,
        rng: &mut SecretRng,
    ) -> Ciphertext<Coefficients> {
        if self.params.form == Form::Repaired {
            self.scheme.add(&mut sum, &self.public.zero(self.scheme, rng));
        }
        let mut sum = self.scheme.ciphertext_coefficients(sum);
        if self.params.form == Form::Repaired {
            self.scheme.switch_down(&mut sum, self.params.primes_flooded_d());
            self.scheme.flood(&mut sum, flood_bits, rng);
        }
        self.scheme.switch_down(&mut sum, self.params.primes_of_d());
        sum
    }
}

/// The product of some ciphertexts, one at least, at the least depth.
pub(super) fn product(scheme: &Scheme, factors: Vec<Ciphertext<Values>>, key: &SwitchKey) -> Ciphertext<Values> {
    let mut level = factors;
    while level.len() > 1 {
        let pair = |pair: &[Ciphertext<Values>]| match pair {
            [one] => one.clone(),
            pair => scheme.multiply(&pair[0], &pair[1], key),
        };
        level = level.chunks(2).map(pair).collect();
    }
    level.remove(0)
}
