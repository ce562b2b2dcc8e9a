//! The engine: it reads tables, meets the partner, agrees on a protocol, runs it, and writes the
//! result.
//!
//! - [`session`] is one whole side of a run. [`session::run`] is what `vesica send` and `vesica
//!   receive` call, and [`session::dry_run`] what they call with `--dry-run`.
//! - [`progress`] tells how far a run has come.
//! - [`buckets`] divides keys, and [`cluster`] has the buckets run by many machines.
//! - [`service`] serves a table to many clients, and asks such a server.
//! - [`handshake`] agrees with the partner; [`plan`] predicts costs and chooses the protocol;
//!   [`memory`] and [`threads`] bound a run. [`rows`] are the protocols; [`probe`] runs one on made-up items, and
//!   [`load`] says what else the machine does.
//! - [`task`] has one module for each task: columns, inputs, results, and what it reveals.
//! - [`table`], [`key`] and [`profile`], from `vesica-data`, read tables, bring keys to one form,
//!   and describe key columns.
//! - [`report`], [`receipt`] and [`shares`] are what a run leaves behind; [`noise`] hides single
//!   keys in aggregates.
//! - [`failure`] says what went wrong, what to do about it, and the exit code.
//!
//! Two sides of a join in one process. A real side knows its partner's key and uses
//! [`session::Protection::Tls`]. Rows in memory are [`table::Batches`] instead of a file, and
//! [`table::Collected`] takes a result:
//!
//! ```
//! use std::net::SocketAddr;
//! use std::sync::Arc;
//! use std::sync::mpsc::{Sender, channel};
//! use std::time::Duration;
//!
//! use vesica::key::KeySpec;
//! use vesica::party::{Role, Security};
//! use vesica::plan::Machine;
//! use vesica::session::{self, Config, Destination, End, Events, Interrupt, MAX_PEER_ITEMS, OwnTable, Protection, Silent};
//! use vesica::table::{InputOptions, Join, OutputOptions, SinkFile, SourceFile};
//! use vesica::task::{self, Settings};
//!
//! let intersect = task::find("intersect")?;
//! let folder = tempfile::tempdir()?;
//! let path = |name: &str| folder.path().join(name).display().to_string();
//! std::fs::write(path("ours.csv"), "email,city\na@x.org,Bonn\nb@x.org,Gent\n")?;
//! std::fs::write(path("theirs.csv"), "email\nb@x.org\nc@x.org\n")?;
//!
//! let side = |role: Role, input: &str, end: End, output: Option<&str>| Config {
//!     task: intersect,
//!     settings: Settings::default(),
//!     role,
//!     end,
//!     protection: Protection::InsecurePlaintext,
//!     wait: Duration::from_secs(10),
//!     deadline: None,
//!     source: OwnTable {
//!         table: Arc::new(SourceFile { path: path(input), options: InputOptions::default() }),
//!         key: KeySpec::parse(&["email"], &[]).expect("a key"),
//!     },
//!     destination: output.map(|name| Destination {
//!         sink: Arc::new(SinkFile { path: path(name), options: OutputOptions { force: false, format: None } }),
//!         join: Join::Inner,
//!     }),
//!     protocol: None,
//!     link: None,
//!     security: Security::Malicious,
//!     allow_broken: false,
//!     allow_count: false,
//!     pad_to: None,
//!     buckets: 1,
//!     max_peer_items: MAX_PEER_ITEMS,
//!     memory: None,
//!     machine: Machine::REFERENCE,
//!     receipt: None,
//!     force: false,
//! };
//!
//! /// Passes on the address at which the receiver listens.
//! struct Listening(Sender<SocketAddr>);
//! impl Events for Listening {
//!     fn listening(&self, address: SocketAddr) {
//!         self.0.send(address).expect("the sender waits for it");
//!     }
//! }
//!
//! std::thread::scope(|scope| {
//!     let (tell, address) = channel();
//!     let receiver = side(Role::Receiver, "ours.csv", End::Listen("127.0.0.1:0".into()), Some("matches.csv"));
//!     let receiving = scope.spawn(move || session::run(&receiver, &Interrupt::default(), &Listening(tell)));
//!     let address = address.recv().expect("the receiver listens").to_string();
//!     let sender = side(Role::Sender, "theirs.csv", End::Connect(address), None);
//!     session::run(&sender, &Interrupt::default(), &Silent)?;
//!     receiving.join().expect("the receiver's thread")
//! })?;
//! assert_eq!(std::fs::read_to_string(path("matches.csv"))?, "email,city\nb@x.org,Gent\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
// What a partner or a file says must not end the process. The modules that parse it deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bounded;
pub mod buckets;
pub mod cluster;
pub mod failure;
#[doc(hidden)]
#[cfg_attr(not(test), expect(clippy::expect_used, reason = "a finding of the fuzzer is a panic"))]
pub mod fuzzing;
pub mod handshake;
#[cfg(test)]
mod insecure;
pub mod load;
pub mod memory;
pub mod noise;
pub mod plan;
pub mod probe;
pub mod progress;
pub mod receipt;
pub mod report;
pub mod rows;
pub mod service;
pub mod session;
pub mod shares;
pub mod task;
pub mod threads;
pub mod toml_text;
pub mod written;

pub use failure::Failure;
pub use report::Report;
pub use vesica_data::{invisible, key, nearest, profile, table, words};
pub use vesica_party as party;
pub use vesica_protocols as protocols;
