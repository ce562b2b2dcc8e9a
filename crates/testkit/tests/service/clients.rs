//! Many clients at once, over memory, TCP and TLS; and clients that harm nobody but themselves.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::service::{ClientIdentity, Published, ServeLimits, Stop, describe, serve};
use vesica_party::transport::acceptor::{Acceptor, PlaintextAcceptor, TlsAcceptor, in_memory};
use vesica_party::transport::tls::{self, AcceptedKeys, Identity};
use vesica_party::transport::{Connection, tcp};
use vesica_party::{Abort, Channel, ChannelOptions, Role};
use vesica_testkit::insecure_lookup::{LASTS_AT, LONG, PANICS_AT};
use vesica_testkit::options;

use crate::support::*;

/// Each of many clients asks several times, all of them joined before the first one leaves.
fn many(acceptor: &dyn Acceptor, connect: impl Fn() -> Connection + Sync) -> Told {
    const CLIENTS: u64 = 24;
    let state = Published::new(prepared(&[10, 20, 30]));
    let ((), told) = with_server(acceptor, &state, &limits(), |told| {
        let asked = AtomicUsize::new(0);
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (connect, asked) = (&connect, &asked);
                scope.spawn(move || {
                    let mut toy = enrol(connect());
                    wait_until(|| told.joined.lock().unwrap().len() == CLIENTS as usize);
                    for query in 0..5 {
                        let found = toy.query(vec![client, 10, 5 * query]).expect("an answer");
                        assert_eq!(found, [[10, 20, 30].contains(&client), true, query == 2 || query == 4]);
                        asked.fetch_add(1, Ordering::SeqCst);
                    }
                    assert_eq!(toy.enrolled().client.set_size, 3);
                    toy.leave().1.expect("a clean end");
                });
            }
        });
        assert_eq!(asked.load(Ordering::SeqCst), 5 * CLIENTS as usize);
        // The last of them may still close its connection.
        wait_until(|| told.answered.lock().unwrap().len() == 5 * CLIENTS as usize);
    });
    assert!(told.failures.lock().unwrap().is_empty(), "{:?}", told.failures.lock().unwrap());
    for number in 0..5 {
        let answered = told.answered.lock().unwrap().iter().filter(|query| query.number == number).count();
        assert_eq!(answered, CLIENTS as usize, "query {number}");
    }
    told
}

#[test]
fn many_clients_over_memory() {
    let (acceptor, connector) = in_memory(64);
    let told = many(&acceptor, || connector.connect().expect("room"));
    assert!(told.joined.lock().unwrap().iter().all(|(client, _)| *client == ClientIdentity::Anonymous));
}

#[test]
fn many_clients_over_tcp() {
    let (listener, address) = listen();
    let told = many(&PlaintextAcceptor(listener), || plain(&address));
    assert!(told.joined.lock().unwrap().iter().all(|(client, _)| *client == ClientIdentity::Anonymous));
}

fn tls_acceptor(listener: tcp::Listener, clients: AcceptedKeys) -> TlsAcceptor {
    let identity = Identity::generate().expect("randomness");
    TlsAcceptor { listener, identity, clients, handshake_limit: WAIT, post_quantum: false }
}

#[test]
fn many_clients_over_tls_are_known_by_their_keys() {
    let (listener, address) = listen();
    let clients = [(); 3].map(|()| Identity::generate().expect("randomness"));
    let keys = clients.each_ref().map(Identity::public);
    let acceptor = tls_acceptor(listener, AcceptedKeys::any_of(keys));
    let (server, next) = (acceptor.identity.public(), AtomicUsize::new(0));
    let told = many(&acceptor, || {
        let client = &clients[next.fetch_add(1, Ordering::SeqCst) % clients.len()];
        tls::connect(tcp::connect(&address, WAIT).expect("connected"), client, server, WAIT).expect("accepted")
    });
    for key in keys {
        let queries =
            told.answered.lock().unwrap().iter().filter(|query| query.client == ClientIdentity::Key(key)).count();
        assert_eq!(queries, 8 * 5);
    }
}

