//! Strangers at the listening address: the partner gets in all the same, and its user learns of
//! them.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::harness::Folder;

/// Strangers that connect, say nothing, and come again when they are turned away.
struct Crowd {
    over: Arc<AtomicBool>,
    coming: Option<JoinHandle<()>>,
}

impl Crowd {
    /// All of them have connected once when this returns.
    fn at(address: &str, count: usize) -> Self {
        let come = |address: &str| {
            let stranger = TcpStream::connect(address)?;
            stranger.set_nonblocking(true)?;
            std::io::Result::Ok(stranger)
        };
        let mut strangers: Vec<TcpStream> = (0..count).map(|_| come(address).expect("connected")).collect();
        let over = Arc::new(AtomicBool::new(false));
        let (until, address) = (over.clone(), address.to_owned());
        let coming = thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                for stranger in &mut strangers {
                    let waiting =
                        matches!(stranger.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
                    // The listener may have what it waited for, and be gone.
                    if let (false, Ok(again)) = (waiting, come(&address)) {
                        *stranger = again;
                    }
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { over, coming: Some(coming) }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // A test that fails says so by itself.
        let _ = self.coming.take().map(JoinHandle::join);
    }
}

const RECEIVE: &str =
    "receive --input ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --identity us.key --peer them.pub";

const SEND: &str = "send --identity them.key --peer us.pub --wait 55";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    folder
}

/// The command, with so few open files.
fn with_open_files(most: usize) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -n {most} && exec \"$@\"");
    command.args(["-c", &script, "sh", crate::PROGRAM]);
    command
}

#[test]
fn idle_strangers_that_keep_coming_do_not_keep_the_partner_out() {
    let folder = tables();
    let receiver = folder.start(&format!("{RECEIVE} --wait 55"));
    let address = receiver.address();
    let crowd = Crowd::at(&address, 64);
    let sender = folder.run(&format!("{SEND} --connect {address} --input ours.csv --key email"));
    sender.expect(0, &[]);
    receiver.end().expect(0, &["other connections were turned away", "said nothing"]);
    drop(crowd);
    assert_eq!(folder.read("matches.csv"), "email\na@x.org\n");
}

#[test]
fn nor_do_they_under_a_low_limit_of_open_files() {
    let folder = tables();
    let receiver = folder.start_under(with_open_files(24), &format!("{RECEIVE} --wait 55"));
    let address = receiver.address();
    let crowd = Crowd::at(&address, 40);
    let sender = folder.run(&format!("{SEND} --connect {address} --input ours.csv --key email"));
    sender.expect(0, &[]);
    receiver.end().expect(0, &["other connections were turned away"]);
    drop(crowd);
    assert_eq!(folder.read("matches.csv"), "email\na@x.org\n");
}

#[test]
fn a_partner_that_never_comes_is_missed_with_the_number_of_strangers() {
    let folder = tables();
    let receiver = folder.start(&format!("{RECEIVE} --wait 1"));
    let _crowd = Crowd::at(&receiver.address(), 20);
    receiver
        .end()
        .expect(5, &["the partner did not connect within 1 s", "other connections were turned away", "--wait"]);
    assert!(!folder.files().contains(&"matches.csv".into()));
}
