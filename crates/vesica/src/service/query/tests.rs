//! A server that does not follow the protocol, and what a client makes of it.

use std::sync::Mutex;

use vesica_party::Abort;
use vesica_party::service::{
    ClientIdentity, Conversation, Offer, Published, Query, ServeEvents, ServeLimits, Server as _, Service,
};
use vesica_party::service::{StateId, Stop, serve};
use vesica_party::transport::acceptor::PlaintextAcceptor;
use vesica_party::transport::tcp;
use vesica_party::transport::tls::Identity;
use vesica_protocols::recurrent::rfc9497::{OprfRfc9497, Server};
use vesica_protocols::tasks::IntersectSenderInput;

use super::*;
use crate::failure::code;
use crate::key::{DIGEST_VERSION, KeySpec};
use crate::service::Description;
use crate::session::Silent;
use crate::table::{Duplicates, InputOptions, Join, OutputOptions, PayloadSpec, SinkFile, SourceFile};
use crate::written;

/// What the server sees of its clients.
#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl ServeEvents for Seen {
    fn joined(&self, _: &ClientIdentity, _: StateId) {
        self.0.lock().expect("no panic").push("joined".into());
    }

    fn answered(&self, query: &Query, _: Duration) {
        self.0.lock().expect("no panic").push(format!("answered {}", query.number));
    }

    fn ended(&self, _: Option<&Conversation>, _: &str, outcome: &Result<(), Abort>) {
        self.0.lock().expect("no panic").push(format!("ended {}", outcome.is_ok()));
    }
}

/// A query over a connection without TLS.
fn asking(source: OwnTable, output: &str, connect: String) -> QueryConfig {
    QueryConfig {
        proxy: None,
        source,
        connect,
        protection: Protection::InsecurePlaintext,
        wait: Duration::from_secs(20),
        deadline: None,
        security: Security::Malicious,
        post_quantum: false,
        trust_server: false,
        leak_prefix: None,
        max_set_items: 1000,
        destination: Destination {
            sink: std::sync::Arc::new(SinkFile { path: output.to_owned(), options: OutputOptions::default() }),
            join: Join::Inner,
        },
        state: None,
        memory: None,
        policy: None,
        log: None,
    }
}

/// Asks a server whose records of the second and the fourth key are none, if `spoils`. The outcome,
/// the rows that were written, and what the server saw.
fn ask(spoils: bool) -> (QueryReport, String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    std::fs::write(path("deny.csv"), "url,label\na,x\nb,x\nc,x\nd,x\n").expect("written");
    std::fs::write(path("seen.csv"), "url\na\nb\nc\nd\nb\ne\n").expect("written");
    let key = KeySpec::parse(&["url"], &[] as &[&str]).expect("a key");
    let source = |name: &str| OwnTable {
        table: std::sync::Arc::new(SourceFile { path: path(name), options: InputOptions::default() }),
        key: key.clone(),
    };
    let deny = source("deny.csv");
    let spec = PayloadSpec { columns: vec!["label".into()], duplicates: Duplicates::First };
    let opened = deny.table.open().expect("a table");
    let mut table = Columns::Payload(Some(spec)).read(&*opened, &key, None).expect("read");
    let payload = table.payload.take().expect("labels");
    let description = Description {
        version: 1,
        protocol: OprfRfc9497::ENTRY.id.into(),
        security: Security::Malicious,
        key_digest: DIGEST_VERSION.into(),
        key_columns: key.agreement(),
        key_kinds: table.stats.kinds(),
        salt: format!("{:032x}", 5),
        capacity: 4,
        items_per_query: 2,
        payload: Some(payload.schema.clone()),
        quota: None,
        quota_left: None,
        leak_prefix: None,
        slow_hash: None,
        integer_bits: None,
    };
    let mut payloads = payload.bytes.clone();
    let width = payload.schema.width;
    if spoils {
        payloads[width..2 * width].fill(0xff);
        payloads[3 * width..].fill(0xff);
    }
    let items = std::mem::take(&mut table.digests).fold(5);
    let params = description.params::<OprfRfc9497>().expect("served");
    let set = IntersectSenderInput { items, payloads };
    let state =
        Published::new(Server::prepare(&params, set, &mut randomness().expect("randomness")).expect("prepared"));
    let described = description.to_bytes().expect("short");
    let offer = Offer::<OprfRfc9497> { state: &state, params: &params, description: &described };
    let listener = tcp::listen("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    let (acceptor, stop, seen) = (PlaintextAcceptor(listener), Stop::new(), Seen::default());
    let output = path("hits.csv");
    let config = asking(source("seen.csv"), &output, address);
    let report = thread::scope(|scope| {
        scope.spawn(|| serve(&acceptor, &offer, &ServeLimits::default(), &seen, &stop));
        let report = query(&config, &Interrupt::default(), &Silent);
        stop.stop();
        report
    });
    let rows = std::fs::read_to_string(output).expect("a result");
    (report.expect("a report"), rows, seen.0.into_inner().expect("no panic"))
}

#[test]
fn a_record_that_is_none_is_named_and_left_out_and_the_server_sees_no_difference() {
    let (honest, rows, seen_honest) = ask(false);
    assert!(honest.ok && honest.failure().is_none());
    assert_eq!(rows, "url,label\na,x\nb,x\nc,x\nd,x\nb,x\n");
    let (spoiled, rows, seen) = ask(true);
    assert!(!spoiled.ok);
    assert_eq!((&spoiled.unreadable[..], spoiled.matched_keys, spoiled.keys), (&[2, 4][..], 2, 5));
    assert_eq!(rows, "url,label\na,x\nc,x\n");
    let failure = spoiled.failure().expect("not ok");
    assert_eq!(failure.code, code::PEER_MISBEHAVED);
    assert!(failure.fault.contains("2 keys") && failure.fault.contains("2, 4"), "{failure}");
    assert_eq!(seen, seen_honest);
    assert_eq!((spoiled.bytes_sent, spoiled.queries), (honest.bytes_sent, honest.queries));
}

#[test]
fn rules_for_another_server_are_refused() {
    let [us, server, other] = [(); 3].map(|()| Identity::generate().expect("randomness"));
    let rules = written::settings("tasks = \"query\"").expect("a rule");
    let policy = Policy::read((Path::new("peers.toml"), "acme", server.public().into()), &rules, None);
    let policy = Arc::new(policy.expect("rules"));
    let ask = |protection| {
        let source = OwnTable::file("none.csv", &["url"]).expect("a key");
        let policy = Some(policy.clone());
        let config = QueryConfig { protection, policy, ..asking(source, "hits.csv", "127.0.0.1:1".into()) };
        query(&config, &Interrupt::default(), &Silent).expect_err("no table")
    };
    let tls = |peer: &Identity| Protection::Tls { identity: us.clone(), peer: peer.public().into() };
    for (protection, told) in
        [(tls(&other), "peers.toml is for acme, whose key is"), (Protection::InsecurePlaintext, "whose key is known")]
    {
        let failure = ask(protection);
        assert!(failure.code == code::USAGE && failure.fault.contains(told), "{failure}");
    }
    assert!(ask(tls(&server)).fault.contains("none.csv"));
}

#[test]
fn a_key_with_alternatives_is_refused() {
    let key = KeySpec::parse_alternatives(&["url"], &[vec!["day".into()]], &[]).expect("a key");
    let refused = refuse_alternatives(&key).expect_err("two keys a row");
    assert!(refused.code == code::USAGE && refused.fault.contains("alternatives"), "{refused}");
    refuse_alternatives(&KeySpec::parse(&["url", "day"], &[]).expect("a key")).expect("one key a row");
}
