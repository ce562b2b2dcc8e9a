//! `vesica config`.

use std::fmt::Write;

use clap::ArgAction;
use vesica::Failure;
use vesica::party::transport::relay::Ticket;

use crate::args::columns;
use crate::args::places::{is_list_of_names, is_typed_alone};
use crate::commands::{sides, way_out};
use crate::identity;
use crate::outcome::{Outcome, print};
use crate::schema;
use crate::settings::{Layered, Layers, Origin, Refused};

/// Longest setting beside which the origin still stands, in characters.
const WIDTH: usize = 40;

/// Prints the settings, and then says whether they can be run.
pub fn run(layers: &Layers) -> Outcome {
    print(&shown(layers)?)?;
    match layers.command() {
        Ok(cli) => sides::check(cli.command),
        Err(Refused::Failed(failure)) => Err(failure),
        Err(Refused::Usage(error)) => {
            Err(Failure::new(vesica::failure::code::USAGE, error.to_string().trim_end(), "see --help"))
        }
    }
}

/// Prints a schema.
pub fn print_schema(kind: schema::Kind) -> Outcome {
    print(&format!("{:#}\n", schema::of(kind)))
}

/// The settings as a job file, each with its origin in a comment.
///
/// # Errors
/// If the partner's key is in a file that cannot be read.
pub fn shown(layers: &Layers) -> Result<String, Failure> {
    let target = layers.target();
    let mut text = format!("# vesica {}\n[{}]\n", target.name(), target.role());
    let in_files = |setting: &&Layered| !is_typed_alone(&setting.flag);
    for setting in layers.settings().iter().filter(in_files) {
        let name = setting.flag.get_long().unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = match (&setting.origin, value(setting)) {
            (Origin::Unset, _) => writeln!(text, "# {name} is not set"),
            (origin, value) => writeln!(text, "{:<WIDTH$} # {origin}", format!("{name} = {value}")),
        };
    }
    if let Some(found) = layers.partner() {
        let key = identity::peer(&found.key())?;
        let (name, line) = (&found.partner.name, found.partner.line);
        let _ = writeln!(
            text,
            "# {name} has the key {} ({}, line {line})",
            key.newest().fingerprint(),
            found.path.display()
        );
    }
    Ok(text)
}

/// A value in TOML.
fn value(setting: &Layered) -> String {
    let values = setting.values.iter().map(|value| match (setting.flag.get_id().as_str(), value.to_string_lossy()) {
        ("ticket", text) if Ticket::is_meant_by(&text) => "(a ticket, and not shown)".into(),
        ("proxy", text) => way_out::shown(&text),
        (_, text) => text.into_owned(),
    });
    // The names of an alternative key stand in one string, those of a payload in one each.
    let words: Vec<String> = match is_list_of_names(&setting.flag) {
        true => values.flat_map(|names| columns(&names).map_or(vec![names], |columns| columns.0)).collect(),
        false => values.collect(),
    };
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    match setting.flag.get_action() {
        ArgAction::SetTrue => setting.values.iter().map(|value| value.to_string_lossy()).collect(),
        ArgAction::Append => format!("[{}]", words.join(", ")),
        _ => words.concat(),
    }
}

/// A string of TOML. No flag takes a private key; one that was put there by mistake is not shown.
fn quoted(text: &str) -> String {
    if text.contains("PRIVATE KEY") {
        return "\"(looks like a private key, and is not shown)\"".into();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
