//! `vesica protocols`.

use std::fmt::Write;

use serde_json::{Value, json};
use vesica::Failure;
use vesica::failure::code;
use vesica::party::{Assumption, Attack, Choice, ChoiceValue, Entry, Learner, Mode, Status, variants};
use vesica::protocols::overview::{self, Grouping};
use vesica::{rows, task};

use crate::args::{GroupingName, ProtocolsArgs};
use crate::outcome::{Outcome, print};
use crate::program;

pub fn run(args: ProtocolsArgs) -> Outcome {
    print(&text(&args)?)
}

/// What is printed on standard output.
pub fn text(args: &ProtocolsArgs) -> Result<String, Failure> {
    let all = task::entries();
    let chosen: Vec<&'static Entry> = match &args.name {
        // A building block may come from the same paper.
        Some(name) if rows::is_in_lab_alone(&name.to_lowercase()) => Vec::new(),
        Some(name) if variants::split(name).1.is_some() => {
            let found = variants::find(all.iter().copied(), &name.to_lowercase());
            found.map_err(|unknown| Failure::new(code::USAGE, unknown.what, unknown.mend))?.into_iter().collect()
        }
        Some(name) => overview::named(&all, name),
        None => all.clone(),
    };
    if let (Some(name), []) = (&args.name, &chosen[..]) {
        return Err(Failure::new(
            code::USAGE,
            format_args!("there is no protocol, paper or task {name:?}"),
            rows::mend(&name.to_lowercase(), "`vesica protocols --by task` lists all protocols"),
        ));
    }
    if args.json {
        let all: Vec<Value> = chosen.into_iter().map(as_json).collect();
        return Ok(format!("{}\n", Value::from(all)));
    }
    let mut text = String::new();
    let is_task = |name: &String| chosen.iter().all(|entry| entry.task == name);
    match args.by {
        None if args.name.as_ref().is_none_or(is_task) => list(&all, &chosen, &mut text),
        None => chosen.into_iter().for_each(|entry| describe(entry, &mut text)),
        Some(by) => {
            for (group, entries) in overview::groups(&all, by.into()) {
                summarise(&group, entries.into_iter().filter(|entry| chosen.contains(entry)), by, &mut text);
            }
        }
    }
    Ok(text)
}

impl From<GroupingName> for Grouping {
    fn from(name: GroupingName) -> Self {
        match name {
            GroupingName::Task => Self::Task,
            GroupingName::Map => Self::Map,
            GroupingName::Compare => Self::Compare,
        }
    }
}

/// A line for each protocol, by what it computes.
fn list(all: &[&'static Entry], chosen: &[&Entry], text: &mut String) {
    let columns = |id: &str, security: &str, cost: &str, status: &str| {
        format!("  {id:<31} {security:<11} {cost:<20} {status}").trim_end().to_owned() + "\n"
    };
    text.push_str(&columns("", "security", "most time goes into", ""));
    for (task, entries) in overview::groups(all, Grouping::Task) {
        let mut entries = entries.into_iter().filter(|entry| chosen.contains(entry)).peekable();
        if entries.peek().is_some() {
            text.push_str(&format!("{task}\n"));
        }
        for entry in entries {
            let status = match entry.status {
                Status::Recommended => "recommended",
                Status::Sound => "",
                Status::Broken { .. } => "BROKEN",
            };
            let security = match entry.modes {
                [mode] => mode.security.to_string(),
                _ => "both".to_owned(),
            };
            text.push_str(&columns(entry.id, &security, &entry.cost.to_string(), status));
        }
    }
    text.push_str("\nMore of one of them: `vesica protocols vole-fast`, for example.\n");
    if program::running().additions.is_empty() {
        text.push_str("`vesica-lab protocols` lists those of papers, too.\n");
    }
}

/// A group with a few lines for each of its protocols; nothing for none.
fn summarise<'a>(group: &str, entries: impl Iterator<Item = &'a Entry>, by: GroupingName, text: &mut String) {
    for (place, entry) in entries.enumerate() {
        // Writing to a String cannot fail.
        if place == 0 {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{group}");
        }
        let broken = if entry.broken().is_some() { ", BROKEN" } else { "" };
        let style = entry.map_and_compare;
        let kind = match (by, style) {
            (_, None) => String::new(),
            (GroupingName::Task, Some(style)) => format!(", map: {}, compare: {}", style.map, style.compare),
            (GroupingName::Map, Some(style)) => format!(", {}, compare: {}", entry.task, style.compare),
            (GroupingName::Compare, Some(style)) => format!(", {}, map: {}", entry.task, style.map),
        };
        let _ = writeln!(text, "  {} ({}){kind}{broken}", entry.id, entry.paper.key);
        for mode in entry.modes {
            let _ = writeln!(
                text,
                "    {}: against the sender {}, against the receiver {}, {} rounds; {}",
                mode.security,
                mode.corrupt_sender,
                mode.corrupt_receiver,
                mode.rounds,
                entry.quantum(mode)
            );
        }
        if let Some(style) = style {
            let work = style.work;
            let _ = writeln!(text, "    multiplications in a group: {}", work.group_operations);
            let _ = writeln!(text, "    symmetric operations: {}", work.symmetric_operations);
        }
    }
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "aliases": entry.aliases,
        "variants": if entry.is_variant() { Vec::new() } else { entry.variants.iter().map(choice).collect() },
        "task": entry.task,
        "paper": { "key": entry.paper.key, "title": entry.paper.title, "reference": entry.paper.reference },
        "status": match entry.status {
            Status::Recommended => json!("recommended"),
            Status::Sound => json!("sound"),
            Status::Broken { how, false_match_bits } => json!({ "broken": how, "false_match_bits": false_match_bits }),
        },
        "cost": entry.cost.to_string(),
        "map": entry.map_and_compare.map(|style| style.map.to_string()),
        "compare": entry.map_and_compare.map(|style| style.compare.to_string()),
        "group_operations": entry.map_and_compare.map(|style| style.work.group_operations),
        "symmetric_operations": entry.map_and_compare.map(|style| style.work.symmetric_operations),
        "deviations": entry.deviations,
        "modes": entry.modes.iter().map(|own| mode(own, entry.lasts_with(own))).collect::<Vec<_>>(),
    })
}

