//! Keys, and fresh ciphertexts.

use std::hint::black_box;

use vesica_kernels::ntt;
use zeroize::{Zeroize, Zeroizing};

use super::batching::{GENERATOR, place};
use super::ciphertext::Ciphertext;
use super::plain::Plain;
use super::poly::{Coefficients, Poly, Values};
use super::sample::Seed;
use super::scheme::Scheme;
use crate::rng::SecretRng;
use crate::secret::Secret;

/// A secret key: a ternary polynomial.
#[derive(Debug)]
pub struct SecretKey {
    pub(super) s: Secret<Poly<Values>>,
}

/// A holder of a secret key that makes ciphertexts whose second halves come from a seed: each has
/// the next number, so that no public polynomial serves twice.
#[derive(Debug)]
pub struct Encryptor<'a> {
    scheme: &'a Scheme,
    key: &'a SecretKey,
    seed: Seed,
    next: u64,
}

/// A key under which anybody encrypts: an encryption of zero.
#[derive(Clone, Debug)]
pub struct PublicKey {
    zero: Ciphertext<Values>,
}

/// Ciphertexts of the digits' multiples of a secret, under the key: what brings a product with that
/// secret under the key.
#[derive(Clone, Debug)]
pub struct SwitchKey {
    /// One for each digit.
    digits: Vec<Ciphertext<Values>>,
}

/// A key for one automorphism `X -> X^g`.
#[derive(Clone, Debug)]
pub struct GaloisKey {
    automorphism: Automorphism,
    /// The key under the inverse of the automorphism: the secret is switched first, and everything
    /// is moved after that. So one decomposition serves all automorphisms.
    key: SwitchKey,
}

/// Memory for [`Scheme::apply_chosen`], megabytes that are not to be asked for at every call.
#[derive(Debug, Default)]
pub struct Workspace {
    /// For each ciphertext, the digits of its second half.
    digits: Vec<Vec<Poly<Values>>>,
    /// Each ciphertext after its key was switched.
    switched: Vec<Ciphertext<Values>>,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.digits.iter_mut().flatten().for_each(Zeroize::zeroize);
        self.switched.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// An automorphism `X -> X^g` with an odd `g`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automorphism {
    element: usize,
    /// For each value, the place that it comes from.
    places: Vec<u32>,
}

impl Automorphism {
    fn new(scheme: &Scheme, element: usize) -> Self {
        let n = scheme.n;
        let mut places = vec![0; n];
        for exponent in (1..2 * n).step_by(2) {
            places[place(n, exponent) as usize] = place(n, exponent * element % (2 * n));
        }
        Self { element, places }
    }

    /// Both rows rotated: the slot `i` of a row becomes what the slot `i + steps` was.
    pub fn rotation(scheme: &Scheme, steps: usize) -> Self {
        let n = scheme.n;
        let element = (0..steps % (n / 2)).fold(1, |element, _| element * GENERATOR % (2 * n));
        Self::new(scheme, element)
    }

    /// The rows exchanged.
    pub fn swap(scheme: &Scheme) -> Self {
        Self::new(scheme, 2 * scheme.n - 1)
    }

    /// This automorphism and another one; they commute.
    pub fn and(&self, scheme: &Scheme, other: &Self) -> Self {
        Self::new(scheme, self.element * other.element % (2 * scheme.n))
    }

    /// The automorphism that undoes this one.
    fn inverse(&self) -> Self {
        let n = self.places.len();
        let mut places = vec![0; n];
        (0..).zip(&self.places).for_each(|(to, &from)| places[from as usize] = to);
        // The group of odd numbers modulo 2 n has an exponent that divides n.
        let element = (1..n).fold(1, |power, _| power * self.element % (2 * n));
        Self { element, places }
    }

    pub(super) fn of_values(&self, scheme: &Scheme, poly: &Poly<Values>) -> Poly<Values> {
        let mut moved = scheme.zero(scheme.primes_of(poly));
        for (row, moved) in poly.rows(scheme.n).zip(moved.rows_mut(scheme.n)) {
            moved.iter_mut().zip(&self.places).for_each(|(x, &place)| *x = row[place as usize]);
        }
        moved
    }
}

impl SecretKey {
    /// A fresh key.
    pub fn new(scheme: &Scheme, rng: &mut SecretRng) -> Self {
        let mut s = scheme.ternary(rng);
        let s = std::mem::replace(&mut *s, scheme.zero(0));
        Self { s: Secret::new(scheme.values(s)) }
    }

