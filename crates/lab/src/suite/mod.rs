//! Suites: a file that names protocols, sizes, links and threads, and a recording of all of them.
//!
//! - [`read`] turns the text of a suite file into [`Suite`], whose [`Planned`] runs are every
//!   combination that each of its `[[runs]]` tables asks for. Its `[[programs]]` tables, the open
//!   division, run programs of others from CSV to CSV.
//! - [`Recording`] is a file of JSON lines for one machine and one suite. Its first line says which;
//!   each of the others is a run, or why there is none. A recording can be taken up again.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod open;
mod recording;
mod values;

use std::collections::HashSet;

use serde::Deserialize;
use vesica::plan::{self, Machine, Permissions, Prices, Setting};
use vesica::task::{self, Amounts};
use vesica_party::Security;
use vesica_structures::facts::Unsupported;

pub use open::PlannedProgram;
pub use recording::{About, LeftOut, Line, Outcome, RecordError, Recording, Why};

use self::values::{loopback, pair, three};
use crate::{Network, Settings, blocks};

/// What a suite file asks for.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Its runs, in the order in which they are made.
    pub runs: Vec<Planned>,
    /// Its runs of programs, which come after those of protocols.
    pub programs: Vec<PlannedProgram>,
}

/// One run of a suite.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The run's name in a recording: what tells it from all others of the suite.
    pub name: String,
    /// What is measured.
    pub settings: Settings,
}

/// A `[[runs]]` table: every combination of its lists is a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default = "intersect")]
    task: String,
    protocols: Vec<String>,
    #[serde(default = "semi_honest")]
    security: Vec<Security>,
    sizes: Vec<String>,
    #[serde(default = "loopback")]
    links: Vec<String>,
    #[serde(default = "one")]
    threads: Vec<usize>,
    #[serde(default = "three")]
    repeat: usize,
    #[serde(default)]
    cold: bool,
    #[serde(default)]
    allow_broken: bool,
    #[serde(default)]
    payload_bytes: usize,
    #[serde(default)]
    columns: usize,
    overlap: Option<usize>,
}

fn intersect() -> String {
    "intersect".into()
}

fn semi_honest() -> Vec<Security> {
    vec![Security::SemiHonest]
}

fn one() -> Vec<usize> {
    vec![1]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    runs: Vec<Table>,
    #[serde(default)]
    programs: Vec<open::Table>,
}

/// The suite in the text of a file.
///
/// # Errors
/// If the text is not such a file, names what there is not, or asks for a run twice.
pub fn read(text: &str) -> Result<Suite, Unsupported> {
    let wrong = |fault: String| Unsupported::new(fault, "see bench/suites for examples of suite files");
    let file: File = vesica::toml_text::read(text).map_err(wrong)?;
    let mut suite = Suite { name: file.name, runs: Vec::new(), programs: Vec::new() };
    for table in &file.runs {
        table.add_to(&mut suite.runs)?;
    }
    for table in &file.programs {
        table.add_to(&mut suite.programs)?;
    }
    if suite.runs.is_empty() && suite.programs.is_empty() {
        return Err(wrong("no run is asked for".into()));
    }
    // Names stay apart where recordings of several suites are compared.
    let protocols = suite.runs.iter_mut().map(|run| &mut run.name);
    for name in protocols.chain(suite.programs.iter_mut().map(|run| &mut run.name)) {
        *name = format!("{}-{name}", suite.name);
    }
    let mut names = HashSet::new();
    let mut all = suite.runs.iter().map(|run| &run.name).chain(suite.programs.iter().map(|run| &run.name));
    if let Some(twice) = all.find(|name| !names.insert(*name)) {
        return Err(wrong(format!("the run {twice} is asked for twice")));
    }
    Ok(suite)
}

