//! Messages, streams and what is refused of them.

use std::sync::mpsc;

use vesica_party::transport::memory;
use vesica_party::wire::BODY_LIMIT;
use vesica_party::{Abort, Channel, Phase, Role, Step, Stream};

use crate::support::*;

#[test]
fn messages_and_streams_round_trip() {
    let numbers: Vec<u64> = (0..1_000_000).collect();
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            ch.send(&Hello(vec![1, 2, 3]))?;
            for part in numbers.chunks(77_777) {
                ch.send_stream::<Numbers>(part)?;
            }
            ch.recv::<Reply>(())
        },
        |ch| {
            let hello: Hello = ch.recv(3)?;
            let mut taken = vec![0u64; numbers.len()];
            for part in taken.chunks_mut(12_345) {
                ch.recv_stream::<Numbers>(part)?;
            }
            assert!(taken == numbers);
            ch.send(&Reply(hello.0.len() as u64))
        },
    );
    assert_eq!(sent.unwrap().0, Reply(3));
    received.unwrap();
}

#[test]
fn small_pieces_of_a_stream_travel_together() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            for number in 0..50_000u64 {
                ch.send_stream::<Numbers>(&[number])?;
            }
            Ok(())
        },
        |ch| {
            let mut numbers = vec![0; 50_000];
            ch.recv_stream::<Numbers>(&mut numbers)?;
            assert!(numbers.iter().copied().eq(0..50_000));
            Ok(())
        },
    );
    let tally = sent.unwrap().1.total();
    assert_eq!(tally.sent_payload, 400_000);
    assert_eq!(received.unwrap().1.total().received_payload, 400_000);
}

#[test]
fn a_meter_counts_on_another_thread_and_outlives_its_channel() {
    let (meters, meter) = mpsc::channel();
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            let _phase = ch.phase(Phase::Match);
            meters.send(ch.meter()).unwrap();
            ch.send(&Hello(vec![0; 1000]))?;
            ch.recv::<Reply>(())
        },
        move |ch| {
            let meter = meter.recv().unwrap();
            ch.recv::<Hello>(1000)?;
            assert_eq!(meter.phase(), Phase::Match);
            assert!((1000..1100).contains(&meter.sent()), "{}", meter.sent());
            ch.send(&Reply(1))?;
            Ok(meter)
        },
    );
    let (meter, _) = received.unwrap();
    let total = sent.unwrap().1.total();
    assert_eq!((meter.sent(), meter.received()), (total.sent(), total.received()));
}

/// Runs a sender against a receiver that waits for `Hello` of three bytes.
fn refused(sender: impl FnOnce(&mut Channel) -> Result<(), Abort> + Send) -> Abort {
    let (_, received) = both(memory::pair(), sender, |ch| ch.recv::<Hello>(3));
    received.unwrap_err()
}

#[test]
fn another_step_is_out_of_step() {
    let failure = refused(|ch| ch.send(&Second));
    assert!(matches!(failure, Abort::OutOfStep { expected, got_step: 9, .. } if expected.number == 1), "{failure}");
}

#[test]
fn another_protocol_is_out_of_step() {
    let failure = refused(|ch| ch.send_stream::<Elsewhere>(&[1]));
    let tag = Elsewhere::STEP.tag();
    assert!(matches!(failure, Abort::OutOfStep { got_tag, got_step: 1, .. } if got_tag == tag), "{failure}");
}

#[test]
fn another_length_is_refused() {
    for length in [0, 2, 4, 1000] {
        let failure = refused(|ch| ch.send(&Hello(vec![7; length])));
        assert!(
            matches!(failure, Abort::PeerMisbehaved(step, what) if step.number == 1 && what.contains("length")),
            "{failure}"
        );
    }
}

#[test]
fn a_message_in_place_of_a_stream_is_refused() {
    let (_, received) = both(
        memory::pair(),
        |ch| ch.send(&WholeNumbers),
        |ch| {
            let mut numbers = [0; 2];
            ch.recv_stream::<Numbers>(&mut numbers)
        },
    );
    let failure = received.unwrap_err();
    assert!(
        matches!(failure, Abort::PeerMisbehaved(step, what) if step.number == 3 && what.contains("instead of")),
        "{failure}"
    );
}

#[test]
fn a_reader_that_leaves_bytes_is_noticed() {
    let (_, received) = both(memory::pair(), |ch| ch.send(&Hello(vec![1, 2, 3])), |ch| ch.recv::<Lazy>(()));
    let failure = received.unwrap_err();
    assert!(matches!(failure, Abort::PeerMisbehaved(_, what) if what.contains("left over")), "{failure}");
}

