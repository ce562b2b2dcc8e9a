//! Parts of docs/paper-tables.md that show our runs alone: phases and costs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use vesica::plan::{Prediction, Prices};
use vesica_lab::papers::{Runs, amount, link_name, seconds};
use vesica_lab::report_page::Recording;
use vesica_lab::{Network, PhaseFigures, Report};
use vesica_party::{Role, Security};

/// What each phase takes: seconds over each of the links and megabytes. Empty without a run.
pub fn phases(runs: &Runs, id: &str, log: u32, links: &[Network]) -> Vec<(String, Vec<String>)> {
    let of_link = |link: &Network| runs.of(id, Security::SemiHonest, (log, log)).find(|run| run.link == *link);
    let of_links: Vec<Option<&Report>> = links.iter().map(of_link).collect();
    let sides = |run: &Report| [Role::Sender, Role::Receiver].map(|role| run.phases.get(&role).cloned());
    let names: BTreeSet<String> =
        of_links.iter().flatten().flat_map(|run| sides(run)).flatten().flat_map(BTreeMap::into_keys).collect();
    let row = |phase: String| {
        let both =
            |run: &Report| sides(run).map(|side| side.and_then(|side| side.get(&phase).copied()).unwrap_or_default());
        let of_sides = || of_links.iter().map(|run| run.map(both));
        let time = |both: Option<[PhaseFigures; 2]>| {
            both.map_or("not measured".into(), |[one, other]| seconds(one.seconds.max(other.seconds)))
        };
        let bytes = of_sides().flatten().next().map_or(0, |[one, other]| one.bytes + other.bytes);
        let cells = of_sides().map(time).chain([amount(bytes as f64 / 1e6)]).collect();
        (phase.clone(), cells)
    };
    names.into_iter().map(row).collect()
}

/// What runs cost, as section 6.2 of SpOT-Light counts it.
pub fn costs(runs: &Runs, prices: &Prices) -> String {
    let slow = |rate: &str| format!("{rate},80ms").parse::<Network>().expect("a link");
    let places = [
        ("same-site", Network::Loopback),
        ("other-site", slow("100mbit")),
        ("internet", slow("100mbit")),
        ("internet", slow("10mbit")),
    ];
    let mut text = format!(
        "\n## What a run costs\n\nUS dollars for 1000 runs, counted as section 6.2 of SpOT-Light does: the time \
         of one core on either side, and what each side sends at its site's rate. Prices: \
         {}\n([prices-2026-11.toml](prices-2026-11.toml)); between businesses both are in the cloud, at one site \
         or two; over the internet both pay for what they send. Times of a\n`~` cell are computed. SpOT-Light \
         shows its costs in figures only.\n\n",
        prices.title
    );
    let heads = places.map(|(kind, link)| format!("{kind}, {}", link_name(link)));
    let _ = writeln!(
        text,
        "| sets | mode | protocol | {} |\n|---|---|---|{}",
        heads.join(" | "),
        "---|".repeat(places.len())
    );
    for log in [16, 20] {
        let wanted = runs.list().iter().filter(|run| (run.sender_items, run.receiver_items) == (1 << log, 1 << log));
        let ids: BTreeSet<(String, &str)> =
            wanted.map(|run| (run.security.to_string(), run.protocol.as_str())).collect();
        for (security, id) in ids.into_iter().rev() {
            let mode = if security == "malicious" { Security::Malicious } else { Security::SemiHonest };
            let cells = places.map(|place| shown(thousand_runs(runs, prices, place, id, mode, log, 1)));
            let _ = writeln!(text, "| 2^{log} x 2^{log} | {security} | `{id}` | {} |", cells.join(" | "));
        }
    }
    text
}

/// A cost as cells have it.
pub fn shown(cost: Option<(f64, bool)>) -> String {
    let text = |(usd, is_measured)| format!("{}{}", if is_measured { "" } else { "~" }, amount(usd));
    cost.map_or("not measured".into(), text)
}

