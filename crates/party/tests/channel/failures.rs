//! Failures reach both sides, soon, with their reason.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use vesica_party::transport::{Connection, memory};
use vesica_party::wire::{BODY_LIMIT, Header, Kind};
use vesica_party::{Abort, Channel, ChannelOptions, Role};

use crate::support::*;

fn local(code: u8, fault: &str) -> Abort {
    Abort::Local { code, fault: fault.into(), mend: "mend it".into() }
}

/// What a receiver comes to that waits for `Hello` while `peer` has the other end bare.
fn against(options: ChannelOptions, peer: impl FnOnce(&mut Connection) + Send) -> Abort {
    let (mut bare, end) = memory::pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            peer(&mut bare);
            // Takes all until the other side closes, as a live peer does.
            let mut rest = Vec::new();
            let _ = bare.reader.read_to_end(&mut rest);
        });
        run(end, Role::Receiver, options, |ch| ch.recv::<Hello>(3)).unwrap_err()
    })
}

fn frame(kind: Kind, fork: u16, body: &[u8]) -> Vec<u8> {
    let (step, tag) =
        if matches!(kind, Kind::Message | Kind::Chunk) { (1, step(1, Role::Sender).tag()) } else { (0, 0) };
    let mut bytes = Header { kind, step, fork, tag, length: body.len() }.to_bytes().to_vec();
    bytes.extend_from_slice(body);
    bytes
}

/// What a receiver comes to after these bytes.
fn after(bytes: &[u8]) -> Abort {
    against(quick(), |bare| bare.writer.write_all(bytes).unwrap())
}

#[track_caller]
fn misbehaved(failure: Abort, why: &str) {
    assert!(matches!(failure, Abort::PeerMisbehaved(_, what) if what.contains(why)), "{failure}");
}

#[test]
fn frames_that_no_honest_peer_sends_are_refused() {
    misbehaved(after(b"GET / HTTP/1.1\r\n\r\n"), "unknown kind");
    misbehaved(after(&frame(Kind::Message, 5, &[1, 2, 3])), "did not open");
    misbehaved(after(&frame(Kind::Credit, 0, &1u32.to_le_bytes())), "more credit");
    misbehaved(after(&frame(Kind::Credit, 3, &1u32.to_le_bytes())), "did not open");
    misbehaved(after(&frame(Kind::Open, 3, &[0; 12])), "out of order");
    misbehaved(after(&frame(Kind::Open, 1, &[9; 12])), "fork of a fork");
    misbehaved(after(&frame(Kind::Close, 0, &[])), "end of a fork");
    let failure = after(&[frame(Kind::Finish, 0, &[]), frame(Kind::Message, 0, &[1, 2, 3])].concat());
    // The caller may see the end before the reader sees what follows it.
    let whys = ["after the last one", "finished without"];
    assert!(
        matches!(failure, Abort::PeerMisbehaved(_, what) if whys.iter().any(|why| what.contains(why))),
        "{failure}"
    );
    let mut long = frame(Kind::Message, 0, &[]);
    long[6..].copy_from_slice(&(BODY_LIMIT as u32 + 1).to_le_bytes());
    misbehaved(after(&long), "length");
    let opened_twice = [frame(Kind::Open, 1, &[0; 12]), frame(Kind::Open, 2, &[0; 12])].concat();
    misbehaved(after(&opened_twice), "opened twice");
    let many: Vec<u8> = (0..17u16)
        .flat_map(|i| {
            let mut body = [0; 12];
            body[2..4].copy_from_slice(&i.to_le_bytes());
            frame(Kind::Open, i + 1, &body)
        })
        .collect();
    misbehaved(after(&many), "ahead of this side");
}

#[test]
fn a_peer_gets_no_more_memory_than_its_credit() {
    // On a fork that nobody reads: ten frames of a MiB are more than 8 MiB.
    let failure = against(quick(), |bare| {
        bare.writer.write_all(&frame(Kind::Open, 1, &[0; 12])).unwrap();
        for _ in 0..10 {
            let _ = bare.writer.write_all(&frame(Kind::Chunk, 1, &vec![0; 1 << 20]));
        }
    });
    misbehaved(failure, "credit");
    // Frames without a body are not free.
    let failure = against(quick(), |bare| {
        bare.writer.write_all(&frame(Kind::Open, 1, &[0; 12])).unwrap();
        let empty: Vec<u8> = frame(Kind::Message, 1, &[]).repeat(1000);
        for _ in 0..200 {
            let _ = bare.writer.write_all(&empty);
        }
    });
    misbehaved(failure, "credit");
}

