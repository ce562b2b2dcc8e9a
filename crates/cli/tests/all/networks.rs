//! Networks as they are: proxies of both kinds, which the test plays, and a relay for two sides that can only dial.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::harness::{Folder, Process};

const RECEIVE: &str =
    "receive --input ours.csv --key email --output matches.csv --force --identity us.key --peer them.pub";
const SEND: &str = "send --input theirs.csv --key mail --payload city --identity them.key --peer us.pub";

/// A name that only a proxy can resolve.
const PARTNER: &str = "partner.invalid:7400";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\nplain-one@x.org\nplain-two@x.org\n");
    folder.write("theirs.csv", "mail,city\nplain-two@x.org,plain-city\nplain-three@x.org,Rome\n");
    folder
}

fn is_joined(folder: &Folder) {
    assert_eq!(folder.read("matches.csv"), "email,city\nplain-two@x.org,plain-city\n");
}

/// Passes on what comes from either end, and keeps it.
fn splice(near: TcpStream, far: TcpStream, kept: &Arc<Mutex<Vec<u8>>>) {
    let (from, to) = (near.try_clone().expect("cloned"), far.try_clone().expect("cloned"));
    let others = kept.clone();
    thread::spawn(move || copy(from, to, &others));
    copy(far, near, kept);
}

fn copy(mut from: TcpStream, mut to: TcpStream, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        kept.lock().expect("kept").extend_from_slice(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = (to.shutdown(Shutdown::Write), from.shutdown(Shutdown::Read));
}

/// What a stand-in has been sent.
type Kept = Arc<Mutex<Vec<u8>>>;

/// Starts what takes each connection with `greet`, which says where it goes on, if anywhere. Gives its address and what
/// was passed on.
fn between(greet: impl Fn(&mut TcpStream) -> Option<String> + Send + Sync + 'static) -> (String, Kept) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    let (kept, greet) = (Kept::default(), Arc::new(greet));
    let all = kept.clone();
    thread::spawn(move || {
        for mut near in listener.incoming().map_while(Result::ok) {
            let (greet, kept) = (greet.clone(), all.clone());
            thread::spawn(move || {
                if let Some(far) = greet(&mut near).and_then(|to| TcpStream::connect(to).ok()) {
                    splice(near, far, &kept);
                }
            });
        }
    });
    (address, kept)
}

/// A proxy for `CONNECT`, which connects to `to` whoever is asked for, and answers `answer` unless the request has the
/// credentials of me:s3cret.
fn http_proxy(to: String, answer: &'static str) -> (String, Kept) {
    let asked = Kept::default();
    let heads = asked.clone();
    let (address, _) = between(move |near| {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            near.read_exact(&mut byte).ok()?;
            head.extend(byte);
        }
        heads.lock().expect("kept").extend_from_slice(&head);
        let allowed = String::from_utf8_lossy(&head).contains("Proxy-Authorization: Basic bWU6czNjcmV0\r\n");
        let answer = if allowed { "200 Connection established" } else { answer };
        near.write_all(format!("HTTP/1.1 {answer}\r\nVia: test\r\n\r\n").as_bytes()).ok()?;
        allowed.then(|| to.clone())
    });
    (address, asked)
}

/// A proxy for SOCKS 5 without passwords, which connects to `to` whoever is asked for. It keeps the names.
fn socks_proxy(to: String) -> (String, Kept) {
    let asked = Kept::default();
    let names = asked.clone();
    let (address, _) = between(move |near| {
        let mut greeting = [0; 2];
        near.read_exact(&mut greeting).ok()?;
        near.read_exact(&mut vec![0; greeting[1].into()]).ok()?;
        near.write_all(&[5, 0]).ok()?;
        let mut request = [0; 5];
        near.read_exact(&mut request).ok()?;
        assert_eq!(request[..4], [5, 1, 0, 3], "a name");
        let mut name = vec![0; usize::from(request[4]) + 2];
        near.read_exact(&mut name).ok()?;
        names.lock().expect("kept").extend_from_slice(&name);
        near.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
        Some(to.clone())
    });
    (address, asked)
}

