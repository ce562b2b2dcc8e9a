//! The catalogue of protocols as a document: PROTOCOLS.md is exactly this text.

use std::fmt::Write;

use vesica_party::{Entry, Learner, Mode, Status};

use crate::registry;

/// All entries as Markdown.
pub fn catalogue_markdown() -> String {
    let mut text = String::from(
        "# Protocols\n\n\
         Generated from the registry by `VESICA_BLESS=1 cargo test --release -p vesica-protocols`; do not edit. `vesica protocols` prints the same.\n\n\
         A *mode* is what `--security` selects. *Recommended* is what we would use, and no claim of an audit (see SECURITY.md); *sound* means that no attack is known and \
         that it is kept for comparison; *broken* entries run only with `--allow-broken`.\n\n\
         | id | task | modes | status | paper |\n|---|---|---|---|---|\n",
    );
    for entry in registry::entries() {
        let modes: Vec<String> = entry.modes.iter().map(|mode| mode.security.to_string()).collect();
        line(
            &mut text,
            format_args!("| `{}` | {} | {} | {} | {} |", entry.id, entry.task, modes.join(", "), status(entry), entry.paper.key),
        );
    }
    for entry in registry::entries() {
        describe(&mut text, entry);
    }
    text
}

fn describe(text: &mut String, entry: &Entry) {
    line(text, format_args!("\n## `{}`\n", entry.id));
    line(text, format_args!("{}. {}. {}\n", entry.paper.title, entry.paper.reference, status_in_full(entry)));
    line(text, format_args!("- Task: {}", entry.task));
    if !entry.aliases.is_empty() {
        let aliases: Vec<String> = entry.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        line(text, format_args!("- Also called: {}", aliases.join(", ")));
    }
    for choice in entry.variants {
        line(text, format_args!("- Choice `{}`: {}", choice.name, choice.what));
        for (place, value) in choice.values.iter().enumerate() {
            let default = if place == 0 { " (default)" } else { "" };
            line(text, format_args!("  - `{}`{default}: {}", value.name, value.what));
            for deviation in value.deviations {
                line(text, format_args!("    Deviation: {deviation}"));
            }
            for mode in value.modes.unwrap_or_default() {
                let Mode { security, corrupt_sender, corrupt_receiver, assumptions, .. } = mode;
                let assumptions = assumptions.join(", ");
                line(
                    text,
                    format_args!(
                        "    {security}: corrupt sender {corrupt_sender}, corrupt receiver {corrupt_receiver}; assumes {assumptions}"
                    ),
                );
            }
        }
    }
    for deviation in entry.deviations {
        line(text, format_args!("- Deviation: {deviation}"));
    }
    for mode in entry.modes {
        line(
            text,
            format_args!("\n**{}**: corrupt sender {}, corrupt receiver {}\n", mode.security, mode.corrupt_sender, mode.corrupt_receiver),
        );
        for assumption in mode.assumptions {
            line(text, format_args!("- Assumes: {assumption}"));
        }
        for leak in mode.leakage {
            let to = match leak.to {
                Learner::Sender => "the sender",
                Learner::Receiver => "the receiver",
                Learner::Both => "both",
            };
            line(text, format_args!("- Leaks to {to}: {}", leak.what));
        }
    }
}

fn status(entry: &Entry) -> &'static str {
    match entry.status {
        Status::Recommended => "recommended",
        Status::Sound => "sound",
        Status::Broken { .. } => "**broken**",
    }
}

fn status_in_full(entry: &Entry) -> String {
    match entry.status {
        Status::Recommended => "Recommended.".into(),
        Status::Sound => "Sound.".into(),
        Status::Broken { how } => format!("**Broken**: {how}"),
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes every text");
}
