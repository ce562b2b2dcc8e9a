//! The numbers of a paper: a file of bench/papers, which the program brings along.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use vesica::Failure;
use vesica::failure::code;
use vesica_party::Security;

use super::Column;

/// The papers' files, in the order of docs/paper-tables.md. A file is `bench/papers/KEY.toml`.
const FILES: [&str; KEYS.len()] = [
    include_str!("../../../../bench/papers/spot-light.toml"),
    include_str!("../../../../bench/papers/ltsxq26.toml"),
    include_str!("../../../../bench/papers/cssw25.toml"),
    include_str!("../../../../bench/papers/cm25.toml"),
    include_str!("../../../../bench/papers/psibench.toml"),
];

/// By what `vesica-lab bench compare` calls them.
pub const KEYS: [&str; 5] = ["spot-light", "ltsxq26", "cssw25", "cm25", "psibench"];

/// The numbers of one paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its short name.
    pub key: String,
    /// Its title and authors.
    pub title: String,
    /// What its protocols compute.
    #[serde(default = "intersect")]
    pub task: String,
    /// Its tables, in the order of the paper.
    pub table: Vec<Table>,
    /// Rows of all tables.
    pub row: Vec<PaperRow>,
    /// Its table of ratios, if it has one.
    pub ratios: Option<Ratios>,
    /// Rows of that table.
    #[serde(default)]
    pub ratio: Vec<RatioRow>,
    /// Its table of phases, if it has one.
    pub phases: Option<Phases>,
    /// Rows of that table.
    #[serde(default)]
    pub phase: Vec<PhaseRow>,
    /// Its figures that draw tables.
    #[serde(default)]
    pub figure: Vec<Figure>,
    /// Its experiments on cuckoo tables, if it has any.
    pub hashing: Option<Hashing>,
    /// What it says of them.
    #[serde(default)]
    pub hashing_said: Vec<HashingSaid>,
}

fn intersect() -> String {
    "intersect".into()
}

/// A table of runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its number in the paper.
    pub number: String,
    /// What it is of.
    pub caption: String,
    /// What else is to be known; `-` for nothing.
    pub note: String,
    /// The paper's machine; `-` where it names none.
    pub machine: String,
    /// The paper's network; `-` where it names none.
    pub network: String,
    /// What its cells state.
    pub columns: Vec<Column>,
    /// Protocols of ours that the paper has no row for.
    pub also: Vec<String>,
    /// What this table's protocols compute, if that is not what the paper's other ones do.
    pub task: Option<String>,
    /// Whether the receiver's items are all in the sender's set, where they are half of them elsewhere.
    #[serde(default)]
    pub all_match: bool,
}

/// A protocol's row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    /// The number of the table.
    pub table: String,
    /// As `log2`; without them, columns have sizes of their own.
    log_sender: Option<f64>,
    log_receiver: Option<f64>,
    /// The protocol, as the paper calls it.
    pub protocol: String,
    /// Ours of the same kind.
    pub ours: Option<String>,
    /// Why there is none of ours, where there is none.
    pub none_of_ours: Option<String>,
    /// The mode.
    pub security: Security,
    /// One for each column.
    pub cells: Vec<PaperCell>,
}

impl PaperRow {
    /// `log2` of the sender's and of the receiver's items.
    pub fn sizes(&self) -> Option<(u32, u32)> {
        self.log_sender.zip(self.log_receiver).map(|(sender, receiver)| (sender as u32, receiver as u32))
    }
}

/// What a paper says in a cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum PaperCell {
    /// A number.
    Number(f64),
    /// Less than a number, as the paper writes it: `<0.1`.
    Below(String),
    /// That there is none: `-`.
    Nothing,
    /// Something that our copy of the paper does not show legibly: `?`.
    Unreadable,
}

