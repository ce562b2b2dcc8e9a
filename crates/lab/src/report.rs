//! What a benchmark found: medians, and all samples beside them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use vesica_party::{Role, Security};

use crate::spread::median;
use crate::{Network, Settings, Spread};

/// Seconds and bytes of one phase of one party (medians over the repeats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Wall seconds inside of the phase.
    pub seconds: f64,
    /// Bytes that this party sent in it, framing included.
    pub bytes: u64,
}

/// Phases by name.
pub type Phases = BTreeMap<String, PhaseFigures>;

/// What one party saw in one repeat. Times are readings of the machine's monotonic clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartyRound {
    /// When its set-up was done.
    pub setup_done: f64,
    /// When it had its output.
    pub done: f64,
    /// Processor seconds from the barrier to the output.
    pub cpu_seconds: f64,
    /// Bytes it sent, framing included.
    pub sent_bytes: u64,
    /// Those of them that it sent until its set-up was done.
    pub setup_bytes: u64,
    /// Phases.
    pub phases: Phases,
    /// Whether its whole output is right.
    pub correct: bool,
    /// Peak memory of its process so far, bytes.
    pub peak_rss: u64,
}

/// Total, set-up and online seconds of one repeat.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// From the barrier to the later output.
    pub total_seconds: f64,
    /// From the barrier to the later end of set-up.
    pub setup_seconds: f64,
}

/// The whole report; its JSON is what `vesica-lab bench --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Id of the protocol that ran.
    pub protocol: String,
    /// Task name.
    pub task: String,
    /// Mode.
    pub security: Security,
    /// Sender's items.
    pub sender_items: usize,
    /// Receiver's items.
    pub receiver_items: usize,
    /// Items in both sets.
    pub intersection: usize,
    /// Whether every repeat's whole outputs were right.
    pub correct: bool,
    /// The link.
    pub link: Network,
    /// Compute threads of each party.
    pub threads_per_party: usize,
    /// Whether both parties ran in one process.
    pub in_process: bool,
    /// Bytes of an item.
    pub item_bytes: usize,
    /// Bytes of a payload of the sender.
    pub payload_bytes: usize,
    /// Bytes of a payload of the receiver.
    #[serde(default)]
    pub receiver_payload_bytes: usize,
    /// Values of each of the sender's items.
    #[serde(default)]
    pub columns: usize,
    /// Groups of the receiver's items; zero in reports from before there were any.
    #[serde(default)]
    pub groups: usize,
    /// Counted repeats.
    pub repeats: usize,
    /// Whether they had no warm-up.
    #[serde(default)]
    pub cold: bool,
    /// Median set-up seconds.
    pub setup_seconds: f64,
    /// Median of total minus set-up.
    pub online_seconds: f64,
    /// Median total seconds.
    pub total_seconds: f64,
    /// Total seconds: least, quartiles, most.
    pub total_spread: Spread,
    /// Every repeat.
    pub samples: Vec<Sample>,
    /// Median processor seconds of the sender.
    pub cpu_seconds_sender: f64,
    /// Median processor seconds of the receiver.
    pub cpu_seconds_receiver: f64,
    /// Bytes the sender sent: payload and framing, without TLS and TCP.
    pub sender_bytes: u64,
    /// Bytes the receiver sent.
    pub receiver_bytes: u64,
    /// Both.
    pub total_bytes: u64,
    /// Bytes that sender and receiver sent until their set-up was done; none in reports from before they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_bytes: Option<[u64; 2]>,
    /// Median bytes that sender and receiver sent as the link counts them, headers of TLS, TCP, IP and
    /// Ethernet included; for links of namespaces only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes: Option<[u64; 2]>,
    /// Bits over the larger set's size.
    pub bits_per_item: f64,
    /// Bytes of message payload that the protocol's formula predicts, least and most.
    pub predicted_bytes: [u64; 2],
    /// Peak memory of the sender's process, bytes (VmHWM).
    pub peak_rss_sender: u64,
    /// Peak memory of the receiver's process, bytes.
    pub peak_rss_receiver: u64,
    /// Price of the run; null until prices are configured.
    pub cost_usd: Option<f64>,
    /// Phases by party.
    pub phases: BTreeMap<Role, Phases>,
}

