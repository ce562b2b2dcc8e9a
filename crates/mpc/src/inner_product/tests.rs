//! Tests of the result's error and of the flood that drowns it.

use vesica_party::{Party, Security};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_testkit::two_party;

use super::messages::{Blocks, Key, Reply};
use super::params::{DEGREE, ERROR, error_bound};
use super::receiver::{Part, Receiver, reply, reversed};
use super::ring::Ring;
use super::sampling::{Small, error, flood, ternary};
use super::sender::SecretKey;
use super::{NAME, Params};
use crate::binding::Binding;
use crate::tasks::{InnerProductRequest, RingVectors};

fn params(len: usize) -> Params {
    Params::derive(&InnerProductRequest { len, vectors: 1, products: 1, bits: 63, security: Security::SemiHonest })
        .unwrap()
}

/// Both parties in one, up to the reply.
struct Run {
    params: Params,
    key: SecretKey,
    parts: Vec<Part>,
}

impl Run {
    fn new(u: &[u64], y: &[u64], errors: impl Fn(&mut SecretRng) -> Small, rng: &mut SecretRng) -> Self {
        let params = params(u.len());
        let (seed, _) = two_party(|ch, _| Ok(Binding::new(ch, NAME)), |_, _| Ok(()));
        let key = SecretKey::new(&params, seed, rng);
        let mut parts: Vec<Part> = Ring::new(&params).primes.into_iter().map(|prime| Part::new(prime, 1)).collect();
        let v = ternary(rng);
        for block in 0..=params.blocks() {
            let range = |x: &[u64]| if block == 0 { 0..0 } else { (block - 1) * DEGREE..x.len().min(block * DEGREE) };
            let bytes = key.encrypt(block, &u[range(u)], &errors(rng));
            for (part, bytes) in parts.iter_mut().zip(bytes.chunks_exact(params.part_bytes())) {
                part.read(&seed, block, bytes).unwrap();
                part.multiply(
                    0,
                    |prime, out| if block == 0 { prime.small(&v, out) } else { reversed(prime, &y[range(y)], out) },
                );
            }
        }
        Self { params, key, parts }
    }

    fn reply(&mut self, mask: u64, flood: &[u64; 3], rng: &mut SecretRng) -> Reply {
        reply(&self.params, &mut self.parts, 0, mask, flood, rng)
    }

    fn decrypt(&mut self, mask: u64, flood: &[u64; 3], rng: &mut SecretRng) -> Vec<u64> {
        let reply = self.reply(mask, flood, rng);
        self.key.decrypt(&self.params, &reply).unwrap()
    }

    /// `2^flood`, which stands for no flood at all.
    fn no_flood(&self) -> [u64; 3] {
        std::array::from_fn(|i| if self.params.flood as usize / 64 == i { 1 << (self.params.flood % 64) } else { 0 })
    }

    /// The error of a result without flood, from two primes.
    fn error_of(&self, d: &[u64], result: u64) -> i128 {
        let [first, second] = [0, 1].map(|i| {
            let modulus = self.key.ring.primes[i].modulus;
            modulus.below(d[i] + 3 * modulus.p() - modulus.below(self.key.ring.primes[i].encode(result)))
        });
        let (modulus, p) = (self.key.ring.primes[1].modulus, self.key.ring.primes[0].modulus.p());
        let steps = modulus
            .product(modulus.below(second + modulus.p() - first % modulus.p()), modulus.inverse(p % modulus.p()));
        let (error, both) =
            (i128::from(first) + i128::from(p) * i128::from(steps), i128::from(p) * i128::from(modulus.p()));
        if error > both / 2 { error - both } else { error }
    }
}

fn inner_product(u: &[u64], y: &[u64]) -> u64 {
    u.iter().zip(y).fold(0, |sum, (&u, &y)| sum.wrapping_add(u.wrapping_mul(y)))
}

fn words(rng: &mut SecretRng, len: usize) -> Vec<u64> {
    (0..len).map(|_| rng.block() as u64).collect()
}

#[test]
fn errors_stay_below_the_bound_and_come_near_it() {
    let rng = &mut SecretRng::insecure_from_seed(20);
    let len = 20_000;
    let u = words(rng, len);
    let bound = error_bound(len, 63) as i128;
    // Every error the largest that there is, every entry the largest, of either sign.
    let largest = |sign: i8| move |_: &mut SecretRng| Secret::new(vec![sign * ERROR as i8; DEGREE]);
    for (y, sign, mask) in
        [(vec![1 << 63; len], 1, 5), (vec![1 << 63; len], -1, u64::MAX), (vec![i64::MAX as u64; len], 1, 0)]
    {
        let mut run = Run::new(&u, &y, largest(sign), rng);
        let result = inner_product(&u, &y).wrapping_add(mask);
        let none = run.no_flood();
        let d = run.decrypt(mask, &none, rng);
        let size = run.error_of(&d, result).abs();
        assert!(size <= bound && size > bound / 10 * 9, "{size} of {bound}");
        assert_eq!(run.key.ring.decode(&d), result);
        // The flood's extremes.
        let last: [u64; 3] = std::array::from_fn(|i| {
            let bits = (run.params.flood as usize + 1).saturating_sub(64 * i).min(64);
            if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
        });
        for flood in [&[0; 3], &last] {
            let d = run.decrypt(mask, flood, rng);
            assert_eq!(run.key.ring.decode(&d), result, "{flood:x?}");
        }
    }
    // Drawn errors: about the square root.
    let y = vec![1 << 63; len];
    let mut run = Run::new(&u, &y, error, rng);
    let none = run.no_flood();
    let d = run.decrypt(0, &none, rng);
    let size = run.error_of(&d, inner_product(&u, &y)).abs();
    assert!(size < (8 * 142 * 4) << 63, "{size}");
}