impl PaperCell {
    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl TryFrom<Value> for PaperCell {
    type Error = String;

    fn try_from(cell: Value) -> Result<Self, String> {
        match (cell.as_f64(), cell.as_str()) {
            (Some(number), _) => Ok(Self::Number(number)),
            (None, Some("-")) => Ok(Self::Nothing),
            (None, Some("?")) => Ok(Self::Unreadable),
            (None, Some(text)) if text.starts_with('<') => Ok(Self::Below(text.trim_start_matches('<').into())),
            _ => Err(format!("the cell {cell} is neither a number nor a bound, and is neither \"-\" nor \"?\"")),
        }
    }
}

impl fmt::Display for PaperCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Below(bound) => write!(f, "below {bound}"),
            Self::Nothing => f.write_str("–"),
            Self::Unreadable => f.write_str("cannot be read"),
        }
    }
}

/// A table of what other protocols take over what the paper's own ones take.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratios {
    /// Its number in the paper.
    pub number: String,
    /// What it is of.
    pub caption: String,
    /// What else is to be known.
    pub note: String,
    /// `log2` of the items a side of our runs.
    pub log: f64,
    /// What its cells are ratios of.
    pub columns: Vec<Column>,
}

/// A row of that table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioRow {
    /// What the paper compares with.
    pub baseline: String,
    /// The paper's own protocol.
    pub own: String,
    /// Ours of the same kind as the first.
    pub ours_baseline: String,
    /// Ours of the same kind as the second.
    pub ours_own: Vec<String>,
    /// One for each column.
    pub cells: Vec<PaperCell>,
}

/// A table of what each phase of a run takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Its number in the paper.
    pub number: String,
    /// What it is of.
    pub caption: String,
    /// What else is to be known.
    pub note: String,
    /// `log2` of the items a side.
    pub log: f64,
    /// Links, as `--link` takes them.
    pub links: Vec<String>,
    /// Protocols of ours.
    pub ours: Vec<String>,
}

/// A row of that table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseRow {
    /// The phase.
    pub name: String,
    /// Seconds over each link, then megabytes.
    pub cells: Vec<PaperCell>,
}

/// A figure that draws how each column of a table grows with the sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number in the paper.
    pub number: String,
    /// What it is of.
    pub caption: String,
    /// What else is to be known.
    pub note: String,
    /// The number of the table.
    pub table: String,
    /// The table's protocols that it draws; all where there are none.
    #[serde(default)]
    pub protocols: Vec<String>,
    /// The table's columns that it draws; all where there are none.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// What lies across: the items of a side, or the rates of the columns' links.
    #[serde(default)]
    pub across: Across,
    /// With rates: `log2` of the items a side.
    #[serde(default)]
    pub log: f64,
}

/// What lies across in a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Across {
    /// The sender's items.
    #[default]
    Items,
    /// The receiver's items.
    ReceiverItems,
    /// The rate of the link.
    Rate,
}

/// Experiments on cuckoo tables: a figure and a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hashing {
    /// The figure's number.
    pub figure: String,
    /// What it is of.
    pub caption: String,
    /// What else is to be known of it.
    pub note: String,
    /// The table's number.
    pub table: String,
    /// What it is of.
    pub table_caption: String,
    /// What else is to be known of it.
    pub table_note: String,
}

/// What a paper says of cuckoo tables with so many functions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashingSaid {
    /// Hash functions.
    pub functions: f64,
    /// Of loads by the limit.
    pub figure: String,
    /// Items of a table of 2^16 bins in the paper's table; 0 where it has none.
    pub items: f64,
}

impl Paper {
    /// The paper of this key.
    ///
    /// # Errors
    /// If there is none.
    pub fn built_in(key: &str) -> Result<Self, Failure> {
        let Some((_, text)) = KEYS.iter().zip(FILES).find(|(known, _)| **known == key) else {
            return Err(Failure::new(
                code::INPUT,
                format_args!("there are no tables of a paper {key:?}"),
                format_args!("name one of {}", KEYS.join(", ")),
            ));
        };
        Self::parse(text).map_err(|fault| {
            Failure::new(code::INTERNAL, format_args!("bench/papers/{key}.toml: {fault}"), "please report it")
        })
    }

