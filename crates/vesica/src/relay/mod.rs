//! A relay: it joins two parties that can only dial, by a ticket that both show, and passes on what they send.
//!
//! What it sees is TLS between the two: addresses, times and numbers of bytes. It knows neither of their keys, keeps
//! nothing on a disk, and cannot take the place of either.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod counters;
mod desk;
mod key;
mod pair;
mod visit;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vesica_party::service::Stop;
use vesica_party::transport::tcp;

pub use key::{RelayKey, any_ticket};

use crate::failure::{Failure, code};
use crate::service::metrics::OpenPage;
use crate::threads;
use counters::Counters;
use desk::Desk;

/// How long the relay waits at a time for a connection, between two looks at whether it is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a relay that stops takes to tell those who wait.
const FAREWELL: Duration = Duration::from_secs(3);

/// What a relay does.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// The address at which parties connect.
    pub listen: String,
    /// The key that must have made a ticket; `None` for any ticket.
    pub key: Option<RelayKey>,
    /// Most connections at once that have shown a ticket which this relay takes. A pair has two.
    pub max_connections: usize,
    /// Most of these from one address.
    pub connections_per_address: usize,
    /// Most connections in a minute from one address.
    pub dials_per_minute: usize,
    /// Most bytes, both ways together, that go by one ticket while the relay runs.
    pub bytes_per_ticket: Option<u64>,
    /// How long a party may wait for the other one.
    pub patience: Duration,
    /// How long pairs may go on once the relay is to stop.
    pub grace: Duration,
    /// Where the page of counters is.
    pub metrics: Option<String>,
}

/// Hears what a relay does. Nothing of it is a ticket.
pub trait RelayLog: Send + Sync {
    /// An event: its name, as a sentence, and with these fields.
    fn event(&self, name: &str, text: &str, fields: &[(&str, Value)]);
}

/// A relay whose addresses are bound.
pub struct Relay {
    listener: tcp::Listener,
    desk: Arc<Desk>,
    _page: Option<OpenPage>,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").finish_non_exhaustive()
    }
}

impl Relay {
    /// Binds the addresses.
    ///
    /// # Errors
    /// If they cannot be bound.
    pub fn bind(config: RelayConfig, log: Arc<dyn RelayLog>) -> Result<Self, Failure> {
        let listener = tcp::listen(&config.listen)?;
        let counters = Arc::new(Counters::default());
        let page = config.metrics.as_deref().map(|address| open_page(address, counters.clone())).transpose()?;
        let (address, shown) = (listener.local_addr()?, page.as_ref().map(|page| page.address().to_string()));
        let told = shown.as_ref().map(|page| format!("; metrics at http://{page}/metrics")).unwrap_or_default();
        log.event(
            "listening",
            &format!("listening on {address}{told}"),
            &[("address", json!(address.to_string())), ("metrics", json!(shown))],
        );
        Ok(Self { listener, desk: Arc::new(Desk::new(config, counters, log)), _page: page })
    }

    /// Joins parties until `stop`; then pairs may go on for the grace, or until `stop_at_once`.
    pub fn run(self, stop: &Stop, stop_at_once: &Stop) {
        let mut is_told = false;
        while !stop.is_stopped() {
            match tcp::poll(&self.listener, LOOK_EVERY) {
                Ok(Some((socket, from))) => visit::begin(&self.desk, socket, from),
                Ok(None) => {}
                // Too many open files, for example: that passes, and is told once.
                Err(fault) => {
                    if !std::mem::replace(&mut is_told, true) {
                        self.desk.warn(&fault);
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
            }
        }
        drop(self.listener);
        self.desk.dismiss_waiting();
        let (begun, pairs) = (Instant::now(), self.desk.pairs());
        if pairs > 0 {
            let text = format!("stopping when the pairs under way are over ({pairs} now)");
            self.desk.log.event("stopping", &text, &[("pairs", json!(pairs))]);
        }
        let goes_on = || {
            (self.desk.pairs() > 0 && begun.elapsed() < self.desk.config.grace)
                || (self.desk.connections() > 0 && begun.elapsed() < FAREWELL)
        };
        while goes_on() && !stop_at_once.is_stopped() {
            std::thread::sleep(LOOK_EVERY);
        }
        let pairs = self.desk.pairs();
        if pairs > 0 {
            let why = if stop_at_once.is_stopped() { "a second signal came" } else { "the grace is over" };
            let fields = [("pairs", json!(pairs)), ("why", json!(why))];
            self.desk.log.event("cut", &format!("{why}: {pairs} pairs are parted"), &fields);
        }
    }
}

fn open_page(address: &str, counters: Arc<Counters>) -> Result<OpenPage, Failure> {
    OpenPage::new(address, counters).map_err(|fault: io::Error| {
        Failure::new(
            code::LINK,
            format_args!("cannot show metrics at {address}: {fault}"),
            "give another address or port to --metrics",
        )
    })
}

/// Starts a thread of the relay's; without one, what it was for does not happen.
fn start(work: impl FnOnce() + Send + 'static) -> bool {
    threads::start("vesica-relay", work).is_ok()
}

#[cfg(test)]
mod tests;
