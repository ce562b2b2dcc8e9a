//! What a server tells of its work, and asks before it does some.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use crate::Abort;
use crate::service::{ClientIdentity, Query, Standing, StateId};
use crate::transport::tls::PublicKey;

/// A client's connection, for accounts of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Who the client is.
    pub client: ClientIdentity,
    /// The key that it has proved to hold: [`client`](Self::client) has the one under which it was first known.
    pub key: Option<PublicKey>,
    /// Whether it has asked for the server's description.
    pub described: bool,
    /// The channel's session when the client first joined, which names the connection on both sides; nothing of one that
    /// was not let in.
    pub session: Option<[u8; 32]>,
    /// How many of its queries were answered.
    pub answered: u64,
}

/// What a server tells of its work, for logs and counters. Called on the clients' threads, so that
/// it must not block for long.
pub trait ServeEvents: Sync {
    /// A client has joined the state.
    fn joined(&self, client: &ClientIdentity, state: StateId) {
        let _ = (client, state);
    }

    /// What a client that asks for a description is told: what the [`Offer`](super::Offer) has for all, or more, about
    /// this client.
    fn describe<'a>(&self, client: &ClientIdentity, description: &'a [u8]) -> Cow<'a, [u8]> {
        let _ = client;
        Cow::Borrowed(description)
    }

    /// Whether the client may join the server's state, to which it stands like this; `Err` is told to the
    /// client, and ends its connection. Called each time that a client joins, before the server does
    /// anything for it.
    fn permit_join(&self, client: &ClientIdentity, standing: Standing) -> Result<(), Abort> {
        let _ = (client, standing);
        Ok(())
    }

    /// Whether a client that may join, and stands to the server's state like this, is served on this connection; `Err` is
    /// told to the client, and ends its connection. Called once for each connection, before the server does anything for
    /// the client. It may wait for a disk.
    fn begin(&self, conversation: &Conversation, standing: Standing) -> Result<(), Abort> {
        let _ = (conversation, standing);
        Ok(())
    }

    /// Whether the client may ask this query of the state that it has joined; `Err` is told to the
    /// client, and ends its connection. Called once for each query, before anything of it is read.
    fn permit(&self, query: &Query, state: StateId) -> Result<(), Abort> {
        let _ = (query, state);
        Ok(())
    }

    /// Whether a client that has shown this key may stay, which is asked again and again. One that may not is disconnected.
    fn may_stay(&self, client: &ClientIdentity, key: Option<PublicKey>) -> bool {
        let _ = (client, key);
        true
    }

    /// A query was answered.
    fn answered(&self, query: &Query, took: Duration) {
        let _ = (query, took);
    }

    /// A connection has ended; `conversation` is absent if the client never said who it is.
    fn ended(&self, conversation: Option<&Conversation>, from: &str, outcome: &Result<(), Abort>) {
        let _ = (conversation, from, outcome);
    }

    /// No client could be accepted just now, or no thread was there for one.
    fn not_accepted(&self, fault: &io::Error) {
        let _ = fault;
    }
}

/// Says nothing.
impl ServeEvents for () {}