/// What a thousand runs over a kind of link cost in US dollars, with so many cores of either side, and whether their time
/// was measured.
pub fn thousand_runs(
    runs: &Runs,
    prices: &Prices,
    (kind, link): (&str, Network),
    id: &str,
    security: Security,
    log: u32,
    cores: usize,
) -> Option<(f64, bool)> {
    let time = runs.time(id, security, (log, log), link)?;
    let run = runs.of(id, security, (log, log)).next()?;
    let prediction = Prediction {
        compute_us: (time.seconds * 1e6) as u64,
        transfer_us: 0,
        round_trips_us: 0,
        bytes: run.sender_bytes + run.receiver_bytes,
        sender_bytes: run.sender_bytes,
        receiver_bytes: run.receiver_bytes,
        sender_memory: 0,
        receiver_memory: 0,
    };
    Some((prices.usd(prices.of(kind).ok()?, &prediction, cores) * 1000.0, time.is_measured))
}

#[cfg(test)]
mod tests {
    use vesica::task;

    use super::*;

    /// A run of `vole-fast` over loopback.
    fn run(seconds: f64) -> Report {
        let spread = vesica_lab::Spread::of([seconds]);
        serde_json::from_value(serde_json::json!({
            "protocol": "vole-fast", "task": "intersect", "security": "semi-honest", "sender_items": 65536, "receiver_items": 65536,
            "intersection": 32768, "correct": true, "link": "loopback", "threads_per_party": 1, "in_process": false,
            "item_bytes": 16, "payload_bytes": 0, "repeats": 1, "setup_seconds": 0.0, "online_seconds": seconds,
            "total_seconds": seconds, "total_spread": spread, "samples": [], "cpu_seconds_sender": 0.0,
            "cpu_seconds_receiver": 0.0, "sender_bytes": 1_000_000, "receiver_bytes": 250_000,
            "total_bytes": 1_250_000, "bits_per_item": 1.0, "predicted_bytes": [0, 0], "peak_rss_sender": 0,
            "peak_rss_receiver": 0, "cost_usd": null, "phases": {},
        }))
        .expect("a run")
    }

    fn intersections(run: Report) -> Runs {
        let recording = Recording { runs: vec![(String::new(), run)], ..Recording::default() };
        Runs::of_recording(task::find("intersect").expect("the task"), &recording)
    }

    #[test]
    fn a_phase_takes_the_time_of_its_slower_side_and_the_bytes_of_both() {
        let mut measured = run(0.5);
        measured.phases = serde_json::from_value(serde_json::json!({
            "sender": {"encode": {"seconds": 0.25, "bytes": 1_000_000}},
            "receiver": {"encode": {"seconds": 0.5, "bytes": 500_000}, "decode": {"seconds": 0.1, "bytes": 0}},
        }))
        .expect("phases");
        let wan = "100mbit,80ms".parse().expect("a link");
        let phases = phases(&intersections(measured), "vole-fast", 16, &[Network::Loopback, wan]);
        let expected = [("decode", ["0.10", "not measured", "0.000"]), ("encode", ["0.50", "not measured", "1.50"])];
        assert_eq!(phases, expected.map(|(phase, cells)| (phase.into(), cells.map(String::from).into())));
    }

    #[test]
    fn a_thousand_runs_cost_their_time_and_bytes() {
        let prices = Prices::built_in().expect("the project's prices");
        let runs = intersections(run(3.6));
        let expected = 1000.0
            * (2.0 * prices.core.usd_per_hour / 1000.0
                + 1.25e-3 * prices.of("same-site").expect("a kind").sender_usd_per_gb);
        let place = ("same-site", Network::Loopback);
        let cost = |cores| thousand_runs(&runs, &prices, place, "vole-fast", Security::SemiHonest, 16, cores);
        assert_eq!(shown(cost(1)), amount(expected));
        let of_a_core = 2.0 * prices.core.usd_per_hour;
        assert!((cost(2).expect("a cost").0 - expected - of_a_core).abs() < 1e-9);
        assert!(costs(&runs, &prices).contains("not measured"));
    }
}
