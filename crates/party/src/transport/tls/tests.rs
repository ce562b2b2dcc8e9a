mod recorded_session;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustls::crypto::aws_lc_rs::kx_group;
use rustls::crypto::{CryptoProvider, SupportedKxGroup};

use super::peer_keys::PeerKeys;
use super::statements::{Day, Succession};
use super::{AcceptedKeys, Identity, IdentityFileError, PublicKey, TlsFailure, accept, accept_if, connect, pinning};
use crate::Abort;
use crate::transport::{Connection, KeyExchange};

const LIMIT: Duration = Duration::from_secs(20);

fn identity() -> Identity {
    Identity::generate().expect("randomness")
}

fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let connector = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
    (connector, listener.accept().expect("the other end").0)
}

type Outcome = Result<Connection, TlsFailure>;

/// Handshakes between `us`, who connect and expect `their_key`, and `them`, who listen and expect
/// `our_key`.
fn handshake(
    us: &Identity,
    their_key: impl Into<PeerKeys>,
    them: &Identity,
    our_key: impl Into<PeerKeys>,
) -> (Outcome, Outcome) {
    let (their_key, our_key) = (their_key.into(), our_key.into());
    let (connector, listener) = sockets();
    thread::scope(|scope| {
        let accepted = scope.spawn(move || accept(listener, them, our_key, LIMIT));
        (connect(connector, us, their_key, LIMIT), accepted.join().expect("no panic"))
    })
}

fn connected() -> (Connection, Connection) {
    let (us, them) = (identity(), identity());
    let (ours, theirs) = handshake(&us, them.public(), &them, us.public());
    (ours.expect("connected"), theirs.expect("accepted"))
}

/// Hands over all that an end has to say, and gives how many bytes that were.
fn pass(from: &mut rustls::Connection, to: &mut rustls::Connection) -> usize {
    let mut said = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut said).expect("written");
    }
    let mut unread = said.as_slice();
    while !unread.is_empty() {
        to.read_tls(&mut unread).expect("read");
        to.process_new_packets().expect("a handshake");
    }
    said.len()
}

#[test]
fn both_sides_export_the_same_bytes_and_sessions_differ() {
    let (ours, theirs) = connected();
    assert!(ours.exporter.is_some());
    assert_eq!(ours.exporter, theirs.exporter);
    assert_ne!(ours.exporter, connected().0.exporter);
}

/// A partner of another release may know X25519 alone.
#[test]
fn the_hybrid_key_exchange_comes_first_and_what_was_taken_is_known() {
    let (ours, theirs) = connected();
    let of = |connection: &Connection| connection.key_exchange.expect("over TLS");
    assert_eq!([of(&ours), of(&theirs)], [KeyExchange::X25519MlKem768; 2]);
    KeyExchange::require_post_quantum(ours.key_exchange).expect("it lasts");

    let (us, them) = (identity(), identity());
    let (mut connector, listener) = sockets();
    let classical = CryptoProvider { kx_groups: vec![kx_group::X25519], ..pinning::provider() };
    thread::scope(|scope| {
        let accepted = scope.spawn(|| accept(listener, &them, us.public(), LIMIT));
        let (mut tls, _) = pinning::client(&us, AcceptedKeys::one(them.public()), classical).expect("a client");
        while tls.is_handshaking() {
            tls.complete_io(&mut connector).expect("a handshake");
        }
        let connection = accepted.join().expect("no panic").expect("accepted");
        assert_eq!(connection.key_exchange, Some(KeyExchange::X25519));
        let refused = KeyExchange::require_post_quantum(connection.key_exchange).expect_err("it falls");
        assert!(refused.exit_code() == 11 && refused.to_string().contains("are by X25519,"), "{refused}");
    });
}

