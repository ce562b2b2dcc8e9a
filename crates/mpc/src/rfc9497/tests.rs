use super::*;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().unwrap()
}

fn scalar(text: &str) -> Scalar {
    Scalar::from_canonical_bytes(array(text)).unwrap()
}

fn key(mode: Mode, text: &str) -> SecretKey {
    SecretKey::from_bytes(mode, &Secret::new(array(text))).unwrap()
}

/// `DeriveKeyPair` (RFC 9497, section 3.2.1) of the vectors' seed and information.
fn derived(mode: Mode) -> SecretKey {
    let input = [&[0xa3; 32][..], &[0, 8], b"test key", &[0]].concat();
    let uniform = hash_to_uniform(&mode.domain(b"DeriveKeyPair"), &input);
    SecretKey::new(mode, || Secret::new(Scalar::from_bytes_mod_order_wide(&uniform)))
}

const KEYS: [(Mode, &str); 2] = [
    (Mode::Oprf, "5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e"),
    (Mode::Voprf, "e6f73f344b79b379f1a0dd37e07ff62e38d9f71345ce62ae3a9bc60b04ccd909"),
];
const PUBLIC: &str = "c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e";
const INPUTS: [&str; 2] = ["00", "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"];
const BLIND: &str = "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706";
const OTHER_BLIND: &str = "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e";
const VERIFIABLE_OUTPUTS: [&str; 2] = [
    "b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7da4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c",
    "8a9a2f3c7f085b65933594309041fc1898d42d0858e59f90814ae90571a6df60356f4610bf816f27afdd84f47719e480906d27ecd994985890e5f539e7ea74b6",
];

/// A batch of the RFC: each input with its blind, both elements and the output; for VOPRF the
/// proof's nonce and the proof.
struct Vector {
    mode: Mode,
    batch: &'static [[&'static str; 5]],
    proof: Option<[&'static str; 2]>,
}

/// RFC 9497, appendices A.1.1 and A.1.2.
const VECTORS: [Vector; 5] = [
    Vector {
        mode: Mode::Oprf,
        batch: &[[
            INPUTS[0],
            BLIND,
            "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
            "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e",
            "527759c3d9366f277d8c6020418d96bb393ba2afb20ff90df23fb7708264e2f3ab9135e3bd69955851de4b1f9fe8a0973396719b7912ba9ee8aa7d0b5e24bcf6",
        ]],
        proof: None,
    },
    Vector {
        mode: Mode::Oprf,
        batch: &[[
            INPUTS[1],
            BLIND,
            "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
            "b4cbf5a4f1eeda5a63ce7b77c7d23f461db3fcab0dd28e4e17cecb5c90d02c25",
            "f4a74c9c592497375e796aa837e907b1a045d34306a749db9f34221f7e750cb4f2a6413a6bf6fa5e19ba6348eb673934a722a7ede2e7621306d18951e7cf2c73",
        ]],
        proof: None,
    },
    Vector {
        mode: Mode::Voprf,
        batch: &[[
            INPUTS[0],
            BLIND,
            "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945",
            "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e",
            VERIFIABLE_OUTPUTS[0],
        ]],
        proof: Some([
            OTHER_BLIND,
            "ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd066d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d",
        ]),
    },
    Vector {
        mode: Mode::Voprf,
        batch: &[[
            INPUTS[1],
            BLIND,
            "cc0b2a350101881d8a4cba4c80241d74fb7dcbfde4a61fde2f91443c2bf9ef0c",
            "60a59a57208d48aca71e9e850d22674b611f752bed48b36f7a91b372bd7ad468",
            VERIFIABLE_OUTPUTS[1],
        ]],
        proof: Some([
            OTHER_BLIND,
            "401a0da6264f8cf45bb2f5264bc31e109155600babb3cd4e5af7d181a2c9dc0a67154fabf031fd936051dec80b0b6ae29c9503493dde7393b722eafdf5a50b02",
        ]),
    },
    Vector {
        mode: Mode::Voprf,
        batch: &[
            [
                INPUTS[0],
                BLIND,
                "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945",
                "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e",
                VERIFIABLE_OUTPUTS[0],
            ],
            [
                INPUTS[1],
                OTHER_BLIND,
                "90a0145ea9da29254c3a56be4fe185465ebb3bf2a1801f7124bbbadac751e654",
                "cc5ac221950a49ceaa73c8db41b82c20372a4c8d63e5dded2db920b7eee36a2a",
                VERIFIABLE_OUTPUTS[1],
            ],
        ],
        proof: Some([
            "419c4f4f5052c53c45f3da494d2b67b220d02118e0857cdbcf037f9ea84bbe0c",
            "cc203910175d786927eeb44ea847328047892ddf8590e723c37205cb74600b0a5ab5337c8eb4ceae0494c2cf89529dcf94572ed267473d567aeed6ab873dee08",
        ]),
    },
];

