//! Pages of our runs alone: building blocks, and threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use vesica_lab::papers::{amount, link_name, seconds};
use vesica_lab::report_page::Recording;
use vesica_lab::{Network, Report};

/// What both pages say of where their runs are from.
fn origin(suite: &str, recording: &Recording) -> String {
    format!(
        "Runs: bench/runs/{}, on {}; made by `vesica-lab bench suite bench/suites/{suite}.toml`. Medians; two processes, links shaped inside of the \
         transport. Written by `VESICA_BLESS=1 cargo test --release -p vesica-lab --test readme`; do not edit.",
        recording.label,
        recording.machine.as_deref().unwrap_or("a machine that is not named")
    )
}

/// The newest recording that has runs of this suite, with these alone.
pub fn recording_of(suite: &str, recordings: &[Recording]) -> Option<(String, Vec<Report>, usize)> {
    let is_its = |name: &str| name.strip_prefix(suite).is_some_and(|rest| rest.starts_with('-'));
    let recording = recordings.iter().find(|recording| recording.runs.iter().any(|(name, _)| is_its(name)))?;
    let runs = recording.runs.iter().filter(|(name, run)| is_its(name) && run.correct).map(|(_, run)| run.clone());
    Some((origin(suite, recording), runs.collect(), recording.cores().unwrap_or(1)))
}

/// The items of both sides; a power of two as one.
fn sizes(run: &Report) -> String {
    let of = |items: usize| match items {
        items if items.is_power_of_two() && items >= 1024 => format!("2^{}", items.ilog2()),
        items => items.to_string(),
    };
    if run.sender_items == run.receiver_items {
        of(run.sender_items)
    } else {
        format!("{} x {}", of(run.sender_items), of(run.receiver_items))
    }
}

/// The page of building blocks.
pub fn blocks(recordings: &[Recording]) -> String {
    let mut text = String::from(
        "# Building blocks\n\nWhat PsiBench exchanges (its section 6.3, and the OKVS and filters of its Tables 6 and 7), each alone: `vesica-lab bench \
         block --help` says what is measured. The paper has no numbers of them.\n",
    );
    let Some((origin, runs, _)) = recording_of("blocks", recordings) else {
        return text + "\nThere are no runs yet.\n";
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{origin}");
    let mut tasks: Vec<&str> = Vec::new();
    for run in &runs {
        if !tasks.contains(&run.task.as_str()) {
            tasks.push(&run.task);
        }
    }
    for task in tasks {
        let of_task: Vec<&Report> = runs.iter().filter(|run| run.task == task).collect();
        let mut links: Vec<Network> = Vec::new();
        for run in &of_task {
            if !links.contains(&run.link) {
                links.push(run.link);
            }
        }
        let heads: Vec<String> = links.iter().map(|link| format!("s, {}", link_name(*link))).collect();
        let _ = writeln!(
            text,
            "\n## {task}\n\n| items | mode | protocol | sender, MB | receiver, MB | {} | of it set-up, {} |\n|---|---|---|--:|--:|{}--:|",
            heads.join(" | "),
            links.first().map_or(String::new(), |link| link_name(*link)),
            "--:|".repeat(links.len())
        );
        let mut rows: BTreeMap<(usize, String, String), Vec<&Report>> = BTreeMap::new();
        for run in of_task {
            rows.entry((run.sender_items, run.security.to_string(), run.protocol.clone())).or_default().push(run);
        }
        for ((_, mode, protocol), of_row) in rows {
            let time = |link: &Network| {
                let run = of_row.iter().find(|run| run.link == *link);
                run.map_or_else(|| "–".into(), |run| seconds(run.total_seconds))
            };
            let cells: Vec<String> = links.iter().map(time).collect();
            let first = of_row[0];
            let [sender, receiver] = [first.sender_bytes, first.receiver_bytes].map(|bytes| amount(bytes as f64 / 1e6));
            let _ = writeln!(
                text,
                "| {} | {mode} | `{protocol}` | {sender} | {receiver} | {} | {} |",
                sizes(first),
                cells.join(" | "),
                seconds(first.setup_seconds)
            );
        }
    }
    text
}

/// Threads that papers measure with.
const THREADS: [usize; 4] = [1, 2, 4, 15];

/// The page of threads.
pub fn threads(recordings: &[Recording]) -> String {
    let mut text = String::from(
        "# Threads\n\nRows of the product with several threads a party. A speed-up is over one thread a party; with so many threads a party, two parties \
         take twice as many cores, and the efficiency is the speed-up by the number of cores that were there for each party's threads. Transcripts do not depend \
         on threads (`crates/protocols/tests`).\n",
    );
    let Some((origin, runs, cores)) = recording_of("threads", recordings) else {
        return text + "\nThere are no runs yet.\n";
    };
    let heads: Vec<String> = THREADS.iter().map(|threads| format!("s, {threads}")).collect();
    let _ = writeln!(
        text,
        "\n{origin}\n\nA cell *{0} cores* is a run of which each thread would have a core of its own on a machine of {0}, and was not made on this one of {cores}. \
         Two threads a party were: both parties share its {cores} cores then.\n\n| task | sets | mode | protocol | {1} | speed-up by 2 | processor seconds of both, 1 | the same, 2 \
         |\n|---|---|---|---|{2}--:|--:|--:|",
        2 * THREADS[2],
        heads.join(" | "),
        "--:|".repeat(THREADS.len())
    );
    let mut shown = BTreeSet::new();
    for run in &runs {
        let is_its = |other: &&Report| {
            (&other.task, &other.protocol, other.security, other.sender_items, other.receiver_items)
                == (&run.task, &run.protocol, run.security, run.sender_items, run.receiver_items)
        };
        if !shown.insert((&run.task, &run.protocol, run.security.to_string(), run.sender_items)) {
            continue;
        }
        let with = |threads: usize| runs.iter().filter(is_its).find(|run| run.threads_per_party == threads);
        let cell = |threads: &usize| match with(*threads) {
            Some(run) => seconds(run.total_seconds),
            None if 2 * threads > cores => format!("{} cores", 2 * threads),
            None => "not measured".into(),
        };
        let processor = |run: &Report| run.cpu_seconds_sender + run.cpu_seconds_receiver;
        let (one, two) = (with(1), with(2));
        let by_two = one.zip(two).map_or("–".into(), |(one, two)| amount(one.total_seconds / two.total_seconds));
        let processors = [one, two].map(|run| run.map_or("–".into(), |run| seconds(processor(run))));
        let cells: Vec<String> = THREADS.iter().map(cell).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | `{}` | {} | {by_two} | {} |",
            run.task,
            sizes(run),
            run.security,
            run.protocol,
            cells.join(" | "),
            processors.join(" | ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_runs_say_so() {
        assert!(
            blocks(&[]).ends_with("There are no runs yet.\n") && threads(&[]).ends_with("There are no runs yet.\n")
        );
    }
}
