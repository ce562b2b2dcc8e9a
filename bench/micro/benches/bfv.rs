//! One-thread times of the operations on BFV ciphertexts, at the parameters of the rows that use
//! them.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use vesica_structures::rlwe::bfv::{Automorphism, GaloisKey, Params, PublicKey, Scheme, SecretKey, SwitchKey};
use vesica_structures::rng::SecretRng;

fn operations(c: &mut Criterion) {
    let cases = [
        ("4096, 3 of 36 bits", Params::with_widths(4096, &[36, 36, 36], &[147_457], 18), 87),
        ("4096, 28 and 3 of 27 bits", Params::with_widths(4096, &[28, 27, 27, 27], &[40_961], 14), 80),
        ("8192, 42 and 3 of 41 bits", Params::with_widths(8192, &[42, 41, 41, 41], &[65_537], 18), 120),
    ];
    for (name, params, flood_bits) in cases {
        let mut group = c.benchmark_group(format!("bfv, {name}"));
        let scheme = &Scheme::new(&params).expect("served parameters");
        let rng = &mut SecretRng::insecure_from_seed(1);
        let key = SecretKey::new(scheme, rng);
        let mut encryptor = key.encryptor(scheme, rng);
        let seed = encryptor.seed();
        let slots: Vec<u64> = (0..scheme.slots() as u64).collect();
        let plain = scheme.encode(&slots);
        let public = PublicKey::new(scheme, &seed, encryptor.next_number(), encryptor.public_key(rng));
        let first = encryptor.next_number();
        let product_key = SwitchKey::new(scheme, &seed, first, encryptor.product_key(rng));
        let rotation = Automorphism::rotation(scheme, 1);
        let first = encryptor.next_number();
        let halves = encryptor.galois_key(&rotation, rng);
        let rotation = GaloisKey::new(scheme, rotation, &seed, first, halves);
        let number = encryptor.next_number();
        let half = encryptor.encrypt(&plain, rng);
        let encrypted = scheme.expand(&seed, number, half.clone());
        let multiplier = scheme.multiplier(&plain, scheme.all_primes());
        let coefficients = scheme.ciphertext_coefficients(encrypted.clone());

        group.bench_function("encode", |b| b.iter(|| scheme.encode(black_box(&slots))));
        group.bench_function("multiplier", |b| b.iter(|| scheme.multiplier(black_box(&plain), scheme.all_primes())));
        group.bench_function("encrypt", |b| b.iter(|| encryptor.encrypt(black_box(&plain), rng)));
        group.bench_function("expand", |b| b.iter(|| scheme.expand(&seed, number, half.clone())));
        group.bench_function("encrypt zero", |b| b.iter(|| public.zero(scheme, rng)));
        group.bench_function("combine four", |b| {
            b.iter(|| scheme.combine(black_box(&[(&encrypted, &multiplier); 4])));
        });
        group.bench_function("rotate", |b| b.iter(|| scheme.apply(black_box(&encrypted), &rotation)));
        group.bench_function("multiply", |b| {
            b.iter(|| scheme.multiply(black_box(&encrypted), &encrypted, &product_key))
        });
        group.bench_function("flood and drop primes", |b| {
            b.iter(|| {
                let mut small = coefficients.clone();
                scheme.flood(&mut small, flood_bits, rng);
                scheme.switch_down(&mut small, 1);
                small
            });
        });
        group.bench_function("decrypt", |b| b.iter(|| scheme.decrypt(black_box(&coefficients), &key)));
        let mut bytes = Vec::new();
        scheme.write_poly(&half, &mut bytes);
        group.bench_function("read", |b| {
            b.iter(|| scheme.read_poly::<vesica_structures::rlwe::bfv::Values>(black_box(&bytes), scheme.all_primes()));
        });
    }
}

criterion_group!(benches, operations);
criterion_main!(benches);