#[test]
fn a_client_that_knows_nothing_is_told_once_what_the_server_offers() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let ((), told) = with_server(acceptor, &state, &limits(), |told| {
            let mut ch = channel(connect());
            assert_eq!(describe(&mut ch).expect("a description"), DESCRIPTION);
            let mut client = Toy::enrol(ch, ITEMS, rng()).expect("enrolled");
            assert_eq!(client.query(vec![1, 2, 1]).expect("an answer"), [true, false, true]);
            client.leave().1.expect("a clean end");

            let mut greedy = channel(connect());
            describe(&mut greedy).expect("a description");
            let refusal = describe(&mut greedy).expect_err("twice").to_string();
            assert!(refusal.contains("a description that it has"), "{refusal}");
            wait_until(|| told.failures.lock().unwrap().len() == 1);
        });
        assert_eq!(told.joined.lock().unwrap().len(), 1);
    });
}

#[test]
fn a_query_that_is_not_permitted_ends_its_connection_and_no_other() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let ((), told) = with_server(acceptor, &state, &limits(), |_| {
            let mut client = enrol(connect());
            for _ in 0..PERMITTED {
                client.query(vec![1, 2, 1]).expect("an answer");
            }
            let refusal = client.query(vec![1, 2, 1]).expect_err("one too many").to_string();
            assert!(refusal.contains("it asked too often"), "{refusal}");
            let (enrolled, _) = client.leave();
            let Ok(mut again) = Toy::rejoin(channel(connect()), ITEMS, enrolled, rng()) else { panic!("not joined") };
            again.query(vec![1, 2, 1]).expect("an answer");
            again.leave().1.expect("a clean end");
        });
        assert_eq!(told.answered.lock().unwrap().len() as u64, PERMITTED + 1);
    });
}

#[test]
fn a_key_that_is_not_accepted_is_refused_on_both_sides() {
    let (listener, address) = listen();
    let (known, stranger) = (Identity::generate().expect("randomness"), Identity::generate().expect("randomness"));
    let acceptor = tls_acceptor(listener, AcceptedKeys::any_of([known.public()]));
    let server = acceptor.identity.public();
    let connect = |client: &Identity, server| {
        let refused = tls::connect(tcp::connect(&address, WAIT).expect("connected"), client, server, WAIT);
        refused.map_err(|failure| Abort::from(failure).to_string())
    };
    let state = Published::new(prepared(&[1]));
    let ((), told) = with_server(&acceptor, &state, &limits(), |_| {
        let refusal = connect(&stranger, server).expect_err("a stranger");
        assert!(refusal.contains("the partner refused our key"), "{refusal}");
        connect(&known, stranger.public()).expect_err("another server than expected");
        enrol(connect(&known, server).expect("accepted")).leave().1.expect("a clean end");
    });
    let failures = told.failures.lock().unwrap();
    let said: Vec<_> =
        failures.iter().map(|(known, failure)| (known, failure.split(" (").next().unwrap_or_default())).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().any(|(_, failure)| failure.ends_with("which this server does not accept")), "{said:?}");
    assert!(said.iter().any(|(_, failure)| failure.starts_with("a client refused our key")), "{said:?}");
}

