//! `vesica protocols`.

use std::fmt::Write;

use serde_json::{Value, json};
use vesica::party::{Choice, ChoiceValue, Entry, Learner, Mode, Status};
use vesica::protocols::registry;

use crate::args::ProtocolsArgs;
use crate::outcome::{Outcome, print};

pub fn run(args: ProtocolsArgs) -> Outcome {
    if args.json {
        let all: Vec<Value> = registry::entries().map(as_json).collect();
        return print(&format!("{}\n", Value::from(all)));
    }
    let mut text = String::new();
    for entry in registry::entries() {
        describe(entry, &mut text);
    }
    print(&text)
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "aliases": entry.aliases,
        "variants": entry.variants.iter().map(choice).collect::<Vec<_>>(),
        "task": entry.task,
        "paper": { "key": entry.paper.key, "title": entry.paper.title, "reference": entry.paper.reference },
        "status": match entry.status {
            Status::Recommended => json!("recommended"),
            Status::Sound => json!("sound"),
            Status::Broken { how, false_match_bits } => json!({ "broken": how, "false_match_bits": false_match_bits }),
        },
        "cost": entry.cost.to_string(),
        "deviations": entry.deviations,
        "modes": entry.modes.iter().map(mode).collect::<Vec<_>>(),
    })
}

fn mode(mode: &Mode) -> Value {
    json!({
        "security": mode.security.to_string(),
        "corrupt_sender": mode.corrupt_sender.to_string(),
        "corrupt_receiver": mode.corrupt_receiver.to_string(),
        "rounds": { "least": mode.rounds.least, "most": mode.rounds.most },
        "shows_count": mode.shows_count(),
        "assumptions": mode.assumptions,
        "leakage": mode.leakage.iter().map(|leak| json!({ "to": learner(leak.to), "what": leak.what })).collect::<Vec<_>>(),
    })
}

/// A choice; a value's modes are `null` where they are those of the protocol.
fn choice(choice: &Choice) -> Value {
    let modes = |modes: &[Mode]| modes.iter().map(mode).collect::<Vec<_>>();
    let value = |value: &ChoiceValue| json!({ "value": value.name, "what": value.what, "deviations": value.deviations, "modes": value.modes.map(modes) });
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
    for choice in entry.variants {
        let names: Vec<&str> = choice.values.iter().map(|value| value.name).collect();
        let _ = writeln!(text, "  choice {}={}: {}", choice.name, names.join("|"), choice.what);
    }
    for mode in entry.modes {
        let _ = writeln!(
            text,
            "  {}: {} rounds; against the sender {}, against the receiver {}; assumes {}",
            mode.security,
            mode.rounds,
            mode.corrupt_sender,
            mode.corrupt_receiver,
            if mode.assumptions.is_empty() { "nothing".into() } else { mode.assumptions.join(", ") }
        );
        for leak in mode.leakage {
            let _ = writeln!(text, "    leaks to {}: {}", learner(leak.to), leak.what);
        }
    }
    text.push('\n');
}
