//! The suites for protocols, on the service made a protocol.

use std::thread;
use std::time::Duration;

use vesica_party::service::OneShot;
use vesica_party::{Phase, Protocol};
use vesica_testkit::insecure_lookup::InsecureLookup;
use vesica_testkit::{conformance, faults, golden, row, two_party};

type Toy = OneShot<InsecureLookup>;

#[test]
fn it_conforms_and_sends_what_it_predicts() {
    let set: Vec<u64> = (0..1000).map(|i| 3 * i).collect();
    for items in [1, 2, 3, 100, 5000] {
        let run = conformance::<Toy>(&items, set.clone(), (0..items as u64).collect());
        assert_eq!(run.payload_bytes, 8 + 8 * items as u64 + 8 + items as u64);
    }
    conformance::<Toy>(&2, Vec::new(), vec![1, 1]);
    assert!(Toy::derive(&0).is_err());
}

#[test]
fn no_fault_makes_a_side_panic_or_hang() {
    let harm = faults::<Toy>(&4, &vec![1, 2, 3], &vec![1, 2, 3, 4]);
    // The sender's 3 frames and the receiver's 2 (their messages, and the end), each in 5 ways.
    assert_eq!(harm.failed + harm.unharmed, 25);
    assert!(harm.failed >= 10, "{harm:?}");
}

#[test]
fn its_golden_transcript_stands() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/insecure-lookup.txt");
    golden(path, row::<Toy>(), &3, vec![1, 5, 9], vec![5, 6, 9]);
}

/// All bytes of the enrolment are in the phase, none of the query; the time is that of both
/// together, whatever phases are entered within it.
#[test]
fn what_comes_before_the_query_is_precompute() {
    use vesica_party::Party;
    let (sent, received) = two_party(
        |ch, rng| {
            <Toy as Protocol>::Sender::setup(&2, ch, rng)?.run(vec![7], ch, rng)?;
            Ok(ch.tally())
        },
        |ch, rng| {
            <Toy as Protocol>::Receiver::setup(&2, ch, rng)?.run(vec![7, 8], ch, rng)?;
            Ok(ch.tally())
        },
    );
    let precompute = [sent.phase(Phase::Precompute), received.phase(Phase::Precompute)];
    assert_eq!(precompute.map(|count| (count.sent_payload, count.received_payload)), [(8, 0), (0, 8)]);
    assert_eq!((sent.total().sent_payload, received.total().sent_payload), (8 + 8 + 2, 16));
    for tally in [&sent, &received] {
        let seconds = tally.phase(Phase::Precompute).seconds;
        assert!(seconds > 0.0 && (tally.precompute_seconds - seconds).abs() < 0.01, "{tally:?}");
        assert!(tally.precompute_seconds <= tally.total().seconds);
    }
}

#[test]
fn phases_within_precompute_count_for_its_time_once() {
    let pause = Duration::from_millis(30);
    let (tally, ()) = two_party(
        |ch, _| {
            {
                let _precompute = ch.phase(Phase::Precompute);
                let _inner = ch.phase(Phase::Encode);
                let _again = ch.phase(Phase::Precompute);
                thread::sleep(pause);
            }
            thread::sleep(pause);
            Ok(ch.tally())
        },
        |_, _| Ok(()),
    );
    let seconds = tally.precompute_seconds;
    assert!(seconds >= 0.03 && seconds <= tally.total().seconds - 0.03, "{tally:?}");
}
