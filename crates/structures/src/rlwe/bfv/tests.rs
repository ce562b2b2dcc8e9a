use rand_core::Rng;
use vesica_kernels::ntt::Modulus;
use vesica_kernels::{Backend, with_backend};

use super::base::{Base, Conversion};
use super::*;
use crate::rng::SecretRng;

/// The parameters of the product-free row.
fn three_primes() -> Params {
    Params::with_widths(4096, &[36, 36, 36], &[147_457], 18)
}

/// Those of CM25's configuration Fast Intersection.
fn four_primes() -> Params {
    Params::with_widths(4096, &[28, 27, 27, 27], &[40_961], 14)
}

/// A scheme, a key and what the key's holder sends.
struct Setup {
    scheme: Scheme,
    key: SecretKey,
    rng: SecretRng,
}

fn setup(params: &Params) -> Setup {
    let scheme = Scheme::new(params).unwrap();
    let mut rng = SecretRng::insecure_from_seed(3);
    let key = SecretKey::new(&scheme, &mut rng);
    Setup { scheme, key, rng }
}

impl Setup {
    fn slots(&mut self) -> Vec<u64> {
        let t = self.scheme.plain_modulus();
        (0..self.scheme.slots()).map(|_| self.rng.next_u64() % t).collect()
    }

    fn encrypt(&mut self, slots: &[u64]) -> Ciphertext<Values> {
        let mut encryptor = self.key.encryptor(&self.scheme, &mut self.rng);
        let half = encryptor.encrypt(&self.scheme.encode(slots), &mut self.rng);
        self.scheme.expand(&encryptor.seed(), 0, half)
    }

    fn public_key(&mut self) -> PublicKey {
        let mut encryptor = self.key.encryptor(&self.scheme, &mut self.rng);
        let half = encryptor.public_key(&mut self.rng);
        PublicKey::new(&self.scheme, &encryptor.seed(), 0, half)
    }

    fn galois_key(&mut self, automorphism: Automorphism) -> GaloisKey {
        let mut encryptor = self.key.encryptor(&self.scheme, &mut self.rng);
        let halves = encryptor.galois_key(&automorphism, &mut self.rng);
        GaloisKey::new(&self.scheme, automorphism, &encryptor.seed(), 0, halves)
    }

    fn product_key(&mut self) -> SwitchKey {
        let mut encryptor = self.key.encryptor(&self.scheme, &mut self.rng);
        let halves = encryptor.product_key(&mut self.rng);
        SwitchKey::new(&self.scheme, &encryptor.seed(), 0, halves)
    }

    fn decrypt(&self, ciphertext: &Ciphertext<Values>) -> Vec<u64> {
        let ciphertext = self.scheme.ciphertext_coefficients(ciphertext.clone());
        self.scheme.decode(&self.scheme.decrypt(&ciphertext, &self.key).unwrap())
    }

    fn noise_bits(&self, ciphertext: &Ciphertext<Values>) -> f64 {
        self.scheme.noise_bits(&self.scheme.ciphertext_coefficients(ciphertext.clone()), &self.key)
    }
}