    /// An encryptor with a fresh seed.
    pub fn encryptor<'a>(&'a self, scheme: &'a Scheme, rng: &mut SecretRng) -> Encryptor<'a> {
        Encryptor { scheme, key: self, seed: Seed::random(rng), next: 0 }
    }
}

impl Encryptor<'_> {
    /// The seed of all ciphertexts made here.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The number that the next ciphertext will have.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// `-a s + e + m`, with the next number.
    fn hide(&mut self, message: Option<Secret<Poly<Coefficients>>>, rng: &mut SecretRng) -> Poly<Values> {
        let scheme = self.scheme;
        let a = scheme.uniform(&self.seed, self.next);
        self.next += 1;
        let mut masked = scheme.noise(scheme.all_primes(), rng);
        if let Some(message) = message {
            scheme.add_into(&mut masked, &message);
        }
        let mut hidden = scheme.values(std::mem::replace(&mut *masked, scheme.zero(0)));
        let product = Secret::new(scheme.sum_of_products(&[[&a, &self.key.s]], scheme.all_primes()));
        scheme.subtract_into(&mut hidden, &product);
        hidden
    }

    /// The first half of the next ciphertext, which [`Scheme::expand`] completes.
    pub fn encrypt(&mut self, plain: &Plain, rng: &mut SecretRng) -> Poly<Values> {
        let scaled = self.scheme.scaled(&plain.coefficients, self.scheme.all_primes());
        self.hide(Some(Secret::new(scaled)), rng)
    }

    /// The first half of an encryption of zero: a public key.
    pub fn public_key(&mut self, rng: &mut SecretRng) -> Poly<Values> {
        self.hide(None, rng)
    }

    /// The first halves of a key for products with `secret`, one for each digit.
    fn switch_key(&mut self, secret: &Poly<Values>, rng: &mut SecretRng) -> Vec<Poly<Values>> {
        let scheme = self.scheme;
        let mut halves = Vec::with_capacity(scheme.digits());
        for (i, ntt) in scheme.ntts.iter().enumerate() {
            let modulus = ntt.modulus();
            for digit in 0..scheme.digits_of(i) {
                let mut half = self.hide(None, rng);
                let power = modulus.factor(modulus.power(2, u64::from(scheme.params.digit_bits) * digit as u64));
                let places = i * scheme.n..(i + 1) * scheme.n;
                for (x, &s) in half.residues[places.clone()].iter_mut().zip(&secret.residues[places]) {
                    *x = modulus.sum(*x, modulus.below(modulus.times(s, power)));
                }
                halves.push(half);
            }
        }
        halves
    }

    /// The first halves of a key for an automorphism.
    pub fn galois_key(&mut self, automorphism: &Automorphism, rng: &mut SecretRng) -> Vec<Poly<Values>> {
        let moved = Secret::new(automorphism.of_values(self.scheme, &self.key.s));
        self.switch_key(&moved, rng)
    }

    /// The first halves of a key for products of ciphertexts.
    pub fn product_key(&mut self, rng: &mut SecretRng) -> Vec<Poly<Values>> {
        let s = &*self.key.s;
        let square = Secret::new(self.scheme.sum_of_products(&[[s, s]], self.scheme.all_primes()));
        self.switch_key(&square, rng)
    }
}

impl PublicKey {
    /// The key whose first half has this number among those of the seed.
    pub fn new(scheme: &Scheme, seed: &Seed, number: u64, half: Poly<Values>) -> Self {
        Self { zero: scheme.expand(seed, number, half) }
    }

    /// A fresh encryption of zero.
    pub fn zero(&self, scheme: &Scheme, rng: &mut SecretRng) -> Ciphertext<Values> {
        let primes = scheme.all_primes();
        let mut u = scheme.ternary(rng);
        let u = Secret::new(scheme.values(std::mem::replace(&mut *u, scheme.zero(0))));
        let parts = [&self.zero.c0, &self.zero.c1].map(|half| {
            let mut noise = scheme.noise(primes, rng);
            let mut sum = scheme.values(std::mem::replace(&mut *noise, scheme.zero(0)));
            let product = Secret::new(scheme.sum_of_products(&[[half, &u]], primes));
            scheme.add_into(&mut sum, &product);
            sum
        });
        let [c0, c1] = parts;
        Ciphertext { c0, c1 }
    }

    /// A fresh encryption.
    pub fn encrypt(&self, scheme: &Scheme, plain: &Plain, rng: &mut SecretRng) -> Ciphertext<Values> {
        let mut encrypted = self.zero(scheme, rng);
        scheme.add_plain(&mut encrypted, plain);
        encrypted
    }
}

