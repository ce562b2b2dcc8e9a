use std::collections::HashSet;

use vesica_kernels::aes::Aes128;
use vesica_mpc::ot_parts::Binding;
use vesica_party::{Abort, Channel, Party, Security, Task};
use vesica_testkit::{conformance, two_party};

use super::code::{Code, LOCALITY};
use super::params::Instance;
use super::*;

/// A chain of instances that prove nothing, but run at once.
fn small(len: usize) -> Params {
    let setup = Instance { log_leaves: 4, blocks: 40, secrets: 300 };
    let main = Instance { log_leaves: 6, blocks: 30, secrets: 350 };
    Params { len, instances: vec![setup, main, main] }
}

fn run(params: &Params, seed: u64) -> (OtPairs, OtChosen) {
    two_party(
        |ch, _| {
            let rng = &mut SecretRng::insecure_from_seed(seed);
            Sender::setup(params, ch, rng)?.run((), ch, rng)
        },
        |ch, _| {
            let rng = &mut SecretRng::insecure_from_seed(!seed);
            Receiver::setup(params, ch, rng)?.run((), ch, rng)
        },
    )
}

/// Each instance stands on what the one before it handed over: 110 of 640 positions, and 1,390 of 1,920, then all.
#[test]
fn chained_instances_give_random_ots() {
    let all = 110 + 1390 + 1920;
    for len in [1, 110, 111, 1500, 1501, all] {
        let (sender, receiver) = run(&small(len), 5);
        RandomOt::holds(&(), &(), &sender, &receiver).expect("random OTs");
        assert_eq!(sender.pairs.len(), len);
        let blocks: HashSet<u128> = sender.pairs.iter().flatten().copied().collect();
        assert_eq!(blocks.len(), 2 * len, "no block is made twice");
        let ones = receiver.choices.iter().filter(|&&choice| choice).count();
        assert!(ones.abs_diff(len / 2) as f64 <= 4.0 * (len as f64).sqrt(), "{ones} of {len} choices are one");
    }
    assert!(run(&small(all), 5).0.pairs != run(&small(all), 6).0.pairs, "runs differ");
}

/// One instance of the parameters that are used, for OTs and for tables.
#[test]
fn instances_of_real_sizes_conform() {
    let request = |len, width| CorrelationRequest { len, security: Security::SemiHonest, width };
    let run = conformance::<Ferret>(&request(500_001, None), (), ());
    let ones = run.receiver.choices.iter().filter(|&&choice| choice).count();
    assert!(ones.abs_diff(250_000) < 4 * 354, "{ones} of 500,001 choices are one");
    conformance::<TablesOf<Ferret>>(&request(200_003, Some(3)), (), ());
}

/// With a set-up, and an instance that hands over to another.
#[test]
#[ignore = "ten million OTs take half a minute; cargo test --release --locked -p vesica-papers --lib -- --ignored ferret"]
fn the_longest_instances_conform() {
    let request = CorrelationRequest { len: 10_400_000, security: Security::SemiHonest, width: None };
    assert_eq!(Params::new(request.len).instances.len(), 3);
    conformance::<Ferret>(&request, (), ());
}

#[test]
fn neither_threads_nor_the_size_of_tasks_change_the_outputs() {
    let params = small(3420);
    let expected = run(&params, 3);
    for threads in [1, 3] {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (sender, receiver): (OtPairs, OtChosen) = two_party(
            |ch, _| {
                let rng = &mut SecretRng::insecure_from_seed(3);
                pool().install(|| Sender::setup(&params, ch, rng)?.run((), ch, rng))
            },
            |ch, _| {
                let rng = &mut SecretRng::insecure_from_seed(!3);
                pool().install(|| Receiver::setup(&params, ch, rng)?.run((), ch, rng))
            },
        );
        assert!(sender.pairs == expected.0.pairs && receiver.chosen == expected.1.chosen, "{threads} threads");
    }
}

