//! The rows of LTSXQ26 are broken: the receiver's view gives the sender's secret and set, as
//! docs/ltsxq26.md says. The example `ltsxq26_attack` runs the same at large sizes.

#[path = "../../examples/ltsxq26_attack/attack/mod.rs"]
mod attack;

use std::collections::HashMap;

use attack::bins;
use attack::play::{self, Conduct};
use attack::scene::{Scene, scene};
use attack::{Narrow, Outcome};
use vesica_papers::circuit_psi::ltsxq26::{Ltsxq26Cardinality, Ltsxq26JoinAndCompute, Ltsxq26Sum};
use vesica_papers::psi::ltsxq26::{Aes, AesBand, Sha, ShaBand, View, Wide};
use vesica_papers::registry;
use vesica_party::{Protocol, Security};
use vesica_protocols::circuit_psi::aggregate;
use vesica_structures::fields::Cell;
use vesica_structures::okvs::Kind;

/// Far more outer hashes than an attack within reach takes.
const BUDGET: u64 = 1 << 28;

/// All of `s`, all of the sender's items in the dictionary, and nothing else.
fn assert_all_is_found<V: Narrow>(scene: &Scene, view: &View<V>, outcome: &Outcome) {
    assert_eq!(outcome.secret.known.count_ones() as usize, view.params.width, "{:?}", outcome.secret);
    assert_eq!(scene.judge(&outcome.found), (scene.members.len(), 0));
    assert_eq!(outcome.found, scene.members);
    assert!(scene.members.len() - scene.known_by_output() > scene.members.len() / 2, "most of it is beyond the output");
}

fn figure_14<V: Narrow>(items: usize, entries: usize) {
    let scene = scene(items, entries, 14);
    let view = play::psi::<V>(&scene, Security::SemiHonest, Conduct::Honest);
    assert_all_is_found(&scene, &view, &attack::psi(&view, None, &scene.dictionary, BUDGET, drop));
}

fn figure_15<V: Narrow>(items: usize, entries: usize) {
    let scene = scene(items, entries, 15);
    let view = play::psi::<V>(&scene, Security::Malicious, Conduct::Flips);
    let outcome = attack::psi(&view, Some(&scene.asked), &scene.dictionary, BUDGET, drop);
    assert_all_is_found(&scene, &view, &outcome);
    assert!(outcome.secret.guesses < 1 << 17, "a few guesses a candidate: {:?}", outcome.secret);
}

#[test]
fn an_honest_receiver_of_figure_14_finds_the_senders_set() {
    figure_14::<Aes>(1 << 14, 1 << 16);
    figure_14::<AesBand>(1 << 12, 1 << 14);
    figure_14::<Sha>(1 << 10, 1 << 12);
    figure_14::<ShaBand>(1 << 10, 1 << 12);
}

#[test]
fn a_receiver_of_figure_15_that_flips_bits_finds_the_senders_set() {
    figure_15::<Aes>(1 << 14, 1 << 15);
    figure_15::<AesBand>(1 << 12, 1 << 13);
    figure_15::<Sha>(1 << 12, 1 << 13);
    figure_15::<ShaBand>(1 << 12, 1 << 13);
}

/// What the attack finds it finds by the guesses: without them there is the output of the protocol
/// and no more.
#[test]
fn without_guesses_there_is_the_output_only() {
    let scene = scene(1 << 12, 1 << 14, 3);
    let view = play::psi::<Aes>(&scene, Security::SemiHonest, Conduct::Honest);
    let outcome = attack::psi(&view, None, &scene.dictionary, 0, drop);
    assert_eq!((outcome.secret.known, outcome.found.len()), (0, scene.known_by_output()));
    let view = play::psi::<Aes>(&scene, Security::Malicious, Conduct::Honest);
    let outcome = attack::psi(&view, None, &scene.dictionary, 1 << 20, drop);
    assert_eq!((outcome.secret.known, outcome.found.len()), (0, scene.known_by_output()), "128 bits take 2^40 guesses");
}

/// The sender's items that share a bin with another one in the dictionary, and nothing else; their
/// payloads but for one constant.
#[test]
fn an_honest_receiver_of_figure_16_finds_members_and_payloads() {
    figure_16(Kind::Clustered);
    figure_16(Kind::Band);
}

fn figure_16(okvs: Kind) {
    let scene = scene(1 << 12, 1 << 14, 16);
    let view = play::circuit(&scene, okvs);
    let outcome = bins::circuit(&view, &scene.asked, &scene.dictionary, BUDGET, drop);
    assert_eq!(outcome.secret.known.count_ones(), bins::width(&view), "{:?}", outcome.secret);
    let members: Vec<u128> = scene.members.iter().map(|&i| scene.dictionary[i]).collect();
    let places = view.places(&members);
    let mut load = HashMap::new();
    places.iter().flatten().for_each(|(bin, _)| *load.entry(*bin).or_insert(0) += 1);
    let shares = |places: &[(u32, u128); 3]| places.iter().any(|(bin, _)| load[bin] > 1);
    let expected: Vec<usize> =
        scene.members.iter().zip(&places).filter(|(_, places)| shares(places)).map(|(&i, _)| i).collect();
    assert_eq!(outcome.found, expected);
    assert!(
        outcome.found.len() * 1000 > scene.members.len() * 995,
        "{} of {}",
        outcome.found.len(),
        scene.members.len()
    );
    let (group, right) = outcome.judge_payloads(|i| play::payload(scene.dictionary[i]));
    assert!(group == right && group * 100 > scene.members.len() * 99, "{right} of {group} of {}", scene.members.len());
}

/// The repair: between the receiver and the mask of any item that it does not have lie 128 bits of
/// `s` or more.
#[test]
fn no_candidate_of_the_wide_row_is_light() {
    let scene = scene(1 << 12, 1 << 14, 5);
    let view = play::psi::<Wide>(&scene, Security::SemiHonest, Conduct::Honest);
    let (_, delta) = view.a_and_delta(&scene.dictionary).expect("sizes of the run");
    let weight = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
    let weights: Vec<u32> = delta.iter().map(|delta| weight(delta.words())).collect();
    assert_eq!(weights.iter().filter(|&&weight| weight == 0).count(), scene.asked.len());
    assert!(weights.iter().all(|&weight| weight == 0 || weight >= 128));
}

/// The id of a row that runs the very circuit PSI that is attacked, and counts or adds up after it.
fn on_figure_16<P: Protocol<Receiver = aggregate::Receiver<play::Broken>>>() -> &'static str {
    P::ENTRY.id
}

/// The leaks of unions are shown by tests beside the rows.
#[test]
fn the_rows_under_attack_are_marked() {
    let intersections = ["ltsxq26", "ltsxq26-band", "ltsxq26-aes", "ltsxq26-aes-band"];
    let lattices = ["cm25-fast-setup", "cm25-fast-intersection", "cm25-fast-intersection-count"];
    let totals =
        [on_figure_16::<Ltsxq26Cardinality>(), on_figure_16::<Ltsxq26Sum>(), on_figure_16::<Ltsxq26JoinAndCompute>()];
    let attacked = [&lattices[..], &intersections, &["jsz22-s", "krtw19"], &["ltsxq26-circuit"], &totals].concat();
    let marked: Vec<&str> =
        registry::entries().filter(|entry| entry.broken().is_some()).map(|entry| entry.id).collect();
    assert_eq!(marked, attacked, "a row is marked where an attack on it runs in a test, and nowhere else");
}