#[test]
fn a_peer_that_closes_is_a_failed_link() {
    let failure = against(quick(), |bare| bare.shutdown.close(std::net::Shutdown::Write).unwrap());
    assert!(matches!(failure, Abort::Link(_)), "{failure}");
    assert_eq!(failure.exit_code(), 10);
    let failure = against(quick(), |bare| {
        bare.writer.write_all(&frame(Kind::Message, 0, &[1, 2, 3])[..11]).unwrap();
        bare.shutdown.close(std::net::Shutdown::Write).unwrap();
    });
    assert!(matches!(failure, Abort::Link(_)), "{failure}");
}

#[test]
fn a_silent_peer_is_a_dead_link() {
    let options = ChannelOptions { dead_after: Duration::from_millis(300), ..quick() };
    let failure = against(options, |_| {});
    assert!(matches!(failure, Abort::Timeout { what, .. } if what.contains("sign of life")), "{failure}");
}

#[test]
fn a_peer_that_computes_is_no_dead_link() {
    let options =
        ChannelOptions { ping_every: Duration::from_millis(50), dead_after: Duration::from_millis(800), ..quick() };
    let (left, right) = memory::pair();
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            run(left, Role::Sender, options.clone(), |ch| {
                thread::sleep(Duration::from_millis(1600));
                ch.send(&Hello(vec![1, 2, 3]))
            })
        });
        run(right, Role::Receiver, options.clone(), |ch| ch.recv::<Hello>(3))
    });
    assert_eq!(result.unwrap().0, Hello(vec![1, 2, 3]));
}

#[test]
fn the_deadline_ends_every_wait() {
    let options = ChannelOptions { deadline: Some(Duration::from_millis(200)), ..quick() };
    let ping = |bare: &mut Connection| bare.writer.write_all(&frame(Kind::Ping, 0, &[])).unwrap();
    assert!(matches!(against(options.clone(), ping), Abort::Timeout { what: "the whole run", .. }));
    // A stream that the peer grants no credit for, and a finish that it does not answer.
    for finish in [false, true] {
        let (bare, end) = memory::pair();
        let failure = run(end, Role::Sender, options.clone(), |ch| {
            if finish { Ok(()) } else { ch.send_stream::<Numbers>(&vec![0; 4 << 20]) }
        });
        assert!(matches!(failure, Err(Abort::Timeout { .. })), "{failure:?}");
        drop(bare);
    }
}

#[test]
fn a_limit_on_the_way_ends_the_wait_for_a_peer_that_only_pings() {
    let options =
        ChannelOptions { ping_every: Duration::from_millis(20), drain_for: Duration::from_millis(100), ..quick() };
    let (left, right) = memory::pair();
    let pinging = Channel::open(left, Role::Sender, options.clone()).unwrap();
    let failure = run(right, Role::Receiver, options, |ch| {
        ch.limit("the goodbye", Duration::from_millis(200));
        // A later limit does not lengthen an earlier one.
        ch.limit("something else", Duration::from_secs(3600));
        ch.recv::<Hello>(3)
    });
    assert!(matches!(failure, Err(Abort::Timeout { what: "the goodbye", .. })), "{failure:?}");
    drop(pinging);
}

