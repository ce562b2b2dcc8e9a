//! A job: the settings of a run, for both sides in one file.

use toml::de::{DeTable, DeValue};
use vesica_party::Role;

use super::setting::{Setting, first_repeated};
use crate::toml_text::{at_line, fault};

/// A job file. Keys that stand before all sections hold for both sides, those of `[receiver]` and
/// `[sender]` for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// For both sides.
    pub shared: Vec<Setting>,
    /// For the receiver; `None` without its section.
    pub receiver: Option<Vec<Setting>>,
    /// For the sender; `None` without its section.
    pub sender: Option<Vec<Setting>>,
}

impl Job {
    /// Reads a job file.
    ///
    /// # Errors
    /// The line, and what is wrong there: no TOML, a value that no flag could have, or a setting that
    /// is there twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| fault(text, &error))?;
        let mut job = Self::default();
        for (key, value) in table.get_ref() {
            let section = match key.get_ref().as_ref() {
                "receiver" => &mut job.receiver,
                "sender" => &mut job.sender,
                _ => {
                    job.shared.push(Setting::read(text, key, value)?);
                    continue;
                }
            };
            let DeValue::Table(settings) = value.get_ref() else {
                let fault = format_args!("`{0}` is a section: write [{0}] and its settings below", key.get_ref());
                return Err(at_line(text, &key.span(), fault));
            };
            *section = Some(Setting::read_all(text, settings)?);
        }
        job.shared.sort_by_key(|setting| setting.line);
        for section in [&job.receiver, &job.sender] {
            let settings = job.shared.iter().chain(section.iter().flatten());
            if let Some((setting, earlier)) = first_repeated(settings) {
                let Setting { line, key, .. } = setting;
                return Err(format!("line {line}: `{key}` is there a second time: line {earlier} has it"));
            }
        }
        Ok(job)
    }

    /// The settings for one side: first those for both, then its own.
    pub fn settings(&self, role: Role) -> impl Iterator<Item = &Setting> {
        let own = match role {
            Role::Receiver => &self.receiver,
            Role::Sender => &self.sender,
        };
        self.shared.iter().chain(own.iter().flatten())
    }

    /// The side that the file is for, if it is for one only.
    pub fn only_role(&self) -> Option<Role> {
        match (&self.receiver, &self.sender) {
            (Some(_), None) => Some(Role::Receiver),
            (None, Some(_)) => Some(Role::Sender),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;

    const SMALL: &str = "\
# Both.
task = \"sum\"
reveal_if_at_least = 20 # as agreed
pad-to = 1_000
max_peer_items = 1e6
both_learn = true

[receiver]
key = [\"first\", \"born\"]
normalise = { first = [\"trim\", \"lower\"], born = \"date\" }
group_by = \"region\"

[sender.scale]
amount = 2
";

    fn word(text: &str) -> Value {
        Value::Word(text.into())
    }

    #[test]
    fn a_job_has_settings_for_both_sides_and_for_each() {
        let job = Job::parse(SMALL).expect("a job");
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let said = |role| {
            job.settings(role)
                .map(|setting| (setting.key.as_str(), setting.value.clone(), setting.line))
                .collect::<Vec<_>>()
        };
        let shared = [
            ("task", word("sum"), 2),
            ("reveal-if-at-least", word("20"), 3),
            ("pad-to", word("1000"), 4),
            ("max-peer-items", word("1e6"), 5),
            ("both-learn", Value::Switch(true), 6),
        ];
        let receivers = [
            ("key", Value::List(vec!["first".into(), "born".into()]), 9),
            ("normalise", Value::Columns(vec![pair("born", "date"), pair("first", "trim,lower")]), 10),
            ("group-by", word("region"), 11),
        ];
        let senders = [("scale", Value::Columns(vec![pair("amount", "2")]), 13)];
        assert_eq!(said(Role::Receiver), [&shared[..], &receivers].concat());
        assert_eq!(said(Role::Sender), [&shared[..], &senders].concat());
        assert_eq!((job.only_role(), Job::default().only_role()), (None, None));
        assert_eq!(Job::parse("[sender]").map(|job| job.only_role()), Ok(Some(Role::Sender)));
    }

    #[test]
    fn what_is_no_job_names_its_line() {
        for (text, told) in [
            ("task = \"sum\"\ntask = \"union\"", "line 2: duplicate key"),
            ("pad_to = 1\npad-to = 2", "line 2: `pad-to` is there a second time: line 1 has it"),
            ("wait = 5\n[receiver]\nwait = 6", "line 3: `wait` is there a second time: line 1 has it"),
            ("receiver = 1", "line 1: `receiver` is a section: write [receiver]"),
            ("wait = 2026-11-27", "line 1: `wait` says a date"),
            ("\nkey = [[\"a\"]]", "line 2: `key` says an array of something else"),
            ("[receiver.sender]\na = true", "line 1: `sender` says a table of something else"),
            ("task = sum", "line 1: "),
            ("task", "line 1: "),
        ] {
            let fault = Job::parse(text).expect_err(text);
            assert!(fault.starts_with(told), "{text}: {fault}");
        }
    }
}