/// A mode, with the choice by which it does not fall to a quantum computer any more.
fn mode(mode: &Mode, lasts_with: Option<String>) -> Value {
    json!({
        "security": mode.security.to_string(),
        "corrupt_sender": mode.corrupt_sender.to_string(),
        "corrupt_receiver": mode.corrupt_receiver.to_string(),
        "rounds": { "least": mode.rounds.least, "most": mode.rounds.most },
        "shows_count": mode.shows_count(),
        "falls_to_quantum": mode.falls_to_quantum().map(|assumption| assumption.what),
        "lasts_with": lasts_with,
        "assumptions": mode.assumptions.iter().map(|assumption| assumption.what).collect::<Vec<_>>(),
        "attacks": mode.attacks().map(|attack| attack_as_json(&attack)).collect::<Vec<_>>(),
        "leakage": mode.leakage.iter().map(|leak| json!({ "to": learner(leak.to), "what": leak.what })).collect::<Vec<_>>(),
    })
}

/// An attack; `log2_work` is in the strictest model.
fn attack_as_json(attack: &Attack) -> Value {
    json!({
        "falls": attack.falls,
        "takes": attack.takes.to_string(),
        "log2_work": attack.takes.bits(),
        "source": attack.source,
    })
}

/// A choice; a value's modes are `null` where they are those of the protocol.
fn choice(choice: &Choice) -> Value {
    let modes = |modes: &[Mode]| modes.iter().map(|own| mode(own, None)).collect::<Vec<_>>();
    let value = |value: &ChoiceValue| json!({ "value": value.name, "what": value.what, "deviations": value.deviations, "replaced": value.replaced.iter().map(|[old, new]| json!({ "assumption": old.what, "by": new.what })).collect::<Vec<_>>(), "modes": value.modes.map(modes) });
    json!({ "name": choice.name, "what": choice.what, "values": choice.values.iter().map(value).collect::<Vec<_>>() })
}

fn learner(to: Learner) -> &'static str {
    match to {
        Learner::Sender => "sender",
        Learner::Receiver => "receiver",
        Learner::Both => "both",
    }
}

fn describe(entry: &Entry, text: &mut String) {
    let status = match entry.status {
        Status::Recommended => "recommended".into(),
        Status::Sound => "sound".into(),
        Status::Broken { how, .. } => format!("BROKEN: {how}"),
    };
    let aliases =
        if entry.aliases.is_empty() { String::new() } else { format!(" (also {})", entry.aliases.join(", ")) };
    // Writing to a String cannot fail.
    let _ =
        writeln!(text, "{}{aliases} - {}, {status}; most of the time goes into {}", entry.id, entry.task, entry.cost);
    let _ = writeln!(text, "  {}: {} ({})", entry.paper.key, entry.paper.title, entry.paper.reference);
    for choice in entry.variants.iter().filter(|_| !entry.is_variant()) {
        let names: Vec<&str> = choice.values.iter().map(|value| value.name).collect();
        let _ = writeln!(text, "  choice {}={}: {}", choice.name, names.join("|"), choice.what);
        for value in choice.values {
            if let Some(modes) = value.modes {
                let _ = writeln!(text, "    {}={} has other modes:", choice.name, value.name);
                describe_modes(modes, "      ", text);
            }
        }
    }
    describe_modes(entry.modes, "  ", text);
    for mode in entry.modes {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}: {}", mode.security, entry.quantum(mode));
    }
    text.push('\n');
}

/// A line for each mode, behind `indent`, and below it one for each leak.
fn describe_modes(modes: &[Mode], indent: &str, text: &mut String) {
    for mode in modes {
        // Writing to a String cannot fail.
        let assumptions: Vec<String> = mode.assumptions.iter().map(Assumption::to_string).collect();
        let _ = writeln!(
            text,
            "{indent}{}: {} rounds; against the sender {}, against the receiver {}; assumes {}",
            mode.security,
            mode.rounds,
            mode.corrupt_sender,
            mode.corrupt_receiver,
            if assumptions.is_empty() { "nothing".into() } else { assumptions.join(", ") }
        );
        for leak in mode.leakage {
            let _ = writeln!(text, "{indent}  leaks to {}: {}", learner(leak.to), leak.what);
        }
    }
}
