//! What a server tells of its work, and asks before it does some.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use crate::Abort;
use crate::service::{ClientIdentity, Query, Standing, StateId};

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

    /// Whether the client may ask this query of the state that it has joined; `Err` is told to the
    /// client, and ends its connection. Called once for each query, before anything of it is read.
    fn permit(&self, query: &Query, state: StateId) -> Result<(), Abort> {
        let _ = (query, state);
        Ok(())
    }

    /// Whether a client may stay, which is asked again and again. One that may not is disconnected.
    fn may_stay(&self, client: &ClientIdentity) -> bool {
        let _ = client;
        true
    }

    /// A query was answered.
    fn answered(&self, query: &Query, took: Duration) {
        let _ = (query, took);
    }

    /// A connection has ended; `client` is absent if it never said who it is.
    fn ended(&self, client: Option<&ClientIdentity>, from: &str, outcome: &Result<(), Abort>) {
        let _ = (client, from, outcome);
    }

    /// No client could be accepted just now, or no thread was there for one.
    fn not_accepted(&self, fault: &io::Error) {
        let _ = fault;
    }
}

/// Says nothing.
impl ServeEvents for () {}
