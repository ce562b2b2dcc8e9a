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
//! - [`policy`] says what may be done with a partner, and [`log`] what was.
//! - [`report`], [`receipt`] and [`shares`] are what a run leaves behind; [`noise`] hides single
//!   keys in aggregates.
//! - [`failure`] says what went wrong, what to do about it, and the exit code.
//!
//! Two sides of a join in one process, each with the defaults of the command; any field of a [`session::Config`] can be
//! set. Rows in memory are [`table::Batches`] instead of a file, and [`table::Collected`] takes a result. The example
//! `join` does the same between two threads that know each other's key.
//!
//! ```
//! use std::net::SocketAddr;
//! use std::sync::mpsc::{Sender, channel};
//!
//! use vesica::session::{self, Config, Destination, End, Events, Interrupt, OwnTable, Protection, Silent};
//!
//! let folder = tempfile::tempdir()?;
//! let path = |name: &str| folder.path().join(name).display().to_string();
//! std::fs::write(path("ours.csv"), "email,city\na@x.org,Bonn\nb@x.org,Gent\n")?;
//! std::fs::write(path("theirs.csv"), "email\nb@x.org\nc@x.org\n")?;
//!
//! /// Passes on the address at which the receiver listens.
//! struct Listening(Sender<SocketAddr>);
//! impl Events for Listening {
//!     fn listening(&self, address: SocketAddr) {
//!         self.0.send(address).expect("the sender waits for it");
//!     }
//! }
//!
//! let receiver = Config::receive(
//!     OwnTable::file(path("ours.csv"), &["email"])?,
//!     Destination::file(path("matches.csv")),
//!     End::Listen("127.0.0.1:0".into()),
//!     Protection::InsecurePlaintext,
//! )?;
//! let (tell, address) = channel();
//! std::thread::scope(|scope| {
//!     let receiving = scope.spawn(move || session::run(&receiver, &Interrupt::default(), &Listening(tell)));
//!     let end = End::Connect(address.recv().expect("the receiver listens").to_string());
//!     let theirs = OwnTable::file(path("theirs.csv"), &["email"]).expect("a key");
//!     let sender = Config::send(theirs, end, Protection::InsecurePlaintext)?;
//!     session::run(&Config { pad_to: Some(100), ..sender }, &Interrupt::default(), &Silent)?;
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
pub mod locked;
pub mod log;
pub mod memory;
pub mod noise;
pub mod plan;
pub mod policy;
pub mod probe;
pub mod progress;
pub mod receipt;
pub mod relay;
pub mod report;
mod resume;
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
pub use vesica_data::{invisible, key, nearest, profile, spill, table, words};
pub use vesica_party as party;
pub use vesica_protocols as protocols;
