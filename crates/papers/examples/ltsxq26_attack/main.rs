//! Recovers the sender's secret and set from the receiver's view of LTSXQ26 (docs/ltsxq26.md):
//! `cargo run --release -p vesica-papers --example ltsxq26_attack -- fig14 ltsxq26-aes 16 22`
//!
//! Figure 14 and an honest receiver, Figure 15 and one that flips bits, or Figure 16 (`fig16
//! ltsxq26-circuit`); the row; `log2` of the size of either set and of the dictionary. One run of
//! the protocol over memory, then the attack on all threads.

mod attack;
mod cost;

use std::time::Instant;

use attack::bins;
use attack::play::{self, Conduct};
use attack::scene::{Scene, scene};
use attack::{Narrow, Secret};
use vesica_papers::psi::ltsxq26::{Aes, AesBand, Sha, ShaBand};
use vesica_papers::registry;
use vesica_party::{Security, Status};
use vesica_structures::okvs::Kind;

/// Outer hashes after which an attack gives up.
const BUDGET: u64 = 1 << 36;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["cost"] {
        return cost::print();
    }
    let [figure, row, log_items, log_dictionary] = arguments.as_slice() else {
        panic!("ltsxq26_attack fig14|fig15|fig16 ROW LOG2_ITEMS LOG2_DICTIONARY, or ltsxq26_attack cost")
    };
    let status = registry::find(row).expect("an id of `vesica protocols`").status;
    assert!(matches!(status, Status::Broken { .. }), "{row} is not broken");
    let power = |log: &String| 1usize << log.parse::<u32>().expect("a number");
    let scene = scene(power(log_items), power(log_dictionary), 1);
    println!(
        "{figure}, {row}: 2^{log_items} items a side, a dictionary of 2^{log_dictionary} with {} of the sender's",
        scene.members.len()
    );
    match (figure.as_str(), row.as_str()) {
        ("fig14" | "fig15", "ltsxq26") => psi::<Sha>(&scene, figure),
        ("fig14" | "fig15", "ltsxq26-band") => psi::<ShaBand>(&scene, figure),
        ("fig14" | "fig15", "ltsxq26-aes") => psi::<Aes>(&scene, figure),
        ("fig14" | "fig15", "ltsxq26-aes-band") => psi::<AesBand>(&scene, figure),
        ("fig16", "ltsxq26-circuit") => circuit(&scene, Kind::Clustered),
        ("fig16", "ltsxq26-circuit:okvs=band") => circuit(&scene, Kind::Band),
        _ => panic!("no attack on {figure} of {row}"),
    }
}

/// Prints what each step took since the one before it.
fn stopwatch() -> impl FnMut(&'static str) {
    let mut start = Instant::now();
    move |step| {
        println!("  {step:40} {:9.3} s", start.elapsed().as_secs_f64());
        start = Instant::now();
    }
}

const PROTOCOL: &str = "the protocol, both parties";

fn psi<V: Narrow>(scene: &Scene, figure: &str) {
    let (security, conduct) =
        if figure == "fig14" { (Security::SemiHonest, Conduct::Honest) } else { (Security::Malicious, Conduct::Flips) };
    let mut ended = stopwatch();
    let view = play::psi::<V>(scene, security, conduct);
    ended(PROTOCOL);
    let guess_from = (conduct == Conduct::Flips).then_some(scene.asked.as_slice());
    let outcome = attack::psi(&view, guess_from, &scene.dictionary, BUDGET, ended);
    print_secret(&outcome.secret, view.params.width as u32);
    print_found(scene, &outcome.found);
    println!("  the protocol's output has {} of them", scene.known_by_output());
}

fn circuit(scene: &Scene, okvs: Kind) {
    let mut ended = stopwatch();
    let view = play::circuit(scene, okvs);
    ended(PROTOCOL);
    let outcome = bins::circuit(&view, &scene.asked, &scene.dictionary, BUDGET, ended);
    print_secret(&outcome.secret, bins::width(&view));
    print_found(scene, &outcome.found);
    let (group, right) = outcome.judge_payloads(|i| play::payload(scene.dictionary[i]));
    println!("  payloads up to one constant: of {group} of these, {right} right");
    println!("  the protocol's output is shares, and has none");
}

fn print_secret(secret: &Secret, width: u32) {
    println!(
        "  s: {} of {width} bits, by {} hits after 2^{:.1} guesses",
        secret.known.count_ones(),
        secret.hits,
        (secret.guesses as f64).log2()
    );
}

fn print_found(scene: &Scene, found: &[usize]) {
    let (right, wrong) = scene.judge(found);
    println!("  found: {right} of {} items of the sender in the dictionary, {wrong} others", scene.members.len());
}
