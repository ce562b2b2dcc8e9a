//! What can stand among the rules of a policy, and what kind of value each takes. Rules are read by the names here, and
//! the schema for editors is made of the same list.

use super::rules::QUERY;
use crate::task;

/// The roles of a rule.
pub(super) const ROLES: [&str; 2] = ["receiver", "sender"];

/// What a small change of the table does.
pub(super) const ON_SMALL_CHANGE: [&str; 2] = ["refuse", "warn"];

/// Levels of security, the lower one first.
pub(super) const SECURITY: [&str; 2] = ["semi-honest", "malicious"];

/// The kind of value that a setting of a policy takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A string.
    Text,
    /// Strings; one stands for a list of one.
    Texts,
    /// A whole number, also as a string.
    Number,
    /// `true` or `false`.
    Switch,
    /// `1000..50000`, of which either end may be left out.
    Bounds,
    /// `2 per 1d`, or several of these.
    Periods,
    /// A day, as `2027-12-31`.
    Day,
    /// One of these words.
    OneOf(Vec<&'static str>),
    /// Some of these words; one stands for a list of one.
    SomeOf(Vec<&'static str>),
}

/// The tasks that a rule can name.
pub fn tasks() -> Vec<&'static str> {
    task::names().into_iter().chain([QUERY]).collect()
}

/// A setting's name, the shape of its values, and what a run must be to be allowed.
pub type ShapedSetting = (&'static str, fn() -> Shape, &'static str);

/// The settings that there are.
pub const SETTINGS: [ShapedSetting; 21] = [
    ("tasks", || Shape::SomeOf(tasks()), "Its task is one of these; `query` stands for `vesica query`"),
    ("roles", || Shape::SomeOf(ROLES.into()), "This side plays one of these"),
    ("security", || Shape::OneOf(SECURITY.into()), "It asks for at least this security"),
    ("post-quantum", || Shape::Switch, "With true: it says --post-quantum"),
    (
        "inputs",
        || Shape::Texts,
        "All files of the own table match one of these patterns, which start at the folder of the rules",
    ),
    ("keys", || Shape::Texts, "The own key is one of these, its columns with commas between them"),
    ("payload", || Shape::Texts, "No other column beside the key takes part"),
    ("own-keys", || Shape::Bounds, "The own table has so many distinct keys"),
    ("partner-keys", || Shape::Bounds, "The partner's table has so many distinct keys, its dummies included"),
    ("reveal-if-at-least", || Shape::Number, "It says this threshold or a higher one"),
    ("max-groups", || Shape::Number, "There are no more groups"),
    ("both-learn", || Shape::Switch, "With false: it does not say --both-learn"),
    ("epsilon", || Shape::Periods, "This side's noise spends no more epsilon in the time, as in 0.5 per 30d"),
    ("runs", || Shape::Periods, "Fewer have begun in the time, as in 2 per 1d"),
    ("runs-per-table", || Shape::Number, "Fewer have begun with the same own keys"),
    ("expires", || Shape::Day, "The day, by UTC, is not over"),
    ("exclude-protocols", || Shape::Texts, "None of these protocols, nor a variant of one, runs it"),
    ("exclude-assumptions", || Shape::Texts, "Its protocol rests on no assumption with one of these words"),
    (
        "least-changed-keys",
        || Shape::Number,
        "The own table is that of an earlier run, or differs from all by so many keys",
    ),
    ("on-small-change", || Shape::OneOf(ON_SMALL_CHANGE.into()), "What becomes of a run against least-changed-keys"),
    ("state", || Shape::Text, "Not a rule: the folder in which runs are counted, relative to the file of the rules"),
];

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|(name, _, _)| *name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::rules::read;
    use super::*;
    use crate::written::settings;

    /// Values of a shape that most settings take, and one that none of the shape takes.
    fn examples(name: &str, shape: &Shape) -> (String, &'static str) {
        let quoted = |word: &str| format!("{word:?}");
        match shape {
            Shape::Text => (quoted("folder"), "true"),
            Shape::Texts if name == "exclude-protocols" => (quoted("vesica-sum"), "true"),
            Shape::Texts if name == "exclude-assumptions" => ("[\"Ristretto\"]".into(), "true"),
            Shape::Texts => ("[\"a\", \"b\"]".into(), "true"),
            Shape::Number => ("20".into(), "\"many\""),
            Shape::Switch => ("true".into(), "\"yes\""),
            Shape::Bounds => (quoted("10..20"), "15"),
            Shape::Periods => ("[\"1 per 7d\", \"3 per 4w\"]".into(), "\"daily\""),
            Shape::Day => (quoted("2027-12-31"), "\"tomorrow\""),
            Shape::OneOf(words) => (quoted(words[0]), "\"other\""),
            Shape::SomeOf(words) => (format!("{words:?}"), "[\"other\"]"),
        }
    }

    #[test]
    fn every_setting_takes_values_of_its_shape_and_no_others() {
        for (name, shape, about) in SETTINGS {
            let (right, wrong) = examples(name, &shape());
            let beside = if name == "on-small-change" { "least-changed-keys = 9\n" } else { "" };
            let parsed = |value: &str| {
                let settings = settings(&format!("{beside}{name} = {value}\n")).expect("TOML");
                read(&settings, Path::new("/")).map(drop)
            };
            assert_eq!(parsed(&right), Ok(()), "{name}");
            assert!(parsed(wrong).is_err(), "{name} = {wrong}");
            assert!(!about.is_empty() && !about.ends_with('.'), "{name}");
        }
    }
}
