//! Where the time and the bytes of a protocol go, both parties in one process over memory:
//! `cargo run --release -p vesica-protocols --example phases -- vole-fast semi-honest 20`.

use std::time::Instant;

use vesica_party::{ChannelOptions, Security};
use vesica_protocols::registry;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{options, two_party_over};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, id, security, log_n] = arguments.as_slice() else { panic!("phases ID semi-honest|malicious LOG2_ITEMS") };
    let row = registry::find_intersect(id).expect("an id of `vesica protocols`");
    let security = if security == "malicious" { Security::Malicious } else { Security::SemiHonest };
    let n: usize = 1 << log_n.parse::<u32>().expect("a number");
    let request = IntersectRequest { sender_items: n, receiver_items: n, security, payload_bytes: 0, both_learn: false };
    let mut rng = SecretRng::insecure_from_seed(1);
    let items: Vec<u128> = (0..n + n / 2).map(|_| rng.block()).collect();
    let sent = IntersectSenderInput { items: items[..n].to_vec(), payloads: Vec::new() };
    let asked = IntersectReceiverInput { items: items[n / 2..].to_vec() };
    drop(items);
    let started = Instant::now();
    let (sender, receiver) = two_party_over(
        vesica_party::transport::memory::pair(),
        ChannelOptions { deadline: None, ..options() },
        |ch, rng| row.sender(&request, ch, rng)?.run(sent, ch, rng),
        |ch, rng| row.receiver(&request, ch, rng)?.run(asked, ch, rng),
    );
    let seconds = started.elapsed().as_secs_f64();
    let matches = receiver.result.expect("the receiver succeeds").matches.len();
    sender.result.expect("the sender succeeds");
    let bytes = sender.tally.total().sent() + receiver.tally.total().sent();
    println!(
        "{id}, {security}, 2^{log_n}: {:.0} ms, {bytes} bytes, {:.1} bits an item, {matches} matches",
        seconds * 1e3,
        bytes as f64 * 8.0 / n as f64
    );
    for (name, tally) in [("sender", &sender.tally), ("receiver", &receiver.tally)] {
        for (phase, count) in &tally.phases {
            println!("  {name:8} {:12} {:8.1} ms {:10} bytes sent", phase.name(), count.seconds * 1e3, count.sent());
        }
    }
}
