//! What `receive` and `send` print with `--dry-run`.

use vesica::Failure;
use vesica::failure::code;
use vesica::memory::Bytes;
use vesica::session::{DryRun, Estimate};
use vesica::table::{Fault, LISTED_ROWS};
use vesica::words::counted;

use crate::outcome::{Outcome, print_report};
use crate::stderr;

/// Prints what a dry run found.
///
/// # Errors
/// Why a run would not start.
pub fn report(found: &DryRun, json: bool) -> Outcome {
    if json {
        let text = serde_json::to_string(found).map_err(|error| {
            let fault = format_args!("the report cannot be written: {error}");
            Failure::new(code::INTERNAL, fault, "please report this")
        })?;
        print_report(&format!("{text}\n"))?;
    } else {
        found.warnings.iter().for_each(stderr::warning);
        stderr::write(&summary(found));
    }
    found.failure().map_or(Ok(()), |failure| Err(Failure { reported: true, ..failure }))
}

/// The report for people.
fn summary(found: &DryRun) -> String {
    let mut lines = Vec::new();
    match (&found.disagreement, &found.peer) {
        (Some(_), _) => lines.push("the two sides did not agree; the error below says why".to_owned()),
        (None, Some(peer)) => {
            lines.push(format!("the partner has the key {peer}, as it should, and the same settings"))
        }
        (None, None) => lines.push("the partner has the same settings; nothing proves who it is".to_owned()),
    }
    match &found.input {
        Some(input) => lines.push(format!(
            "own table: {}, {} ({} without a usable key, {})",
            counted(input.rows, "row", "rows"),
            counted(input.distinct, "distinct key", "distinct keys"),
            counted(input.null_rows + input.unmatchable_rows, "row", "rows"),
            counted(input.duplicate_rows, "duplicate", "duplicates")
        )),
        None => lines.push("own table: it cannot be read to its end".to_owned()),
    }
    for (ends_run, title) in
        [(true, "at each of these faults a run would end:"), (false, "a run would leave out the rows of these values:")]
    {
        let mut faults = found.faults.iter().filter(|fault| fault.ends_run == ends_run).peekable();
        if faults.peek().is_some() {
            lines.push(title.to_owned());
        }
        for fault in faults {
            lines.push(format!("  {}", described(fault)));
            lines.push(format!("    {}", fault.mend));
        }
    }
    if !found.revealed.is_empty() {
        lines.push("a run would reveal:".to_owned());
    }
    lines.extend(found.revealed.iter().map(|sentence| format!("  {sentence}")));
    if let Some(estimate) = &found.estimate {
        lines.extend(estimated(estimate, found));
    }
    lines.push("dry run: your partner learned your settings and nothing of your table; no file was written".to_owned());
    lines.join("\n") + "\n"
}

/// A kind of fault with its first rows.
fn described(fault: &Fault) -> String {
    let Fault { column, what, count, rows, file, .. } = fault;
    if rows.is_empty() && *count > 1 {
        return format!("{what} ({count} times)");
    }
    if rows.is_empty() {
        return what.clone();
    }
    let (place, subject) = match column {
        Some(column) => (format!("column `{column}`: "), "a value"),
        None => (String::new(), "a row"),
    };
    let first = if *count > LISTED_ROWS as u64 { "first " } else { "" };
    let unit = match (file, rows.len()) {
        (Some(_), 1) => "line",
        (Some(_), _) => "lines",
        (None, 1) => "row",
        (None, _) => "rows",
    };
    let rows: Vec<String> = rows.iter().map(u64::to_string).collect();
    let file = file.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
    let times = if *count == 1 { "once".into() } else { format!("{count} times") };
    format!("{place}{times} {subject} that {what}, {first}in {unit} {}{file}", rows.join(", "))
}

fn estimated(estimate: &Estimate, found: &DryRun) -> Vec<String> {
    let Estimate { protocol, choice, own_items, peer_items, link, .. } = estimate;
    let assumed =
        if estimate.peer_items_are_own { "as many as here; say --expect-peer-items" } else { "as you expect" };
    let mut costs = Vec::new();
    if let Some(seconds) = estimate.seconds {
        costs.push(format!("{seconds:.2} s over {link}"));
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    match (estimate.bytes_sent, estimate.bytes_received, estimate.total_bytes) {
        (Some(sent), Some(received), _) => {
            costs.push(format!("sends {:.2} MB, receives {:.2} MB", megabytes(sent), megabytes(received)));
        }
        (_, _, Some(total)) => {
            costs.push(format!("an unknown time over {link}, both sides send {:.2} MB", megabytes(total)));
        }
        _ => {}
    }
    if let Some(memory) = estimate.memory_bytes {
        let memory = Bytes(memory);
        costs.push(match estimate.disk_bytes {
            None => format!("takes up to {memory} of memory beside the table"),
            Some(disk) => format!("takes up to {memory} of memory, and up to {} in the work folder", Bytes(disk)),
        });
    }
    vec![
        format!(
            "estimate for {} and {peer_items} of the partner ({assumed}):",
            counted(*own_items, "own key", "own keys")
        ),
        format!("  {protocol} ({}), {}", found.security, costs.join(", ")),
        format!("  chosen as {choice}"),
    ]
}
