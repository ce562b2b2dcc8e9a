//! TCP and shaped links.

use std::time::{Duration, Instant};

use vesica_party::transport::{Link, memory, shaped, tcp};
use vesica_party::{Abort, Role};

use crate::support::*;

const WAIT: Duration = Duration::from_secs(10);

#[test]
fn tcp_carries_both_ways() {
    let addresses = ["127.0.0.1:0", "localhost:0", "[::1]:0"];
    for address in addresses {
        let listener = match tcp::listen(address) {
            Ok(listener) => listener,
            // A machine without IPv6.
            Err(failure) if address.starts_with('[') => {
                eprintln!("{address} not tested: {failure}");
                continue;
            }
            Err(failure) => panic!("{failure}"),
        };
        let address = listener.local_addr().unwrap().to_string();
        let there = tcp::connection(tcp::connect(&address, WAIT).unwrap()).unwrap();
        let here = tcp::connection(tcp::accept(&listener, WAIT).unwrap().0).unwrap();
        let (sent, received) = both(
            (here, there),
            |ch| {
                ch.send_stream::<Numbers>(&vec![3; 3_000_000])?;
                ch.recv::<Reply>(())
            },
            |ch| {
                let mut numbers = vec![0; 3_000_000];
                ch.recv_stream::<Numbers>(&mut numbers)?;
                ch.send(&Reply(numbers.iter().sum()))
            },
        );
        assert_eq!(sent.unwrap().0, Reply(9_000_000));
        received.unwrap();
    }
}

#[test]
fn connecting_waits_for_the_listener() {
    let listener = tcp::listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| tcp::connect(&address, WAIT));
        std::thread::sleep(Duration::from_millis(100));
        let listener = tcp::listen(&address).unwrap();
        tcp::accept(&listener, WAIT).unwrap();
        connecting.join().unwrap().unwrap();
    });
}

#[test]
fn absent_peers_and_bad_addresses_say_so() {
    let code = |result: Result<_, Abort>| result.map(|_: ()| ()).unwrap_err().exit_code();
    let listener = tcp::listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    assert_eq!(code(tcp::accept(&listener, Duration::from_millis(30)).map(drop)), 5);
    assert_eq!(code(tcp::listen(&address).map(drop)), 10, "the address is taken");
    drop(listener);
    assert_eq!(code(tcp::connect(&address, Duration::from_millis(30)).map(drop)), 5);
    for bad in ["7400", "localhost", "host:99999", ""] {
        assert_eq!(code(tcp::connect(bad, Duration::from_millis(30)).map(drop)), 2, "{bad:?}");
        assert_eq!(code(tcp::listen(bad).map(drop)), 2, "{bad:?}");
    }
    // A name that nobody knows is well-formed, and may be known later.
    let unknown = "no-such-host.invalid:7400";
    assert_eq!(code(tcp::connect(unknown, Duration::from_millis(30)).map(drop)), 5);
    assert_eq!(code(tcp::listen(unknown).map(drop)), 10);
}

#[test]
fn a_shaped_link_takes_its_time() {
    const LINK: Link = Link { bits_per_second: 80_000_000, round_trip_us: 40_000 };
    let (left, right) = memory::pair();
    let ends = (shaped::shape(left, LINK), shaped::shape(right, LINK));
    let begun = Instant::now();
    let (sent, received) = both(
        ends,
        |ch| {
            ch.send_stream::<Numbers>(&vec![1; 250_000])?;
            ch.recv::<Reply>(())
        },
        |ch| {
            let mut numbers = vec![0; 250_000];
            ch.recv_stream::<Numbers>(&mut numbers)?;
            ch.send(&Reply(numbers.iter().sum()))
        },
    );
    assert_eq!(sent.unwrap().0, Reply(250_000));
    received.unwrap();
    // 2 MB at 10 MB/s and one round trip; only the lower bound is the link's promise.
    assert!(begun.elapsed() >= Duration::from_millis(240), "{:?}", begun.elapsed());
}

#[test]
fn an_abort_crosses_a_shaped_link() {
    let (left, right) = memory::pair();
    let link = Link { bits_per_second: 1_000_000, round_trip_us: 100_000 };
    let ends = (shaped::shape(left, link), shaped::shape(right, link));
    let (_, received) = both(
        ends,
        |_| Err::<(), _>(Abort::Local { code: 4, fault: "disk full".into(), mend: "make room".into() }),
        |ch| ch.recv::<Hello>(3),
    );
    let failure = received.unwrap_err();
    assert!(
        matches!(&failure, Abort::PeerAborted(fault) if fault.code == 4 && fault.from == Some(Role::Sender)),
        "{failure}"
    );
}