#[test]
fn keys_are_those_of_the_rfc() {
    for (mode, expected) in KEYS {
        assert_eq!(derived(mode).as_bytes()[..], hex(expected), "{mode:?}");
    }
    assert_eq!(derived(Mode::Voprf).public()[..], hex(PUBLIC));
}

#[test]
fn every_value_is_that_of_the_rfc() {
    for (number, Vector { mode, batch, proof }) in VECTORS.into_iter().enumerate() {
        let key = key(mode, KEYS[mode as usize].1);
        let column = |place: usize| batch.iter().map(|row| hex(row[place])).collect::<Vec<_>>();
        let elements = |place: usize| batch.iter().map(|row| array(row[place])).collect::<Vec<Encoded>>();
        let (inputs, outputs) = (column(0), column(4));
        let blinds = Blinds(Secret::new(batch.iter().map(|row| scalar(row[1])).collect()));

        let blinded = blind_with(mode, &inputs, &blinds);
        assert_eq!(blinded, elements(2), "vector {number}");
        let mut evaluated = blinded.clone();
        assert!(key.evaluate_blinded(&mut evaluated));
        assert_eq!(evaluated, elements(3), "vector {number}");
        let finalized = finalize(&inputs, &blinds, &evaluated).unwrap();
        assert!(finalized.iter().map(|output| &output[..]).eq(outputs.iter().map(|output| &output[..])));
        assert_eq!(*key.evaluate(&inputs), *finalized, "vector {number}");

        if let Some([nonce, expected]) = proof {
            let proof = key.prove_with(Binding::Pair, &blinded, &evaluated, |_| Secret::new(scalar(nonce))).unwrap();
            assert_eq!(proof.concat(), hex(expected), "vector {number}");
            assert!(verify(Binding::Pair, key.public(), &blinded, &evaluated, &proof));
        }
    }
}

fn inputs(count: u64) -> Vec<[u8; 8]> {
    (0..count).map(u64::to_le_bytes).collect()
}

#[test]
fn both_sides_get_the_same_outputs_for_any_number_of_inputs() {
    let rng = &mut SecretRng::insecure_from_seed(1);
    for mode in [Mode::Oprf, Mode::Voprf] {
        let key = SecretKey::random(mode, rng);
        for count in [0, 1, 2, 63, 64, 65, 200] {
            let inputs = inputs(count);
            let (blinds, blinded) = blind(mode, &inputs, rng);
            let mut evaluated = blinded.clone();
            assert!(key.evaluate_blinded(&mut evaluated));
            assert_eq!(*finalize(&inputs, &blinds, &evaluated).unwrap(), *key.evaluate(&inputs));
        }
    }
}

#[test]
fn equal_inputs_are_blinded_differently() {
    let rng = &mut SecretRng::insecure_from_seed(2);
    let (_, blinded) = blind(Mode::Oprf, &[[7]; 3], rng);
    assert!(blinded[0] != blinded[1] && blinded[0] != blinded[2] && blinded[1] != blinded[2]);
}

const CONTEXT: [u8; 32] = [9; 32];

