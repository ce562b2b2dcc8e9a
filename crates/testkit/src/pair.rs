//! Both parties in one test: two threads, seeded generators, both sides' errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use vesica_party::transport::{Connection, memory};
use vesica_party::{Abort, Channel, ChannelOptions, Role, Tally, exit_code};
use vesica_structures::rng::SecretRng;

/// Seeds of the two parties' generators.
const SEEDS: [u64; 2] = [0x5e4d, 0x4ece];

/// What one side came to.
#[derive(Debug)]
pub struct Side<T> {
    /// Its output, or why there is none (also when the channel did not close cleanly).
    pub result: Result<T, Abort>,
    /// Bytes and time.
    pub tally: Tally,
}

/// Options for tests: signs of life are frequent, and a run that takes a minute is given up.
pub fn options() -> ChannelOptions {
    ChannelOptions {
        deadline: Some(Duration::from_secs(180)),
        ping_every: Duration::from_millis(100),
        dead_after: Duration::from_secs(20),
        reason_wait: Duration::from_millis(200),
        drain_for: Duration::from_secs(2),
        ..ChannelOptions::default()
    }
}

/// Runs both parties over memory, each on a thread of its own; their outputs.
///
/// # Panics
/// If either side fails; the message has both sides' errors.
pub fn two_party<A: Send, B: Send>(
    sender: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<A, Abort> + Send,
    receiver: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<B, Abort> + Send,
) -> (A, B) {
    let (sent, received) = try_two_party(sender, receiver);
    match (sent.result, received.result) {
        (Ok(sent), Ok(received)) => (sent, received),
        (sent, received) => panic!("sender: {}; receiver: {}", outcome(&sent), outcome(&received)),
    }
}

/// Runs both parties over memory, each on a thread of its own; what each came to. A panic of a
/// party is its `Abort::Local` with [`exit_code::INTERNAL`].
pub fn try_two_party<A: Send, B: Send>(
    sender: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<A, Abort> + Send,
    receiver: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<B, Abort> + Send,
) -> (Side<A>, Side<B>) {
    two_party_over(memory::pair(), options(), sender, receiver)
}

/// Runs both parties over the given connection.
pub fn two_party_over<A: Send, B: Send>(
    (sender_end, receiver_end): (Connection, Connection),
    options: ChannelOptions,
    sender: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<A, Abort> + Send,
    receiver: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<B, Abort> + Send,
) -> (Side<A>, Side<B>) {
    let both = options.clone();
    thread::scope(|scope| {
        let sender = scope.spawn(move || side(sender_end, Role::Sender, options, sender));
        let received = side(receiver_end, Role::Receiver, both, receiver);
        let sent = sender
            .join()
            .unwrap_or_else(|panic| Side { result: Err(panicked(panic.as_ref())), tally: Tally::default() });
        (sent, received)
    })
}

/// Runs one party on its end of a connection and closes the channel as the outcome asks.
pub fn side<T>(
    connection: Connection,
    role: Role,
    options: ChannelOptions,
    body: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<T, Abort>,
) -> Side<T> {
    let mut channel = match Channel::open(connection, role, options) {
        Ok(channel) => channel,
        Err(failure) => return Side { result: Err(failure), tally: Tally::default() },
    };
    let mut rng = SecretRng::insecure_from_seed(SEEDS[role as usize]);
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut channel, &mut rng)));
    match outcome.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))) {
        Ok(output) => {
            let tally = channel.tally();
            match channel.finish() {
                Ok(tally) => Side { result: Ok(output), tally },
                Err(failure) => Side { result: Err(failure), tally },
            }
        }
        Err(failure) => {
            let tally = channel.tally();
            channel.abort(&failure);
            Side { result: Err(failure), tally }
        }
    }
}

/// Whether a failure stands for a panic.
pub(crate) fn is_panic(failure: &Abort) -> bool {
    matches!(failure, Abort::Local { fault, .. } if fault.starts_with(PANICKED))
}

const PANICKED: &str = "panicked: ";

fn panicked(panic: &(dyn Any + Send)) -> Abort {
    Abort::Local { code: exit_code::INTERNAL, fault: format!("{PANICKED}{}", message(panic)), mend: "report it".into() }
}

/// The text that a panic carries.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("?")
}

fn outcome<T>(result: &Result<T, Abort>) -> String {
    match result {
        Ok(_) => "succeeded".into(),
        Err(failure) => format!("failed: {failure}"),
    }
}
