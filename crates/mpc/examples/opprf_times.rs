//! Seconds of both sides of an OPPRF, in one process over memory, by phase: `cargo run --release -p
//! vesica-mpc --example opprf_times -- LOG2_RECEIVER_KEYS OUTPUT_BITS band|clustered`.

use std::time::Instant;

use vesica_mpc::opprf::{Opprf, Store};
use vesica_mpc::tasks::{OpprfRequest, Programmed};
use vesica_party::{Party, Protocol, Security};
use vesica_structures::okvs::{Band, Clustered};
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

fn run<O: Store>(log: u32, output_bits: u32) {
    let (receiver_keys, sender_keys) = (1 << log, 3 << log);
    let security = Security::SemiHonest;
    let request = OpprfRequest { receiver_keys, sender_keys, output_bits, security, wide: false, runs: 1 };
    let params = Opprf::<O>::derive(&request).expect("served");
    let mut rng = SecretRng::insecure_from_seed(1);
    let keys: Vec<u128> = (0..sender_keys).map(|_| rng.block()).collect();
    let values = (0..sender_keys * params.blocks()).map(|_| rng.block()).collect();
    let (sent, asked) = (Programmed { keys: keys.clone(), values }, keys[..receiver_keys].to_vec());
    let start = Instant::now();
    let (sender, receiver) = two_party(
        |ch, rng| {
            let party = <Opprf<O> as Protocol>::Sender::setup(&params, ch, rng)?;
            let set_up = start.elapsed();
            party.run(sent, ch, rng)?;
            Ok((set_up, start.elapsed(), ch.tally()))
        },
        |ch, rng| {
            let party = <Opprf<O> as Protocol>::Receiver::setup(&params, ch, rng)?;
            let set_up = start.elapsed();
            party.run(asked, ch, rng)?;
            Ok((set_up, start.elapsed(), ch.tally()))
        },
    );
    for (side, (set_up, total, tally)) in [("sender", sender), ("receiver", receiver)] {
        println!("{side}: set-up {:.3} s, total {:.3} s", set_up.as_secs_f64(), total.as_secs_f64());
        println!("{tally:#?}");
    }
    println!("{} bytes", params.predicted_bytes());
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, log, bits, store] = &args[..] else {
        panic!("usage: opprf_times LOG2_RECEIVER_KEYS OUTPUT_BITS band|clustered")
    };
    let (log, bits) = (log.parse().expect("a number"), bits.parse().expect("a number"));
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool").install(|| match store.as_str() {
        "band" => run::<Band>(log, bits),
        _ => run::<Clustered>(log, bits),
    });
}
