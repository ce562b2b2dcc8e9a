//! The running hash of a conversation: the same on both sides, and another one for anything else
//! that was said.

use std::io::{self, Write};
use std::thread;

use vesica_party::transport::{Connection, memory};
use vesica_party::{Abort, Channel, ChannelOptions, Role};

use crate::support::*;

fn transcribed() -> ChannelOptions {
    ChannelOptions { transcript: true, ..quick() }
}

/// Runs both parties and gives their transcripts, read where both have received all.
fn transcripts(
    (left, right): (Connection, Connection),
    sender: impl FnOnce(&mut Channel) -> Result<(), Abort> + Send,
    receiver: impl FnOnce(&mut Channel) -> Result<(), Abort> + Send,
) -> ([u8; 32], [u8; 32]) {
    let (sent, received) = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            run(left, Role::Sender, transcribed(), |ch| {
                sender(ch)?;
                Ok(ch.transcript())
            })
        });
        let received = run(right, Role::Receiver, transcribed(), |ch| {
            receiver(ch)?;
            Ok(ch.transcript())
        });
        (sender.join().expect("the sender panicked"), received)
    });
    (sent.unwrap().0.expect("asked for"), received.unwrap().0.expect("asked for"))
}

/// The transcript on which both sides agree.
#[track_caller]
fn agreed((sent, received): ([u8; 32], [u8; 32])) -> [u8; 32] {
    assert_eq!(sent, received);
    sent
}

#[track_caller]
fn all_differ(transcripts: &[[u8; 32]]) {
    for (i, one) in transcripts.iter().enumerate() {
        assert!(!transcripts[..i].contains(one), "transcript {i} is that of another conversation");
    }
}

#[test]
fn nothing_is_hashed_unless_asked_for() {
    let (sent, received) = both(memory::pair(), |ch| Ok(ch.transcript()), |ch| Ok(ch.transcript()));
    assert_eq!((sent.unwrap().0, received.unwrap().0), (None, None));
}

#[test]
fn messages_in_both_directions() {
    let talk = |lengths: &'static [usize], byte: u8, reply: u64| {
        agreed(transcripts(
            memory::pair(),
            move |ch| {
                lengths.iter().try_for_each(|&length| ch.send(&Hello(vec![byte; length])))?;
                ch.recv::<Reply>(()).map(drop)
            },
            move |ch| {
                lengths.iter().try_for_each(|&length| ch.recv::<Hello>(length).map(drop))?;
                ch.send(&Reply(reply))
            },
        ))
    };
    let first = talk(&[5, 0], 1, 7);
    assert_eq!(first, talk(&[5, 0], 1, 7), "what was said is all that counts");
    all_differ(&[first, talk(&[0, 5], 1, 7), talk(&[5], 1, 7), talk(&[5, 0], 2, 7), talk(&[5, 0], 1, 8)]);
}

/// Sends 0, 1, ... in parts of the given sizes, with a message after each mark.
fn stream(parts: &[usize], received: &[usize], mark: Option<usize>) -> [u8; 32] {
    let cuts = |parts: &[usize]| {
        let mut start = 0;
        let each = parts.iter().map(|part| {
            start += part;
            (start - part, start)
        });
        each.collect::<Vec<_>>()
    };
    agreed(transcripts(
        memory::pair(),
        |ch| {
            for (start, end) in cuts(parts) {
                ch.send_stream::<Numbers>(&(start as u64..end as u64).collect::<Vec<_>>())?;
                if mark == Some(end) {
                    ch.send(&Hello(vec![9]))?;
                }
            }
            ch.recv::<Reply>(()).map(drop)
        },
        |ch| {
            for (start, end) in cuts(received) {
                ch.recv_stream::<Numbers>(&mut vec![0; end - start])?;
                if mark == Some(end) {
                    ch.recv::<Hello>(1)?;
                }
            }
            ch.send(&Reply(0))
        },
    ))
}

#[test]
fn streams_however_they_are_cut() {
    const ALL: usize = 100_000;
    let first = stream(&[ALL], &[ALL], None);
    for (parts, received) in [
        (vec![1, 0, 70_000, ALL - 70_001], vec![ALL]),
        (vec![ALL], vec![3, 0, ALL - 3]),
        (vec![50; ALL / 50], vec![40_000, 60_000]),
    ] {
        assert_eq!(first, stream(&parts, &received, None), "cuts are no part of it");
    }
    let half = [ALL / 2; 2];
    let marked = [stream(&half, &half, Some(ALL / 2)), stream(&half, &half, Some(ALL))];
    all_differ(&[first, marked[0], marked[1], stream(&[ALL - 1], &[ALL - 1], None)]);
}

#[test]
fn forks_that_ended_in_any_order_and_swapped_roles() {
    let talk = |order: [usize; 3], bytes: [u8; 3]| {
        agreed(transcripts(
            memory::pair(),
            move |ch| {
                let mut forks = (0..3).map(|_| ch.fork("three").map(Some)).collect::<Result<Vec<_>, _>>()?;
                for (fork, byte) in forks.iter_mut().flatten().zip(bytes) {
                    fork.fork("below")?.send(&Hello(vec![byte; 4]))?;
                }
                for i in order {
                    let mut fork = forks[i].take().expect("once each");
                    fork.reversed(|fork| fork.recv::<Hello>(2))?;
                }
                ch.recv::<Reply>(()).map(drop)
            },
            move |ch| {
                // The forks end on this side in the order of their making.
                for byte in bytes {
                    let mut fork = ch.fork("three")?;
                    fork.fork("below")?.recv::<Hello>(4)?;
                    fork.reversed(|fork| fork.send(&Hello(vec![byte; 2])))?;
                }
                ch.send(&Reply(0))
            },
        ))
    };
    let first = talk([0, 1, 2], [1, 2, 3]);
    assert_eq!(first, talk([2, 0, 1], [1, 2, 3]), "when a fork ended is no part of it");
    all_differ(&[first, talk([0, 1, 2], [2, 1, 3]), talk([0, 1, 2], [1, 2, 4])]);
}

#[test]
fn a_direction_is_not_the_other_one() {
    let talk = |swapped: bool| {
        let speak = |ch: &mut Channel| ch.send(&Hello(vec![1; 3]));
        let listen = |ch: &mut Channel| ch.recv::<Hello>(3).map(drop);
        agreed(match swapped {
            false => transcripts(memory::pair(), speak, listen),
            true => transcripts(memory::pair(), |ch| ch.reversed(listen), |ch| ch.reversed(speak)),
        })
    };
    all_differ(&[talk(false), talk(true)]);
}

/// Inverts one byte of all that is written.
struct Flip {
    inner: Box<dyn Write + Send>,
    /// Bytes until then.
    left: usize,
}

impl Write for Flip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut bytes = bytes.to_vec();
        if let Some(byte) = bytes.get_mut(self.left) {
            *byte ^= 1;
        }
        self.inner.write_all(&bytes)?;
        self.left = self.left.checked_sub(bytes.len()).unwrap_or(usize::MAX);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[test]
fn a_byte_changed_on_the_way_shows() {
    for (at, same) in [(50, false), (usize::MAX, true)] {
        let (mut left, right) = memory::pair();
        left.writer = Box::new(Flip { inner: left.writer, left: at });
        let (sent, received) =
            transcripts((left, right), |ch| ch.send(&Hello(vec![1; 100])), |ch| ch.recv::<Hello>(100).map(drop));
        assert_eq!(sent == received, same, "byte {at}");
    }
}
