//! The channel: typed messages over a connection. (Contract; the party crate's owner fills it in.)

use std::sync::Arc;
use std::time::Duration;

use crate::transport::Connection;
use crate::{Abort, Message, Phase, Role, Stream};

/// How a channel behaves.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// Bound on the whole run.
    pub deadline: Option<Duration>,
}

/// Bytes and time by phase.
#[derive(Clone, Debug, Default)]
pub struct Tally {}

/// Ends its phase when dropped.
pub struct PhaseGuard(Arc<()>);

/// One party's end of a conversation.
pub struct Channel {}

impl Channel {
    /// Starts the reader and writer threads over a connection.
    pub fn open(connection: Connection, role: Role, options: ChannelOptions) -> Result<Self, Abort> {
        todo!()
    }
    /// The role this side plays at present.
    pub fn role(&self) -> Role {
        todo!()
    }
    /// Encodes and queues a message; never waits for the peer.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), Abort> {
        todo!()
    }
    /// Waits for a message of the given shape.
    pub fn recv<M: Message>(&mut self, shape: M::Shape) -> Result<M, Abort> {
        todo!()
    }
    /// Sends a part of a streamed message; may be called many times, blocks above 8 MiB unsent.
    pub fn send_stream<S: Stream>(&mut self, elements: &[S::Element]) -> Result<(), Abort> {
        todo!()
    }
    /// Receives exactly `out.len()` elements of a streamed message; may be called many times with any part sizes.
    pub fn recv_stream<S: Stream>(&mut self, out: &mut [S::Element]) -> Result<(), Abort> {
        todo!()
    }
    /// From now until the guard drops, time and bytes count for `phase` (phases nest: the innermost counts).
    pub fn phase(&mut self, phase: Phase) -> PhaseGuard {
        todo!()
    }
    /// A further channel over the same connection; both sides fork in the same program order, labels are compared.
    pub fn fork(&mut self, label: &'static str) -> Result<Channel, Abort> {
        todo!()
    }
    /// Runs `body` with the roles swapped (for a sub-protocol in the other direction).
    pub fn reversed<T>(&mut self, body: impl FnOnce(&mut Channel) -> T) -> T {
        todo!()
    }
    /// Bytes and time so far, forks included.
    pub fn tally(&self) -> Tally {
        todo!()
    }
}