impl Report {
    /// Medians of what both parties saw. `rounds` holds barrier time, sender's and receiver's
    /// figures for each counted repeat.
    pub(crate) fn from_rounds(
        settings: &Settings,
        in_process: bool,
        predicted: RangeInclusive<u64>,
        rounds: &[(f64, PartyRound, PartyRound)],
    ) -> Self {
        let samples: Vec<Sample> = rounds
            .iter()
            .map(|(start, sender, receiver)| Sample {
                total_seconds: sender.done.max(receiver.done) - start,
                setup_seconds: sender.setup_done.max(receiver.setup_done) - start,
            })
            .collect();
        let over = |figure: &dyn Fn(&(f64, PartyRound, PartyRound)) -> f64| median(rounds.iter().map(figure));
        let total = Spread::of(samples.iter().map(|s| s.total_seconds));
        let sender_bytes = over(&|round| round.1.sent_bytes as f64) as u64;
        let receiver_bytes = over(&|round| round.2.sent_bytes as f64) as u64;
        let total_bytes = sender_bytes + receiver_bytes;
        let items = settings.sender_items.max(settings.receiver_items).max(1);
        Self {
            protocol: settings.protocol.clone(),
            task: settings.task.clone(),
            security: settings.security,
            sender_items: settings.sender_items,
            receiver_items: settings.receiver_items,
            intersection: settings.overlap(),
            correct: rounds.iter().all(|(_, sender, receiver)| sender.correct && receiver.correct),
            link: settings.link,
            threads_per_party: settings.threads,
            in_process,
            item_bytes: settings.item_bytes,
            payload_bytes: settings.payload_bytes,
            receiver_payload_bytes: settings.receiver_payload_bytes,
            columns: settings.columns,
            groups: settings.groups,
            repeats: rounds.len(),
            cold: settings.cold,
            setup_seconds: median(samples.iter().map(|s| s.setup_seconds)),
            online_seconds: median(samples.iter().map(|s| s.total_seconds - s.setup_seconds)),
            total_seconds: total.median,
            total_spread: total,
            samples,
            cpu_seconds_sender: over(&|round| round.1.cpu_seconds),
            cpu_seconds_receiver: over(&|round| round.2.cpu_seconds),
            sender_bytes,
            receiver_bytes,
            total_bytes,
            setup_bytes: Some([
                over(&|round| round.1.setup_bytes as f64) as u64,
                over(&|round| round.2.setup_bytes as f64) as u64,
            ]),
            link_bytes: None,
            bits_per_item: total_bytes as f64 * 8.0 / items as f64,
            predicted_bytes: [*predicted.start(), *predicted.end()],
            peak_rss_sender: rounds.iter().map(|round| round.1.peak_rss).max().unwrap_or(0),
            peak_rss_receiver: rounds.iter().map(|round| round.2.peak_rss).max().unwrap_or(0),
            cost_usd: None,
            phases: BTreeMap::from([
                (Role::Sender, median_phases(rounds.iter().map(|round| &round.1.phases).collect())),
                (Role::Receiver, median_phases(rounds.iter().map(|round| &round.2.phases).collect())),
            ]),
        }
    }
}

fn median_phases(rounds: Vec<&Phases>) -> Phases {
    let names: std::collections::BTreeSet<&String> = rounds.iter().flat_map(|phases| phases.keys()).collect();
    let figures = |name: &String| {
        let of = |round: &&Phases| round.get(name).copied().unwrap_or_default();
        PhaseFigures {
            seconds: median(rounds.iter().map(|round| of(round).seconds)),
            bytes: median(rounds.iter().map(|round| of(round).bytes as f64)) as u64,
        }
    };
    names.into_iter().map(|name| (name.clone(), figures(name))).collect()
}
