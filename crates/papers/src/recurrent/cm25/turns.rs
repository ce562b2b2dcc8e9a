//! What moves a slot to any other place: rotations of both rows, and their exchange.

use vesica_structures::rlwe::bfv::{Automorphism, Ciphertext, Encryptor, GaloisKey, Poly, Scheme, Seed, Values};
use vesica_structures::rng::SecretRng;

/// Keys under which whoever has them moves the slots of a ciphertext.
#[derive(Debug)]
pub struct Turns {
    /// For rotations of each row by 1, 2, 4, .. places, and for the exchange of rows.
    keys: Vec<GaloisKey>,
}

impl Turns {
    fn automorphisms(scheme: &Scheme) -> impl Iterator<Item = Automorphism> {
        (0..scheme.slots().ilog2() - 1)
            .map(|bit| Automorphism::rotation(scheme, 1 << bit))
            .chain(std::iter::once_with(|| Automorphism::swap(scheme)))
    }

    /// First halves of all keys.
    pub(super) fn count(scheme: &Scheme) -> usize {
        scheme.digits() * scheme.slots().ilog2() as usize
    }

    /// The first halves of fresh keys.
    pub(super) fn halves(scheme: &Scheme, encryptor: &mut Encryptor<'_>, rng: &mut SecretRng) -> Vec<Poly<Values>> {
        Self::automorphisms(scheme).flat_map(|automorphism| encryptor.galois_key(&automorphism, rng)).collect()
    }

    /// The keys with these first halves, numbered from 0 on.
    pub(super) fn new(scheme: &Scheme, seed: &Seed, halves: Vec<Poly<Values>>) -> Self {
        let mut halves = halves.into_iter();
        let key = |(number, automorphism): (usize, Automorphism)| {
            let own = halves.by_ref().take(scheme.digits()).collect();
            GaloisKey::new(scheme, automorphism, seed, (number * scheme.digits()) as u64, own)
        };
        Self { keys: Self::automorphisms(scheme).enumerate().map(key).collect() }
    }

    /// The ciphertext turned as the low bits of `turn` say, in time that does not depend on them. A uniform
    /// `turn` brings each slot to a uniform place.
    pub(super) fn turned(&self, scheme: &Scheme, mut ciphertext: Ciphertext<Values>, turn: u128) -> Ciphertext<Values> {
        for (bit, key) in self.keys.iter().enumerate() {
            let moved = scheme.apply(&ciphertext, key);
            scheme.select(turn >> bit & 1 == 1, &moved, &mut ciphertext);
        }
        ciphertext
    }
}