/// A proof is refused if anything that it is about, or a bit of itself, is another.
#[test]
fn a_proof_holds_for_nothing_else() {
    let rng = &mut SecretRng::insecure_from_seed(3);
    let (key, other) = (SecretKey::random(Mode::Voprf, rng), SecretKey::random(Mode::Voprf, rng));
    let (_, blinded) = blind(Mode::Voprf, &inputs(5), rng);
    let (mut evaluated, mut by_other) = (blinded.clone(), blinded.clone());
    assert!(key.evaluate_blinded(&mut evaluated) && other.evaluate_blinded(&mut by_other));
    for binding in [Binding::Pair, Binding::Batch(&CONTEXT)] {
        let proof = key.prove(binding, &blinded, &evaluated, rng).unwrap();
        assert!(verify(binding, key.public(), &blinded, &evaluated, &proof));
        assert!(!verify(Binding::Batch(&[8; 32]), key.public(), &blinded, &evaluated, &proof), "another context");
        assert!(!verify(binding, other.public(), &blinded, &evaluated, &proof));
        assert!(!verify(binding, &[0; 32], &blinded, &evaluated, &proof));
        assert!(!verify(binding, key.public(), &blinded, &by_other, &proof));
        for place in 0..5 {
            let mut one = evaluated.clone();
            one[place] = by_other[place];
            assert!(!verify(binding, key.public(), &blinded, &one, &proof), "element {place} is by another key");
            one[place] = [0; 32];
            assert!(!verify(binding, key.public(), &blinded, &one, &proof), "element {place} is the neutral one");
        }
        let (mut swapped, mut of_swapped) = (blinded.clone(), evaluated.clone());
        swapped.swap(0, 1);
        assert!(!verify(binding, key.public(), &swapped, &evaluated, &proof));
        of_swapped.swap(0, 1);
        assert!(!verify(binding, key.public(), &swapped, &of_swapped, &proof), "the order is part of what is proved");
        for bit in 0..512 {
            let mut wrong = proof;
            wrong[bit / 256][bit % 256 / 8] ^= 1 << (bit % 8);
            assert!(!verify(binding, key.public(), &blinded, &evaluated, &wrong), "bit {bit}");
        }
    }
}

/// A machine that is resumed twice from one snapshot makes two proofs with equal random numbers, of
/// the same elements and for two sessions. With one nonce for two challenges, the responses would
/// give the key away.
#[test]
fn nonces_differ_where_the_session_does() {
    let key = SecretKey::random(Mode::Voprf, &mut SecretRng::insecure_from_seed(8));
    let (_, blinded) = blind(Mode::Voprf, &inputs(3), &mut SecretRng::insecure_from_seed(9));
    let mut evaluated = blinded.clone();
    assert!(key.evaluate_blinded(&mut evaluated));
    let commitment = |context: &[u8; 32]| {
        let rng = &mut SecretRng::insecure_from_seed(10);
        let [c, s] = key.prove(Binding::Batch(context), &blinded, &evaluated, rng).unwrap();
        let [c, s] = [c, s].map(|scalar| Scalar::from_canonical_bytes(scalar).unwrap());
        RistrettoPoint::mul_base(&s) + c * element(key.public()).unwrap()
    };
    assert_eq!(commitment(&[1; 32]), commitment(&[1; 32]), "the generators are the same");
    assert_ne!(commitment(&[1; 32]), commitment(&[2; 32]));
}

/// Answers whose errors cancel out under equal weights do not under those of a hash.
#[test]
fn errors_that_cancel_out_are_caught() {
    let rng = &mut SecretRng::insecure_from_seed(4);
    let key = SecretKey::random(Mode::Voprf, rng);
    let error = RistrettoPoint::mul_base(&random_scalar(rng));
    let (_, blinded) = blind(Mode::Voprf, &[[1], [1]], rng);
    let points: Vec<RistrettoPoint> = blinded.iter().map(|encoded| element(encoded).unwrap()).collect();
    let answers = [**key.scalar * points[0] + error, **key.scalar * points[1] - error];
    let evaluated = answers.map(|point| point.compress().to_bytes());
    for binding in [Binding::Pair, Binding::Batch(&CONTEXT)] {
        let proof = key.prove(binding, &blinded, &evaluated, rng).unwrap();
        assert!(!verify(binding, key.public(), &blinded, &evaluated, &proof));
    }
}

