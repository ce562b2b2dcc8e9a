//! What a relay counts.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::service::metrics::{Counted, line};

/// Counters of a relay.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub connections: AtomicU64,
    pub refused: AtomicU64,
    pub pairs: AtomicU64,
    pub bytes: AtomicU64,
    pub waiting: AtomicU64,
    pub paired: AtomicU64,
}

impl Counted for Counters {
    fn page(&self) -> String {
        let mut page = String::new();
        for (name, kind, help, counter) in [
            ("vesica_relay_connections_total", "counter", "Connections that came.", &self.connections),
            ("vesica_relay_refused_total", "counter", "Connections that were not joined.", &self.refused),
            ("vesica_relay_pairs_total", "counter", "Pairs that were joined.", &self.pairs),
            ("vesica_relay_bytes_total", "counter", "Bytes that were passed on, both ways together.", &self.bytes),
            ("vesica_relay_waiting", "gauge", "Parties that wait for the other one.", &self.waiting),
            ("vesica_relay_pairs", "gauge", "Pairs that are joined now.", &self.paired),
        ] {
            line(&mut page, (name, kind, help), counter.load(Ordering::Relaxed));
        }
        page
    }

    fn is_ready(&self) -> bool {
        true
    }
}
