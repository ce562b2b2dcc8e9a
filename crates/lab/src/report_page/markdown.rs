//! The table of runs as Markdown.

use std::fmt::Write;

use super::data::{Data, Run, Source};
use super::programs::ProgramRun;
use super::series::Series;

const HEAD: &str = "\
| recording | task | protocol | mode | sender items | receiver items | link | seconds (quartiles) | model | MB | peak MiB | output checked | bytes = formula |
|---|---|---|---|--:|--:|---|--:|--:|--:|--:|---|---|
";

const PROGRAMS_HEAD: &str = "\
| recording | measured | program | sender rows | receiver rows | rows in both | link | seconds (quartiles) | CPU s, sender + receiver | MB | peak MiB | outcome |
|---|---|---|--:|--:|--:|---|--:|--:|--:|--:|---|
";

/// All runs, with the recordings that they come from below.
pub fn table(data: &Data) -> String {
    let is_of_programs_only = data.runs.is_empty() && !data.programs.is_empty();
    let mut text = if is_of_programs_only { String::new() } else { HEAD.to_owned() };
    for run in &data.runs {
        let Some(series) = data.series.get(run.series) else { continue };
        let Some(source) = data.recordings.get(series.recording) else { continue };
        row(&mut text, run, series, source);
    }
    if !data.programs.is_empty() {
        if !is_of_programs_only {
            text.push('\n');
        }
        text.push_str(PROGRAMS_HEAD);
        for run in &data.programs {
            program_row(&mut text, run, data);
        }
    }
    text.push_str("\nCompare times within one recording only.\n\n");
    for source in &data.recordings {
        let machine = source.machine.as_deref().unwrap_or("a machine that its README.md does not name");
        // Writing to a String cannot fail.
        let _ = write!(text, "- {}: {}", cell(&source.label), cell(machine));
        if source.passed_over > 0 {
            let lines = vesica::words::counted(source.passed_over, "line", "lines");
            let _ = write!(text, "; {lines} of other kinds passed over");
        }
        text.push('\n');
    }
    text
}

fn row(text: &mut String, run: &Run, series: &Series, source: &Source) {
    let mark = |good| if good { "yes" } else { "**no**" };
    let broken = if series.broken { " (broken)" } else { "" };
    let amounts = if series.amounts.is_empty() { String::new() } else { format!(" ({})", series.amounts) };
    let model = run.model_seconds.map_or("–".into(), seconds);
    let [least, most] = run.quartiles;
    let spread = if run.repeats > 1 { format!(" ({} to {})", seconds(least), seconds(most)) } else { String::new() };
    let [sender, receiver] = run.memory;
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "| {} | {}{amounts} | `{}`{broken} | {} | {} | {} | {} | {}{spread} | {model} | {:.3} | {} | {} | {} |",
        cell(&source.label),
        cell(&series.task),
        cell(&series.protocol),
        series.security,
        run.sender_items,
        run.receiver_items,
        run.link.label,
        seconds(run.seconds),
        run.bytes as f64 / 1e6,
        sender.max(receiver) >> 20,
        mark(run.correct),
        mark(run.bytes_as_formula),
    );
}

fn program_row(text: &mut String, run: &ProgramRun, data: &Data) {
    let none = || "–".to_owned();
    let label = data.recordings.get(run.recording).map(|source| cell(&source.label)).unwrap_or_default();
    let spread = run.quartiles.map(|[least, most]| format!(" ({} to {})", seconds(least), seconds(most)));
    let time = run.seconds.map(|time| format!("{}{}", seconds(time), spread.unwrap_or_default()));
    let cpu = run.cpu_seconds.map(|[sender, receiver]| format!("{sender:.2} + {receiver:.2}"));
    let bytes = match (run.correct, run.bytes) {
        (_, Some(bytes)) => format!("{:.3}", bytes as f64 / 1e6),
        (true, None) => "not counted".into(),
        (false, None) => none(),
    };
    let memory = run.memory.map(|[sender, receiver]| (sender.max(receiver) >> 20).to_string());
    let outcome = match run.correct {
        true => run.outcome.to_owned(),
        false => format!("**{}**: {}", run.outcome, cell(&run.fault)),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "| {label} | {} | {} | {} | {} | {} | {} | {} | {} | {bytes} | {} | {outcome} |",
        run.measured,
        cell(&run.label),
        run.sender_items,
        run.receiver_items,
        run.intersection,
        run.link.label,
        time.unwrap_or_else(none),
        cpu.unwrap_or_else(none),
        memory.unwrap_or_else(none),
    );
}

/// Three digits that count.
fn seconds(value: f64) -> String {
    let decimals = match value {
        v if v < 0.9995 => 4,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Text that does not end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
