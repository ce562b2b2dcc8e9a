//! 1-of-N OT and batched OPRF by codes: both sides agree exactly where their keys do, and bytes are
//! the predicted ones.

use vesica_mpc::code_oprf::{Bch, Code, CodeOprf, Functions, Kk13, Kkrt16, Oos17, Sender};
use vesica_mpc::tasks::{BatchPrfRequest, Evaluations, PrfOutputs};
use vesica_party::Security::{Malicious, SemiHonest};
use vesica_party::{Party, Protocol, Security, Task};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{conformance, faults, two_party};

fn request(key_bits: u32, instances: usize, evaluations: usize, blocks: usize, security: Security) -> BatchPrfRequest {
    BatchPrfRequest { instances, key_bits, evaluations, evaluations_in_all: evaluations, blocks, security }
}

/// Every second evaluation is at the key that the receiver asks for there.
fn inputs(of: &BatchPrfRequest) -> (Evaluations, Vec<u128>) {
    let mut rng = SecretRng::insecure_from_seed(of.evaluations as u64);
    let mut key = || rng.block() >> (128 - of.key_bits);
    let asked: Vec<u128> = (0..of.instances).map(|_| key()).collect();
    let mut rng = SecretRng::insecure_from_seed(7);
    let instances: Vec<u32> = (0..of.evaluations).map(|_| (rng.block() % of.instances as u128) as u32).collect();
    let keys =
        instances.iter().enumerate().map(|(i, &instance)| if i % 2 == 0 { asked[instance as usize] } else { key() });
    (Evaluations { keys: keys.collect(), instances }, asked)
}

const SIZES: [(usize, usize); 8] = [(0, 0), (1, 0), (1, 1), (2, 5), (127, 300), (129, 4), (1024, 1025), (8193, 20_000)];

fn sides_agree<C: Code>(key_bits: u32, security: Security)
where
    CodeOprf<C>: Protocol<Task = C::Task>,
{
    for (instances, evaluations) in SIZES {
        for blocks in [1, 3] {
            let of = request(key_bits, instances, evaluations, blocks, security);
            let (sent, asked) = inputs(&of);
            conformance::<CodeOprf<C>>(&of, sent, asked);
        }
    }
}

#[test]
fn sides_agree_exactly_where_their_keys_do() {
    use vesica_mpc::code_oprf::{PseudoRandom, WalshHadamard};
    sides_agree::<PseudoRandom>(128, SemiHonest);
    sides_agree::<WalshHadamard>(8, SemiHonest);
    for security in [SemiHonest, Malicious] {
        sides_agree::<Bch>(76, security);
        sides_agree::<Bch>(33, security);
    }
}

/// The same key in another instance, and keys that differ in a bit, have values of their own.
fn all_count<P>(key_bits: u32, security: Security)
where
    P: Protocol,
    P::Task: Task<Request = BatchPrfRequest, SenderInput = Evaluations, ReceiverInput = Vec<u128>>,
{
    let bits = key_bits as usize;
    let of = request(key_bits, 300, 300 + bits, 1, security);
    let instances = (0..300u32).map(|i| (i + 1) % 300).chain(vec![7; bits]).collect();
    let keys = (0..300).map(|i| u128::from(i % 2 == 0)).chain((0..bits).map(|bit| 1 << bit)).collect();
    let asked = (0..300).map(|i| if i == 7 { 0 } else { u128::from(i % 2 == 0) }).collect();
    conformance::<P>(&of, Evaluations { instances, keys }, asked);
}

#[test]
fn instances_and_bits_of_keys_count() {
    all_count::<Kkrt16>(128, SemiHonest);
    all_count::<Kk13>(8, SemiHonest);
    all_count::<Oos17>(76, SemiHonest);
    all_count::<Oos17>(76, Malicious);
}

