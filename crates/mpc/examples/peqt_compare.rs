//! Ways to test equality with shared output, measured side by side: bits and polynomials a test,
//! and time over memory, both sides on a thread each.
//!
//! `cargo run --release -p vesica-mpc --example peqt_compare -- [tests [bits [repeats]]]`

use std::time::Instant;

use vesica_mpc::peqt::{Params, Receiver, Sender, Variant};
use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

/// Seconds and bytes of a part of a run, at one side; bytes are those of both.
#[derive(Clone, Copy)]
struct Part {
    seconds: f64,
    bytes: u64,
}

struct Meter {
    start: Instant,
    bytes: u64,
}

impl Meter {
    fn start(ch: &Channel) -> Self {
        Self { start: Instant::now(), bytes: bytes(ch) }
    }

    fn stop(self, ch: &Channel) -> Part {
        Part { seconds: self.start.elapsed().as_secs_f64(), bytes: bytes(ch) - self.bytes }
    }
}

fn bytes(ch: &Channel) -> u64 {
    let total = ch.tally().total();
    total.sent_payload + total.received_payload
}

/// Set-up and test, as the receiver sees them.
fn run(params: &Params) -> [Part; 2] {
    let sender = |ch: &mut Channel, rng: &mut SecretRng| Sender::setup(params, ch, rng)?.test(ch);
    let receiver = |ch: &mut Channel, rng: &mut SecretRng| -> Result<[Part; 2], Abort> {
        let values: Vec<u64> = (0..params.len).map(|_| rng.block() as u64 >> (64 - params.width)).collect();
        let meter = Meter::start(ch);
        let receiver = Receiver::setup(params, ch, rng)?;
        let setup = meter.stop(ch);
        let meter = Meter::start(ch);
        receiver.test(&values, ch)?;
        Ok([setup, meter.stop(ch)])
    };
    two_party(sender, receiver).1
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>().expect("a number"));
    let (len, width, repeats) =
        (arguments.next().unwrap_or(1 << 18), arguments.next().unwrap_or(63), arguments.next().unwrap_or(5));
    println!("{len} tests of {width} bits, least of {repeats} runs");
    println!(
        "| way | polynomials | bits a test online | set-up MB | online MB | set-up s | online s \
         |\n|---|---|---|---|---|---|---|"
    );
    for variant in [Variant::Cubic, Variant::AndTree, Variant::Leaves] {
        let params = Params::with(len, width as u32, variant).expect("a width of 1 to 64 bits");
        let runs: Vec<[Part; 2]> = (0..repeats.max(1)).map(|_| run(&params)).collect();
        let least = |part: usize| runs.iter().map(|run| run[part].seconds).fold(f64::INFINITY, f64::min);
        println!(
            "| {variant:?} | {} | {} | {:.2} | {:.2} | {:.3} | {:.3} |",
            params.elements(),
            params.online_bits(),
            runs[0][0].bytes as f64 / 1e6,
            runs[0][1].bytes as f64 / 1e6,
            least(0),
            least(1)
        );
    }
}
