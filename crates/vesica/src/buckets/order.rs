//! What has travelled when, where buckets are run pass by pass.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use vesica_party::Security;
use vesica_party::transport::memory;
use vesica_protocols::passes::InPasses;
use vesica_protocols::registry;
use vesica_protocols::tasks::{
    Extent, Intersect, IntersectOptions, IntersectReceiverInput, IntersectReceiverOutput, IntersectSenderInput,
    SetFunctionality,
};
use vesica_structures::facts::Unsupported;
use vesica_testkit::{Recording, Side, options, record, two_party_over};

use super::Buckets;

const BUCKETS: usize = 3;
/// Items of a bucket.
const SIZE: usize = 40;
/// Keys of each side, of which the first [`COMMON`] are the other side's too.
const KEYS: u128 = 60;
const COMMON: u128 = 30;
/// What the other side has time for, to send what is not due.
const PATIENCE: Duration = Duration::from_millis(200);

/// Bytes of arrows of `vole-psi`: the receiver's table, the sender's tags and payloads, the receiver's proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Travelled {
    tables: usize,
    tags: usize,
    payloads: usize,
    proofs: usize,
}

impl Travelled {
    fn so_far(recording: &Recording) -> Self {
        let transcript = recording.transcript();
        let [tables, tags, payloads, proofs] = [5, 8, 9, 10].map(|step| transcript.of("vole-psi", step).len());
        Self { tables, tags, payloads, proofs }
    }
}

/// The items of a side; `own` is in its own keys, and its dummies are above it.
fn divided(own: u128) -> Buckets {
    let items = (0..KEYS).map(|number| (number << 64) + if number < COMMON { 0 } else { own });
    Buckets::new(items.collect(), 5, BUCKETS, SIZE, (1..).map(|number| own + number)).expect("room")
}

/// A run of both sides, pass by pass.
struct Run {
    /// How many items of a bucket the sender learned to be common.
    sender: Side<Vec<usize>>,
    /// How many items of a bucket the receiver found.
    receiver: Side<Vec<usize>>,
    /// What had travelled when the receiver's part of the last bucket's first pass was due.
    at_last_table: Option<Travelled>,
    /// What had travelled when the last bucket's tags were due.
    at_last_tags: Option<Travelled>,
    /// What had travelled at the end.
    at_end: Travelled,
}

/// Runs `row` in buckets; the receiver `keeps_last_table` to itself, or follows the protocol.
fn run(row: &'static dyn InPasses<Intersect>, keeps_last_table: bool) -> Run {
    let extent = Extent::new(SIZE, SIZE, Security::Malicious).in_runs(BUCKETS);
    let request = Intersect::request(&extent, &IntersectOptions { payload_bytes: 2, both_learn: true });
    let (ends, recording) = record(memory::pair());
    let (at_last_table, at_last_tags) = (OnceLock::new(), OnceLock::new());
    // An input is asked for at the start of each bucket's first and second pass.
    let note = |calls: &Cell<usize>, last: usize, noted: &OnceLock<Travelled>| {
        calls.set(calls.get() + 1);
        if calls.get() == last {
            thread::sleep(PATIENCE);
            noted.set(Travelled::so_far(&recording)).expect("noted once");
        }
    };
    let (sender, receiver) = two_party_over(
        ends,
        options(),
        |ch, rng| {
            let (buckets, calls) = (divided(1 << 40), Cell::new(0));
            let input = |bucket| {
                note(&calls, 2 * BUCKETS, &at_last_tags);
                let items = buckets.bucket(bucket)?.items;
                Ok(IntersectSenderInput { payloads: vec![bucket as u8; 2 * items.len()], items })
            };
            let learned = buckets.each_in_passes(
                input,
                ch,
                rng,
                |input, ch, rng| row.commit_sender(&request, input, ch, rng),
                |_, _| Ok(()),
            )?;
            Ok(learned.into_iter().map(|output| output.matches.map_or(0, |matches| matches.len())).collect())
        },
        |ch, rng| {
            let (buckets, calls) = (divided(2 << 40), Cell::new(0));
            let input = |bucket| {
                note(&calls, BUCKETS, &at_last_table);
                Ok(IntersectReceiverInput { items: buckets.bucket(bucket)?.items })
            };
            let commit = |input: &_, ch: &mut _, rng: &mut _| {
                if keeps_last_table && calls.get() == BUCKETS {
                    let _set_up = row.receiver(&request, ch, rng)?;
                    thread::sleep(PATIENCE);
                    return Err(Unsupported::new("a table that is kept", "send it").into());
                }
                row.commit_receiver(&request, input, ch, rng)
            };
            let found = buckets.each_in_passes(input, ch, rng, commit, |_, _| Ok(()))?;
            let of_bucket = |(bucket, output): (usize, IntersectReceiverOutput)| {
                assert_eq!(output.payloads.open(), vec![bucket as u8; 2 * output.matches.len()], "its own payloads");
                output.matches.len()
            };
            Ok(found.into_iter().enumerate().map(of_bucket).collect())
        },
    );
    let at_end = Travelled::so_far(&recording);
    let [at_last_table, at_last_tags] = [at_last_table, at_last_tags].map(OnceLock::into_inner);
    Run { sender, receiver, at_last_table, at_last_tags, at_end }
}

/// No tag of any bucket leaves the sender before the receiver's tables of all buckets are there, and no proof leaves
/// the receiver before all tags are there.
#[test]
fn nothing_is_shown_before_everything_is_fixed() {
    for row in registry::intersect_in_passes() {
        let id = row.entry().id;
        let Run { sender, receiver, at_last_table, at_last_tags, at_end } = run(*row, false);
        let (sent, received) = (sender.result.expect("done"), receiver.result.expect("done"));
        assert_eq!((received.iter().sum::<usize>(), &sent), (COMMON as usize, &received), "{id}");
        let (first, second) = (at_last_table.expect("noted"), at_last_tags.expect("noted"));
        // Of tables and payloads, all buckets have as many bytes.
        let tables = at_end.tables / BUCKETS * (BUCKETS - 1);
        assert_eq!(first, Travelled { tables, tags: 0, payloads: 0, proofs: 0 }, "{id}");
        let payloads = at_end.payloads / BUCKETS * (BUCKETS - 1);
        assert_eq!((second.tables, second.payloads, second.proofs), (at_end.tables, payloads, 0), "{id}");
        assert!(second.tags > 0 && second.tags < at_end.tags && at_end.proofs > 0, "{id}: {second:?} {at_end:?}");
    }
}

/// A receiver that wants to see a bucket's result before it fixes its items of another one sees nothing.
#[test]
fn a_receiver_that_keeps_a_table_gets_no_tag() {
    let vole_fast = registry::intersect_in_passes().iter().find(|row| row.entry().id == "vole-fast");
    let Run { sender, receiver, at_end, .. } = run(*vole_fast.expect("a row"), true);
    assert!(sender.result.is_err() && receiver.result.is_err());
    assert!(at_end.tables > 0, "{at_end:?}");
    assert_eq!((at_end.tags, at_end.payloads, at_end.proofs), (0, 0, 0));
}
