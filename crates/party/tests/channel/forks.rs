//! Forks: order, labels, credits, failures of one of them.

use std::sync::mpsc;
use std::thread;

use vesica_party::transport::{memory, tcp};
use vesica_party::{Abort, Channel};

use crate::support::*;

/// More than a fork's credit and the queue before it hold.
const MANY: usize = 4 << 20;

#[test]
fn a_slow_fork_blocks_no_other() {
    for ends in [memory::pair(), tcp_pair()] {
        let (started, slow_may_start) = mpsc::channel::<()>();
        let (sent, received) = both(
            ends,
            |ch| {
                let (mut slow, mut fast) = (ch.fork("slow")?, ch.fork("fast")?);
                thread::scope(|scope| {
                    let slow = scope.spawn(move || slow.send_stream::<Numbers>(&vec![1; MANY]));
                    for _ in 0..3 {
                        fast.send_stream::<Numbers>(&vec![2; MANY])?;
                    }
                    slow.join().unwrap()
                })
            },
            |ch| {
                let (mut slow, mut fast) = (ch.fork("slow")?, ch.fork("fast")?);
                thread::scope(|scope| {
                    let slow = scope.spawn(move || {
                        // Takes nothing before the other fork has all.
                        slow_may_start.recv().unwrap();
                        let mut numbers = vec![0; MANY];
                        slow.recv_stream::<Numbers>(&mut numbers)?;
                        Ok(numbers.iter().all(|number| *number == 1))
                    });
                    let mut numbers = vec![0; MANY];
                    for _ in 0..3 {
                        fast.recv_stream::<Numbers>(&mut numbers)?;
                        assert!(numbers.iter().all(|number| *number == 2));
                    }
                    started.send(()).unwrap();
                    slow.join().unwrap()
                })
            },
        );
        sent.unwrap();
        assert!(received.unwrap().0);
    }
}

#[test]
fn forks_of_forks_and_many_of_them_meet() {
    const FORKS: usize = 100;
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            // All at once and long before the other side: more than it admits early.
            let mut forks = (0..FORKS).map(|_| ch.fork("many")).collect::<Result<Vec<_>, _>>()?;
            for (i, fork) in forks.iter_mut().enumerate() {
                let mut child = fork.fork("child")?;
                child.send(&Hello(vec![i as u8]))?;
            }
            ch.send(&Hello(vec![255]))?;
            for fork in &mut forks {
                fork.recv::<Reply>(())?;
            }
            Ok(())
        },
        |ch| {
            ch.recv::<Hello>(1)?;
            let mut forks = (0..FORKS).map(|_| ch.fork("many")).collect::<Result<Vec<_>, _>>()?;
            for (i, fork) in forks.iter_mut().enumerate().rev() {
                assert_eq!(fork.fork("child")?.recv::<Hello>(1)?, Hello(vec![i as u8]));
                fork.send(&Reply(0))?;
            }
            Ok(())
        },
    );
    sent.unwrap();
    received.unwrap();
}

#[test]
fn labels_must_agree() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            let mut fork = ch.fork("apples")?;
            fork.send(&Hello(vec![1, 2, 3]))?;
            fork.recv::<Reply>(())
        },
        |ch| ch.fork("pears")?.recv::<Hello>(3),
    );
    let failures = [sent.unwrap_err(), received.unwrap_err()];
    let found = failures
        .iter()
        .filter(|failure| matches!(failure, Abort::PeerMisbehaved(_, what) if what.contains("label")))
        .count();
    let told = failures
        .iter()
        .filter(|failure| matches!(failure, Abort::PeerAborted(fault) if fault.fault.contains("label")))
        .count();
    assert!(found >= 1 && found + told == 2, "{failures:?}");
}

#[test]
fn a_fork_that_ends_too_early_is_noticed() {
    let (_, received) = both(
        memory::pair(),
        |ch| {
            drop(ch.fork("short")?);
            ch.recv::<Reply>(())
        },
        |ch| ch.fork("short")?.recv::<Hello>(3),
    );
    let failure = received.unwrap_err();
    assert!(
        matches!(failure, Abort::PeerMisbehaved(step, what) if step.number == 1 && what.contains("closed the fork")),
        "{failure}"
    );
}

#[test]
fn what_nobody_takes_from_a_fork_is_noticed() {
    let take_one = |ch: &mut Channel| {
        let mut one = [0; 1];
        ch.fork("rest")?.recv_stream::<Numbers>(&mut one)
    };
    let (_, received) = both(memory::pair(), |ch| ch.fork("rest")?.send_stream::<Numbers>(&[1, 2]), take_one);
    assert!(matches!(received.unwrap_err(), Abort::PeerMisbehaved(_, what) if what.contains("use for")));
}

#[test]
fn a_panic_on_a_fork_wakes_all() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            let mut fork = ch.fork("panics")?;
            thread::scope(|scope| {
                let thread = scope.spawn(move || {
                    let _fork = &mut fork;
                    panic!("on purpose");
                });
                assert!(thread.join().is_err());
            });
            ch.recv::<Reply>(())
        },
        |ch| ch.recv::<Hello>(3),
    );
    assert!(matches!(sent.unwrap_err(), Abort::Local { code: 70, .. }));
    assert!(matches!(received.unwrap_err(), Abort::PeerAborted(fault) if fault.code == 70));
}

fn tcp_pair() -> (vesica_party::transport::Connection, vesica_party::transport::Connection) {
    let listener = tcp::listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let wait = std::time::Duration::from_secs(10);
    let there = tcp::connect(&address, wait).unwrap();
    let (here, _) = tcp::accept(&listener, wait).unwrap();
    (tcp::connection(here).unwrap(), tcp::connection(there).unwrap())
}

#[test]
fn a_long_message_waits_until_its_fork_is_open() {
    // 12 MiB are more than the other side admits on a fork that it has not opened, and arrive once it
    // has.
    let message = Hello(vec![7; 12 << 20]);
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            ch.fork("long")?.send(&message)?;
            ch.send(&Hello(vec![1]))
        },
        |ch| {
            ch.recv::<Hello>(1)?;
            thread::sleep(std::time::Duration::from_millis(50));
            ch.fork("long")?.recv::<Hello>(12 << 20)
        },
    );
    sent.unwrap();
    assert_eq!(received.unwrap().0, message);
}