#[test]
fn a_client_that_fails_stalls_or_lies_harms_no_other() {
    let (listener, address) = listen();
    let limits = ServeLimits { idle: Duration::from_secs(3), joining: Duration::from_secs(1), ..limits() };
    let state = Published::new(prepared(&[1, 2]));
    let ((), told) = with_server(&PlaintextAcceptor(listener), &state, &limits, |told| {
        let mut good = enrol(plain(&address));
        let mut ask = || assert_eq!(good.query(vec![1, 2, 3]).expect("an answer"), [true, true, false]);
        let end = Instant::now() + Duration::from_secs(40);
        let mut failures = |count| {
            while told.failures.lock().unwrap().len() < count {
                ask();
                assert!(Instant::now() < end, "{:?}", told.failures.lock().unwrap());
                thread::sleep(Duration::from_millis(20));
            }
        };

        // What is no frame of ours.
        let mut stranger = TcpStream::connect(&address).expect("connected");
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
        // A panic in the server's code.
        let mut unlucky = enrol(plain(&address));
        let failure = unlucky.query(vec![PANICS_AT, 0, 0]).expect_err("the server panicked");
        assert!(failure.to_string().contains("the server failed for a reason of its own"), "{failure}");
        let (kept, ended) = unlucky.leave();
        assert!(ended.is_err() && kept.client.set_size == 2);
        // A link that is cut.
        let cut = plain(&address);
        let shutdown = cut.shutdown.clone();
        let mut cut = enrol(cut);
        shutdown.close(std::net::Shutdown::Both).expect("cut");
        cut.query(vec![0; 3]).expect_err("no link");
        failures(3);
        // A query without joining, and a request that does not exist.
        for request in [2u8, 9] {
            let mut liar = channel(plain(&address));
            liar.send(&Raw(request)).expect("sent");
            let refusal = liar.recv::<Reply>(()).expect_err("refused").to_string();
            assert!(refusal.contains("misbehaved at service step 1"), "{refusal}");
        }
        failures(5);
        // Other parameters.
        let refusal = Toy::enrol(channel(plain(&address)), ITEMS + 1, rng()).err().expect("other terms").to_string();
        assert!(refusal.contains("asks for another service, or for other parameters"), "{refusal}");
        failures(6);
        // Silence: from the start, while it joins, and after it has left. That the channel pings does not
        // help.
        let mut silent = [(); 3].map(|()| channel(plain(&address)));
        silent[1].send(&Raw(1)).expect("sent");
        silent[2].send(&Raw(3)).expect("sent");
        failures(9);
    });
    let failures = told.failures.into_inner().unwrap();
    assert!(
        failures.iter().any(|(_, failure)| failure.contains("the client's next request took longer than 3 s")),
        "{failures:?}"
    );
    assert!(
        failures.iter().any(|(_, failure)| failure.contains("the client to close the connection took longer than 3 s")),
        "{failures:?}"
    );
    assert!(failures.iter().any(|(_, failure)| failure.contains("joining took longer than 1 s")), "{failures:?}");
}

vesica_party::arrows! { "service" =>
    fixed Raw(u8) = 1, Receiver, "what a liar says";
    fixed RawJoin([u8; 64]) = 2, Receiver, "raw";
    #[derive(Debug)]
    fixed Reply([u8; 32]) = 3, Sender, "what a liar says";
    fixed RawStanding([u8; 17]) = 4, Sender, "raw";
}

vesica_party::arrows! { "insecure-lookup" =>
    fixed RawSize(u64) = 1, Sender, "raw";
    fixed RawItems([u64; 3]) = 2, Receiver, "raw";
    fixed RawFound([u8; 11]) = 3, Sender, "raw";
}

#[test]
fn clients_beyond_the_bound_wait_for_room() {
    over_both(|acceptor, connect| {
        let limits = ServeLimits { clients: 2, ..limits() };
        let state = Published::new(prepared(&[1]));
        with_server(acceptor, &state, &limits, |told| {
            let (first, second) = (enrol(connect()), enrol(connect()));
            thread::scope(|scope| {
                let third = scope.spawn(|| enrol(connect()).leave().1.map(drop));
                thread::sleep(Duration::from_millis(300));
                assert_eq!(told.joined.lock().unwrap().len(), 2);
                first.leave().1.expect("a clean end");
                third.join().expect("no panic").expect("a clean end");
            });
            second.leave().1.expect("a clean end");
        });
    });
}

#[test]
fn strangers_that_say_nothing_do_not_keep_clients_out() {
    let (listener, address) = listen();
    let client = Identity::generate().expect("randomness");
    let acceptor = tls_acceptor(listener, AcceptedKeys::every());
    let server = acceptor.identity.public();
    let limits = ServeLimits { handshakes: 2, handshake_stay: Duration::from_millis(100), ..limits() };
    let state = Published::new(prepared(&[1]));
    with_server(&acceptor, &state, &limits, |_| {
        let strangers: Vec<TcpStream> = (0..6).map(|_| TcpStream::connect(&address).expect("connected")).collect();
        let start = Instant::now();
        let connection = tls::connect(tcp::connect(&address, WAIT).expect("connected"), &client, server, WAIT);
        enrol(connection.expect("accepted")).leave().1.expect("a clean end");
        assert!(start.elapsed() < WAIT / 2, "it took {:?}", start.elapsed());
        drop(strangers);
    });
}

/// Nothing ends by time here: whoever gets in has not waited for that.
fn unhurried(places: usize) -> ServeLimits {
    let hour = Duration::from_secs(3600);
    let channel = ChannelOptions { drain_for: hour, ..options() };
    ServeLimits { clients: places, idle: hour, channel, ..limits() }
}

