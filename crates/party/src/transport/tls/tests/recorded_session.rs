//! The view of an attacker who has recorded a session and later has a quantum computer: with X25519 alone he reads all of
//! it, with the hybrid key exchange nothing.
//!
//! The quantum computer is played by the client of the session, whose key exchange is made of the parts of the real one and
//! hands the secret of each part over. What the attacker gets of them is what such a computer finds from recorded shares
//! of X25519. From there on he has only the recorded bytes and the key schedule of RFC 8446, section 7.1.

use std::net::Shutdown as How;
use std::sync::{Arc, mpsc};

use rustls::crypto::cipher::{AeadKey, InboundOpaqueMessage, Iv};
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, aws_lc_rs::cipher_suite};
use rustls::{ContentType, Error, NamedGroup, ProtocolVersion, SupportedCipherSuite, Tls13CipherSuite};

use super::super::{establish, records};
use super::*;
use crate::transport::Shutdown as _;

const ITEM: &[u8] = b"an item of the client: alice@example.org";
const ANSWER: &[u8] = b"an item of the server: bob@example.org";

/// Length of an ML-KEM-768 ciphertext, with which the server's hybrid share begins.
const CIPHERTEXT: usize = 1088;

/// Both parts of a hybrid secret; that of ML-KEM is empty where X25519 is alone.
#[derive(Clone, Default)]
struct Secrets {
    ml_kem: Vec<u8>,
    x25519: Vec<u8>,
}

/// X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem: the part of ML-KEM comes first, in shares as in secrets) or X25519, of which
/// the secrets are handed over.
#[derive(Debug)]
struct Watched {
    ml_kem: Option<&'static dyn SupportedKxGroup>,
    told: mpsc::Sender<Secrets>,
}

impl SupportedKxGroup for Watched {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let x25519 = kx_group::X25519.start()?;
        let ml_kem = self.ml_kem.map(|group| group.start()).transpose()?;
        let share = [ml_kem.as_ref().map_or(&[][..], |part| part.pub_key()), x25519.pub_key()].concat();
        Ok(Box::new(WatchedExchange { group: self.name(), x25519, ml_kem, share, told: self.told.clone() }))
    }

    fn name(&self) -> NamedGroup {
        if self.ml_kem.is_some() { NamedGroup::X25519MLKEM768 } else { NamedGroup::X25519 }
    }
}

struct WatchedExchange {
    group: NamedGroup,
    x25519: Box<dyn ActiveKeyExchange>,
    ml_kem: Option<Box<dyn ActiveKeyExchange>>,
    share: Vec<u8>,
    told: mpsc::Sender<Secrets>,
}

impl ActiveKeyExchange for WatchedExchange {
    fn complete(self: Box<Self>, theirs: &[u8]) -> Result<SharedSecret, Error> {
        let mut secrets = Secrets::default();
        let mut of_x25519 = theirs;
        if let Some(part) = self.ml_kem {
            let (ciphertext, rest) = theirs.split_at(CIPHERTEXT);
            secrets.ml_kem = part.complete(ciphertext)?.secret_bytes().to_vec();
            of_x25519 = rest;
        }
        secrets.x25519 = self.x25519.complete(of_x25519)?.secret_bytes().to_vec();
        self.told.send(secrets.clone()).expect("the test listens");
        Ok([secrets.ml_kem, secrets.x25519].concat().into())
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        self.group
    }
}

/// Passes on what one end says until its end, and keeps it.
fn relay(mut from: TcpStream, mut to: TcpStream) -> Vec<u8> {
    let (mut recorded, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = from.read(&mut buffer).expect("read");
        recorded.extend(&buffer[..count]);
        if count == 0 {
            to.shutdown(How::Write).expect("shut");
            return recorded;
        }
        to.write_all(&buffer[..count]).expect("passed on");
    }
}

/// A session of a client and of the server of the product: the bytes of both ends on the wire, the client's first, and the
/// secrets of the key exchange.
fn recorded(expected: KeyExchange) -> ([Vec<u8>; 2], Secrets) {
    let (us, them) = (identity(), identity());
    let ((mut connector, near), (far, listener)) = (sockets(), sockets());
    let (told, secrets) = mpsc::channel();
    let ml_kem = expected.is_post_quantum().then_some(kx_group::MLKEM768);
    let provider =
        CryptoProvider { kx_groups: vec![Box::leak(Box::new(Watched { ml_kem, told }))], ..pinning::provider() };
    thread::scope(|scope| {
        let clone = |socket: &TcpStream| socket.try_clone().expect("a handle");
        let directions =
            [(clone(&near), clone(&far)), (far, near)].map(|(from, to)| scope.spawn(move || relay(from, to)));
        let server = scope.spawn(|| {
            let connection = accept(listener, &them, us.public(), LIMIT).expect("accepted");
            assert_eq!(connection.key_exchange, Some(expected));
            let Connection { mut reader, mut writer, shutdown, .. } = connection;
            writer.write_all(ANSWER).expect("written");
            shutdown.close(How::Write).expect("closed");
            let mut heard = Vec::new();
            reader.read_to_end(&mut heard).expect("a clean end");
            assert_eq!(heard, ITEM);
        });
        let (mut tls, _) = pinning::client(&us, AcceptedKeys::one(them.public()), provider).expect("a client");
        while tls.is_handshaking() {
            tls.complete_io(&mut connector).expect("a handshake");
        }
        let (mut reader, mut writer, closer) = records::split(tls, Arc::new(connector));
        writer.write_all(ITEM).expect("written");
        closer.close(How::Write).expect("closed");
        reader.read_to_end(&mut Vec::new()).expect("a clean end");
        server.join().expect("no panic");
        let bytes = directions.map(|direction| direction.join().expect("no panic"));
        (bytes, secrets.recv().expect("the client has completed the key exchange"))
    })
}

