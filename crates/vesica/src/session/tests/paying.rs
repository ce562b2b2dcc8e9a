//! The budget of the noise: what a run that cannot start does not spend.

use std::fs::File;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::fs::{FlockOperation, flock};

use super::*;
use crate::failure::code;
use crate::locked::Wait;

/// A run that waits for the lock longer than this waits without end.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A folder with a budget of 0.5, of which nothing is spent.
fn budgeted() -> Folder {
    let folder = Folder::new();
    let peer = folder.us.public().fingerprint().to_string();
    let content = serde_json::json!({ "vesica_budget": 1, "peers": { peer: { "total": "0.5", "spent": "0" } } });
    fs::write(folder.path("budget.json"), content.to_string()).expect("written");
    folder
}

fn noisy(folder: &Folder) -> Config {
    let mut sender = folder.config(Role::Sender, "sum");
    amount(&mut sender);
    sender.settings.noise =
        Some(NoiseConfig { epsilon: Epsilon::parse("0.1").expect("an epsilon"), budget: folder.path("budget.json") });
    sender
}

/// Another run that holds the lock, until this is dropped or all patience is over.
fn hold_lock(folder: &Folder) -> Sender<()> {
    let lock = File::create(folder.path("budget.json.lock")).expect("a lock");
    flock(&lock, FlockOperation::LockExclusive).expect("free");
    let (hold, held) = channel();
    thread::spawn(move || {
        let _ = held.recv_timeout(LONGEST_WAIT);
        drop(lock);
    });
    hold
}

/// Passes notices on.
struct Notices(Sender<String>);

impl Events for Notices {
    fn notice(&self, text: &str) {
        self.0.send(text.to_owned()).expect("heard");
    }
}

fn wait_for(notices: &Receiver<String>, text: &str) {
    while !notices.recv_timeout(LONGEST_WAIT).expect("a notice").contains(text) {}
}

/// Both outcomes of a run whose sender waits for the lock; once it does, `end` is called with the
/// receiver's interrupt and the sender's.
fn while_locked(folder: &Folder, sender: Config, end: impl FnOnce(&Interrupt, &Interrupt)) -> (Failure, Failure) {
    let hold = hold_lock(folder);
    let (say, notices) = channel();
    let (tell_address, address) = mpsc::channel();
    let events = Listening(std::sync::Mutex::new(Address(tell_address)));
    let receiver = folder.config(Role::Receiver, "sum");
    let interrupts = [Interrupt::default(), Interrupt::default()];
    let outcomes = thread::scope(|scope| {
        let received = scope.spawn(|| run(&receiver, &interrupts[0], &events));
        let sender = Config { end: End::Connect(address.recv().expect("listening").to_string()), ..sender };
        let sent = scope.spawn(|| run(&{ sender }, &interrupts[1], &Notices(say)));
        wait_for(&notices, "holds the budget file");
        end(&interrupts[0], &interrupts[1]);
        (received.join().expect("no panic").expect_err("no run"), sent.join().expect("no panic").expect_err("no run"))
    });
    assert!(hold.send(()).is_ok(), "the runs ended while the lock was held");
    assert!(
        fs::read_to_string(folder.path("budget.json")).expect("there").contains(r#""spent":"0""#),
        "nothing is spent"
    );
    outcomes
}

#[test]
fn the_deadline_ends_the_wait_for_a_budget() {
    let folder = budgeted();
    let sender = Config { deadline: Some(Duration::from_secs(5)), ..noisy(&folder) };
    let (received, sent) = while_locked(&folder, sender, |_, _| ());
    assert_eq!(sent.code, code::LINK);
    assert!(sent.fault.contains("the deadline of 5 s") && sent.fault.contains("nothing was spent"), "{sent}");
    assert_eq!(received.code, code::PEER_FAILED);
    assert!(received.fault.contains("time limit") && !received.fault.contains("budget"), "{received}");
}

#[test]
fn a_partner_that_goes_while_a_budget_is_waited_for_costs_nothing() {
    let folder = budgeted();
    let over = Failure::new(code::INTERRUPTED, "interrupted by SIGINT", "");
    let policy = policies::policy(&folder, Role::Sender, "runs = \"1 per 1d\"");
    let begun = || {
        let left = policy.left(&Wait { goes_on: &|| Ok(()), events: &Silent }).expect("counts");
        left[0].text.clone()
    };
    let sender = Config { policy: Some(policy.clone()), ..noisy(&folder) };
    let (received, sent) = while_locked(&folder, sender, |receiver, _| {
        assert_eq!(begun(), "1 of 1 begun within 1d");
        receiver.raise(over.clone());
    });
    assert_eq!(begun(), "0 of 1 begun within 1d", "the run did not begin");
    assert_eq!(received, over);
    assert!(sent.code == code::PEER_FAILED && sent.fault.contains("interrupted by SIGINT"), "{sent}");
}

#[test]
fn an_interruption_ends_the_wait_for_a_budget() {
    let folder = budgeted();
    let over = Failure::new(code::INTERRUPTED, "interrupted by SIGINT", "");
    let (received, sent) = while_locked(&folder, noisy(&folder), |_, sender| sender.raise(over.clone()));
    assert_eq!(sent, over);
    assert_eq!(received.code, code::PEER_FAILED);
}

/// What passed before the connection counts, and the user reads the number that was given.
#[test]
fn a_deadline_is_named_as_it_was_given() {
    let folder = Folder::new();
    let listening = Config { deadline: Some(Duration::from_millis(500)), ..folder.config(Role::Receiver, "sum") };
    let failure = run(&listening, &Interrupt::default(), &Silent).expect_err("nobody comes");
    assert!(
        failure.fault.contains("nobody connected within 0.5 s") && failure.mend.contains("--deadline"),
        "{failure}"
    );
    // A partner that connects and says nothing: the time until it came is part of the run.
    let (say, address) = mpsc::channel();
    let events = Listening(std::sync::Mutex::new(Address(say)));
    let plain =
        Config { deadline: Some(Duration::from_millis(2500)), protection: Protection::InsecurePlaintext, ..listening };
    let failure = thread::scope(|scope| {
        let received = scope.spawn(|| run(&plain, &Interrupt::default(), &events));
        let silent = std::net::TcpStream::connect(address.recv().expect("listening")).expect("connected");
        let outcome = received.join().expect("no panic");
        drop(silent);
        outcome
    });
    let failure = failure.expect_err("too late");
    assert!(failure.code == code::LINK && failure.fault.contains("took longer than 2.5 s"), "{failure}");
}