impl SwitchKey {
    /// The key with these first halves, numbered from `first` on.
    ///
    /// # Panics
    /// If there are not [`Scheme::digits`] of them.
    pub fn new(scheme: &Scheme, seed: &Seed, first: u64, halves: Vec<Poly<Values>>) -> Self {
        assert_eq!(halves.len(), scheme.digits(), "a half for each digit");
        let digits = halves.into_iter().zip(first..).map(|(half, number)| scheme.expand(seed, number, half));
        Self { digits: digits.collect() }
    }
}

impl GaloisKey {
    /// The key with these first halves, numbered from `first` on.
    ///
    /// # Panics
    /// If there are not [`Scheme::digits`] of them.
    pub fn new(
        scheme: &Scheme,
        automorphism: Automorphism,
        seed: &Seed,
        first: u64,
        halves: Vec<Poly<Values>>,
    ) -> Self {
        let key = SwitchKey::new(scheme, seed, first, halves);
        let back = automorphism.inverse();
        let move_back = |digit: &Ciphertext<Values>| Ciphertext {
            c0: back.of_values(scheme, &digit.c0),
            c1: back.of_values(scheme, &digit.c1),
        };
        Self { key: SwitchKey { digits: key.digits.iter().map(move_back).collect() }, automorphism }
    }
}

impl Scheme {
    /// The ciphertext whose first half has this number among those of the seed.
    pub fn expand(&self, seed: &Seed, number: u64, half: Poly<Values>) -> Ciphertext<Values> {
        Ciphertext { c0: half, c1: self.uniform(seed, number) }
    }

    /// Digits of a residue modulo the prime of this index.
    fn digits_of(&self, prime: usize) -> usize {
        let bits = u64::BITS - self.params.primes[prime].leading_zeros();
        bits.div_ceil(self.params.digit_bits) as usize
    }

    /// Digits of a polynomial: ciphertexts of a key for switching.
    pub fn digits(&self) -> usize {
        (0..self.all_primes()).map(|prime| self.digits_of(prime)).sum()
    }

    /// Writes the values of the digits of a polynomial.
    fn split(&self, poly: &Poly<Coefficients>, digits: &mut [Poly<Values>]) {
        assert_eq!(self.primes_of(poly), self.all_primes(), "keys are switched before primes are dropped");
        let width = self.params.digit_bits;
        let mut digits = digits.iter_mut();
        let (mut left, mut small) = (vec![0i64; self.n], vec![0i64; self.n]);
        for (i, (ntt, row)) in self.rows(poly).enumerate() {
            let p = ntt.modulus().p() as i64;
            // Next to zero.
            for (left, &x) in left.iter_mut().zip(row) {
                *left = x as i64 - (p & ((p / 2 - x as i64) >> 63));
            }
            let count = self.digits_of(i);
            for (digit, values) in (0..count).zip(&mut digits) {
                for (small, left) in small.iter_mut().zip(&mut left) {
                    let low = if digit + 1 < count { *left << (64 - width) >> (64 - width) } else { *left };
                    (*small, *left) = (low, (*left - low) >> width);
                }
                for (ntt, row) in self.rows_mut(values) {
                    // A transform takes what is below four times the prime.
                    let p = ntt.modulus().p();
                    row.iter_mut().zip(&small).for_each(|(x, &c)| *x = p.wrapping_add_signed(c));
                    ntt.forward(row);
                }
            }
        }
    }

    /// A ciphertext, under the key, of the product of `poly` with the secret of the switching key.
    pub(super) fn switch(&self, poly: &Poly<Coefficients>, key: &SwitchKey) -> Ciphertext<Values> {
        let mut digits = vec![self.zero(self.all_primes()); self.digits()];
        self.split(poly, &mut digits);
        let sum = |half: fn(&Ciphertext<Values>) -> &Poly<Values>| {
            let pairs: Vec<[&Poly<Values>; 2]> =
                digits.iter().zip(&key.digits).map(|(digit, key)| [digit, half(key)]).collect();
            self.sum_of_products(&pairs, self.all_primes())
        };
        Ciphertext { c0: sum(|key| &key.c0), c1: sum(|key| &key.c1) }
    }

    /// What is encrypted, under an automorphism.
    pub fn apply(&self, ciphertext: &Ciphertext<Values>, key: &GaloisKey) -> Ciphertext<Values> {
        let mut switched = self.switch(&self.coefficients(ciphertext.c1.clone()), &key.key);
        self.add_into(&mut switched.c0, &ciphertext.c0);
        let moved = |half| key.automorphism.of_values(self, half);
        Ciphertext { c0: moved(&switched.c0), c1: moved(&switched.c1) }
    }

