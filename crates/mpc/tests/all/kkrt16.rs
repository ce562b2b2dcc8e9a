//! The batched OPRF: both sides agree exactly where their keys do, and bytes are the predicted
//! ones.

use vesica_mpc::kkrt16::Kkrt16;
use vesica_mpc::tasks::{BatchPrfRequest, Evaluations};
use vesica_party::{Protocol, Security};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{conformance, faults};

fn request(instances: usize, evaluations: usize, blocks: usize) -> BatchPrfRequest {
    BatchPrfRequest { instances, evaluations, evaluations_in_all: evaluations, blocks, security: Security::SemiHonest }
}

/// Every second evaluation is at the key that the receiver asks for there.
fn inputs(of: &BatchPrfRequest) -> (Evaluations, Vec<u128>) {
    let mut rng = SecretRng::insecure_from_seed(of.evaluations as u64);
    let asked: Vec<u128> = (0..of.instances).map(|_| rng.block()).collect();
    let instances: Vec<u32> = (0..of.evaluations).map(|_| (rng.block() % of.instances as u128) as u32).collect();
    let keys = instances
        .iter()
        .enumerate()
        .map(|(i, &instance)| if i % 2 == 0 { asked[instance as usize] } else { rng.block() });
    (Evaluations { keys: keys.collect(), instances }, asked)
}

#[test]
fn sides_agree_exactly_where_their_keys_do() {
    for (instances, evaluations) in [(0, 0), (1, 0), (1, 1), (2, 5), (127, 300), (129, 4), (1024, 1025), (8193, 20_000)]
    {
        for blocks in [1, 3] {
            let of = request(instances, evaluations, blocks);
            let (sent, asked) = inputs(&of);
            conformance::<Kkrt16>(&of, sent, asked);
        }
    }
}

/// The same key in another instance, and keys that differ in a bit, have values of their own.
#[test]
fn instances_and_bits_of_keys_count() {
    let of = request(300, 300 + 128, 1);
    let instances = (0..300u32).map(|i| (i + 1) % 300).chain([7; 128]).collect();
    let keys = (0..300).map(|i| u128::from(i % 2 == 0)).chain((0..128).map(|bit| 1 << bit)).collect();
    let asked = (0..300).map(|i| if i == 7 { 0 } else { u128::from(i % 2 == 0) }).collect();
    conformance::<Kkrt16>(&of, Evaluations { instances, keys }, asked);
}

#[test]
fn a_million_instances_send_fifty_six_bytes_each() {
    let bytes = *Kkrt16::predicted_bytes(&Kkrt16::derive(&request(1_363_149, 3 << 20, 1)).unwrap()).end();
    assert!((56 * 1_363_149..56 * 1_363_149 + 16_000).contains(&bytes), "{bytes}");
}

#[test]
fn no_fault_makes_a_side_panic_or_hang() {
    let of = request(2, 3, 1);
    let (sent, asked) = inputs(&of);
    faults::<Kkrt16>(&of, &sent, &asked);
}