#[test]
fn what_nobody_takes_is_noticed() {
    let (_, received) = both(memory::pair(), |ch| ch.send(&Hello(vec![1])), |_| Ok(()));
    let failure = received.unwrap_err();
    assert!(matches!(failure, Abort::PeerMisbehaved(_, what) if what.contains("use for")), "{failure}");
    let (_, received) = both(
        memory::pair(),
        |ch| ch.send_stream::<Numbers>(&[1, 2, 3]),
        |ch| {
            let mut fewer = [0; 2];
            ch.recv_stream::<Numbers>(&mut fewer)
        },
    );
    assert!(matches!(received.unwrap_err(), Abort::PeerMisbehaved(..)));
}

#[test]
fn the_rest_of_a_stream_is_no_other_stream() {
    let (_, received) = both(
        memory::pair(),
        |ch| ch.send_stream::<Numbers>(&[1, 2, 3]),
        |ch| {
            let mut fewer = [0; 2];
            ch.recv_stream::<Numbers>(&mut fewer)?;
            ch.recv_stream::<Elsewhere>(&mut [0; 1])
        },
    );
    assert!(matches!(received.unwrap_err(), Abort::OutOfStep { got_step: 3, .. }));
}

#[test]
fn a_message_that_fits_no_frame_is_a_local_fault() {
    let (sent, _) = both(memory::pair(), |ch| ch.send(&Hello(vec![0; BODY_LIMIT + 1])), |ch| ch.recv::<Hello>(3));
    assert!(matches!(sent.unwrap_err(), Abort::Local { code: 70, fault, .. } if fault.contains("does not fit")));
    let (_, received) =
        both(memory::pair(), |ch| ch.send(&Hello(vec![0; BODY_LIMIT])), |ch| Ok(ch.recv::<Hello>(BODY_LIMIT)?.0.len()));
    assert_eq!(received.unwrap().0, BODY_LIMIT);
}

#[test]
fn roles_bind_and_can_be_reversed() {
    let (sent, _) = both(memory::pair(), |ch| ch.send(&Reply(1)), |ch| ch.recv::<Hello>(3));
    assert!(matches!(sent.unwrap_err(), Abort::Local { code: 70, .. }));
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            let hello = ch.reversed(|ch| {
                assert_eq!(ch.role(), Role::Receiver);
                ch.recv::<Hello>(2)
            })?;
            assert_eq!(ch.role(), Role::Sender);
            Ok(hello)
        },
        |ch| ch.reversed(|ch| ch.send(&Hello(vec![4, 5]))),
    );
    assert_eq!(sent.unwrap().0, Hello(vec![4, 5]));
    received.unwrap();
}

#[test]
fn bytes_and_time_are_tallied_by_phase() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            {
                let _outer = ch.phase(Phase::Encode);
                ch.send(&Hello(vec![0; 10]))?;
                let _inner = ch.phase(Phase::Masks);
                ch.send(&Hello(vec![0; 20]))?;
            }
            let _phase = ch.phase(Phase::Payload);
            let mut fork = ch.fork("more")?;
            fork.send(&Hello(vec![0; 30]))
        },
        |ch| {
            let _phase = ch.phase(Phase::Decode);
            ch.recv::<Hello>(10)?;
            ch.recv::<Hello>(20)?;
            ch.fork("more")?.recv::<Hello>(30)
        },
    );
    let (sent, received) = (sent.unwrap().1, received.unwrap().1);
    let payloads = [Phase::Encode, Phase::Masks, Phase::Payload].map(|phase| sent.phase(phase).sent_payload);
    assert_eq!(payloads, [10, 20, 30]);
    assert_eq!(received.phase(Phase::Decode).received_payload, 60);
    assert_eq!(received.phase(Phase::Decode).received_framing, 30);
    assert_eq!(sent.total().received_payload, 0);
    assert!(sent.total().seconds > 0.0 && sent.phase(Phase::Payload).fork_seconds > 0.0);
    // Ends of forks and of the conversation: an open, a close and a finish frame at least, besides
    // three messages.
    assert!(sent.total().sent_framing >= 3 * 10 + 22 + 10 + 10, "{sent:?}");
}

/// As `Hello`, but reads less than there is.
#[derive(Debug)]
struct Lazy;

impl vesica_party::Message for Lazy {
    const STEP: Step = <Hello as vesica_party::Message>::STEP;
    type Shape = ();
    fn len(_: &()) -> std::ops::RangeInclusive<usize> {
        0..=10
    }
    fn write(&self, _: &mut vesica_party::Writer) {}
    fn read(bytes: &mut vesica_party::Reader<'_>, _: ()) -> Result<Self, vesica_party::Malformed> {
        bytes.bytes(1).map(|_| Self)
    }
}

/// A stream of another protocol.
struct Elsewhere;

impl Stream for Elsewhere {
    const STEP: Step = Step { protocol: "elsewhere", ..step(1, Role::Sender) };
    type Element = u8;
}

empty_message!(Second, step(9, Role::Sender));
empty_message!(WholeNumbers, step(3, Role::Sender));