fn text(kept: &Kept) -> String {
    String::from_utf8_lossy(&kept.lock().expect("kept")).into_owned()
}

#[test]
fn a_join_goes_through_proxies_of_both_kinds_which_resolve_the_name() {
    let folder = tables();
    let receiver = folder.start(&format!("{RECEIVE} --listen 127.0.0.1:0 --wait 20"));
    let (proxy, asked) = http_proxy(receiver.address(), "407 Proxy Authentication Required");
    let sender = folder.run(&format!("{SEND} --connect {PARTNER} --proxy http://me:s3cret@{proxy} --wait 20 -vv"));
    sender.expect(0, &[]);
    receiver.end().expect(0, &[]);
    is_joined(&folder);
    assert!(text(&asked).starts_with(&format!("CONNECT {PARTNER} HTTP/1.1\r\nHost: {PARTNER}\r\n")), "{asked:?}");
    assert!(!sender.stderr.contains("s3cret") && !sender.stdout.contains("s3cret"), "{}", sender.stderr);

    let receiver = folder.start(&format!("{RECEIVE} --listen 127.0.0.1:0 --wait 20"));
    let (proxy, asked) = socks_proxy(receiver.address());
    let mut by_variable = Command::new(crate::PROGRAM);
    by_variable.env("ALL_PROXY", format!("socks5h://me:s3cret@{proxy}")).env("no_proxy", "elsewhere.invalid");
    let sender = folder.start_under(by_variable, &format!("{SEND} --connect {PARTNER} --wait 20")).end();
    sender.expect(0, &[&format!("dialling through the proxy socks5h://{proxy}, which ALL_PROXY names")]);
    receiver.end().expect(0, &[]);
    is_joined(&folder);
    assert!(text(&asked).starts_with("partner.invalid") && !sender.stderr.contains("s3cret"), "{asked:?}");
}