    /// What is encrypted, each under the same automorphisms, one after the other: for each set of
    /// keys that of key `choice - 1`, or none where the choice is 0. Neither time nor the memory that
    /// is touched depends on the choices.
    ///
    /// # Panics
    /// If there are not as many choices as sets of keys, or if a choice is above `N`.
    pub fn apply_chosen<const N: usize>(
        &self,
        ciphertexts: &mut [Ciphertext<Values>],
        keys: &[[GaloisKey; N]],
        choices: &[usize],
        workspace: &mut Workspace,
    ) {
        assert_eq!(keys.len(), choices.len(), "a choice for each set of keys");
        assert!(choices.iter().all(|&choice| choice <= N), "a choice for which there is no key");
        let zero = || self.zero(self.all_primes());
        let Workspace { digits, switched } = workspace;
        digits.resize_with(ciphertexts.len(), || vec![zero(); self.digits()]);
        switched.resize_with(ciphertexts.len(), || Ciphertext { c0: zero(), c1: zero() });
        for (keys, &choice) in keys.iter().zip(choices) {
            // The compiler is not to find out that a mask has two values, and to branch by it.
            let mask = |k| black_box(u64::from(choice == k).wrapping_neg());
            let (stay, masks) = (mask(0), Zeroizing::new(std::array::from_fn(|k| mask(k + 1))));
            for (ciphertext, digits) in ciphertexts.iter().zip(&mut *digits) {
                self.split(&self.coefficients(ciphertext.c1.clone()), digits);
            }
            // Where none is chosen, the first key multiplies all the same: products with zeros may take other
            // time or power.
            let mut multiplied = masks.clone();
            multiplied[0] |= stay;
            self.switch_chosen(digits, keys, &multiplied, switched);
            for (ciphertext, switched) in ciphertexts.iter_mut().zip(&mut *switched) {
                self.add_into(&mut switched.c0, &ciphertext.c0);
                for half in [Half::First, Half::Second] {
                    let rows = half.of_mut(ciphertext).rows_mut(self.n);
                    for (row, from) in rows.zip(half.of(switched).rows(self.n)) {
                        row.iter_mut().for_each(|x| *x &= stay);
                        for (key, &mask) in keys.iter().zip(masks.iter()) {
                            let places = &key.automorphism.places;
                            row.iter_mut().zip(places).for_each(|(x, &place)| *x |= from[place as usize] & mask);
                        }
                    }
                }
            }
        }
    }

    /// The products of polynomials, given by their digits, with the secret of the key whose mask is
    /// all ones.
    fn switch_chosen<const N: usize>(
        &self,
        digits: &[Vec<Poly<Values>>],
        keys: &[GaloisKey; N],
        masks: &[u64; N],
        switched: &mut [Ciphertext<Values>],
    ) {
        let block = BLOCK.min(self.n);
        let mut chosen = Zeroizing::new(vec![0; self.digits() * block]);
        // Block by block, so that what is chosen stays in the cache for all ciphertexts.
        for start in (0..self.all_primes() * self.n).step_by(block) {
            let (modulus, place) = (self.ntts[start / self.n].modulus(), start..start + block);
            for half in [Half::First, Half::Second] {
                for (digit, chosen) in chosen.chunks_exact_mut(block).enumerate() {
                    let residues = keys.each_ref().map(|key| &half.of(&key.key.digits[digit]).residues[place.clone()]);
                    ntt::choose(&residues, masks, chosen);
                }
                for (digits, switched) in digits.iter().zip(&mut *switched) {
                    let pairs: Vec<[&[u64]; 2]> = std::iter::zip(digits, chosen.chunks_exact(block))
                        .map(|(digit, key)| [&digit.residues[place.clone()], key])
                        .collect();
                    ntt::sum_of_products(modulus, &pairs, &mut half.of_mut(switched).residues[place.clone()]);
                }
            }
        }
    }
}

/// Residues that are multiplied at a time by a key that was chosen.
const BLOCK: usize = 2048;

/// One of the halves of a ciphertext.
#[derive(Clone, Copy)]
enum Half {
    First,
    Second,
}

impl Half {
    fn of<F>(self, ciphertext: &Ciphertext<F>) -> &Poly<F> {
        match self {
            Self::First => &ciphertext.c0,
            Self::Second => &ciphertext.c1,
        }
    }

    fn of_mut<F>(self, ciphertext: &mut Ciphertext<F>) -> &mut Poly<F> {
        match self {
            Self::First => &mut ciphertext.c0,
            Self::Second => &mut ciphertext.c1,
        }
    }
}