/// What a caller gets that evaluates while corrections come: every instance once, in order, and the
/// same values as all at once.
#[test]
fn parts_together_are_the_whole() {
    for security in [SemiHonest, Malicious] {
        let of = request(70, 20_000, 20_000, 2, security);
        let params = Oos17::derive(&of).unwrap();
        let (sent, asked) = inputs(&of);
        let evaluate_part = |functions: &Functions<Bch>, range: std::ops::Range<usize>| {
            let (instances, keys) = sent
                .instances
                .iter()
                .zip(&sent.keys)
                .filter(|(instance, _)| range.contains(&(**instance as usize)))
                .map(|(&instance, &key)| (instance, key))
                .unzip();
            functions.evaluate(&Evaluations { instances, keys }).values.clone()
        };
        let (parts, received) = two_party(
            |ch, rng| {
                let (mut next, mut parts) = (0, Vec::new());
                Sender::<Bch>::setup(&params, ch, rng)?.functions_in_parts(
                    |range, functions| {
                        assert_eq!(range.start, next);
                        next = range.end;
                        parts.push((range.clone(), evaluate_part(functions, range)));
                    },
                    ch,
                    rng,
                )?;
                assert_eq!(next, 20_000);
                Ok(parts)
            },
            |ch, rng| <Oos17 as Protocol>::Receiver::setup(&params, ch, rng)?.run(asked.clone(), ch, rng),
        );
        assert_eq!(parts.len() > 1, security == SemiHonest, "nothing is evaluated before the check");
        let mut sender = vec![0; 2 * sent.keys.len()];
        for (range, values) in parts {
            let places: Vec<usize> =
                (0..sent.keys.len()).filter(|&i| range.contains(&(sent.instances[i] as usize))).collect();
            for (values, out) in values.chunks(places.len()).zip(sender.chunks_mut(sent.keys.len())) {
                places.iter().zip(values).for_each(|(&place, &value)| out[place] = value);
            }
        }
        <Oos17 as Protocol>::Task::holds(&sent, &asked, &PrfOutputs { values: sender }, &received).unwrap();
    }
}

#[test]
fn a_million_instances_send_what_the_code_says() {
    let bytes = |params, predicted: fn(&_) -> std::ops::RangeInclusive<u64>| *predicted(&params).end() as usize;
    let of = request(128, 1_300_235, 3 << 20, 1, SemiHonest);
    let kkrt16 = bytes(Kkrt16::derive(&of).unwrap(), Kkrt16::predicted_bytes);
    assert!((56 * 1_300_235..56 * 1_300_235 + 16_000).contains(&kkrt16), "{kkrt16}");
    let of = BatchPrfRequest { key_bits: 76, security: Malicious, ..of };
    let oos17 = bytes(Oos17::derive(&of).unwrap(), Oos17::predicted_bytes);
    // 508 bits a row, up to 255 more rows, 584 hashes, and the OTs below.
    assert!((64 * 1_300_235..64 * 1_300_235 + 60_000).contains(&oos17), "{oos17}");
}

#[test]
fn keys_of_more_bits_than_agreed_are_refused() {
    for (asked, evaluated) in [(1 << 8, 0), (0, 1 << 8)] {
        let of = request(8, 1, 1, 1, SemiHonest);
        let params = Kk13::derive(&of).unwrap();
        let input = Evaluations { instances: vec![0], keys: vec![evaluated] };
        let (sender, receiver) = vesica_testkit::try_two_party(
            |ch, rng| <Kk13 as Protocol>::Sender::setup(&params, ch, rng)?.run(input, ch, rng),
            |ch, rng| <Kk13 as Protocol>::Receiver::setup(&params, ch, rng)?.run(vec![asked], ch, rng),
        );
        assert_eq!(asked > 0, matches!(receiver.result, Err(vesica_party::Abort::Unsupported(_))), "{asked}");
        assert_eq!(evaluated > 0, matches!(sender.result, Err(vesica_party::Abort::Unsupported(_))), "{evaluated}");
    }
}

#[test]
fn no_fault_makes_a_side_panic_or_hang() {
    let of = request(128, 2, 3, 1, SemiHonest);
    let (sent, asked) = inputs(&of);
    faults::<Kkrt16>(&of, &sent, &asked);
    let of = request(76, 2, 3, 1, Malicious);
    let (sent, asked) = inputs(&of);
    faults::<Oos17>(&of, &sent, &asked);
}
