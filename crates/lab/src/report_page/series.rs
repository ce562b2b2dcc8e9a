//! Runs that differ in nothing but their sizes and links.

use serde::Serialize;
use vesica::task;
use vesica::words::counted;
use vesica_party::Status;

use crate::Report;

/// What runs of different sizes and links have in common.
#[derive(Debug, PartialEq, Serialize)]
pub struct Series {
    /// Place in [`Data::recordings`](super::Data::recordings).
    pub recording: usize,
    /// Task.
    pub task: String,
    /// Protocol, with its choices.
    pub protocol: String,
    /// Mode.
    pub security: String,
    /// What else was asked for, in words; empty for what is asked by default.
    pub amounts: String,
    /// Least and most rounds by the registry; nothing for a protocol that it has no more.
    pub rounds: Option<[usize; 2]>,
    /// Whether the protocol is broken.
    pub broken: bool,
}

impl Series {
    pub(super) fn new(recording: usize, report: &Report) -> Self {
        let entry = task::find(&report.task).ok().and_then(|task| task.find(&report.protocol).ok().flatten());
        let rounds = entry.and_then(|entry| entry.mode(report.security)).map(|mode| mode.rounds);
        Self {
            recording,
            task: report.task.clone(),
            protocol: report.protocol.clone(),
            security: report.security.to_string(),
            amounts: amounts(report),
            rounds: rounds.map(|rounds| [rounds.least, rounds.most]),
            broken: entry.is_some_and(|entry| matches!(entry.status, Status::Broken { .. })),
        }
    }
}

/// What differs from a plain run.
fn amounts(report: &Report) -> String {
    let smaller = report.sender_items.min(report.receiver_items).max(1);
    let percent = (100.0 * report.intersection as f64 / smaller as f64).round() as u64;
    let told = [
        (percent != 50 && smaller > 1, format!("{percent}% in common")),
        (report.payload_bytes > 0, format!("payload of {} bytes", report.payload_bytes)),
        (report.receiver_payload_bytes > 0, format!("receiver's payload of {} bytes", report.receiver_payload_bytes)),
        (report.columns > 0, counted(report.columns, "column", "columns")),
        (report.groups > 1, format!("{} groups", report.groups)),
        (report.item_bytes != 16, format!("items of {} bytes", report.item_bytes)),
        (report.threads_per_party != 1, format!("{} threads a party", report.threads_per_party)),
        (report.in_process, "both parties in one process".into()),
    ];
    told.into_iter().filter_map(|(is_told, text)| is_told.then_some(text)).collect::<Vec<_>>().join(", ")
}