/// A handshake in which both ends offer these groups, and the bytes of both ends.
fn in_memory(us: &Identity, them: &Identity, groups: &[&'static dyn SupportedKxGroup]) -> [usize; 2] {
    let provider = || CryptoProvider { kx_groups: groups.to_vec(), ..pinning::provider() };
    let (mut client, _) = pinning::client(us, AcceptedKeys::one(them.public()), provider()).expect("a client");
    let (mut server, _) = pinning::server(them, AcceptedKeys::one(us.public()), provider()).expect("a server");
    let mut sent = [0, 0];
    while client.is_handshaking() || server.is_handshaking() {
        sent[0] += pass(&mut client, &mut server);
        sent[1] += pass(&mut server, &mut client);
    }
    sent
}

/// Medians of five times a hundred handshakes, both ends on one core.
#[test]
#[ignore = "prints times"]
fn times_of_key_exchanges() {
    let (us, them) = (identity(), identity());
    for (name, groups) in [("X25519", vec![kx_group::X25519]), ("hybrid", pinning::provider().kx_groups)] {
        let mut times: Vec<Duration> = (0..5)
            .map(|_| {
                let began = std::time::Instant::now();
                for _ in 0..100 {
                    in_memory(&us, &them, &groups);
                }
                began.elapsed() / 100
            })
            .collect();
        times.sort_unstable();
        println!("{name}: {:?} bytes, {times:?}", in_memory(&us, &them, &groups));
    }
}

/// What both first flights of a handshake take, as SECURITY.md states it.
#[test]
fn the_hybrid_key_exchange_costs_what_is_stated() {
    let flights = |groups: &[&'static dyn SupportedKxGroup]| in_memory(&identity(), &identity(), groups);
    let [classical, hybrid] = [flights(&[kx_group::X25519]), flights(&pinning::provider().kx_groups)];
    // Of the client an encapsulation key (1,184 bytes) beside two shares of X25519; of the server a ciphertext (1,088).
    assert_eq!(hybrid[1] - classical[1], 1088, "{classical:?} {hybrid:?}");
    assert_eq!(hybrid[0] - classical[0], 1184 + 32 + 4 + 2, "{classical:?} {hybrid:?}");
}

#[test]
fn a_wrong_key_of_the_listener_is_named_on_both_sides() {
    let (us, them, stranger) = (identity(), identity(), identity());
    let (ours, theirs) = handshake(&us, stranger.public(), &them, us.public());
    match ours.expect_err("another key was pinned") {
        TlsFailure::PeerRefused { shown, pinned, ours } => {
            assert_eq!(
                (shown, pinned.to_string(), ours),
                (them.public().fingerprint(), stranger.public().fingerprint().to_string(), us.public().fingerprint())
            );
        }
        other => panic!("{other}"),
    }
    let refused = theirs.expect_err("refused");
    assert!(
        matches!(refused, TlsFailure::RefusedByPeer { ours, .. } if ours == them.public().fingerprint()),
        "{refused}"
    );
    assert_eq!(Abort::from(refused).exit_code(), 6);
}

/// A listener that has given a connection up meanwhile does not say welcome, so that the connector
/// knows to try again.
#[test]
fn a_connection_that_is_not_admitted_fails_on_both_sides() {
    let (us, them) = (identity(), identity());
    let (connector, listener) = sockets();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| accept_if(listener.into(), &them, us.public(), LIMIT, &|| false));
        let failure = connect(connector, &us, them.public(), LIMIT).expect_err("not admitted");
        assert!(matches!(failure, TlsFailure::Link(_)), "{failure}");
        let failure = accepted.join().expect("no panic").expect_err("not admitted");
        assert!(matches!(failure, TlsFailure::Link(_)), "{failure}");
    });
}

/// A TLS 1.3 client has finished its handshake before the server looks at its key.
#[test]
fn a_wrong_key_of_the_connector_is_named_on_both_sides() {
    let (us, them, stranger) = (identity(), identity(), identity());
    let (ours, theirs) = handshake(&us, them.public(), &them, stranger.public());
    let refused = ours.expect_err("refused");
    assert!(
        matches!(refused, TlsFailure::RefusedByPeer { ours, .. } if ours == us.public().fingerprint()),
        "{refused}"
    );
    assert_eq!(Abort::from(refused).exit_code(), 6);
    let refused = theirs.expect_err("another key was pinned");
    assert!(
        matches!(refused, TlsFailure::PeerRefused { shown, .. } if shown == us.public().fingerprint()),
        "{refused}"
    );
}