/// The error of a flooded result in units of the flood's largest value.
fn flooded(run: &mut Run, result: u64, rng: &mut SecretRng) -> f64 {
    let flood = flood(&run.params, rng);
    let d = run.decrypt(0, &flood, rng);
    let rest = run.key.ring.scaled(&d).wrapping_sub(u128::from(result) << 64) as i128 as f64;
    let log_q: f64 = run.key.ring.primes.iter().map(|prime| (prime.modulus.p() as f64).log2()).sum();
    rest * f64::exp2(log_q - 128.0 - f64::from(run.params.flood))
}

#[test]
fn the_error_of_a_result_says_nothing_of_the_vector() {
    let rng = &mut SecretRng::insecure_from_seed(21);
    let len = 9000;
    let u = words(rng, len);
    for entry in [0, 1 << 63] {
        let y = vec![entry; len];
        let mut run = Run::new(&u, &y, |_| Secret::new(vec![ERROR as i8; DEGREE]), rng);
        let result = inner_product(&u, &y);
        let samples: Vec<f64> = (0..400).map(|_| flooded(&mut run, result, rng)).collect();
        // `scaled` has but so many bits.
        assert!(samples.iter().all(|x| x.abs() < 1.01), "{entry}");
        // Uniform in [-1, 1): Kolmogorov and Smirnov's distance is larger with probability 2^-21.
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        let distance =
            sorted.iter().enumerate().map(|(i, x)| ((x + 1.0) / 2.0 - i as f64 / 400.0).abs()).fold(0.0, f64::max);
        assert!(distance < 0.14, "{entry}: {distance}");
    }
}

#[test]
fn the_uniform_half_of_a_result_says_nothing_of_the_vector() {
    let rng = &mut SecretRng::insecure_from_seed(22);
    let u = words(rng, 100);
    let mut run = Run::new(&u, &[0; 100], error, rng);
    let none = run.no_flood();
    // Of a vector of zeros, whose sum of `a_k Y_k` is zero.
    let reply = run.reply(0, &none, rng);
    let ones: u32 = reply.a.iter().map(|byte| byte.count_ones()).sum();
    let bits = 8.0 * reply.a.len() as f64;
    assert!((f64::from(ones) - bits / 2.0).abs() < 4.0 * bits.sqrt(), "{ones} ones of {bits}");
}

/// What a receiver of zeros replies is `a_0 v + e'`. Without `v` it would be a small polynomial,
/// without `e'` a small multiple of `a_0`.
#[test]
fn a_secret_and_an_error_hide_each_other_in_the_uniform_half() {
    let params = params(5);
    let ((reply, seed), _) = two_party(
        |ch, _| {
            ch.send(&Key { seed: [7; 32], zero: vec![0; params.polynomial_bytes()] })?;
            ch.send_stream::<Blocks>(&vec![0; params.polynomial_bytes()])?;
            Ok((ch.recv::<Reply>(params)?, Binding::new(ch, NAME).extend("seed", &[7; 32])))
        },
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(RingVectors { vectors: vec![vec![0; 5]] }, ch, rng),
    );
    let ring = Ring::new(&params);
    let (prime, modulus) = (&ring.primes[0], ring.primes[0].modulus);
    let (mut a, mut factor) = (vec![0; DEGREE], vec![0; DEGREE]);
    prime.read(&reply.a[..params.part_bytes()], &mut a).unwrap();
    prime.uniform(&seed, 0, &mut factor);
    let quotient: Vec<u64> =
        a.iter().zip(&factor).map(|(&a, &factor)| modulus.product(a, modulus.inverse(factor))).collect();
    for values in [a, quotient] {
        let is_small = |place: usize| {
            let mut shift = vec![0; DEGREE];
            shift[DEGREE - 1 - place] = 1;
            prime.ntt.forward(&mut shift);
            let coefficient = prime.last_coefficient(&mut values.clone(), &shift);
            coefficient.min(modulus.p() - coefficient) <= u64::from(ERROR)
        };
        assert!(!(0..16).any(is_small));
    }
}
