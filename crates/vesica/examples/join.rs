//! A join between two threads over TLS, as a program calls it: `cargo run --release --locked -p vesica --example join`.
//!
//! The receiver learns which of its rows the sender has, with a column of the sender's beside them.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use vesica::party::transport::tls::Identity;
use vesica::session::{self, Config, Destination, End, Events, Interrupt, OwnTable, Protection, Silent};
use vesica::table::Join;
use vesica::task::Flags;

/// Passes on the address at which a side listens.
struct Listening(Sender<SocketAddr>);

impl Events for Listening {
    fn listening(&self, address: SocketAddr) {
        // Nobody waits any more if the other side has failed.
        let _ = self.0.send(address);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("ours.csv"), "email,city\na@x.org,Bonn\nb@x.org,Gent\n")?;
    std::fs::write(path("theirs.csv"), "email,score\nb@x.org,7\nc@x.org,8\n")?;

    // Each side makes its own identity once, keeps it, and hands its public key to the other.
    let (us, them) = (Identity::generate()?, Identity::generate()?);
    let ours = Protection::Tls { identity: us.clone(), peer: them.public().into() };
    let theirs = Protection::Tls { identity: them, peer: us.public().into() };

    let destination = Destination { join: Join::Left, ..Destination::file(path("joined.csv")) };
    let table = OwnTable::file(path("ours.csv"), &["email"])?;
    let receiver = Config::receive(table, destination, End::Listen("127.0.0.1:0".into()), ours)?;

    let (tell, address) = channel();
    let receiving = thread::spawn(move || session::run(&receiver, &Interrupt::default(), &Listening(tell)));

    let end = End::Connect(address.recv()?.to_string());
    let sender = Config::send(OwnTable::file(path("theirs.csv"), &["email"])?, end, theirs)?;
    let payload = Flags { payload: vec!["score".into()], ..Flags::default() };
    session::run(&sender.for_task("intersect", &payload)?, &Interrupt::default(), &Silent)?;

    let report = receiving.join().map_err(|_| "the receiver panicked")??;
    let mut out = std::io::stdout();
    writeln!(out, "{} of our keys are common, by {}:", report.matched_keys.unwrap_or(0), report.protocol)?;
    out.write_all(&std::fs::read(path("joined.csv"))?)?;
    Ok(())
}