/// What makes the RFC's proofs weak for many pairs: a server can look for an error of one answer
/// with a weight that suits it, and all other weights stay. So it solves a k-sum. Here it brings the
/// lowest 16 bits of a sum of 4 weighted errors to zero, in some hundred hashes; with all 252 bits
/// and 512 pairs that takes 2^34 steps. Where all pairs are in every weight, the sum that it found
/// is another one as soon as it is put together.
#[test]
fn weights_of_the_rfc_can_be_chosen_one_by_one() {
    let rng = &mut SecretRng::insecure_from_seed(6);
    let key = SecretKey::random(Mode::Voprf, rng);
    let (_, blinded) = blind(Mode::Voprf, &inputs(4), rng);
    let mut honest = blinded.clone();
    assert!(key.evaluate_blinded(&mut honest));
    let spoiled = |errors: &[u64; 4]| -> Vec<Encoded> {
        let answer = |(encoded, &error): (&Encoded, &u64)| {
            (element(encoded).unwrap() + RistrettoPoint::mul_base(&Scalar::from(error))).compress().to_bytes()
        };
        honest.iter().zip(errors).map(answer).collect()
    };
    let low = |sum: Scalar| u16::from_le_bytes([sum.to_bytes()[0], sum.to_bytes()[1]]);
    let weighted = |binding: Binding<'_>, errors: &[u64; 4]| {
        let weights = proof::weights(Mode::Voprf, binding, key.public(), &blinded, &spoiled(errors));
        weights.iter().zip(errors).map(|(weight, &error)| weight * Scalar::from(error)).collect::<Vec<_>>()
    };
    // Each list is made with all other answers honest.
    const CANDIDATES: u64 = 48;
    let lists: Vec<Vec<Scalar>> = (0..4)
        .map(|place| {
            let term = |error: u64| {
                let mut errors = [0; 4];
                errors[place] = error;
                weighted(Binding::Pair, &errors)[place]
            };
            (1..=CANDIDATES).map(term).collect()
        })
        .collect();
    let sums = |a: usize, b: usize| {
        let (first, second) = (&lists[a], &lists[b]);
        (0..CANDIDATES)
            .flat_map(move |i| (0..CANDIDATES).map(move |j| ([i + 1, j + 1], first[i as usize] + second[j as usize])))
    };
    let left: std::collections::HashMap<[u8; 32], [u64; 2]> =
        sums(0, 1).map(|(errors, sum)| (sum.to_bytes(), errors)).collect();
    let by_low: std::collections::HashMap<u16, [u8; 32]> =
        left.keys().map(|&sum| (low(Scalar::from_bytes_mod_order(sum)), sum)).collect();
    // Sums modulo the group's order: the low bits of a sum that wraps around are others, so try.
    let found = sums(2, 3).find_map(|([c, d], sum)| {
        let wanted = low(-sum);
        let [a, b] = left[by_low.get(&wanted)?];
        let total: Scalar = weighted(Binding::Pair, &[a, b, c, d]).iter().sum();
        (low(total) == 0).then_some([a, b, c, d])
    });
    let errors = found.expect("a sum whose low bits vanish");
    assert!(errors.iter().all(|&error| error != 0));
    // The same errors, and every weight depends on each of them.
    let bound = weighted(Binding::Batch(&CONTEXT), &errors);
    for place in 0..4 {
        let mut other = errors;
        other[place] += 1;
        let changed = weighted(Binding::Batch(&CONTEXT), &other);
        assert!((0..4).all(|i| changed[i] != bound[i]), "a weight does not depend on answer {place}");
    }
}

#[test]
fn what_is_no_element_or_no_key_is_refused() {
    let rng = &mut SecretRng::insecure_from_seed(5);
    let key = SecretKey::random(Mode::Oprf, rng);
    let (blinds, blinded) = blind(Mode::Oprf, &inputs(3), rng);
    for bad in [[0; 32], [0xff; 32]] {
        let mut elements = blinded.clone();
        elements[1] = bad;
        assert!(finalize(&inputs(3), &blinds, &elements).is_none());
        assert!(key.prove(Binding::Pair, &elements, &blinded, rng).is_none());
        assert!(!key.evaluate_blinded(&mut elements));
        assert!(!is_public_key(&bad));
    }
    assert!(is_public_key(key.public()));
    assert!(SecretKey::from_bytes(Mode::Oprf, &Secret::new([0; 32])).is_none(), "zero");
    assert!(SecretKey::from_bytes(Mode::Oprf, &Secret::new([0xff; 32])).is_none(), "not reduced");
    let again = SecretKey::from_bytes(Mode::Oprf, &Secret::new(*key.as_bytes())).unwrap();
    assert_eq!(again.public(), key.public());
}
