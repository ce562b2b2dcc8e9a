//! Schemas of files of settings, made from the flags and from the rules that there are.

use clap::{Arg, ArgAction};
use serde_json::{Map, Value, json};
use vesica::party::Role;
use vesica::policy::{SETTINGS, Shape, ShapedSetting};
use vesica::task;

use crate::args::flags_of;
use crate::args::places::{OF_PARTNERS, is_of_columns, is_typed_alone};
use crate::settings::job::find;

/// A file of settings for both sides and for each.
pub fn job() -> Value {
    let [receiver, sender] = [Role::Receiver, Role::Sender]
        .map(|role| flags_of(role).into_iter().filter(|flag| !is_typed_alone(flag)).collect::<Vec<_>>());
    let is_shared = |flag: &&Arg| flag.get_long().is_some_and(|name| find(&sender, name).is_some());
    let sections = [("receiver", &receiver), ("sender", &sender)];
    let sections = sections.map(|(name, flags)| (name.to_owned(), settings(flags.iter().map(of_flag))));
    settings(receiver.iter().filter(is_shared).map(of_flag).chain(sections))
}

/// Partners by their names.
pub fn peers() -> Value {
    let flags = flags_of(Role::Receiver);
    let defaults = OF_PARTNERS.iter().filter_map(|name| find(&flags, name)).map(of_flag);
    let text = |about: &str| json!({ "type": "string", "description": about });
    let about = "What may be done with the partner: rules, or the name of a file that has them";
    let rules = with(with(policy(), "type", json!(["object", "string"])), "description", about.into());
    let tasks = SETTINGS.iter().filter(|(name, ..)| *name == "tasks").map(of_rule);
    let entries = [
        ("key".to_owned(), text("The partner's public key: its line, or a .pub file beside this one")),
        ("address".into(), text("Where the partner listens, as HOST:PORT")),
        ("policy".into(), rules),
        ("policy-signer".into(), text("The public key of who must have signed the file of the rules")),
        ("defaults".into(), settings(defaults)),
    ];
    let partner = with(settings(entries.into_iter().chain(tasks)), "required", json!(["key"]));
    json!({
        "type": "object",
        "properties": { "revoked": {
            "anyOf": [text("A file that lists keys which nobody may use any more"), partner],
        } },
        "patternProperties": { "^(?!revoked$)[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$": partner },
        "additionalProperties": false,
    })
}

/// Rules for one partner.
pub fn policy() -> Value {
    settings(SETTINGS.iter().map(of_rule))
}

/// A rule as a setting.
fn of_rule((name, shape, about): &ShapedSetting) -> (String, Value) {
    ((*name).into(), with(of_shape(&shape()), "description", (*about).into()))
}

/// An object with another field.
pub(super) fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.insert(name.into(), value);
    }
    object
}

/// A table of these settings and no others. What is written with `-` can be written with `_`.
fn settings(each: impl Iterator<Item = (String, Value)>) -> Value {
    let (mut properties, mut patterns) = (Map::new(), Map::new());
    for (name, value) in each {
        if name.contains('-') {
            // Editors offer the name; the pattern is for all ways to write it.
            patterns.insert(format!("^{}$", name.replace('-', "[-_]")), value.clone());
            let about = value.get("description").cloned().unwrap_or_default();
            properties.insert(name, json!({ "description": about }));
        } else {
            properties.insert(name, value);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": patterns,
        "additionalProperties": false,
    })
}

/// A flag as a setting, as [`as_flag`](crate::settings::job::as_flag) takes it.
fn of_flag(flag: &Arg) -> (String, Value) {
    let words: Vec<String> = match flag.get_id().as_str() {
        "task" => task::names().into_iter().map(str::to_owned).collect(),
        _ => flag.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    let word = if words.is_empty() { json!({ "type": ["string", "number"] }) } else { json!({ "enum": words }) };
    let list = json!({ "type": "array", "items": word });
    let value = match flag.get_action() {
        ArgAction::SetTrue => json!({ "type": "boolean" }),
        ArgAction::Append if is_of_columns(flag) => {
            let columns = json!({ "type": "object", "additionalProperties": { "anyOf": [word, list] } });
            json!({ "anyOf": [word, list, columns] })
        }
        ArgAction::Append => json!({ "anyOf": [word, list] }),
        _ => word,
    };
    let about = flag.get_long_help().or(flag.get_help()).map(ToString::to_string);
    let mut value = with(value, "description", about.into());
    if let [default] = flag.get_default_values() {
        value = with(value, "default", default.to_string_lossy().into());
    }
    (flag.get_long().unwrap_or_default().to_owned(), value)
}

/// A value of a setting of a policy.
fn of_shape(shape: &Shape) -> Value {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let some = |word: Value| json!({ "anyOf": [word, { "type": "array", "items": word }] });
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => some(json!({ "type": ["string", "number"] })),
        Shape::Number => json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9_]+$" }),
        Shape::Switch => json!({ "type": "boolean" }),
        Shape::Bounds => text(r"^\s*[0-9_]*\s*\.\.\s*[0-9_]*\s*$"),
        Shape::Periods => some(text(r"^.*\S per +[0-9]+[hdw] *$")),
        Shape::Day => text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        Shape::OneOf(words) => json!({ "enum": words }),
        Shape::SomeOf(words) => some(json!({ "enum": words })),
    }
}
