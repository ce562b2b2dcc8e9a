//! A server at work, and what it is given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::events::ServeEvents;
use super::limits::ServeLimits;
use super::present::Present;
use crate::service::poller::Poller;
use crate::service::{Published, Service};

/// What a server offers.
#[derive(Debug)]
pub struct Offer<'a, S: Service> {
    /// The prepared state, which may be replaced or retired at any time.
    pub state: &'a Published<S::Server>,
    /// The parameters of this state and of each that replaces it.
    pub params: &'a S::Params,
    /// What a client that asks for it is told, see [`describe`](crate::service::describe) and
    /// [`ServeEvents::describe`]; at most [`MOST_DESCRIPTION_BYTES`](crate::service::MOST_DESCRIPTION_BYTES).
    pub description: &'a [u8],
}

/// Stops a server from another thread. Clones stop the same one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// One that has not stopped anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the server: it accepts nobody more, disconnects clients that ask nothing at the
    /// moment, and answers the queries under way. Does not wait.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the server was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A server at work.
pub(super) struct Serving<'a, S: Service> {
    pub offer: &'a Offer<'a, S>,
    pub limits: &'a ServeLimits,
    pub events: &'a dyn ServeEvents,
    pub stop: &'a Stop,
    pub present: Present<S>,
    /// Where connections wait for the next request.
    pub poller: Option<Poller>,
    /// Threads that take up connections from there.
    pub workers: AtomicUsize,
    /// Those of them that wait for one.
    pub waiting: AtomicUsize,
    /// All clients are gone.
    pub is_over: AtomicBool,
}