/// 400 connections of a client that has as many as it may, none of which reads or closes.
#[test]
fn a_client_that_is_refused_again_and_again_keeps_no_other_out() {
    for places in [24, 256] {
        let (listener, address) = listen();
        let clients = [(); 3].map(|()| Identity::generate().expect("randomness"));
        let [greedy, slow, honest] = &clients;
        let acceptor = tls_acceptor(listener, AcceptedKeys::any_of(clients.each_ref().map(Identity::public)));
        let server = acceptor.identity.public();
        let connect = |client: &Identity| {
            tls::connect(tcp::connect(&address, WAIT).expect("connected"), client, server, WAIT).expect("accepted")
        };
        let state = Published::new(prepared(&[1]));
        let limits = ServeLimits { connections_per_client: 4, ..unhurried(places) };
        with_server(&acceptor, &state, &limits, |told| {
            let _there: Vec<Toy> = [greedy, slow].repeat(4).into_iter().map(|client| enrol(connect(client))).collect();
            // It is refused, too, and does not read it.
            let late = connect(slow);
            let mut held: Vec<Connection> = thread::scope(|scope| {
                let some = || (0..50).map(|_| connect(greedy)).collect::<Vec<_>>();
                let all: Vec<_> = (0..8).map(|_| scope.spawn(some)).collect();
                all.into_iter().flat_map(|some| some.join().expect("no panic")).collect()
            });
            let mut client = enrol(connect(honest));
            assert_eq!(client.query(vec![1, 2, 1]).expect("an answer"), [true, false, true]);
            client.leave().1.expect("a clean end");

            // All but those that wait to be read are gone, and only those of the client that has so many.
            wait_until(|| told.failed.lock().unwrap().len() > 400 - limits.endings);
            let greedy = Some(ClientIdentity::Key(greedy.public()));
            assert!(told.failed.lock().unwrap().iter().all(|client| *client == greedy));
            // Whether it was cut or still waits, a client that reads finds out why it was refused.
            for refused in [held.remove(399), held.remove(20), late] {
                let refusal = channel(refused).recv::<Reply>(()).expect_err("refused").to_string();
                assert!(refusal.contains("has 4 connections already"), "{refusal}");
            }
        });
    }
}

/// A client that goes has a place no longer, though its connection is not closed: the next one of its
/// own is not refused.
#[test]
fn a_connection_that_is_over_counts_for_nobody() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let limits = ServeLimits { endings: 3, ..unhurried(2) };
        with_server(acceptor, &state, &limits, |_| {
            let mut held = Vec::new();
            for _ in 0..20 {
                let mut liar = channel(connect());
                liar.send(&Raw(9)).expect("sent");
                held.push(liar);
            }
            enrol(connect()).leave().1.expect("a clean end");
        });
    });
}

#[test]
fn a_client_that_may_not_join_is_told_before_the_server_works_for_it() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let ((), told) = with_server(acceptor, &state, &limits(), |told| {
            let (mut kept, ended) = enrol(connect()).leave();
            ended.expect("a clean end");
            kept.state = unwelcome();
            let Err((refusal, _)) = Toy::rejoin(channel(connect()), ITEMS, kept, rng()) else { panic!("joined") };
            assert!(refusal.to_string().contains("it enrolled too often"), "{refusal}");
            wait_until(|| told.failures.lock().unwrap().len() == 1);
        });
        assert_eq!(told.joined.lock().unwrap().len(), 1);
    });
}

#[test]
fn stopping_ends_idle_clients_at_once_and_waits_for_queries() {
    over_both(|acceptor, connect| {
        let (state, stop, told) = (Published::new(prepared(&[1])), Stop::new(), Told::default());
        let limits = limits();
        thread::scope(|scope| {
            let server = scope.spawn(|| serve(acceptor, &offer(&state), &limits, &told, &stop));
            let mut idle = enrol(connect());
            idle.query(vec![1, 2, 3]).expect("an answer");
            let mut busy = enrol_raw(connect());
            // The server waits for this query's items.
            busy.send(&Raw(2)).expect("sent");
            thread::sleep(Duration::from_millis(100));
            stop.stop();
            wait_until(|| told.failures.lock().unwrap().len() == 1);
            let failure = idle.query(vec![1, 2, 3]).expect_err("stopped").to_string();
            assert!(failure.contains("the server is shutting down"), "{failure}");
            assert!(!server.is_finished(), "a query is under way");
            busy.send(&RawItems([1, 2, 3])).expect("sent");
            let answer: RawFound = busy.recv(()).expect("the answer");
            assert_eq!(answer.0[8..], [1, 0, 0]);
            let RawStanding(standing) = busy.recv(()).expect("how the server stands");
            assert_eq!(standing[16], 1, "the server stops");
            busy.send(&Raw(3)).expect("sent");
            busy.finish().expect("a clean end");
            wait_until(|| server.is_finished());
        });
        // The place stands, for another server.
        drop(connect());
    });
}