/// A position is the sum of its noise and of ten places, wherever in the vector it is encoded.
#[test]
fn a_position_has_ten_secrets_and_its_noise() {
    let bind = |ch: &mut Channel, _: &mut SecretRng| Ok::<_, Abort>(Binding::new(ch, "code"));
    let (binding, _) = two_party(bind, bind);
    let (count, positions) = (5000, 9001);
    let secrets: Vec<u128> = (0..count).map(|i| 1 << (i % 128)).collect();
    let mut whole = vec![7u128; positions];
    Code::new(binding, 1).add(&secrets, 0, &mut whole);

    let stream = Aes128::new(binding.extend("code", &1u128.to_le_bytes()).key("code", &[]));
    for (i, &got) in whole.iter().enumerate() {
        let mut blocks = [0; 3];
        stream.ctr(3 * i as u128, &mut blocks);
        let places = (0..LOCALITY).map(|j| (blocks[j / 4] >> (32 * (j % 4))) as u32);
        let sum = places.fold(7, |sum, draw| sum ^ secrets[((u64::from(draw) * count as u64) >> 32) as usize]);
        assert_eq!(got, sum, "position {i}");
    }
    for first in [1, 127, 128, 4096, 8999] {
        let mut part = vec![7u128; positions - first];
        Code::new(binding, 1).add(&secrets, first, &mut part);
        assert!(part == whole[first..], "from {first}");
    }
    let mut other = vec![7u128; positions];
    Code::new(binding, 2).add(&secrets, 0, &mut other);
    assert!(other != whole, "codes of two seeds");
}

#[test]
fn routes_give_what_is_asked_for_and_hand_over_what_the_next_instance_takes() {
    let mut kinds = HashSet::new();
    for len in
        [0, 1, 1000, 100_000, 300_000, 645_120, 645_121, 1 << 21, 10_321_920, 10_322_400, 10_322_401, 1 << 26, 3 << 28]
    {
        let params = Params::new(len);
        let own = params.chain().map(|(instance, handed)| instance.positions().checked_sub(handed));
        let given: usize = own.map(|own| own.expect("enough to hand over")).sum();
        assert!(params.instances.is_empty() || given >= len, "{len}: {given}");
        let last = params.instances.last().map_or(0, |last| last.positions() - last.taken());
        assert!(params.instances.len() < 3 || given - last < len, "{len}: an instance too many");
        kinds.insert(params.instances.len().min(3));
        let direct = Params { len, instances: Vec::new() };
        assert!(params.predicted_bytes() <= direct.predicted_bytes());
    }
    assert_eq!(kinds.len(), 4, "OT extension alone, one instance, with a set-up, and several");
    // Less than a bit a transfer in the long run.
    assert!(Params::new(1 << 26).predicted_bytes() * 8 < 1 << 26);
}

/// `log2` of `C(n, k)`, by Stirling's series.
fn log_binomial(n: f64, k: f64) -> f64 {
    let log_factorial =
        |n: f64| if n < 2.0 { 0.0 } else { n * n.ln() - n + (std::f64::consts::TAU * n).ln() / 2.0 + 1.0 / (12.0 * n) };
    (log_factorial(n) - log_factorial(k) - log_factorial(n - k)) / std::f64::consts::LN_2
}

/// The count of `docs/ferret.py` for the cheapest attack: decoding within the luckiest set of secret bits.
#[test]
fn the_cheapest_attack_that_was_counted_takes_more_than_2_to_the_128() {
    let bits = |levels: usize| {
        let instance = Instance::of_levels(levels);
        let (n, k, t) = (instance.positions() as f64, instance.secrets as f64, instance.blocks as f64);
        let expected =
            |set: f64| log_binomial(k, set) + log_binomial(n, set) + set * LOCALITY as f64 * (set / k).log2();
        let set =
            (1..).map(f64::from).map(|i| k * (0.5 + i / 4096.0)).find(|&set| expected(set) >= 0.0).expect("a set");
        let hit = set / n;
        let with_errors = |errors: f64, splits: f64| {
            let chance = log_binomial(t, errors) + errors * hit.log2() + (t - errors) * (1.0 - hit).log2() - splits;
            log_binomial(set / 2.0, errors / 2.0).max(set.log2()) - chance
        };
        // Two errors, one in each half, with probability one half; four, two in each, with probability 3/8.
        with_errors(0.0, 0.0).min(with_errors(2.0, 1.0)).min(with_errors(4.0, (8.0f64 / 3.0).log2()))
    };
    let least = (8..=12).map(bits).fold(f64::INFINITY, f64::min);
    // The page says 129.9.
    assert!(least >= 128.0 && (least - 129.9).abs() < 0.1, "2^{least:.2}");
}
