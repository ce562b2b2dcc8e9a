use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};

use vesica_party::transport::relay::{Answer, Refusal, Ticket, Word, show};

use super::*;

const SOON: Duration = Duration::from_secs(10);

/// What was logged: the events' names, and all their words.
#[derive(Default)]
struct Heard(Mutex<Vec<(String, String)>>);

impl RelayLog for Heard {
    fn event(&self, name: &str, text: &str, fields: &[(&str, Value)]) {
        self.0.lock().unwrap().push((name.to_owned(), format!("{text} {fields:?}")));
    }
}

struct Running {
    address: String,
    log: Arc<Heard>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new(change: impl FnOnce(&mut RelayConfig)) -> Self {
        let mut config = RelayConfig {
            listen: "127.0.0.1:0".into(),
            key: None,
            max_connections: 16,
            connections_per_address: 16,
            dials_per_minute: 100,
            bytes_per_ticket: None,
            patience: SOON,
            grace: SOON,
            metrics: None,
        };
        change(&mut config);
        let (log, stop) = (Arc::new(Heard::default()), Stop::new());
        let relay = Relay::bind(config, log.clone()).expect("bound");
        let address = relay.listener.local_addr().expect("bound").to_string();
        let until = stop.clone();
        let thread = Some(thread::spawn(move || relay.run(&until, &Stop::new())));
        Self { address, log, stop, thread }
    }

    /// A connection that shows nothing.
    fn knock(&self) -> Party {
        Party { socket: TcpStream::connect(&self.address).expect("connected"), answer: RefCell::default() }
    }

    fn come(&self, ticket: &Ticket) -> Party {
        let party = self.knock();
        show(&party, ticket).expect("shown");
        party
    }

    /// Two parties that are joined, the first one first.
    fn pair(&self, ticket: &Ticket) -> (Party, Party) {
        let first = self.come(ticket);
        assert_eq!(next(&first), Word::Waiting);
        let second = self.come(ticket);
        assert_eq!((next(&first), next(&second)), (Word::Listener, Word::Connector));
        (first, second)
    }

    fn end(mut self) -> Vec<(String, String)> {
        self.stop.stop();
        self.thread.take().expect("running").join().expect("no panic");
        std::mem::take(&mut self.log.0.lock().unwrap())
    }

