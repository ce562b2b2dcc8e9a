//! Our BFV against that of the crate `fhe`: the same plaintexts, operations and results.

use std::sync::Arc;

use fhe::bfv::{
    BfvParameters, BfvParametersBuilder, Ciphertext, Encoding, EvaluationKeyBuilder, Plaintext, RelinearizationKey,
    SecretKey,
};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};
use rand_09::SeedableRng;
use rand_09::rngs::StdRng;
use rand_core::Rng;
use vesica_structures::rlwe::bfv::{self, Automorphism, GaloisKey, Params, Scheme, SwitchKey};
use vesica_structures::rng::SecretRng;

fn theirs(params: &Params) -> Arc<BfvParameters> {
    BfvParametersBuilder::new()
        .set_degree(params.degree)
        .set_plaintext_modulus(params.plain[0])
        .set_moduli(&params.primes)
        .build_arc()
        .expect("parameters that both serve")
}

/// One operation on three vectors of slots by each library.
struct Both {
    scheme: Scheme,
    key: bfv::SecretKey,
    rng: SecretRng,
    their_params: Arc<BfvParameters>,
    their_key: SecretKey,
    their_rng: StdRng,
    slots: [Vec<u64>; 3],
}

impl Both {
    fn new(params: &Params) -> Self {
        let scheme = Scheme::new(params).expect("served parameters");
        let mut rng = SecretRng::insecure_from_seed(11);
        let mut their_rng = StdRng::seed_from_u64(12);
        let their_params = theirs(params);
        let t = scheme.plain_modulus();
        let slots = std::array::from_fn(|_| (0..scheme.slots()).map(|_| rng.next_u64() % t).collect());
        Self {
            key: bfv::SecretKey::new(&scheme, &mut rng),
            their_key: SecretKey::random(&their_params, &mut their_rng),
            scheme,
            rng,
            their_params,
            their_rng,
            slots,
        }
    }

    fn ours(&mut self) -> [bfv::Ciphertext<bfv::Values>; 3] {
        let mut encryptor = self.key.encryptor(&self.scheme, &mut self.rng);
        let seed = encryptor.seed();
        self.slots.each_ref().map(|slots| {
            let number = encryptor.next_number();
            let half = encryptor.encrypt(&self.scheme.encode(slots), &mut self.rng);
            self.scheme.expand(&seed, number, half)
        })
    }

    fn plain(&self, i: usize) -> Plaintext {
        Plaintext::try_encode(&self.slots[i], Encoding::simd(), &self.their_params).expect("slots")
    }

    fn theirs(&mut self) -> [Ciphertext; 3] {
        std::array::from_fn(|i| self.their_key.try_encrypt(&self.plain(i), &mut self.their_rng).expect("a ciphertext"))
    }

    fn assert_equal(&self, ours: &bfv::Ciphertext<bfv::Values>, theirs: &Ciphertext) {
        let ours = self.scheme.ciphertext_coefficients(ours.clone());
        let ours = self.scheme.decode(&self.scheme.decrypt(&ours, &self.key).expect("room for the noise"));
        let theirs = self.their_key.try_decrypt(theirs).expect("a plaintext");
        assert!(ours == Vec::<u64>::try_decode(&theirs, Encoding::simd()).expect("slots"));
    }
}

#[test]
fn sums_products_with_plaintexts_and_rotations_are_those_of_fhe() {
    let mut both = Both::new(&Params::with_widths(4096, &[36, 36, 36], &[147_457], 18));
    let ([x, y, _], [their_x, their_y, _]) = (both.ours(), both.theirs());
    let (plain, their_plain) = (both.scheme.encode(&both.slots[2]), both.plain(2));
    let mut ours = both.scheme.combine(&[(&x, &both.scheme.multiplier(&plain, 3))]);
    both.scheme.add(&mut ours, &y);
    both.scheme.subtract_plain(&mut ours, &plain);
    let theirs = &(&(&their_x * &their_plain) + &their_y) - &their_plain;
    both.assert_equal(&ours, &theirs);

    let mut builder = EvaluationKeyBuilder::new(&both.their_key).expect("a builder");
    builder.enable_row_rotation().expect("a swap");
    builder.enable_column_rotation(5).expect("a rotation");
    let their_keys = builder.build(&mut both.their_rng).expect("keys");
    let swapped = their_keys.rotates_rows(&theirs).expect("a swap");
    let rotated = their_keys.rotates_columns_by(&theirs, 5).expect("a rotation");
    let automorphisms = [Automorphism::swap(&both.scheme), Automorphism::rotation(&both.scheme, 5)];
    for (automorphism, theirs) in automorphisms.into_iter().zip([swapped, rotated]) {
        let mut encryptor = both.key.encryptor(&both.scheme, &mut both.rng);
        let halves = encryptor.galois_key(&automorphism, &mut both.rng);
        let key = GaloisKey::new(&both.scheme, automorphism, &encryptor.seed(), 0, halves);
        both.assert_equal(&both.scheme.apply(&ours, &key), &theirs);
    }
}

#[test]
fn products_of_ciphertexts_are_those_of_fhe() {
    let mut both = Both::new(&Params::with_widths(4096, &[36, 36, 36], &[40_961], 18));
    let ([x, y, z], [their_x, their_y, their_z]) = (both.ours(), both.theirs());
    let mut encryptor = both.key.encryptor(&both.scheme, &mut both.rng);
    let halves = encryptor.product_key(&mut both.rng);
    let key = SwitchKey::new(&both.scheme, &encryptor.seed(), 0, halves);
    let ours = both.scheme.multiply(&both.scheme.multiply(&x, &y, &key), &z, &key);
    let their_key = RelinearizationKey::new(&both.their_key, &mut both.their_rng).expect("a key");
    let mut theirs = &their_x * &their_y;
    their_key.relinearizes(&mut theirs).expect("a product");
    let mut theirs = &theirs * &their_z;
    their_key.relinearizes(&mut theirs).expect("a product");
    both.assert_equal(&ours, &theirs);
}