impl Table {
    fn add_to(&self, runs: &mut Vec<Planned>) -> Result<(), Unsupported> {
        let sizes: Vec<(usize, usize)> = self.sizes.iter().map(|size| pair(size)).collect::<Result<_, _>>()?;
        let links: Vec<Network> = self.links.iter().map(|link| link.parse()).collect::<Result<_, _>>()?;
        for &(sender_items, receiver_items) in &sizes {
            for link in &links {
                for &threads in &self.threads {
                    for protocol in &self.protocols {
                        for &security in &self.security {
                            let run = self.run(protocol, security, [sender_items, receiver_items], *link, threads)?;
                            runs.push(run);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn run(
        &self,
        protocol: &str,
        security: Security,
        [sender_items, receiver_items]: [usize; 2],
        link: Network,
        threads: usize,
    ) -> Result<Planned, Unsupported> {
        let mut name = format!("-{security}-{sender_items}x{receiver_items}-{link}-{threads}t");
        let amounts = Amounts { payload_bytes: self.payload_bytes, columns: self.columns, ..Amounts::NONE };
        for (amount, letter) in [(self.payload_bytes, "p"), (self.columns, "c")] {
            if amount > 0 {
                name.push_str(&format!("-{amount}{letter}"));
            }
        }
        let id = self.id_of(protocol)?;
        name.insert_str(0, id);
        if self.task != intersect() {
            name = format!("{}-{name}", self.task);
        }
        let settings = Settings {
            overlap: self.overlap,
            link,
            threads,
            repeat: self.repeat,
            cold: self.cold,
            ..Settings::new(&self.task, id, security, sender_items, receiver_items).with_amounts(&amounts)
        };
        Ok(Planned { name, settings })
    }

    /// The id of a protocol, or of a building block's.
    fn id_of(&self, protocol: &str) -> Result<&'static str, Unsupported> {
        if blocks::is_block(&self.task) {
            return blocks::id(&self.task, protocol);
        }
        let entry = task::find(&self.task)?.find(protocol)?.ok_or_else(|| {
            Unsupported::new(
                format_args!("there is no protocol {protocol:?} for {}", self.task),
                "`vesica protocols` lists them",
            )
        })?;
        if let Some(fault) = entry.warning().filter(|_| !self.allow_broken) {
            return Err(Unsupported::new(fault, "take it out of the suite, or say allow_broken = true in its table"));
        }
        Ok(entry.id)
    }
}

impl Planned {
    /// Seconds that the whole run is predicted to take on the reference machine of `vesica plan`, warm-up included;
    /// `None` for a protocol whose times it does not have.
    pub fn predicted_seconds(&self) -> Option<f64> {
        let workload = self.settings.workload().ok()?;
        let prices = Prices::built_in().ok()?;
        let setting = Setting {
            machine: &Machine::REFERENCE,
            threads: self.settings.threads,
            link: &self.settings.link.link(),
            prices: &prices,
            traffic: prices.traffic.first()?,
            permissions: Permissions::default(),
        };
        let plan = plan::plan(workload.workload(), &setting).ok()?;
        let found = plan.eligible.iter().find(|one| one.entry.id == self.settings.protocol)?;
        Some(found.reference.total_us() as f64 / 1e6 * self.settings.repeats().count() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "\
name = \"small\"

[[runs]]
protocols = [\"vole-fast\", \"rr22:okvs=band\"]
security = [\"semi-honest\", \"malicious\"]
sizes = [\"2^8\", \"100 x 2^6\"]
links = [\"loopback\", \"100mbit,10ms\"]

[[runs]]
task = \"sum\"
protocols = [\"vesica-sum\"]
sizes = [\"64\"]
columns = 2
threads = [1, 2]
repeat = 1
cold = true
";

    #[test]
    fn a_suite_has_a_run_for_each_combination() {
        let suite = read(SMALL).expect("a suite");
        assert_eq!((suite.name.as_str(), suite.runs.len()), ("small", 2 * 2 * 2 * 2 + 2));
        assert_eq!(suite.runs[0].name, "small-vole-fast-semi-honest-256x256-loopback-1t");
        let last = suite.runs.last().expect("runs");
        assert_eq!(last.name, "small-sum-vesica-sum-semi-honest-64x64-loopback-2t-2c");
        assert_eq!((last.settings.threads, last.settings.repeat, last.settings.cold), (2, 1, true));
        assert!(suite.runs.iter().any(|run| run.settings.sender_items == 100 && run.settings.receiver_items == 64));
        assert!(suite.runs[0].predicted_seconds().is_some_and(|seconds| seconds > 0.0));
    }

    #[test]
    fn the_suites_of_the_tree_are_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/suites");
        for entry in std::fs::read_dir(folder).expect("suites") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("text");
            let suite = read(&text).unwrap_or_else(|refused| panic!("{}: {refused}", path.display()));
            assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(suite.name.as_str()));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (from, to, told) in [
            ("vole-fast", "vole-slow", "vole-slow"),
            ("2^8", "3^8", "3^8"),
            ("2^8", "2^64", "2^64"),
            ("2^8", "100 x 2^6", "twice"),
            ("100mbit,10ms", "quick", "quick"),
            ("security", "secureness", "secureness"),
            ("malicious", "honest", "honest"),
            ("vole-fast", "ltsxq26", "broken"),
            ("name = \"small\"\n", "", "name"),
            ("repeat = 1", "repeat = \"once\"", "line 15: "),
        ] {
            let refused = read(&SMALL.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(refused.contains(told), "{to}: {refused}");
        }
        assert!(read("name = \"empty\"\nruns = []\n").is_err());
        assert!(read("name = \"empty\"\n").is_err());
    }
}
