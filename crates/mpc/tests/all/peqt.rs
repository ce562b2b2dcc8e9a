//! Equality tests against plain comparison, what a side sees alone, and the bytes.

use vesica_mpc::OtSource;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt::{AndTreeEquality, CubicEquality, Params, Receiver, Sender, Variant};
use vesica_mpc::tasks::{Equality, EqualityRequest, Tested};
use vesica_party::{Party, Protocol, Security, Task};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{conformance, faults, try_two_party, two_party};

const WIDTHS: [u32; 12] = [1, 2, 3, 4, 7, 61, 63, 64, 65, 71, 127, 128];
const LENGTHS: [usize; 7] = [0, 1, 2, 63, 64, 65, 1000];

fn request(len: usize, width: u32) -> EqualityRequest {
    EqualityRequest { len, width, security: Security::SemiHonest }
}

/// The receiver takes the sender's values out of band and has every third one differ in one bit,
/// another one each time.
fn near_values(values: &[u64], len: usize, width: u32) -> Vec<u64> {
    let mut near = values.to_vec();
    for i in (0..len).step_by(3) {
        let bit = i / 3 % width as usize;
        near[bit / 64 * len + i] ^= 1 << (bit % 64);
    }
    near
}

/// Runs a variant; the sender's output, the receiver's values and shares, bytes of both.
fn run(len: usize, width: u32, variant: Variant) -> (Tested, Vec<u64>, Bits) {
    run_on(&Params::with(len, width, variant).unwrap())
}

/// The same for given parameters.
fn run_on(params: &Params) -> (Tested, Vec<u64>, Bits) {
    let (len, width) = (params.len, params.width);
    let (tell, told) = std::sync::mpsc::channel::<Vec<u64>>();
    let (sender, (values, shares)) = two_party(
        |ch, rng| {
            let sender = Sender::setup(params, ch, rng)?;
            tell.send(sender.values().to_vec()).unwrap();
            sender.run((), ch, rng)
        },
        move |ch, rng| {
            let receiver = Receiver::setup(params, ch, rng)?;
            let values = near_values(&told.recv().unwrap(), len, width);
            Ok((values.clone(), receiver.run(values, ch, rng)?))
        },
    );
    (sender, values, shares)
}

#[test]
fn tests_on_tables_without_lpn_are_right() {
    for variant in [Variant::Cubic, Variant::AndTree, Variant::Leaves] {
        let silent = Params::with(1000, 63, variant).unwrap();
        let params = silent.clone().with_tables_from(OtSource::SOFT_SPOKEN).unwrap();
        assert!(params != silent && params.tables() == silent.tables() && params.online_bits() == silent.online_bits());
        let (sender, values, shares) = run_on(&params);
        Equality::holds(&(), &values, &sender, &shares).unwrap_or_else(|wrong| panic!("{variant:?}: {wrong}"));
    }
}

#[test]
fn equal_values_and_values_that_differ_in_one_bit() {
    for variant in [Variant::Cubic, Variant::AndTree, Variant::Leaves] {
        for width in WIDTHS {
            for len in [1, 1000] {
                let (sender, values, shares) = run(len, width, variant);
                Equality::holds(&(), &values, &sender, &shares)
                    .unwrap_or_else(|wrong| panic!("{variant:?}, {width} bits: {wrong}"));
                let equal = (0..len).filter(|&i| sender.shares.get(i) != shares.get(i)).count();
                assert_eq!(equal, len - len.div_ceil(3), "{variant:?}, {width} bits");
            }
        }
    }
}

#[test]
fn conforms_at_every_width_and_length() {
    for width in WIDTHS {
        for len in LENGTHS {
            let mut rng = SecretRng::insecure_from_seed(width.into());
            let words = width.div_ceil(64);
            let bits = |word: u32| (width - 64 * word).min(64);
            let word = |word| (0..len).map(move |_| bits(word));
            let values: Vec<u64> = (0..words).flat_map(word).map(|bits| rng.block() as u64 >> (64 - bits)).collect();
            conformance::<CubicEquality>(&request(len, width), (), values.clone());
            conformance::<AndTreeEquality>(&request(len, width), (), values);
        }
    }
}