#[test]
fn a_silent_peer_ends_in_a_time_out_and_a_garbling_one_in_an_error() {
    let (us, them) = (identity(), identity());
    let (_silent, listener) = sockets();
    let failure = accept(listener, &us, them.public(), Duration::from_millis(50)).expect_err("silence");
    assert!(matches!(failure, TlsFailure::Timeout(_)), "{failure}");

    let (mut garbling, listener) = sockets();
    garbling.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("written");
    let failure = accept(listener, &us, them.public(), LIMIT).expect_err("no TLS");
    assert!(matches!(failure, TlsFailure::NotOurTls(_)), "{failure}");

    let (closing, listener) = sockets();
    drop(closing);
    let failure = accept(listener, &us, them.public(), LIMIT).expect_err("closed");
    assert!(matches!(failure, TlsFailure::Link(_)), "{failure}");
}

/// Both directions at once, each more than the kernel buffers: a lock held while a socket blocks
/// would hang here.
#[test]
fn reads_and_writes_at_once() {
    const LENGTH: usize = 24 << 20;
    let byte = |i: usize, side: u8| (i as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3] ^ side;
    let (ours, theirs) = connected();
    thread::scope(|scope| {
        for (connection, side) in [(ours, 0u8), (theirs, 1)] {
            let Connection { mut reader, mut writer, shutdown, .. } = connection;
            scope.spawn(move || {
                let bytes: Vec<u8> = (0..LENGTH).map(|i| byte(i, side)).collect();
                // Uneven parts, so that records and calls do not line up.
                for part in bytes.chunks(300_007) {
                    writer.write_all(part).expect("written");
                }
                shutdown.close(std::net::Shutdown::Write).expect("closed");
            });
            scope.spawn(move || {
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes).expect("a clean end");
                assert_eq!(bytes.len(), LENGTH);
                assert!((0..LENGTH).all(|i| bytes[i] == byte(i, side ^ 1)), "side {side} reads what the other wrote");
            });
        }
    });
}

#[test]
fn an_end_without_goodbye_is_an_error() {
    let (ours, theirs) = connected();
    let Connection { mut reader, .. } = ours;
    theirs.shutdown.close(std::net::Shutdown::Both).expect("cut");
    let error = reader.read(&mut [0; 16]).expect_err("truncated");
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
}

/// A folder of its own under the system's temporary folder, removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("vesica-party-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
}

#[test]
fn identity_files_are_private_and_never_overwritten() {
    let folder = Folder::new("identity");
    let (key, line) = (folder.file("us.key"), folder.file("us.pub"));
    let us = identity();
    us.save(&key, None).expect("saved");
    us.public().save(&line, "alice").expect("saved");
    assert_eq!(Identity::load(&key).expect("loaded").public(), us.public());
    assert_eq!(PublicKey::load(&line).expect("loaded"), us.public());
    assert!(matches!(identity().save(&key, None), Err(IdentityFileError::Exists(_))));

    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&key).expect("its metadata").permissions().mode() & 0o777, 0o600);
    set_mode(&key, 0o644);
    let error = Identity::load(&key).expect_err("others can read it");
    assert!(error.to_string().contains("chmod 600"), "{error}");
    let abort = Abort::from(error);
    assert_eq!(abort.exit_code(), 6);

    let told = |error: IdentityFileError| error.to_string();
    assert!(told(PublicKey::load(&key).expect_err("private")).contains("no side needs another side's private key"));
    for mode in [0o600, 0o644] {
        set_mode(&line, mode);
        assert!(told(Identity::load(&line).expect_err("public")).contains("the .key file that was made with it"));
    }
    let none = folder.file("none");
    assert!(told(PublicKey::load(&none).expect_err("missing")).contains("your partner's .pub file"));
    assert!(told(Identity::load(&none).expect_err("missing")).contains("--identity"));

    // What editors of Windows put in front, and what its shell makes of a line.
    let text = std::fs::read_to_string(&line).expect("a line");
    std::fs::write(&line, format!("\u{feff}{}", text.replace('\n', "\r\n"))).expect("written");
    assert_eq!(PublicKey::load(&line).expect("loaded"), us.public());
    assert_eq!(format!("\u{feff}{}", us.public()).parse::<PublicKey>().ok(), Some(us.public()));
    set_mode(&key, 0o600);
    let pem = std::fs::read_to_string(&key).expect("a key");
    std::fs::write(&key, format!("\u{feff}{pem}")).expect("written");
    assert_eq!(Identity::load(&key).expect("loaded").public(), us.public());
    std::fs::write(&line, text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).expect("written");
    assert!(matches!(PublicKey::load(&line), Err(IdentityFileError::NotAPublicKey(_))));
}