#[test]
fn a_proxy_that_does_not_connect_is_told_apart_from_a_partner_that_is_absent() {
    let folder = tables();
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a free port");
    for (proxy, code, told) in [
        (http_proxy(String::new(), "407 Who Are You").0, 11, &["wants a user and a password", "USER:PASSWORD@"][..]),
        (format!("me:no-s3cret@{}", http_proxy(String::new(), "407 No").0), 11, &["does not take this user", "%40"]),
        (http_proxy(String::new(), "403 Forbidden").0, 11, &["does not let this side connect", "403 Forbidden"]),
        (http_proxy(String::new(), "503 Nobody there").0, 5, &["nobody answers at", "503 Nobody there", "--wait"]),
        (format!("socks5h://{}", http_proxy(String::new(), "").0), 5, &["nobody answers at", "broke off"]),
        (nobody.to_string(), 5, &["the proxy http://127.0.0.1", "does not answer"]),
        ("ftp://me:no-s3cret@127.0.0.1:1".into(), 2, &["--proxy: a proxy is of no known kind", "socks5h://HOST:PORT"]),
    ] {
        // What says nothing that a proxy says waits for 20 s otherwise.
        let limit = if proxy.starts_with("socks") { "--wait 25" } else { "--wait 1" };
        let ended = folder.run(&format!("{SEND} --connect {PARTNER} --proxy {proxy} {limit}"));
        ended.expect(code, told);
        assert!(!ended.stderr.contains("no-s3cret"), "{}", ended.stderr);
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_with_a_way_round() {
    let folder = tables();
    let mut variable = Command::new(crate::PROGRAM);
    variable.env("HTTPS_PROXY", "https://me:no-s3cret@127.0.0.1:1");
    let refused = folder.start_under(variable, &format!("{SEND} --connect {PARTNER} --wait 1")).end();
    refused.expect(2, &["the variable HTTPS_PROXY: ", "`--proxy none` dials directly, or list the host in NO_PROXY"]);
    assert!(!refused.stderr.contains("no-s3cret"), "{}", refused.stderr);
    let listens = format!("{RECEIVE} --listen 127.0.0.1:0 --wait 1 --proxy");
    folder.run(&format!("{listens} http://127.0.0.1:1")).expect(2, &["--listen has a --proxy", "omit --proxy"]);
    folder.run(&format!("{listens} none")).expect(5, &["nobody connected"]);
}

#[test]
fn what_shows_settings_shows_neither_a_ticket_nor_a_password() {
    let folder = tables();
    let ticket = a_ticket(&folder, "");
    folder.write(
        "job.toml",
        format!(
            "[receiver]\ninput = \"ours.csv\"\nkey = \"email\"\noutput = \"o.csv\"\npeer = \"them.pub\"\nrelay = \
             \"relay.invalid:7600\"\nticket = \"{ticket}\"\nproxy = \"http://me:s3cret@p:1\"\n"
        ),
    );
    let shown = folder.run("config job.toml --role receiver");
    shown.expect(0, &[]);
    for line in ["ticket = \"(a ticket, and not shown)\"", "proxy = \"http://p:1\"", "relay = \"relay.invalid:7600\""] {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    let damaged = folder.run(&format!("config job.toml --role receiver --ticket {}", &ticket[14..]));
    damaged.expect(2, &["--ticket is no ticket of a relay"]);
    assert!(![&damaged.stdout, &damaged.stderr].iter().any(|said| said.contains(&ticket[30..50])), "{damaged:?}");
    assert!(!shown.stdout.contains("s3cret") && !shown.stdout.contains(&ticket[20..]), "{}", shown.stdout);
    // A file of partners may name a relay; whoever says another end means that one.
    let key = folder.read("them.pub");
    let key = key.trim();
    let own = "relay = \"r.invalid:1\"\nticket = \"ticket.txt\"\nproxy = \"p.invalid:3\"";
    folder.write("peers.toml", format!("[acme]\nkey = \"{key}\"\naddress = \"a.invalid:2\"\n[acme.defaults]\n{own}\n"));
    folder.write("ticket.txt", &ticket);
    let table = "--input ours.csv --key email --output o.csv --peers peers.toml --peer acme";
    let met = folder.run(&format!("config --role receiver {table}"));
    met.expect(0, &[]);
    assert!(
        met.stdout.contains("proxy = \"http://p.invalid:3\"")
            && met.stdout.contains("relay = \"r.invalid:1\"")
            && met.stdout.contains("# connect is not set"),
        "{}",
        met.stdout
    );
    let listens = folder.run(&format!("config --role receiver {table} --listen 127.0.0.1:0"));
    listens.expect(0, &[]);
    for unset in ["relay", "ticket", "proxy"] {
        assert!(listens.stdout.contains(&format!("# {unset} is not set")), "{unset} in {}", listens.stdout);
    }
}

fn a_ticket(folder: &Folder, key: &str) -> String {
    let made = folder.run(&format!("relay ticket {key}"));
    made.expect(0, &[]);
    made.stdout.trim().to_owned()
}

/// A relay, and what is between it and the parties: its address is that of a tap, which keeps all bytes.
fn relay(folder: &Folder, flags: &str) -> (Process, String, Kept) {
    let relay = folder.start(&format!("relay --listen 127.0.0.1:0 {flags}"));
    let address = relay.address();
    let to = address.clone();
    let (tapped, kept) = between(move |_| Some(to.clone()));
    (relay, tapped, kept)
}

#[test]
fn two_sides_that_only_dial_meet_at_a_relay_which_sees_tls_alone() {
    let folder = tables();
    let ticket = a_ticket(&folder, "--key relay.key");
    let (relay, address, kept) = relay(&folder, "--key relay.key");
    folder.write("ticket.txt", format!("{ticket}\n"));
    for first_receives in [true, false] {
        let receive = format!("{RECEIVE} --relay {address} --ticket {ticket} --wait 20 --receipt receipt.json");
        let send = format!("{SEND} --relay {address} --ticket ticket.txt --wait 20");
        let (first, second) = if first_receives { (&receive, &send) } else { (&send, &receive) };
        let first = folder.start(first);
        first.says("waiting for the partner at the relay");
        let second = folder.run(second);
        second.expect(0, &[]);
        first.end().expect(0, &[]);
        is_joined(&folder);
    }
    let kept = kept.lock().expect("kept").clone();
    assert!(kept.len() > 10_000, "{} bytes", kept.len());
    for plain in ["plain-", "email", "vole", "Rome"] {
        assert!(!kept.windows(plain.len()).any(|bytes| bytes == plain.as_bytes()), "{plain:?} is in the traffic");
    }
    let waits = folder.start(&format!("{SEND} --relay {address} --ticket {ticket} --wait 2"));
    waits.says("waiting for the partner at the relay");
    relay.signal("TERM");
    let ended = relay.end();
    assert!(ended.stderr.contains("was refused: the relay stops"), "{}", ended.stderr);
    waits.end().expect(10, &["the connection to the relay"]);
    ended.expect(0, &[" waits\n", ": joined by 127.0.0.1:", ": parted after ", "stopped"]);
    assert!(!ended.stderr.contains(&ticket["vesica-ticket-".len()..][..16]), "{}", ended.stderr);
}

#[test]
fn whoever_does_not_meet_the_partner_at_a_relay_learns_why() {
    let folder = tables();
    let ticket = a_ticket(&folder, "--key relay.key");
    let (relay, address, _) = relay(&folder, "--key relay.key --patience 30");
    let meet =
        |what: &str, ticket: &str, wait: &str| format!("{what} --relay {address} --ticket {ticket} --wait {wait}");
    folder
        .run(&meet(SEND, &ticket, "1"))
        .expect(5, &["the partner did not come to the relay", "same --relay and --ticket"]);
    folder.run(&meet(SEND, &a_ticket(&folder, ""), "5")).expect(11, &["has not made the ticket", "relay ticket --key"]);
    folder.run(&meet(SEND, "vesica-ticket-1234", "5")).expect(2, &["--ticket is no ticket of a relay"]);
    for damaged in [&ticket[1..], &ticket[14..], &ticket[..70], &format!("./{ticket}")] {
        let refused = folder.run(&meet(SEND, damaged, "5"));
        refused.expect(2, &["--ticket is no ticket of a relay", "copy the whole ticket"]);
        assert!(!refused.stderr.contains(&ticket[30..50]), "{}", refused.stderr);
    }
    folder.run(&meet(SEND, "missing.txt", "5")).expect(3, &["the file of --ticket, missing.txt"]);
    folder.run(&format!("{SEND} --relay {address}")).expect(2, &["--relay has no --ticket", "vesica relay ticket"]);
    folder.run(&format!("{SEND} --connect {address} --ticket {ticket}")).expect(2, &["--ticket has no --relay"]);
    let plaintext = "send --input theirs.csv --key mail --insecure-plaintext --wait 5";
    let plain = folder.run(&format!("{plaintext} --relay {address} --ticket {ticket}"));
    assert!(plain.code == 2 && plain.stderr.contains("--insecure-plaintext"), "{plain:?}");

    // A stranger who has the ticket, and not the key, is found out.
    folder.run("identity new --out stranger.key").expect(0, &[]);
    let waits = folder.start(&meet(RECEIVE, &ticket, "20"));
    waits.says("waiting for the partner");
    let stranger = "send --input theirs.csv --key mail --identity stranger.key --peer us.pub";
    folder.run(&meet(stranger, &ticket, "20")).expect(6, &["at the relay", "refused our key"]);
    waits.end().expect(6, &["at the relay", "but", "agree on a new one"]);

    // One that hangs up before it shows a key is not passed over in silence.
    let waits = folder.start(&meet(RECEIVE, &ticket, "20"));
    waits.says("waiting for the partner");
    let mut stranger = TcpStream::connect(&address).expect("connected");
    let bytes = (14..ticket.len()).step_by(2).map(|at| u8::from_str_radix(&ticket[at..at + 2], 16).expect("digits"));
    stranger.write_all(&b"vsrelay\x01".iter().copied().chain(bytes).collect::<Vec<_>>()).expect("sent");
    let mut heard = [0; 9];
    stranger.read_exact(&mut heard).expect("a word");
    assert_eq!(heard, *b"vsjoins\x01c");
    drop(stranger);
    waits.says("; dialling again");
    folder.run(&meet(SEND, &ticket, "20")).expect(0, &[]);
    waits.end().expect(0, &[]);

    // Two are joined, and a third one comes.
    let first = folder.start(&meet(&RECEIVE.replace("ours.csv", "- -v"), &ticket, "20"));
    first.says("waiting for the partner");
    let second = folder.start(&meet(&format!("{SEND} -v"), &ticket, "20"));
    second.says("the partner is connected");
    folder.run(&meet(SEND, &ticket, "1")).expect(5, &["two others are joined by the ticket", "relay ticket"]);

    // The relay ends in the middle.
    drop(relay);
    for side in [first, second] {
        side.end().expect(10, &["the connection to the partner failed", "that the relay", "still runs"]);
    }
    let there = folder.run(&format!("{SEND} --relay {address} --ticket {ticket} --wait 1"));
    there.expect(10, &["the connection to the relay", "before the partner came"]);
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a free port");
    let absent = folder.run(&format!("{SEND} --relay {nobody} --ticket {ticket} --wait 1"));
    absent.expect(5, &["the relay", "does not answer within 1 s"]);
    let (other, _) = between(|near| {
        near.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").ok()?;
        near.read_to_end(&mut Vec::new()).ok()?;
        None
    });
    folder
        .run(&format!("{SEND} --relay {other} --ticket {ticket} --wait 5"))
        .expect(10, &["is no relay of this release", "check the address of --relay"]);
    // A side that waits for its partner with --listen is no relay.
    let listens = folder.start(&format!("{RECEIVE} --listen 127.0.0.1:0 --wait 8"));
    let mistaken = folder.run(&format!("{SEND} --relay {} --ticket {ticket} --wait 4", listens.address()));
    assert!([5, 10].contains(&mistaken.code) && mistaken.stderr.contains("--relay"), "{}", mistaken.stderr);
}

#[test]
fn a_relay_is_told_whom_it_serves() {
    let folder = Folder::new();
    folder
        .run("relay --listen 127.0.0.1:0")
        .expect(2, &["nothing says whom the relay serves", "--key", "--any-ticket"]);
    folder.run("relay --listen 127.0.0.1:0 --key none.key").expect(6, &["none.key", "vesica relay ticket --key"]);
    folder.run("relay --listen 127.0.0.1:0 --key us.key").expect(6, &["no key of a relay"]);
    let any = folder.start("relay --listen 127.0.0.1:0 --any-ticket --log json --metrics 127.0.0.1:0");
    let line: serde_json::Value = serde_json::from_str(&any.says("\"listening\"")).expect("a JSON line");
    let mut page = TcpStream::connect(line["metrics"].as_str().expect("an address")).expect("connected");
    page.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("sent");
    let mut shown = String::new();
    page.read_to_string(&mut shown).expect("a page");
    assert!(shown.contains("\nvesica_relay_pairs 0\n"), "{shown}");
    any.signal("INT");
    any.end().expect(0, &["\"event\":\"stopped\""]);
    // A key is made once, for its owner alone.
    let [one, other] = [(); 2].map(|()| a_ticket(&folder, "--key made.key"));
    assert_ne!(one, other);
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&folder.path("made.key").metadata().expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
}
