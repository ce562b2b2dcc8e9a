use vesica_testkit::two_party;

use super::instance::{BITS, BOXED, Instance, instance};
use super::*;
use vesica_structures::rng::SecretRng;

/// Key, plaintext and ciphertext: what the designers' reference implementation prints, set to
/// blocks and keys of 128 bits with 31 S-boxes and 13 rounds.
const VECTORS: [[u128; 3]; 3] = [
    [1, 0xffd5, 0x9ca2533d109e455e_24150a8ec6346a48],
    [0, 0, 0x51069fe42bea871f_bfd18644d82d6d72],
    [0xfedcba9876543210_0123456789abcdef, 0x8899aabbccddeeff_0011223344556677, 0x1ea2613149fb1a7c_691fe8f07fad313a],
];

/// The same for 10 S-boxes and 20 rounds.
const SPARSE_VECTORS: [[u128; 3]; 3] = [
    [1, 0xffd5, 0x0ef1b1c43138eee5_43ab26f9d04e0c70],
    [0, 0, 0xa4305d639d7f7cc3_12d5e63e7fba450a],
    [0xfedcba9876543210_0123456789abcdef, 0x8899aabbccddeeff_0011223344556677, 0xc9140329fa99502d_1cd95037763e858e],
];

#[test]
fn the_reference_encrypts_alike() {
    for [key, plain, encrypted] in VECTORS {
        assert_eq!(*RoundKeys::new(key).encrypt(&[plain]), [encrypted]);
    }
    let sparse = Instance::new(20);
    for [key, plain, encrypted] in SPARSE_VECTORS {
        assert_eq!(*RoundKeys::of(&sparse, key).encrypt_by(&sparse, 20, 30, &[plain]), [encrypted]);
    }
}

#[test]
fn blocks_are_encrypted_one_by_one() {
    let keys = RoundKeys::new(0x1234_5678 << 70);
    let blocks: Vec<u128> = (0..1100u128).map(|i| ((i * i) << 60) | i).collect();
    let together = keys.encrypt(&blocks);
    for i in [0, 1, 63, 64, 511, 512, 1099] {
        assert_eq!(keys.encrypt(&blocks[i..=i])[0], together[i]);
    }
    assert!(keys.encrypt(&[]).is_empty());
}

/// The designers' formula, version 3, for 31 S-boxes and data of 2^64 blocks: the attack that goes
/// furthest is interpolation from a derivative, whose rounds the next lines count.
#[test]
fn there_are_as_many_rounds_as_the_formula_asks_for() {
    let data = 64;
    // Until the degree reaches that of a derivative.
    let mut degree = 1;
    let mut rounds = 0;
    while degree < data - 1 {
        degree = (2 * degree).min(SBOXES + degree).min((BITS + degree) / 2);
        rounds += 1;
    }
    // Until a bit has an influence on all others.
    rounds += (BITS as f64 / (7.0 / 8.0 * BOXED as f64)).ceil() as usize;
    // Until an interpolation has too many unknowns: terms of the ciphertext's bits by their degree, as many
    // as there can be, each with a coefficient of the degree that is left to the key's bits.
    let choose = |n: usize, k: usize| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
    let mut terms = vec![0.0; BITS + 1];
    (terms[0], terms[1], terms[2]) = (1.0, BITS as f64, BOXED as f64);
    let interpolated = (1..).find(|&last| {
        if last > 1 {
            let products = |degree: usize| (0..=degree / 2).map(|i| terms[i] * terms[degree - i]).sum::<f64>();
            let grown = (0..=BITS).map(|degree| match degree {
                0 | 1 => terms[degree],
                _ => products(degree).min(choose(BITS, degree)),
            });
            terms = grown.collect();
        }
        let most = 1usize << last;
        let of_key = |most: usize| (0..=most.min(BITS)).map(|degree| choose(BITS, degree)).sum::<f64>();
        let unknowns: f64 = (0..=most.min(BITS)).map(|degree| terms[degree].min(of_key(most - degree))).sum();
        unknowns.log2() >= (BITS as f64 / 2.3).min(data as f64)
    });
    assert_eq!(rounds + interpolated.unwrap(), ROUNDS);
}

#[test]
fn the_inverse_undoes_each_linear_layer() {
    let blocks: Vec<u128> = (0..70).map(|i| 3u128.pow(i)).collect();
    let mut state = state::State::of(&blocks);
    for round in 0..ROUNDS {
        state.multiply(&instance().linear[round]);
        assert_ne!(*state.blocks(), blocks);
        state.multiply(&instance().inverse[round]);
        assert_eq!(*state.blocks(), blocks);
    }
}

/// The receiver's bits for these blocks, and the messages of either side.
fn matched(bits: u32, key: u128, indicator: u64, blocks: &[u128]) -> Vec<bool> {
    let params = Params::new(blocks.len(), bits).unwrap();
    let ((), found) = two_party(
        |ch, rng| ask(&params, blocks, ch, rng),
        |ch, rng| test(&params, &RoundKeys::new(key), indicator, ch, rng),
    );
    found.iter().collect()
}

#[test]
fn what_starts_with_the_indicator_is_found_and_nothing_else() {
    let mut rng = SecretRng::insecure_from_seed(1);
    let key = rng.block();
    // All S-boxes, some and none lie above the lowest bit that is compared.
    for (bits, count) in [(64, 700), (61, 1), (41, 64), (36, 65), (35, 3), (1, 130)] {
        let indicator = rng.block() as u64 >> (64 - bits);
        let plain: Vec<u128> = (0..count)
            .map(|i| match i % 3 {
                0 => u128::from(indicator) << (128 - bits) | rng.block() >> bits,
                // One bit of the indicator is wrong.
                1 => (u128::from(indicator ^ 1 << (i as u32 % bits)) << (128 - bits)) | rng.block() >> bits,
                _ => rng.block(),
            })
            .collect();
        let expected: Vec<bool> = plain.iter().map(|plain| plain >> (128 - bits) == u128::from(indicator)).collect();
        assert_eq!(matched(bits, key, indicator, &RoundKeys::new(key).encrypt(&plain)), expected, "{bits}");
    }
}

/// A block that nobody encrypted matches `w` bits once in `2^w` times.
#[test]
fn random_blocks_match_as_often_as_they_may() {
    let mut rng = SecretRng::insecure_from_seed(2);
    let blocks: Vec<u128> = (0..16_384).map(|_| rng.block()).collect();
    let found = matched(6, rng.block(), 11, &blocks).into_iter().filter(|found| *found).count();
    // 256 on average, with a deviation of 15.9.
    assert!((180..332).contains(&found), "{found}");
}

#[test]
fn a_block_takes_as_many_gates_as_the_parameters_say() {
    let params = Params::new(1, 61).unwrap();
    assert_eq!(params.ands(), 12 * 93 + 26 + 60);
    assert!(Params::new(1, 0).is_err() && Params::new(1, 65).is_err());
    assert!(Params::new(usize::MAX / 200, 61).is_err());
}