/// More pieces than a side is ahead, the last one short: 64 Ki tests a piece.
#[test]
fn many_pieces() {
    let (len, width) = ((11 << 16) + 77, 5);
    let (sender, values, shares) = run(len, width, Variant::Cubic);
    Equality::holds(&(), &values, &sender, &shares).unwrap();
}

/// A count of ones among `bits` fair bits within eight standard deviations.
fn is_balanced(ones: usize, bits: usize) -> bool {
    (ones as f64 - bits as f64 / 2.0).abs() < 8.0 * (bits as f64).sqrt() / 2.0
}

#[test]
fn values_are_uniform_and_shares_alone_say_nothing() {
    let len = 20_000;
    let variants = [Variant::Cubic, Variant::AndTree, Variant::Leaves].map(|variant| (variant, 63));
    for (variant, width) in variants.into_iter().chain([(Variant::Cubic, 5), (Variant::Cubic, 71)]) {
        let (sender, values, shares) = run(len, width, variant);
        let wide = |values: &[u64], i: usize| {
            u128::from(values[i]) | values.get(len + i).map_or(0, |&high| u128::from(high) << 64)
        };
        let [drawn, asked] =
            [&sender.values, &values].map(|values| (0..len).map(|i| wide(values, i)).collect::<Vec<_>>());
        for bit in 0..width {
            let ones = drawn.iter().filter(|&value| value >> bit & 1 == 1).count();
            assert!(is_balanced(ones, len), "{variant:?}, bit {bit} of values: {ones} ones");
            let pairs = drawn.iter().filter(|&value| (value >> bit ^ value >> ((bit + 1) % width)) & 1 == 1).count();
            assert!(is_balanced(pairs, len), "{variant:?}, bits {bit} and the next: {pairs} differ");
        }
        assert!(drawn.iter().all(|value| value >> width == 0));
        for shares in [&sender.shares, &shares] {
            // Where values are equal, and where they are not.
            for equal in [false, true] {
                let of: Vec<bool> =
                    (0..len).filter(|&i| (drawn[i] == asked[i]) == equal).map(|i| shares.get(i)).collect();
                let ones = of.iter().filter(|&&share| share).count();
                assert!(is_balanced(ones, of.len()), "{variant:?}: {ones} ones of {}", of.len());
            }
            // Nor does the value say anything about the share.
            let ones = (0..len).filter(|&i| shares.get(i) ^ (drawn[i] & 1 == 1)).count();
            assert!(is_balanced(ones, len), "{variant:?}: a share and a bit of the value agree too often");
        }
    }
}

#[test]
fn wrong_inputs_and_security_are_refused() {
    let params = Params::new(10, 7).unwrap();
    for values in [vec![0; 9], vec![128; 10], vec![0; 20], vec![]] {
        let (_, receiver) = try_two_party(
            |ch, rng| Sender::setup(&params, ch, rng)?.run((), ch, rng),
            |ch, rng| Receiver::setup(&params, ch, rng)?.run(values, ch, rng),
        );
        assert!(receiver.result.unwrap_err().to_string().contains("for 10 tests of 7 bits"));
    }
    // Wider ones than a word have two.
    let params = Params::new(10, 71).unwrap();
    for values in [vec![0; 10], [vec![0; 10], vec![128; 10]].concat(), vec![0; 19]] {
        let (_, receiver) = try_two_party(
            |ch, rng| Sender::setup(&params, ch, rng)?.run((), ch, rng),
            |ch, rng| Receiver::setup(&params, ch, rng)?.run(values, ch, rng),
        );
        assert!(receiver.result.unwrap_err().to_string().contains("for 10 tests of 71 bits"));
    }
    assert!(CubicEquality::derive(&EqualityRequest { security: Security::Malicious, ..request(1, 1) }).is_err());
}

#[test]
fn faults_end_both_sides() {
    // One product of three, and one of two in the other direction.
    faults::<CubicEquality>(&request(100, 4), &(), &vec![5; 100]);
}
