//! Messages and a pair of parties for the channel's tests.

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use vesica_party::transport::Connection;
use vesica_party::{Abort, Channel, ChannelOptions, Malformed, Message, Reader, Role, Step, Stream, Tally, Writer};

pub const fn step(number: u8, from: Role) -> Step {
    Step { protocol: "test", number, from, carries: "bytes" }
}

/// Bytes from the sender; their count is agreed.
#[derive(Debug, PartialEq)]
pub struct Hello(pub Vec<u8>);

impl Message for Hello {
    const STEP: Step = step(1, Role::Sender);
    type Shape = usize;
    fn len(shape: &usize) -> RangeInclusive<usize> {
        *shape..=*shape
    }
    fn write(&self, out: &mut Writer) {
        out.bytes(&self.0);
    }
    fn read(bytes: &mut Reader<'_>, shape: usize) -> Result<Self, Malformed> {
        Ok(Self(bytes.bytes(shape)?.to_vec()))
    }
}

/// A number from the receiver.
#[derive(Debug, PartialEq)]
pub struct Reply(pub u64);

impl Message for Reply {
    const STEP: Step = step(2, Role::Receiver);
    type Shape = ();
    fn len(_: &()) -> RangeInclusive<usize> {
        8..=8
    }
    fn write(&self, out: &mut Writer) {
        out.u64(self.0);
    }
    fn read(bytes: &mut Reader<'_>, _: ()) -> Result<Self, Malformed> {
        Ok(Self(bytes.u64()?))
    }
}

/// Numbers streamed from the sender.
pub struct Numbers;

impl Stream for Numbers {
    const STEP: Step = step(3, Role::Sender);
    type Element = u64;
}

pub fn quick() -> ChannelOptions {
    ChannelOptions {
        deadline: Some(Duration::from_secs(20)),
        ping_every: Duration::from_millis(100),
        dead_after: Duration::from_secs(10),
        reason_wait: Duration::from_millis(500),
        drain_for: Duration::from_secs(2),
        ..ChannelOptions::default()
    }
}

/// Runs a body on an end and closes the channel as the outcome asks.
pub fn run<T>(
    end: Connection,
    role: Role,
    options: ChannelOptions,
    body: impl FnOnce(&mut Channel) -> Result<T, Abort>,
) -> Outcome<T> {
    let mut channel = Channel::open(end, role, options)?;
    match body(&mut channel) {
        Ok(output) => Ok((output, channel.finish()?)),
        Err(failure) => {
            channel.abort(&failure);
            Err(failure)
        }
    }
}

/// What a side came to.
pub type Outcome<T> = Result<(T, Tally), Abort>;

/// Runs both parties.
pub fn both<A: Send, B: Send>(
    (left, right): (Connection, Connection),
    sender: impl FnOnce(&mut Channel) -> Result<A, Abort> + Send,
    receiver: impl FnOnce(&mut Channel) -> Result<B, Abort> + Send,
) -> (Outcome<A>, Outcome<B>) {
    thread::scope(|scope| {
        let sender = scope.spawn(|| run(left, Role::Sender, quick(), sender));
        let received = run(right, Role::Receiver, quick(), receiver);
        (sender.join().expect("the sender panicked"), received)
    })
}

/// A message without content.
macro_rules! empty_message {
    ($name:ident, $step:expr) => {
        struct $name;
        impl vesica_party::Message for $name {
            const STEP: vesica_party::Step = $step;
            type Shape = ();
            fn len(_: &()) -> std::ops::RangeInclusive<usize> {
                0..=0
            }
            fn write(&self, _: &mut vesica_party::Writer) {}
            fn read(_: &mut vesica_party::Reader<'_>, _: ()) -> Result<Self, vesica_party::Malformed> {
                Ok(Self)
            }
        }
    };
}
pub(crate) use empty_message;