#[test]
fn a_query_that_is_refused_ends_no_connection() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let ((), told) = with_server(acceptor, &state, &limits(), |_| {
            let mut toy = enrol(connect());
            let refusal = toy.query(vec![1]).expect_err("too small").to_string();
            assert!(refusal.contains("a query of another size"), "{refusal}");
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
            toy.leave().1.expect("a clean end");
        });
        assert!(told.failures.lock().unwrap().is_empty());
    });
}

#[test]
fn neither_side_takes_the_other_for_dead_while_it_computes_or_waits() {
    over_both(|acceptor, connect| {
        let channel = ChannelOptions { dead_after: LONG / 2, ..options() };
        let limits = ServeLimits { channel: channel.clone(), ..limits() };
        let state = Published::new(prepared(&[1]));
        let ((), told) = with_server(acceptor, &state, &limits, |_| {
            let ch = Channel::open(connect(), Role::Receiver, channel.clone()).expect("threads");
            let mut toy = Toy::enrol(ch, ITEMS, rng()).expect("enrolled");
            assert_eq!(toy.query(vec![1, LASTS_AT, 2]).expect("an answer"), [true, false, false]);
            thread::sleep(LONG);
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
            toy.leave().1.expect("a clean end");
        });
        assert!(told.failures.lock().unwrap().is_empty(), "{:?}", told.failures.lock().unwrap());
    });
}

#[test]
fn a_client_enrols_once_on_a_connection() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        with_server(acceptor, &state, &limits(), |_| {
            let mut greedy = enrol_raw(connect());
            greedy.send(&Raw(1)).expect("sent");
            let refusal = greedy.recv::<Reply>(()).expect_err("refused").to_string();
            assert!(refusal.contains("it joined a state that it had joined"), "{refusal}");
        });
    });
}

/// A server that says that nothing has changed cannot have a client go on with what was agreed
/// then, though both agree on something else now.
#[test]
fn a_client_joins_again_on_the_terms_of_its_enrolment_only() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        with_server(acceptor, &state, &limits(), |told| {
            let (kept, ended) = enrol(connect()).leave();
            ended.expect("a clean end");
            let again = || channel(connect());
            let (refusal, kept) = Toy::rejoin(again(), ITEMS + 1, kept, rng()).err().expect("other terms");
            assert!(refusal.to_string().contains("was enrolled with another service"), "{refusal}");
            assert_eq!(told.joined.lock().unwrap().len(), 1, "nothing was asked of the server");
            let Ok(again) = Toy::rejoin(again(), ITEMS, kept, rng()) else { panic!("not joined") };
            again.leave().1.expect("a clean end");
        });
    });
}

/// Joins with the messages themselves.
fn enrol_raw(connection: Connection) -> vesica_party::Channel {
    let (kept, ended) = enrol_terms(connection);
    assert_eq!(kept, 1);
    ended
}

fn enrol_terms(connection: Connection) -> (u64, vesica_party::Channel) {
    let mut terms = blake3::Hasher::new_derive_key("vesica 2026-11-23 terms of a service v1");
    terms.update(&15u64.to_le_bytes()).update(b"insecure-lookup").update(&ITEMS.to_le_bytes());
    let mut join = [0; 64];
    join[16..48].copy_from_slice(terms.finalize().as_bytes());
    let mut ch = channel(connection);
    ch.send(&Raw(1)).expect("sent");
    ch.send(&RawJoin(join)).expect("sent");
    ch.recv::<Reply>(()).expect("welcome");
    let RawSize(size) = ch.recv(()).expect("the size");
    (size, ch)
}