    /// Reads a paper's file.
    fn parse(text: &str) -> Result<Self, String> {
        let paper: Self = vesica::toml_text::read(text)?;
        for row in &paper.row {
            let name = format!("table {}, {}", row.table, row.protocol);
            let table = paper.table.iter().find(|table| table.number == row.table);
            let table = table.ok_or_else(|| format!("there is no table for {name}"))?;
            if row.cells.len() != table.columns.len() {
                return Err(format!("{name} has {} cells for {} columns", row.cells.len(), table.columns.len()));
            }
            if table.columns.iter().any(|column| column.sizes(row.sizes()).is_none()) {
                return Err(format!("{name} has no sizes"));
            }
            if row.ours.is_some() == row.none_of_ours.is_some() {
                return Err(format!("{name} must name a row of ours, or say why there is none"));
            }
        }
        Ok(paper)
    }

    /// The rows of a table.
    pub fn rows_of(&self, table: &Table) -> Vec<&PaperRow> {
        self.row.iter().filter(|row| row.table == table.number).collect()
    }

    /// What a table's protocols compute.
    pub fn task_of<'a>(&'a self, table: &'a Table) -> &'a str {
        table.task.as_deref().unwrap_or(&self.task)
    }
}

#[cfg(test)]
pub(super) const SMALL: &str = r#"
key = "Small"
title = "A paper of two tables"

[[table]]
number = "1"
caption = "Runs"
note = "A note."
machine = "one machine"
network = "tc"
columns = ["MB", "s loopback", "s 10mbit 80ms"]
also = ["vole-lean"]

[[row]]
table = "1"
log_sender = 16
log_receiver = 16
protocol = "FIRST|ONE"
ours = "vole-fast"
security = "semi-honest"
cells = [2.5, "?", 12]

[[row]]
table = "1"
log_sender = 16
log_receiver = 16
protocol = "SECOND"
none_of_ours = "it is second"
security = "malicious"
cells = ["-", "<0.1", 3]
"#;

#[cfg(test)]
pub(super) fn small() -> Paper {
    Paper::parse(SMALL).expect("a paper")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_are_read() {
        for key in KEYS {
            let paper = Paper::built_in(key).unwrap_or_else(|failure| panic!("{}", failure.fault));
            assert!(!paper.table.is_empty() && !paper.row.is_empty(), "{key}");
            for table in &paper.table {
                assert!(!paper.rows_of(table).is_empty(), "{key}, table {}", table.number);
                vesica::task::find(paper.task_of(table)).expect("a task");
            }
        }
        let unknown = Paper::built_in("psi-bench").expect_err("no such paper");
        assert!(unknown.mend.contains("cm25") && unknown.mend.contains("psibench"), "{}", unknown.mend);
    }

    #[test]
    fn rows_that_do_not_fit_their_table_are_refused() {
        for (was, is, fault) in [
            ("cells = [2.5, \"?\", 12]", "cells = [2.5, 12]", "2 cells for 3 columns"),
            ("cells = [2.5, \"?\", 12]", "cells = [2.5, \"many\", 12]", "neither a number"),
            ("\"s loopback\"", "\"s quick\"", "no column"),
            ("log_receiver = 16", "", "no sizes"),
            ("table = \"1\"", "table = \"2\"", "no table"),
            ("ours = \"vole-fast\"", "", "say why there is none"),
        ] {
            let text = SMALL.replacen(was, is, 1);
            let refused = Paper::parse(&text).expect_err(is);
            assert!(refused.contains(fault), "{refused}");
        }
    }

    #[test]
    fn cells_say_what_they_are() {
        let said = small().row.iter().flat_map(|row| &row.cells).map(PaperCell::to_string).collect::<Vec<_>>();
        assert_eq!(said, ["2.5", "cannot be read", "12", "–", "below 0.1", "3"]);
    }
}