fn zip(x: &[u64], y: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

#[test]
fn insecure_and_unfit_parameters_are_refused() {
    let good = three_primes();
    good.check().unwrap();
    assert_eq!(good.modulus_bits(), 108);
    let refused = |params: Params| params.check().unwrap_err().what;
    assert!(refused(Params::with_widths(4096, &[37, 37, 37], &[147_457], 18)).contains("111 bits"));
    assert!(refused(Params { degree: 4095, ..good.clone() }).contains("4095"));
    assert!(refused(Params { primes: vec![], ..good.clone() }).contains("modulus of the primes"));
    assert!(refused(Params { primes: vec![good.primes[0]; 2], ..good.clone() }).contains("modulus of the primes"));
    assert!(refused(Params { primes: vec![good.primes[0] + 8192], ..good.clone() }).contains("modulus of the primes"));
    for plain in [vec![], vec![147_459], vec![65_537 * 40_961], vec![65_537; 2], vec![40_961, 65_537, 147_457]] {
        assert!(refused(Params { plain, ..good.clone() }).contains("plaintext modulus"));
    }
    assert!(refused(Params { digit_bits: 36, ..good.clone() }).contains("36 bits"));
    assert!(refused(Params { digit_bits: 1, ..good }).contains("1 bits"));
}

/// Lifting against numbers of 128 bits.
#[test]
fn residues_are_lifted_to_the_number_next_to_zero() {
    let from = Modulus::largest(36, 8192, 3);
    let to = Modulus::largest(50, 8192, 3);
    let q: i128 = from.iter().map(|m| i128::from(m.p())).product();
    let mut rng = SecretRng::insecure_from_seed(1);
    let mut numbers: Vec<i128> = vec![0, 1, -1, q / 2 - (1 << 60), -(q / 2 - (1 << 60))];
    numbers.extend((0..59).map(|_| (rng.block() % q as u128) as i128 - q / 2));
    let residues = |moduli: &[Modulus]| -> Vec<u64> {
        let row = |m: &Modulus| numbers.iter().map(|x| x.rem_euclid(m.p().into()) as u64).collect::<Vec<_>>();
        moduli.iter().flat_map(row).collect()
    };
    let base = Base::new(&from);
    let lifted = Conversion::new(&base, &to).convert(&base, &residues(&from), numbers.len());
    assert_eq!(lifted, residues(&to));
    for (&x, fraction) in numbers.iter().zip(base.fractions(&residues(&from), numbers.len())) {
        // x / q modulo 1 in units of 2^-60; q has 108 bits, so that x >> 1 times 2^20 still fits.
        let exact = (x.rem_euclid(q) as f64 / q as f64 * 2f64.powi(60)) as i128;
        let off = (exact - i128::from(fraction)).rem_euclid(1 << 60);
        assert!(off.min((1 << 60) - off) < 1 << 12, "{x}: {exact} against {fraction}");
    }
}

#[test]
fn slots_come_back_for_prime_and_composite_moduli() {
    for params in [three_primes(), Params { plain: vec![40_961, 65_537], ..three_primes() }] {
        let mut on = setup(&params);
        let slots = on.slots();
        let plain = on.scheme.encode(&slots);
        assert!(plain.coefficients().iter().all(|&c| c < on.scheme.plain_modulus()));
        assert_eq!(on.scheme.decode(&plain), slots);
        let short = on.scheme.decode(&on.scheme.encode(&slots[..5]));
        assert_eq!((&short[..5], &short[5..]), (&slots[..5], &vec![0; 4091][..]));
        let t = on.scheme.plain_modulus();
        let cubes: Vec<u64> = slots.iter().map(|x| x * x % t * x % t).collect();
        assert_eq!(on.scheme.decode(&on.scheme.encode_powers(&slots, 3)), cubes);
        let again = |coefficients: &[u64]| Plain::from_coefficients(&on.scheme, coefficients.to_vec());
        assert_eq!(again(plain.coefficients()), Some(plain.clone()));
        assert_eq!(again(&plain.coefficients()[1..]), None, "one is missing");
        assert_eq!(again(&[&[t], &plain.coefficients()[1..]].concat()), None, "one is not below t");
        let encrypted = on.encrypt(&slots);
        assert_eq!(on.decrypt(&encrypted), slots);
        // 21 of the noise, half of rounding.
        assert!(on.noise_bits(&encrypted) < 21.5f64.log2());
    }
}

#[test]
fn sums_and_products_with_plaintexts_are_right_slot_by_slot() {
    let mut on = setup(&three_primes());
    let t = on.scheme.plain_modulus();
    let [x, y, f, g] = std::array::from_fn(|_| on.slots());
    let (ex, ey) = (on.encrypt(&x), on.encrypt(&y));
    let [pf, pg] = [&f, &g].map(|slots| on.scheme.encode(slots));
    let [mf, mg] = [&pf, &pg].map(|plain| on.scheme.multiplier(plain, 3));
    let mut sum = on.scheme.combine(&[(&ex, &mf), (&ey, &mg)]);
    let mut expected = zip(&zip(&x, &f, |x, f| x * f % t), &zip(&y, &g, |y, g| y * g % t), |a, b| (a + b) % t);
    assert_eq!(on.decrypt(&sum), expected);
    // Variance at most 2 n t^2 / 4 times 10.5 and a twelfth; eight deviations.
    assert!(on.noise_bits(&sum) < 0.5 * (2.0 * 4096.0 * (t as f64).powi(2) / 4.0 * 10.6).log2() + 3.0);

    on.scheme.add_plain(&mut sum, &pf);
    on.scheme.subtract_plain(&mut sum, &pg);
    on.scheme.add(&mut sum, &ex);
    on.scheme.subtract(&mut sum, &ey);
    for i in 0..expected.len() {
        expected[i] = (expected[i] + f[i] + x[i] + 2 * t - g[i] - y[i]) % t;
    }
    assert_eq!(on.decrypt(&sum), expected);
}

#[test]
fn public_keys_encrypt_and_hide_what_was_added() {
    let mut on = setup(&three_primes());
    let key = on.public_key();
    let slots = on.slots();
    let plain = on.scheme.encode(&slots);
    let encrypted = key.encrypt(&on.scheme, &plain, &mut on.rng);
    assert_eq!(on.decrypt(&encrypted), slots);
    // e u + e0 + e1 s: variance at most 10.5 (2 * 4096 * 2 / 3 + 1); eight deviations.
    assert!(on.noise_bits(&encrypted) < 0.5 * (10.5f64 * 5463.0).log2() + 3.0);
    let without = Ciphertext { c0: encrypted.c0.clone(), c1: on.scheme.zero(3) };
    let without = on.scheme.ciphertext_coefficients(without);
    assert_eq!(on.scheme.decrypt(&without, &on.key), Err(NoiseExhausted), "the second half is needed");
    let again = key.encrypt(&on.scheme, &plain, &mut on.rng);
    let same = |a: &Poly<Values>, b: &Poly<Values>| a.residues.iter().zip(&b.residues).filter(|(a, b)| a == b).count();
    assert!(same(&encrypted.c0, &again.c0) < 3 && same(&encrypted.c1, &again.c1) < 3);
}

#[test]
fn seeded_ciphertexts_of_one_encryptor_have_fresh_halves() {
    let mut on = setup(&three_primes());
    let plain = on.scheme.encode(&[1, 2, 3]);
    let mut encryptor = on.key.encryptor(&on.scheme, &mut on.rng);
    let halves = [encryptor.encrypt(&plain, &mut on.rng), encryptor.encrypt(&plain, &mut on.rng)];
    let seed = Seed::from_bytes(encryptor.seed().to_bytes());
    let [first, second] = std::array::from_fn(|i| on.scheme.expand(&seed, i as u64, halves[i].clone()));
    assert_eq!(on.decrypt(&first), on.decrypt(&second));
    assert_ne!(first.c1, second.c1);
    assert_eq!(encryptor.next_number(), 2);
}

#[test]
fn rows_rotate_and_swap() {
    let mut on = setup(&three_primes());
    let slots = on.slots();
    let encrypted = on.encrypt(&slots);
    let half = slots.len() / 2;
    let rotations = [1, 1024, half - 1].map(|steps| (Automorphism::rotation(&on.scheme, steps), steps, false));
    for (automorphism, steps, swaps) in rotations.into_iter().chain([(Automorphism::swap(&on.scheme), 0, true)]) {
        let key = on.galois_key(automorphism);
        let moved = on.scheme.apply(&encrypted, &key);
        // 6 digits of 18 bits: n 6 2^34 10.5 at most; eight deviations.
        assert!(on.noise_bits(&moved) < 0.5 * (6.0 * 4096.0 * 2f64.powi(34) * 10.5).log2() + 3.0);
        for (i, slot) in on.decrypt(&moved).into_iter().enumerate() {
            let row = (i / half) ^ usize::from(swaps);
            assert_eq!(slot, slots[row * half + (i + steps) % half], "slot {i}");
        }
    }
}

/// Every choice of two sets of keys, for two ciphertexts at once, against the automorphisms one by one.
#[test]
fn the_chosen_automorphisms_are_applied() {
    let mut on = setup(&three_primes());
    let half = on.scheme.slots() / 2;
    let moves = |scheme: &Scheme| {
        let [rotation, swap] = [Automorphism::rotation(scheme, 1024), Automorphism::swap(scheme)];
        let both = rotation.and(scheme, &swap);
        [[1, 2, 3].map(|steps| Automorphism::rotation(scheme, steps)), [rotation, swap, both]]
    };
    let keys = moves(&on.scheme).map(|set| set.map(|automorphism| on.galois_key(automorphism)));
    let slots = [on.slots(), on.slots()];
    let encrypted = slots.each_ref().map(|slots| on.encrypt(slots));
    let mut workspace = Workspace::default();
    for choice in 0..16 {
        let choices = [choice % 4, choice / 4];
        let mut moved = encrypted.clone();
        on.scheme.apply_chosen(&mut moved, &keys, &choices, &mut workspace);
        let steps = choices[0] + 1024 * (choices[1] & 1);
        for (moved, slots) in moved.iter().zip(&slots) {
            // 6 digits of 18 bits, twice.
            assert!(on.noise_bits(moved) < 0.5 * (12.0 * 4096.0 * 2f64.powi(34) * 10.5).log2() + 3.0);
            for (i, slot) in on.decrypt(moved).into_iter().enumerate() {
                let row = (i / half) ^ (choices[1] >> 1);
                assert_eq!(slot, slots[row * half + (i + steps) % half], "slot {i}, choice {choice}");
            }
        }
        if choice == 0 {
            assert!(moved == encrypted, "nothing is switched");
        }
    }
}

#[test]
fn a_product_of_four_ciphertexts_is_right_slot_by_slot() {
    let mut on = setup(&four_primes());
    let t = on.scheme.plain_modulus();
    let key = on.product_key();
    let slots: [Vec<u64>; 4] = std::array::from_fn(|_| on.slots());
    let encrypted = slots.each_ref().map(|slots| on.encrypt(slots));
    let multiply = |x, y| on.scheme.multiply(x, y, &key);
    let product = multiply(&multiply(&encrypted[0], &encrypted[1]), &multiply(&encrypted[2], &encrypted[3]));
    let expected = slots.iter().skip(1).fold(slots[0].clone(), |product, x| zip(&product, x, |x, y| x * y % t));
    assert_eq!(on.decrypt(&product), expected);
    // The page's 2^74.
    assert!(on.noise_bits(&product) < 76.0, "{}", on.noise_bits(&product));
}

#[test]
fn squares_multiples_and_sums_of_products_are_right_slot_by_slot() {
    let mut on = setup(&four_primes());
    let t = on.scheme.plain_modulus();
    let key = on.product_key();
    let slots: [Vec<u64>; 4] = std::array::from_fn(|_| on.slots());
    let [w, x, y, z] = slots.each_ref().map(|slots| on.encrypt(slots));
    let square = on.scheme.square(&w, &key);
    assert_eq!(on.decrypt(&square), zip(&slots[0], &slots[0], |x, y| x * y % t));
    assert_eq!(square, on.scheme.multiply(&w, &w, &key), "a square is the product with itself");
    for (factor, residue) in [(0, 0), (1, 1), (100, 100), (-384, t - 384), (-37_760, t - 37_760)] {
        let mut sum = w.clone();
        on.scheme.add_multiple(&mut sum, &x, factor);
        assert_eq!(on.decrypt(&sum), zip(&slots[0], &slots[1], |w, x| (w + residue * x) % t), "{factor}");
    }
    let mut sum = on.scheme.product(&w, &x);
    let alone = on.scheme.relinearise(sum.clone(), &key);
    assert_eq!(alone, on.scheme.multiply(&w, &x, &key), "one product");
    let weights = on.slots();
    let factor = on.scheme.multiplier(&on.scheme.encode(&weights), on.scheme.all_primes());
    let other = on.scheme.weighted(&on.scheme.product(&y, &z), &factor);
    on.scheme.add_product(&mut sum, &other);
    let expected: Vec<u64> = (0..on.scheme.slots())
        .map(|i| (slots[0][i] * slots[1][i] + slots[2][i] * slots[3][i] % t * weights[i]) % t)
        .collect();
    assert_eq!(on.decrypt(&on.scheme.relinearise(sum, &key)), expected);
}

/// Five primes, as wide as a ring for circuit PSI takes them.
#[test]
fn products_modulo_five_primes_are_right() {
    for params in [
        Params::with_widths(8192, &[43, 43, 43, 43, 42], &[65_537], 22),
        Params::with_widths(16_384, &[49; 5], &[65_537], 25),
    ] {
        let mut on = setup(&params);
        let t = on.scheme.plain_modulus();
        let key = on.product_key();
        let [x, y] = [on.slots(), on.slots()];
        let (ex, ey) = (on.encrypt(&x), on.encrypt(&y));
        assert_eq!(on.decrypt(&on.scheme.multiply(&ex, &ey, &key)), zip(&x, &y, |x, y| x * y % t));
    }
}

#[test]
fn products_of_larger_moduli_are_right() {
    for plain in [vec![147_457], vec![65_537, 147_457]] {
        let params = Params::with_widths(8192, &[42, 41, 41, 41], &plain, 18);
        let mut on = setup(&params);
        let t = on.scheme.plain_modulus();
        let key = on.product_key();
        let [x, y] = [on.slots(), on.slots()];
        let (ex, ey) = (on.encrypt(&x), on.encrypt(&y));
        let product = on.scheme.multiply(&ex, &ey, &key);
        let expected = zip(&x, &y, |x, y| (u128::from(x) * u128::from(y) % u128::from(t)) as u64);
        assert_eq!(on.decrypt(&product), expected);
    }
}

#[test]
fn smaller_moduli_keep_the_message() {
    let mut on = setup(&three_primes());
    let slots = on.slots();
    let mut encrypted = on.encrypt(&slots);
    encrypted = {
        let key = on.public_key();
        let mut sum = key.zero(&on.scheme, &mut on.rng);
        on.scheme.add(&mut sum, &encrypted);
        sum
    };
    let full = on.scheme.ciphertext_coefficients(encrypted);
    for primes in [3, 2, 1] {
        let mut small = full.clone();
        on.scheme.switch_down(&mut small, primes);
        assert_eq!(on.scheme.decode(&on.scheme.decrypt(&small, &on.key).unwrap()), slots);
        // Rounding: a half and half of s's 1-norm, of which 8 deviations are seen.
        assert!(on.scheme.noise_bits(&small, &on.key) < 11.0);
    }
}

/// The flood is as wide as stated, its noise of the stated variance, and what comes too close to the
/// next message is reported.
#[test]
fn floods_are_sums_of_four_and_exhausted_noise_is_reported() {
    let mut on = setup(&three_primes());
    let slots = on.slots();
    let encrypted = on.encrypt(&slots);
    let fresh = on.scheme.ciphertext_coefficients(encrypted);
    let room = on.scheme.room_bits(3);
    assert!((88.8..88.9).contains(&room), "{room}");
    for bits in [40, 87] {
        let mut flooded = fresh.clone();
        on.scheme.flood(&mut flooded, bits, &mut on.rng);
        let noise = on.scheme.noise_of(&flooded, &on.key);
        let unit = 2f64.powi(bits as i32);
        let mean = noise.iter().sum::<f64>() / 4096.0 / unit;
        let variance = noise.iter().map(|x| x * x).sum::<f64>() / 4096.0 / (unit * unit);
        // Mean 0, variance 1/3; the deviations of these estimates are 0.009 and 0.006.
        assert!(mean.abs() < 0.05 && (variance - 1.0 / 3.0).abs() < 0.04, "{mean}, {variance}");
        assert!(noise.iter().all(|x| x.abs() < 2.0 * unit + 25.0));
        assert_eq!(on.scheme.decode(&on.scheme.decrypt(&flooded, &on.key).unwrap()), slots);
        on.scheme.switch_down(&mut flooded, 1);
        assert_eq!(on.scheme.decode(&on.scheme.decrypt(&flooded, &on.key).unwrap()), slots);
    }
    for bits in [88, 90, 100, 110] {
        let mut flooded = fresh.clone();
        on.scheme.flood(&mut flooded, bits, &mut on.rng);
        assert_eq!(on.scheme.decrypt(&flooded, &on.key), Err(NoiseExhausted), "{bits} bits");
        on.scheme.switch_down(&mut flooded, 1);
        assert_eq!(on.scheme.decrypt(&flooded, &on.key), Err(NoiseExhausted), "{bits} bits, one prime");
    }
    let other = SecretKey::new(&on.scheme, &mut on.rng);
    assert_eq!(on.scheme.decrypt(&fresh, &other), Err(NoiseExhausted));
}

#[test]
fn ciphertexts_and_keys_travel() {
    let mut on = setup(&three_primes());
    let slots = on.slots();
    let encrypted = on.encrypt(&slots);
    let mut encrypted = on.scheme.ciphertext_coefficients(encrypted);
    for primes in [3, 2, 1] {
        on.scheme.switch_down(&mut encrypted, primes);
        let mut bytes = Vec::new();
        on.scheme.write_ciphertext(&encrypted, &mut bytes);
        assert_eq!(bytes.len(), on.scheme.ciphertext_bytes(primes));
        assert_eq!(bytes.len(), 2 * 4096 * 36 * primes / 8);
        assert_eq!(on.scheme.read_ciphertext(&bytes, primes), Some(encrypted.clone()));
        assert_eq!(on.scheme.read_ciphertext::<Coefficients>(&bytes[1..], primes), None);
        assert_eq!(on.scheme.read_ciphertext::<Coefficients>(&bytes, primes + 1), None);
        bytes[..9].fill(0xff);
        assert_eq!(on.scheme.read_ciphertext::<Coefficients>(&bytes, primes), None, "a residue above its prime");
    }
    let mut bytes = on.key.to_bytes(&on.scheme);
    assert!(*SecretKey::from_bytes(&on.scheme, &bytes).unwrap().s == *on.key.s);
    bytes[100] ^= 1;
    assert!(SecretKey::from_bytes(&on.scheme, &bytes).is_none(), "no ternary polynomial");
}

/// What is rounded comes back within half of a multiple, also where the next multiple is the prime itself.
#[test]
fn rounded_ciphertexts_travel() {
    let mut on = setup(&three_primes());
    let slots = on.slots();
    let encrypted = on.encrypt(&slots);
    let mut encrypted = on.scheme.ciphertext_coefficients(encrypted);
    on.scheme.switch_down(&mut encrypted, 1);
    let p = on.scheme.params().primes[0];
    let mut edges = encrypted.clone();
    edges.c0.residues[..6].copy_from_slice(&[0, 1, p / 2, p - (p >> 22) - 1, p - 2, p - 1]);
    for (sent, bits) in [(&encrypted, [21, 27]), (&edges, [21, 27]), (&edges, [1, 2])] {
        let mut bytes = Vec::new();
        on.scheme.write_rounded(sent, bits, &mut bytes);
        assert_eq!(bytes.len(), on.scheme.rounded_bytes(bits));
        assert_eq!(bytes.len(), 4096 * (bits[0] + bits[1]) as usize / 8);
        let read = on.scheme.read_rounded(&bytes, bits).unwrap();
        for ((sent, read), bits) in [(&sent.c0, &read.c0), (&sent.c1, &read.c1)].into_iter().zip(bits) {
            for (&sent, &read) in sent.residues.iter().zip(&read.residues) {
                let apart = sent.abs_diff(read);
                assert!(read < p && apart.min(p - apart) <= (p >> (bits + 1)) + 1, "{sent} came as {read}");
            }
        }
        assert_eq!(on.scheme.read_rounded(&bytes[1..], bits), None);
        assert_eq!(on.scheme.read_rounded(&[&bytes[..], &[0]].concat(), bits), None);
        if *sent == encrypted {
            assert_eq!(on.scheme.decode(&on.scheme.decrypt(&read, &on.key).unwrap()), slots);
        }
    }
}

#[test]
fn selection_takes_one_of_two() {
    let mut on = setup(&three_primes());
    let (a, b) = (on.encrypt(&[1]), on.encrypt(&[2]));
    for choose in [false, true] {
        let mut out = b.clone();
        on.scheme.select(choose, &a, &mut out);
        assert_eq!(out, if choose { a.clone() } else { b.clone() });
    }
}

/// The same bytes whatever runs the transforms.
#[test]
fn every_backend_computes_the_same() {
    let run = || {
        let mut on = setup(&four_primes());
        let (slots, key) = (on.slots(), on.product_key());
        let rotation = on.galois_key(Automorphism::rotation(&on.scheme, 3));
        let encrypted = on.encrypt(&slots);
        let product = on.scheme.multiply(&encrypted, &encrypted, &key);
        on.scheme.apply(&product, &rotation)
    };
    let expected = with_backend(Backend::Portable, run);
    for backend in Backend::available() {
        assert!(with_backend(backend, run) == expected, "{}", backend.name());
    }
}

/// The constant `J` of docs/parameters/bfv.md: 4^B times the sum of squares of the steps of the root
/// of a flood's distribution.
#[test]
fn floods_of_four_uniform_numbers_are_as_smooth_as_stated() {
    let mut last = 0.8669;
    for bits in 2..=8 {
        let count = 1usize << bits;
        let mut ways = vec![1u64; count];
        for _ in 1..4 {
            let longer = ways.len() + count - 1;
            let sum = |k: usize| ways[(k + 1).saturating_sub(count)..ways.len().min(k + 1)].iter().sum();
            ways = (0..longer).map(sum).collect();
        }
        assert_eq!(ways.iter().sum::<u64>(), 1 << (4 * bits));
        ways.insert(0, 0);
        ways.push(0);
        let roots = ways.windows(2).map(|ways| ((ways[1] as f64).sqrt() - (ways[0] as f64).sqrt()).powi(2));
        let smoothness = roots.sum::<f64>() * 4f64.powi(bits) / 16f64.powi(bits);
        assert!(smoothness < last && smoothness > 0.778, "{bits} bits: {smoothness}");
        last = smoothness;
    }
}
