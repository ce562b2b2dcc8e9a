//! What a run costs in money, as section 6.2 of PRTY19 counts it: the cores' time, and what each
//! side sends at its site's rate.
//!
//! Prices are data with a date and a source each: `docs/prices-2026-11.toml`, or a file of the
//! user's own in its place.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use serde::Deserialize;

use super::model::Prediction;
use crate::failure::{Failure, code};
use crate::toml_text;

/// The prices that the program brings along.
const BUILT_IN: &str = include_str!("../../../../docs/prices-2026-11.toml");

/// A list of prices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Where the list comes from and of when it is.
    pub title: String,
    /// What a core costs.
    pub core: Core,
    /// What a core of the receiver costs, if it is not as much.
    #[serde(default)]
    pub receiver_core: Option<Core>,
    /// What traffic costs, by the kind of link.
    pub traffic: Vec<Traffic>,
}

/// The price of a core.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// US dollars for an hour of one core.
    pub usd_per_hour: f64,
    /// The source of the prices, with its date.
    pub source: String,
}

/// The price of traffic over one kind of link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// What `--traffic` calls it.
    pub kind: String,
    /// US dollars for 10^9 bytes that the sender of the protocol sends.
    pub sender_usd_per_gb: f64,
    /// US dollars for 10^9 bytes that the receiver of the protocol sends.
    pub receiver_usd_per_gb: f64,
    /// The source of the prices, with its date.
    pub source: String,
}

impl Prices {
    /// The built-in list.
    ///
    /// # Errors
    /// Never, as a test sees to.
    pub fn built_in() -> Result<Self, Failure> {
        Self::parse(BUILT_IN, "the built-in list of prices")
    }

    /// Reads a list; `name` is what errors call it.
    ///
    /// # Errors
    /// If it is no list of prices, or a price is no amount.
    pub fn parse(text: &str, name: &str) -> Result<Self, Failure> {
        let refused = |fault: &dyn std::fmt::Display| {
            Failure::new(
                code::INPUT,
                format_args!("{name}: {fault}"),
                "see docs/prices-2026-11.toml for what such a file looks like",
            )
        };
        let prices: Self = toml_text::read(text).map_err(|fault| refused(&fault))?;
        let each = prices.traffic.iter().flat_map(|traffic| [traffic.sender_usd_per_gb, traffic.receiver_usd_per_gb]);
        let cores = [Some(&prices.core), prices.receiver_core.as_ref()].into_iter().flatten();
        if !each.chain(cores.map(|core| core.usd_per_hour)).all(|price| price.is_finite() && price >= 0.0) {
            return Err(refused(&"a price is no amount of money"));
        }
        Ok(prices)
    }

    /// The prices of this kind of traffic.
    ///
    /// # Errors
    /// If the list has none.
    pub fn of(&self, kind: &str) -> Result<&Traffic, Failure> {
        self.traffic.iter().find(|traffic| traffic.kind == kind).ok_or_else(|| {
            let known: Vec<&str> = self.traffic.iter().map(|traffic| traffic.kind.as_str()).collect();
            Failure::new(
                code::USAGE,
                format_args!("the list of prices has no traffic of the kind {kind:?}"),
                format_args!("say --traffic {}", known.join(" or ")),
            )
        })
    }

    /// US dollars of a run in which either side keeps `threads` cores from its start to its end.
    pub fn usd(&self, traffic: &Traffic, run: &Prediction, threads: usize) -> f64 {
        let hours = run.total_us() as f64 / 3.6e9;
        let receiver_core = self.receiver_core.as_ref().unwrap_or(&self.core);
        threads as f64 * hours * (self.core.usd_per_hour + receiver_core.usd_per_hour)
            + run.sender_bytes as f64 / 1e9 * traffic.sender_usd_per_gb
            + run.receiver_bytes as f64 / 1e9 * traffic.receiver_usd_per_gb
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_costs_its_time_and_its_bytes() {
        let prices = Prices::built_in().expect("the built-in list");
        let internet = prices.of("internet").expect("a kind");
        let hour_and_gb = Prediction {
            compute_us: 1_800_000_000,
            transfer_us: 1_000_000_000,
            round_trips_us: 800_000_000,
            bytes: 3_000_000_000,
            sender_bytes: 1_000_000_000,
            receiver_bytes: 2_000_000_000,
            sender_memory: 0,
            receiver_memory: 0,
        };
        let expected =
            2.0 * 4.0 * prices.core.usd_per_hour + internet.sender_usd_per_gb + 2.0 * internet.receiver_usd_per_gb;
        assert!((prices.usd(internet, &hour_and_gb, 4) - expected).abs() < 1e-9);
        let core = Core { usd_per_hour: prices.core.usd_per_hour + 0.5, source: String::new() };
        let dearer = Prices { receiver_core: Some(core), ..prices.clone() };
        assert!((dearer.usd(dearer.of("internet").expect("a kind"), &hour_and_gb, 4) - expected - 2.0).abs() < 1e-9);
        assert!(prices.core.usd_per_hour > 0.0 && internet.sender_usd_per_gb > 0.0);
        assert!(prices.traffic.iter().all(|traffic| !traffic.source.is_empty()));
    }

    #[test]
    fn what_is_no_list_of_prices_is_refused_by_its_name() {
        for (from, to) in [
            ("usd_per_hour = ", "usd_per_hour = -"),
            ("usd_per_hour", "eur_per_hour"),
            ("[core]", "[core"),
            ("[core]", "[receiver_core]\nusd_per_hour = -1\nsource = \"me\"\n[core]"),
            ("kind = \"same-site\"", "kind = 7"),
            ("[[traffic]]", "[traffic]"),
        ] {
            let text = BUILT_IN.replacen(from, to, 1);
            assert_ne!(text, BUILT_IN);
            let failure = Prices::parse(&text, "my.toml").expect_err(from);
            assert!(failure.code == code::INPUT && failure.fault.starts_with("my.toml: "), "{failure}");
        }
        let failure = Prices::built_in().expect("the list").of("carrier-pigeon").expect_err("no such kind").to_string();
        assert!(failure.contains("--traffic same-site or"), "{failure}");
    }
}
