//! Links, as they are shown.

use serde::Serialize;

use crate::Network;

/// A link.
#[derive(Debug, Serialize)]
pub struct Link {
    /// As a reader writes it.
    pub label: String,
    /// Nothing for a link that is not shaped.
    bits_per_second: Option<u64>,
    round_trip_ms: f64,
}

impl Link {
    pub(super) fn of(network: Network) -> Self {
        let shaped = network.shape();
        Self {
            label: link_label(network),
            bits_per_second: shaped.map(|link| link.bits_per_second),
            round_trip_ms: shaped.map_or(0.0, |link| link.round_trip_us as f64 / 1e3),
        }
    }
}

/// A link as a reader writes it.
pub(super) fn link_label(network: Network) -> String {
    let Some(link) = network.shape() else { return network.to_string() };
    let rate = link.bits_per_second as f64;
    let (rate, unit) = match rate {
        1e9.. => (rate / 1e9, "Gbit/s"),
        1e6.. => (rate / 1e6, "Mbit/s"),
        _ => (rate / 1e3, "kbit/s"),
    };
    let means = if matches!(network, Network::Namespaces(_)) { " (netns)" } else { "" };
    format!("{rate} {unit}, {} ms{means}", link.round_trip_us as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_written_as_readers_write_them() {
        let label = |text: &str| link_label(text.parse().expect("a link"));
        assert_eq!(label("100mbit,40ms"), "100 Mbit/s, 40 ms");
        assert_eq!(label("10gbit,200us"), "10 Gbit/s, 0.2 ms");
        assert_eq!(label("512kbit,1s"), "512 kbit/s, 1000 ms");
        assert_eq!(label("loopback"), "loopback");
        assert_eq!(label("netns:1gbit,0ms"), "1 Gbit/s, 0 ms (netns)");
    }
}
