//! Bounds of a server.

use std::time::Duration;

use crate::ChannelOptions;

/// Time between two looks at what stops or bounds the server.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// Bounds of a server.
#[derive(Clone, Debug)]
pub struct ServeLimits {
    /// Clients at once, those included that have not said yet who they are. Each holds a connection,
    /// and a thread while a request of its is under way. Connections that are over do not count.
    pub clients: usize,
    /// Clients at once that have not said yet who they are. Where there are more, or where no client
    /// can be accepted any more, the one of them that came first goes, once it has had
    /// `handshake_stay`.
    pub handshakes: usize,
    /// The time that a client has in any case to say who it is.
    pub handshake_stay: Duration,
    /// The longest time between two requests of a client.
    pub idle: Duration,
    /// The longest time that a client takes to enrol or to join again.
    pub joining: Duration,
    /// The longest time that a query takes, and sending its answer.
    pub query: Duration,
    /// The time that queries under way get to come to their end when the server stops.
    pub stopping: Duration,
    /// Connections at once of one client that is known by its key.
    pub connections_per_client: usize,
    /// Connections that are over, whose clients still have the time to read why; not among `clients`.
    /// Where there are more, the first one of the client that has most of them is cut off.
    pub endings: usize,
    /// How each client's channel behaves.
    pub channel: ChannelOptions,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            clients: 256,
            handshakes: 64,
            handshake_stay: Duration::from_secs(1),
            idle: Duration::from_secs(60),
            joining: Duration::from_secs(600),
            query: Duration::from_secs(60),
            stopping: Duration::from_secs(10),
            connections_per_client: 16,
            endings: 64,
            // No service forks: a client that does only fills memory.
            channel: ChannelOptions { early_forks: 0, ..ChannelOptions::default() },
        }
    }
}