/// The bodies of the records of a type, in their order.
fn bodies(mut bytes: &[u8], typ: ContentType) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while let [first, _, _, high, low, rest @ ..] = bytes {
        let (body, after) = rest.split_at(u16::from_be_bytes([*high, *low]).into());
        found.extend((*first == u8::from(typ)).then_some(body));
        bytes = after;
    }
    assert!(bytes.is_empty(), "a whole recording");
    found
}

/// HKDF-Expand-Label of RFC 8446, section 7.1.
fn expand<const LENGTH: usize>(secret: &dyn HkdfExpander, label: &str, context: &[u8]) -> [u8; LENGTH] {
    let label = format!("tls13 {label}");
    let (length, own) = ((LENGTH as u16).to_be_bytes(), [label.len() as u8]);
    let info = [&length[..], &own, label.as_bytes(), &[context.len() as u8], context];
    let mut out = [0; LENGTH];
    secret.expand_slice(&info, &mut out).expect("a short output");
    out
}

/// Bytes of SHA-384.
type Hash = [u8; 48];

/// The records that open under a traffic secret, from the first one to the first that does not, with their types.
fn open(suite: &Tls13CipherSuite, secret: &Hash, records: &[&[u8]]) -> Vec<(ContentType, Vec<u8>)> {
    let secret = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(secret));
    let (key, iv): ([u8; 32], [u8; 12]) = (expand(&*secret, "key", b""), expand(&*secret, "iv", b""));
    let mut decrypter = suite.aead_alg.decrypter(AeadKey::from(key), Iv::from(iv));
    let each = records.iter().zip(0..).map_while(|(record, sequence)| {
        let mut record = record.to_vec();
        let message = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
        let plain = decrypter.decrypt(message, sequence).ok()?;
        Some((plain.typ, plain.payload.to_vec()))
    });
    each.collect()
}

/// What somebody reads of a recorded session who takes this for the secret of its key exchange.
#[derive(Debug, Default, PartialEq)]
struct Opened {
    /// Records of both ends that open, and those that there are.
    opened: usize,
    encrypted: usize,
    /// What the client and the server said to each other.
    said: [Vec<u8>; 2],
}

fn attack(recording: &[Vec<u8>; 2], shared_secret: &[u8]) -> Opened {
    let SupportedCipherSuite::Tls13(suite) = cipher_suite::TLS13_AES_256_GCM_SHA384;
    let hash = |bytes: &[u8]| -> Hash { suite.common.hash_provider.hash(bytes).as_ref().try_into().expect("SHA-384") };
    let [client_hello, server_hello] = [0, 1].map(|end| bodies(&recording[end], ContentType::Handshake).concat());
    let after_session_id = 4 + 2 + 32 + 1 + usize::from(server_hello[4 + 2 + 32]);
    assert_eq!(server_hello[after_session_id..][..2], u16::from(suite.common.suite).to_be_bytes(), "the suite");
    let [client, server] = [0, 1].map(|end| bodies(&recording[end], ContentType::ApplicationData));

    let hkdf = suite.hkdf_provider;
    let derived = |secret: &dyn HkdfExpander| -> Hash { expand(secret, "derived", &hash(b"")) };
    let early = hkdf.extract_from_zero_ikm(None);
    let handshake = hkdf.extract_from_secret(Some(&derived(&*early)), shared_secret);
    let master = hkdf.extract_from_zero_ikm(Some(&derived(&*handshake)));

    let mut transcript = [client_hello, server_hello].concat();
    let of_handshake = |label| expand(&*handshake, label, &hash(&transcript));
    let (client_flight, server_flight) =
        (open(suite, &of_handshake("c hs traffic"), &client), open(suite, &of_handshake("s hs traffic"), &server));
    transcript.extend(server_flight.iter().flat_map(|(_, messages)| messages));
    let rest = [("c ap traffic", &client[client_flight.len()..]), ("s ap traffic", &server[server_flight.len()..])];
    let conversation = rest.map(|(label, records)| open(suite, &expand(&*master, label, &hash(&transcript)), records));
    let is_data = |(typ, _): &&(ContentType, Vec<u8>)| *typ == ContentType::ApplicationData;
    Opened {
        opened: client_flight.len() + server_flight.len() + conversation.iter().map(Vec::len).sum::<usize>(),
        encrypted: client.len() + server.len(),
        said: conversation.map(|records| records.iter().filter(is_data).flat_map(|(_, data)| data.clone()).collect()),
    }
}

/// All of the session was read.
#[track_caller]
fn assert_open(read: &Opened) {
    // The server says first that the client is welcome.
    assert_eq!(read.said, [ITEM.to_vec(), [&[establish::WELCOME], ANSWER].concat()]);
    assert_eq!(read.opened, read.encrypted);
}

#[test]
fn a_quantum_computer_opens_a_recorded_session_by_x25519_alone() {
    let (recording, secrets) = recorded(KeyExchange::X25519);
    assert_open(&attack(&recording, &secrets.x25519));
}

#[test]
fn a_quantum_computer_opens_nothing_of_a_recorded_session_by_the_hybrid_key_exchange() {
    let (recording, Secrets { ml_kem, x25519 }) = recorded(KeyExchange::X25519MlKem768);
    for guess in [x25519.clone(), [vec![0; ml_kem.len()], x25519.clone()].concat()] {
        let read = attack(&recording, &guess);
        assert_eq!((read.opened, &read.said), (0, &Default::default()));
        assert!(read.encrypted > 0);
    }
    // The secret of ML-KEM is all that the attacker lacks.
    assert_open(&attack(&recording, &[ml_kem, x25519].concat()));
}
