//! The open division of a suite: `[[programs]]` tables.

use serde::Deserialize;
use vesica_structures::facts::Unsupported;

use super::values::{loopback, pair, three};
use crate::Network;
use crate::programs::{Arguments, Program, Purpose};

/// Seconds that a repeat may take where the file says nothing.
const TIMEOUT_SECONDS: f64 = 600.0;

/// One run of a program.
#[derive(Clone, Debug)]
pub struct PlannedProgram {
    /// The run's name in a recording: what tells it from all others of the suite.
    pub name: String,
    /// What is measured.
    pub program: Program,
}

/// A `[[programs]]` table: every combination of its sizes and links is a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    name: String,
    version: Option<String>,
    sizes: Vec<String>,
    #[serde(default = "loopback")]
    links: Vec<String>,
    #[serde(default = "three")]
    repeat: usize,
    #[serde(default)]
    cold: bool,
    overlap: Option<usize>,
    #[serde(default = "timeout")]
    timeout_seconds: f64,
    prepare: Option<Vec<String>>,
    prepare_sender: Option<Vec<String>>,
    prepare_receiver: Option<Vec<String>>,
    sender: Vec<String>,
    receiver: Vec<String>,
}

const fn timeout() -> f64 {
    TIMEOUT_SECONDS
}

impl Table {
    pub(super) fn add_to(&self, runs: &mut Vec<PlannedProgram>) -> Result<(), Unsupported> {
        let within = |refused: Unsupported| {
            Unsupported::new(format!("the program {:?}: {}", self.name, refused.what), refused.mend)
        };
        for size in &self.sizes {
            for link in &self.links {
                runs.push(self.run(size, link).map_err(within)?);
            }
        }
        Ok(())
    }

    fn run(&self, size: &str, link: &str) -> Result<PlannedProgram, Unsupported> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            return Err(Unsupported::new(
                "its name cannot be a part of a run's name",
                "write letters, digits and . _ + - only; `version` may be any text",
            ));
        }
        let (sender_items, receiver_items) = pair(size)?;
        let smaller = sender_items.min(receiver_items);
        let overlap = self.overlap.unwrap_or(smaller / 2);
        if smaller == 0 || overlap > smaller {
            return Err(Unsupported::new(
                "a table is empty, or the overlap is larger than the smaller table",
                "raise the sizes, or lower `overlap`",
            ));
        }
        if self.repeat == 0 {
            return Err(Unsupported::new("`repeat` counts from one", "give at least 1"));
        }
        if !(self.timeout_seconds > 0.0 && self.timeout_seconds.is_finite()) {
            return Err(Unsupported::new("`timeout_seconds` is no time", "give a number of seconds above 0"));
        }
        let link = open_link(link)?;
        let mut prepare = Vec::new();
        for (key, list) in [
            ("prepare", &self.prepare),
            ("prepare_sender", &self.prepare_sender),
            ("prepare_receiver", &self.prepare_receiver),
        ] {
            prepare.extend(list.as_ref().map(|list| Arguments::read(key, list, Purpose::Prepare)).transpose()?);
        }
        Ok(PlannedProgram {
            name: format!("program-{}-{sender_items}x{receiver_items}-{link}", self.name),
            program: Program {
                name: self.name.clone(),
                version: self.version.clone(),
                prepare,
                sender: Arguments::read("sender", &self.sender, Purpose::Sender)?,
                receiver: Arguments::read("receiver", &self.receiver, Purpose::Receiver)?,
                sender_items,
                receiver_items,
                overlap,
                link,
                repeat: self.repeat,
                cold: self.cold,
                timeout_seconds: self.timeout_seconds,
            },
        })
    }
}

/// A link that works for any program: links that are shaped inside of our own transport do not.
fn open_link(text: &str) -> Result<Network, Unsupported> {
    match text.parse()? {
        link @ (Network::Loopback | Network::Namespaces(_)) => Ok(link),
        Network::Lan | Network::Shaped(_) => Err(Unsupported::new(
            format_args!(
                "the link {text:?} is shaped inside of Vesica's own transport, which other programs do not have"
            ),
            "write \"loopback\", or a link between network namespaces such as \"netns:100mbit,0ms\", which needs root",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;

    const OPEN: &str = "\
name = \"open\"

[[programs]]
name = \"rival\"
version = \"1.2 of May\"
sizes = [\"2^8\", \"100 x 2^6\"]
overlap = 9
repeat = 2
timeout_seconds = 1.5
prepare_sender = [\"sh\", \"{work}\"]
sender = [\"sh\", \"{sender_csv}\", \"{port}\"]
receiver = [\"sh\", \"{receiver_csv}\", \"{output_csv}\", \"{address}:{port}\"]
";

    #[test]
    fn a_program_has_a_run_for_each_size() {
        let suite = read(OPEN).expect("a suite");
        assert_eq!((suite.runs.len(), suite.programs.len()), (0, 2));
        assert_eq!(suite.programs[0].name, "open-program-rival-256x256-loopback");
        let last = &suite.programs[1].program;
        assert_eq!((last.sender_items, last.receiver_items, last.overlap, last.repeat), (100, 64, 9, 2));
        assert_eq!((last.prepare.len(), last.timeout_seconds, last.cold), (1, 1.5, false));
        let mixed = format!("{OPEN}\n[[runs]]\nprotocols = [\"vole-fast\"]\nsizes = [\"2^8\"]\n");
        let mixed = read(&mixed).expect("both divisions");
        assert_eq!((mixed.runs.len(), mixed.programs.len()), (1, 2));
    }

    #[test]
    fn mistakes_are_named_with_their_mend() {
        for (from, to, fault, mend) in [
            ("2^8", "3^8", "3^8", "2^16"),
            ("2^8", "8", "overlap", "lower `overlap`"),
            ("\"2^8\", ", "\"64 x 64\", \"64\", ", "twice", ""),
            ("\"rival\"", "\"a rival\"", "\"a rival\"", "letters, digits"),
            ("repeat = 2", "repeat = 0", "repeat", "at least 1"),
            ("1.5", "0", "timeout_seconds", "above 0"),
            ("overlap = 9", "links = [\"100mbit,10ms\"]", "100mbit,10ms", "loopback"),
            ("{sender_csv}", "{sender}", "{sender}", "{sender_csv}"),
            ("{output_csv}", "out.csv", "where to write", "{output_csv} or {work}"),
            ("{work}", "{port}", "prepare_sender: {port} is not known yet", "`receiver`"),
            ("sender = [\"sh\", \"{sender_csv}\", \"{port}\"]\n", "", "sender", ""),
            ("timeout_seconds", "timeout", "timeout", ""),
        ] {
            let refused = read(&OPEN.replacen(from, to, 1)).expect_err(to);
            assert!(refused.what.contains(fault) && refused.mend.contains(mend), "{to}: {refused:?}");
        }
    }
}