/// Both keys are good until the last day, on either end; the peer is known by the first of them.
#[test]
fn a_successor_is_the_same_peer_and_its_old_key_has_a_last_day() {
    let (us, old, new) = (identity(), identity(), identity());
    let keys = |until: Day| {
        let succession = Succession::sign(&old, &new, until).expect("signed");
        PeerKeys::from(old.public()).followed_by(&succession).expect("its successor")
    };
    let yesterday: Day = "2026-01-01".parse().expect("a day");
    for (them, until, is_good) in
        [(&old, Day::today(), true), (&new, Day::today(), true), (&old, yesterday, false), (&new, yesterday, true)]
    {
        let outcomes = [handshake(&us, keys(until), them, us.public()), {
            let (theirs, ours) = handshake(them, us.public(), &us, keys(until));
            (ours, theirs)
        }];
        for (ours, theirs) in outcomes {
            match ours {
                Ok(connection) => {
                    let peer = connection.peer.expect("over TLS");
                    assert_eq!((peer.key, peer.known_as, is_good), (them.public(), old.public(), true));
                    assert!(theirs.is_ok());
                }
                Err(failure) => {
                    assert!(!is_good, "{failure}");
                    assert!(
                        matches!(failure, TlsFailure::PeerReplaced { until, .. } if until == yesterday),
                        "{failure}"
                    );
                    let told = theirs.expect_err("refused");
                    assert!(matches!(told, TlsFailure::RefusedByPeer { .. }) && told.mend().contains("successor"));
                }
            }
        }
    }
    let clients = AcceptedKeys::any_of([keys(yesterday)]);
    assert!(clients.accepts(&new.public()) && !clients.accepts(&old.public()));
    assert_eq!(clients.replace([PeerKeys::from(new.public())]), Some(1));
}

/// A file of a public key has its successors behind it, in their order, and nothing else.
#[test]
fn a_public_key_file_has_its_successors() {
    let folder = Folder::new("successors");
    let path = folder.file("them.pub");
    let [a, b, c] = std::array::from_fn(|_| identity());
    let day = Day::today();
    let statement = |old: &Identity, new: &Identity| Succession::sign(old, new, day).expect("signed").to_string();
    let (first, second) = (statement(&a, &b), statement(&b, &c));
    let write = |lines: &[&str]| std::fs::write(&path, lines.join("\n")).expect("written");
    let key = format!("{} them", a.public());
    write(&[&key, "# a comment", &format!("{first} until then"), "", &second]);
    let keys = PeerKeys::load(&path).expect("loaded");
    assert_eq!(keys.all().collect::<Vec<_>>(), [a.public(), b.public(), c.public()]);
    for (lines, told) in [
        ([&key, &second], "line 2: it is a successor of the key"),
        ([&key, &first.replace("vesica-succession ", "vesica-succession A")], "line 2: not a line of the form"),
        ([&key, &key], "line 2: not a line of the form `vesica-succession"),
    ] {
        write(&[lines[0], lines[1]]);
        let error = PeerKeys::load(&path).expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
}