    fn says(&self, event: &str) {
        let end = Instant::now() + SOON;
        while !self.log.0.lock().unwrap().iter().any(|(name, _)| name == event) {
            assert!(Instant::now() < end, "no {event}: {:?}", self.log.0.lock().unwrap());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A party's connection, and what it has heard.
struct Party {
    socket: TcpStream,
    answer: RefCell<Answer>,
}

impl Deref for Party {
    type Target = TcpStream;

    fn deref(&self) -> &TcpStream {
        &self.socket
    }
}

impl DerefMut for Party {
    fn deref_mut(&mut self) -> &mut TcpStream {
        &mut self.socket
    }
}

fn next(party: &Party) -> Word {
    party.answer.borrow_mut().next_word(party, SOON).expect("a word").expect("in time")
}

fn refused(socket: &Party) -> Refusal {
    match next(socket) {
        Word::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

fn a_ticket() -> Ticket {
    any_ticket().expect("randomness")
}

#[test]
fn two_are_joined_with_no_byte_lost_and_a_third_is_refused() {
    let (relay, ticket) = (Running::new(|_| {}), a_ticket());
    let (mut first, mut second) = relay.pair(&ticket);
    assert_eq!(refused(&relay.come(&ticket)), Refusal::InUse);
    let long: Vec<u8> = (0..1_000_000u32).map(|i| i as u8).collect();
    let sent = long.clone();
    let sender = thread::spawn(move || {
        second.write_all(&sent).expect("sent");
        second.shutdown(std::net::Shutdown::Write).expect("shut");
        let mut rest = String::new();
        second.read_to_string(&mut rest).expect("read");
        rest
    });
    let mut read = Vec::new();
    first.read_to_end(&mut read).expect("read");
    assert!(read == long);
    first.write_all(b"answer").expect("sent");
    drop(first);
    assert_eq!(sender.join().expect("no panic"), "answer");
    relay.says("parted");
    // The ticket is free again.
    drop(relay.pair(&ticket));
    let log = relay.end();
    let text = ticket.reveal();
    assert!(log.iter().any(|(name, text)| name == "parted" && text.contains("1000006 bytes")), "{log:?}");
    assert!(log.iter().all(|(_, said)| !said.contains(&text[14..]) && !said.contains("answer")), "{log:?}");
}

#[test]
fn one_that_waits_is_heard_when_it_leaves_and_when_it_has_waited_too_long() {
    let relay = Running::new(|config| config.patience = Duration::from_millis(300));
    let ticket = a_ticket();
    drop(relay.come(&ticket));
    relay.says("left");
    let alone = relay.come(&ticket);
    assert_eq!((next(&alone), refused(&alone)), (Word::Waiting, Refusal::Alone));
    drop(relay.pair(&ticket));
    relay.end();
}

#[test]
fn a_relay_with_a_key_takes_its_own_tickets_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("relay.key");
    let made = RelayKey::create(&path).expect("written");
    assert_eq!(RelayKey::create(&path).expect_err("it is there").code, code::OUTPUT);
    let read = RelayKey::read(&path).expect("read");
    let ticket = made.ticket().expect("randomness");
    assert!(read.has_made(&ticket) && !read.has_made(&a_ticket()));
    let (random, mut mark) = ticket.parts();
    mark[15] ^= 1;
    assert!(!read.has_made(&Ticket::new(random, mark)));
    let relay = Running::new(|config| config.key = Some(read));
    drop(relay.pair(&ticket));
    assert_eq!(refused(&relay.come(&a_ticket())), Refusal::Unknown);
    relay.end();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&path, open).expect("permissions");
    assert!(RelayKey::read(&path).expect_err("others may read it").fault.contains("others may read it"));
}

#[test]
fn limits_of_addresses_and_of_a_ticket_hold() {
    let relay = Running::new(|config| (config.connections_per_address, config.dials_per_minute) = (2, 4));
    let ticket = a_ticket();
    let (first, second) = relay.pair(&ticket);
    assert_eq!(refused(&relay.come(&a_ticket())), Refusal::Full);
    drop((first, second));
    relay.says("parted");
    let waits = relay.come(&ticket);
    assert_eq!(next(&waits), Word::Waiting);
    // Nothing is on the way that would destroy the word.
    assert_eq!(refused(&relay.knock()), Refusal::TooOften);
    relay.end();

    let relay = Running::new(|config| config.bytes_per_ticket = Some(1000));
    let (mut first, mut second) = relay.pair(&ticket);
    first.write_all(&[0; 900]).expect("sent");
    second.read_exact(&mut [0; 900]).expect("read");
    // The pair is over then, and so is the ticket.
    first.write_all(&[0; 101]).expect("sent");
    assert!(!second.read(&mut [0; 101]).is_ok_and(|count| count > 0));
    relay.says("parted");
    assert_eq!(refused(&relay.come(&ticket)), Refusal::Spent);
    assert!(relay.end().iter().any(|(_, text)| text.contains("used up")));
}

#[test]
fn a_relay_that_stops_tells_those_that_wait_and_lets_pairs_end() {
    let relay = Running::new(|_| {});
    let (mut first, mut second) = relay.pair(&a_ticket());
    let waits = relay.come(&a_ticket());
    assert_eq!(next(&waits), Word::Waiting);
    relay.stop.stop();
    assert_eq!(refused(&waits), Refusal::Stopping);
    first.write_all(b"more").expect("sent");
    second.read_exact(&mut [0; 4]).expect("read");
    drop((first, second));
    assert!(relay.end().iter().any(|(name, _)| name == "stopping"));
}

#[test]
fn what_is_no_party_is_refused() {
    let relay = Running::new(|_| {});
    let mut stranger = relay.knock();
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    assert_eq!(refused(&stranger), Refusal::Version);
    drop(TcpStream::connect(&relay.address).expect("one that says nothing"));
    relay.end();
}

#[test]
fn neither_those_who_show_nothing_nor_those_who_are_refused_shut_others_out() {
    let key = RelayKey::create(&tempfile::tempdir().expect("a folder").path().join("relay.key")).expect("written");
    let ticket = key.ticket().expect("randomness");
    let relay = Running::new(|config| {
        (config.max_connections, config.connections_per_address, config.dials_per_minute) = (2, 2, 1000);
        config.key = Some(key);
    });
    let mut silent: Vec<_> = (0..40).map(|_| relay.knock()).collect();
    let strangers: Vec<_> = (0..40)
        .map(|_| relay.come(&a_ticket()))
        .inspect(|party| assert_eq!(refused(party), Refusal::Unknown))
        .collect();
    let (mut first, second) = relay.pair(&ticket);
    assert_eq!(refused(&relay.come(&ticket)), Refusal::InUse);
    // The first of those who show nothing have made room, and the last ones go when their time is over.
    for party in &mut silent {
        party.set_read_timeout(Some(SOON)).expect("set");
        assert!(!party.read(&mut [0]).is_ok_and(|count| count > 0));
    }
    first.write_all(b"more").expect("sent");
    (&*second).read_exact(&mut [0; 4]).expect("read");
    drop((first, second, strangers));
    let log = relay.end();
    let lines = log.iter().filter(|(name, _)| name == "refused").count();
    assert!((1..41).contains(&lines), "{lines} lines of 41");
}

#[test]
fn a_ticket_is_free_soon_once_one_side_is_gone() {
    let relay = Running::new(|config| {
        (config.max_connections, config.connections_per_address, config.dials_per_minute) = (1000, 1000, 1000);
    });
    let ticket = a_ticket();
    let (first, second) = relay.pair(&ticket);
    first.shutdown(std::net::Shutdown::Write).expect("shut");
    // The other one neither hangs up nor says anything.
    let begun = Instant::now();
    relay.says("parted");
    assert!(begun.elapsed() < SOON);
    drop(second);
    // Whoever comes when the one that has waited is just gone waits in its place, and meets nobody who is gone.
    for ticket in (0..50).map(|_| a_ticket()) {
        let gone = relay.come(&ticket);
        assert_eq!(next(&gone), Word::Waiting);
        drop(gone);
        drop(relay.pair(&ticket));
    }
    let log = relay.end();
    assert!(log.iter().any(|(name, text)| name == "parted" && text.contains("did not hang up within 1 s")), "{log:?}");
}