#[test]
fn a_side_that_is_busy_learns_that_its_peer_has_gone() {
    let (left, right) = memory::pair();
    let receiver = Channel::open(right, Role::Receiver, quick()).unwrap();
    let sender = Channel::open(left, Role::Sender, quick()).unwrap();
    receiver.check().unwrap();
    drop(sender);
    let end = Instant::now() + Duration::from_secs(60);
    let failure = loop {
        match receiver.check() {
            Err(failure) => break failure,
            Ok(()) => assert!(Instant::now() < end, "it never learns"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert!(matches!(failure, Abort::PeerAborted(_)), "{failure}");
}

#[test]
fn an_abort_overtakes_what_is_queued() {
    let (left, right) = memory::pair();
    let mut receiver = Channel::open(right, Role::Receiver, quick()).unwrap();
    let mut sender = Channel::open(left, Role::Sender, quick()).unwrap();
    for _ in 0..100 {
        // Far more than the credit, and nobody takes it.
        sender.send(&Hello(vec![0; 1 << 20])).unwrap();
    }
    let begun = Instant::now();
    sender.abort(&local(3, "line 7 is ragged\u{1b}[31m\u{202e}"));
    let failure = receiver.recv::<Hello>(1 << 20).unwrap_err();
    let Abort::PeerAborted(fault) = &failure else { panic!("{failure}") };
    assert_eq!((fault.code, fault.from), (3, Some(Role::Sender)));
    assert_eq!((fault.fault.as_str(), fault.mend.as_str()), ("line 7 is ragged[31m", "mend it"));
    assert_eq!(failure.exit_code(), 9);
    // The peer's threads answered; nobody had to wait for the peer's caller.
    assert!(begun.elapsed() < quick().drain_for, "abort waited for its whole limit");
    receiver.abort(&failure);
}

#[test]
fn long_texts_are_bounded() {
    let (_, received) = both(memory::pair(), |_| Err::<(), _>(local(3, &"ä".repeat(5000))), |ch| ch.recv::<Hello>(3));
    assert!(matches!(received.unwrap_err(), Abort::PeerAborted(fault) if fault.fault == "ä".repeat(512)));
}

#[test]
fn an_unfinished_channel_aborts_when_dropped() {
    let (left, right) = memory::pair();
    let mut receiver = Channel::open(right, Role::Receiver, quick()).unwrap();
    drop(Channel::open(left, Role::Sender, quick()).unwrap());
    let failure = receiver.recv::<Hello>(3).unwrap_err();
    assert!(
        matches!(&failure, Abort::PeerAborted(fault) if fault.fault.contains("stopped before the end")),
        "{failure}"
    );
}

#[test]
fn a_cancelled_run_ends_on_both_sides() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            let canceller = ch.canceller();
            thread::scope(|scope| {
                scope.spawn(move || {
                    thread::sleep(Duration::from_millis(50));
                    canceller.cancel(&local(130, "interrupted"));
                });
                ch.recv::<Reply>(())
            })
        },
        |ch| {
            // Not a wait on both sides at the same place: this side waits on a fork.
            ch.fork("elsewhere")?.recv::<Hello>(3)
        },
    );
    assert_eq!(sent.unwrap_err().exit_code(), 130);
    assert!(matches!(received.unwrap_err(), Abort::PeerAborted(fault) if fault.code == 130));
}

#[test]
fn two_sides_that_wait_for_each_other_fail_at_once() {
    let (sent, received) =
        both(memory::pair(), |ch| ch.recv::<Reply>(()).map(drop), |ch| ch.recv::<Hello>(3).map(drop));
    let failures = [sent.unwrap_err(), received.unwrap_err()];
    assert!(failures.iter().all(|failure| failure.to_string().contains("wait for each other")), "{failures:?}");
}

#[test]
fn a_side_that_waits_for_a_finished_peer_fails() {
    let (_, received) = both(memory::pair(), |_| Ok(()), |ch| ch.recv::<Hello>(3));
    misbehaved(received.unwrap_err(), "finished without");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        vesica_party::fuzzing::frames(&bytes);
        vesica_party::fuzzing::reader(&bytes);
    }

    #[test]
    fn headers_round_trip(kind in 0..3usize, step: u8, fork: u16, tag: u16, length in 1..=BODY_LIMIT) {
        let (kind, step, tag, length) = match kind {
            0 => (Kind::Message, step, tag, length),
            1 => (Kind::Chunk, step, tag, length),
            _ => (Kind::Open, 0, 0, 12),
        };
        let header = Header { kind, step, fork, tag, length };
        prop_assert_eq!(Header::parse(&header.to_bytes()), Ok(header));
    }

    #[test]
    fn a_channel_survives_garbage(bytes in proptest::collection::vec(prop_oneof![0u8..10, any::<u8>()], 0..300)) {
        let (mut bare, end) = memory::pair();
        bare.writer.write_all(&bytes).unwrap();
        bare.shutdown.close(std::net::Shutdown::Write).unwrap();
        let failure = run(end, Role::Receiver, quick(), |ch| ch.recv::<Hello>(3));
        prop_assert!(failure.is_err());
    }
}

#[test]
fn a_failed_call_poisons_the_other_forks_and_is_told_on_drop() {
    let (left, right) = memory::pair();
    let mut receiver = Channel::open(right, Role::Receiver, quick()).unwrap();
    let mut sender = Channel::open(left, Role::Sender, quick()).unwrap();
    let mut fork = receiver.fork("other").unwrap();
    sender.send(&Hello(vec![1])).unwrap();
    misbehaved(receiver.recv::<Hello>(3).unwrap_err(), "length");
    misbehaved(fork.recv::<Hello>(3).unwrap_err(), "length");
    drop(receiver);
    let failure = sender.recv::<Reply>(()).unwrap_err();
    assert!(
        matches!(&failure, Abort::PeerAborted(fault) if fault.code == 8 && fault.fault.contains("length")),
        "{failure}"
    );
    sender.abort(&failure);
}
