//! Tables of a paper with ours beside them.

use std::collections::{BTreeMap, BTreeSet};

use vesica::task;
use vesica_party::Security;
use vesica_structures::facts::Unsupported;

use super::{Cell, Kind, Paper, PaperCell, PaperRow, Runs, Table};
use crate::report_page::Recording;

/// A row of a paper and ours beside it, or ours alone.
#[derive(Debug)]
pub struct Line<'a> {
    /// `log2` of the sender's and of the receiver's items; none where columns have sizes.
    pub sizes: Option<(u32, u32)>,
    /// The mode.
    pub security: Security,
    /// The paper's row.
    pub row: Option<&'a PaperRow>,
    /// Our protocol.
    pub ours: Option<&'a str>,
    /// Whether that is a broken one.
    pub is_broken: bool,
    /// Whether a line of the same sizes and mode before this one has our protocol already.
    pub is_again: bool,
    /// Our cells, one for each column.
    pub cells: Vec<Cell>,
}

/// The rows of a table in their order, each with ours, and behind those of the same sizes the protocols that the paper
/// has no row for. Cells of ours that no run says are what formulas say.
pub fn lines<'a>(table: &'a Table, rows: &[&'a PaperRow], runs: &Runs) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for group in rows.chunk_by(|a, b| a.sizes() == b.sizes()) {
        let sizes = group.first().and_then(|row| row.sizes());
        let mut shown = BTreeSet::new();
        let mut line = |row: Option<&'a PaperRow>, ours: Option<&'a str>, security: Security| {
            let cell = |column| ours.map_or(Cell::NotMeasured, |id| runs.cell(id, security, sizes, column));
            let cells = table.columns.iter().map(cell).collect();
            let is_broken = ours.is_some_and(|id| runs.is_broken(id));
            let is_again = ours.is_some_and(|id| !shown.insert((id, security.to_string())));
            Line { sizes, security, row, ours, is_broken, is_again, cells }
        };
        lines.extend(group.iter().map(|row| line(Some(row), row.ours.as_deref(), row.security)));
        for security in [Security::SemiHonest, Security::Malicious] {
            if group.iter().any(|row| row.security == security && row.ours.is_some()) {
                let served = table.also.iter().filter(|id| runs.serves(id, security, sizes.unwrap_or((16, 16))));
                lines.extend(served.map(|id| line(None, Some(id), security)));
            }
        }
    }
    lines
}

/// A table with its lines.
#[derive(Debug)]
pub struct Compared<'a> {
    /// The table.
    pub table: &'a Table,
    /// Which of the recordings our cells are from; none where none has a run for them.
    pub recording: Option<usize>,
    /// Its lines.
    pub lines: Vec<Line<'a>>,
}

impl<'a> Compared<'a> {
    fn new(paper: &'a Paper, table: &'a Table, recordings: &[Recording]) -> Result<Self, Unsupported> {
        let task = task::find(paper.task_of(table))?;
        let mut lines = lines(table, &paper.rows_of(table), &Runs::none(task));
        let mut best = (0, None, Vec::new());
        for (at, recording) in recordings.iter().enumerate() {
            let runs = Runs::of_recording(task, recording);
            let cells: Vec<Vec<Option<Cell>>> = lines.iter().map(|line| recorded(table, line, &runs)).collect();
            let of_protocols = cells.iter().zip(&lines).filter(|(_, line)| !line.is_again);
            let of_runs = of_protocols.flat_map(|(cells, _)| cells).flatten().filter(|cell| cell.number().is_some());
            let filled = of_runs.count();
            if filled > best.0 {
                best = (filled, Some(at), cells);
            }
        }
        let (_, recording, cells) = best;
        for (line, recorded) in lines.iter_mut().zip(cells) {
            for (cell, recorded) in line.cells.iter_mut().zip(recorded) {
                *cell = recorded.unwrap_or(*cell);
            }
        }
        Ok(Self { table, recording, lines })
    }
}

/// What a recording says of the cells of a line.
fn recorded(table: &Table, line: &Line<'_>, runs: &Runs) -> Vec<Option<Cell>> {
    let of = |column| runs.recorded(line.ours?, line.security, line.sizes, column);
    table.columns.iter().map(of).collect()
}

/// All tables of a paper, beside recordings.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The recordings.
    pub recordings: &'a [Recording],
    /// Each table with its lines. Ours are from one recording: the first of those that fill most cells.
    pub tables: Vec<Compared<'a>>,
}

/// How many cells there are of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ours.
    pub ours: BTreeMap<Kind, usize>,
    /// Numbers and bounds that the paper states.
    pub stated: usize,
    /// Cells that our copy of the paper does not show legibly.
    pub unreadable: usize,
    /// Cells that the paper leaves empty.
    pub empty: usize,
    /// Of the stated ones, those of rows that none of ours stands beside, for a reason.
    pub without_ours: usize,
}

impl Counts {
    /// Our cells of a kind.
    pub fn of(&self, kind: Kind) -> usize {
        self.ours.get(&kind).copied().unwrap_or(0)
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (kind, count) in &other.ours {
            *self.ours.entry(*kind).or_default() += count;
        }
        self.stated += other.stated;
        self.unreadable += other.unreadable;
        self.empty += other.empty;
        self.without_ours += other.without_ours;
        self
    }
}

impl<'a> Comparison<'a> {
    /// Looks up our cells; where there is no recording, they are what formulas say.
    ///
    /// # Errors
    /// If a task of the paper is not in this release.
    pub fn new(paper: &'a Paper, recordings: &'a [Recording]) -> Result<Self, Unsupported> {
        let tables = paper.table.iter().map(|table| Compared::new(paper, table, recordings));
        Ok(Self { paper, recordings, tables: tables.collect::<Result<_, _>>()? })
    }

    /// Whether a recording has a run for any row.
    pub fn is_measured(&self) -> bool {
        self.tables.iter().any(|compared| compared.recording.is_some())
    }

    /// How many cells there are of each kind; ours are counted once for the sizes and the mode of a row.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for line in self.tables.iter().flat_map(|compared| &compared.lines) {
            for cell in line.row.iter().flat_map(|row| &row.cells) {
                match cell {
                    PaperCell::Number(_) | PaperCell::Below(_) => {
                        counts.stated += 1;
                        counts.without_ours += usize::from(line.ours.is_none());
                    }
                    PaperCell::Unreadable => counts.unreadable += 1,
                    PaperCell::Nothing => counts.empty += 1,
                }
            }
            if line.ours.is_some() && !line.is_again {
                for cell in &line.cells {
                    *counts.ours.entry(cell.kind()).or_default() += 1;
                }
            }
        }
        counts
    }
}

impl Line<'_> {
    /// Ours over theirs, in a column. There is none where either is no number, or theirs is zero.
    pub fn ratio(&self, column: usize) -> Option<f64> {
        let theirs = self.row?.cells.get(column)?.number().filter(|number| *number > 0.0)?;
        Some(self.cells.get(column)?.number()? / theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::paper::small;
    use super::super::runs::run;
    use super::*;
    use crate::suite::{LeftOut, Why};
    use crate::{Report, Settings};

    fn recording(runs: Vec<Report>) -> Recording {
        let runs = runs.into_iter().map(|run| (String::new(), run)).collect();
        Recording { label: "r".into(), runs, ..Recording::default() }
    }

    fn lean(link: &str) -> Report {
        Report { protocol: "vole-lean".into(), ..run(link, 1.0) }
    }

    #[test]
    fn a_table_is_of_the_first_recording_that_fills_most_of_it() {
        let paper = small();
        let recordings = [
            recording(vec![lean("loopback")]),
            recording(vec![run("loopback", 0.5), lean("loopback")]),
            recording(vec![run("loopback", 0.25), lean("loopback")]),
        ];
        let comparison = Comparison::new(&paper, &recordings).expect("a comparison");
        assert!(comparison.is_measured());
        let [Compared { recording, lines, .. }] = comparison.tables.as_slice() else { panic!("one table") };
        assert_eq!(*recording, Some(1));
        let shown: Vec<_> = lines.iter().map(|line| (line.ours, line.cells.clone())).collect();
        assert_eq!(
            shown,
            [
                (Some("vole-fast"), vec![Cell::Sent(1.25), Cell::Took(0.5), Cell::NotMeasured]),
                (None, vec![Cell::NotMeasured; 3]),
                (Some("vole-lean"), vec![Cell::Sent(1.25), Cell::Took(1.0), Cell::NotMeasured]),
            ]
        );
        // 1.25 MB over 2.5 MB; then a cell that cannot be read, and one that is not measured.
        assert_eq!([0, 1, 2, 3].map(|column| lines[0].ratio(column)), [Some(0.5), None, None, None]);
        assert_eq!(lines[2].ratio(0), None);
        let expected = Counts {
            ours: [(Kind::Measured, 4), (Kind::NotMeasured, 2)].into(),
            stated: 4,
            unreadable: 1,
            empty: 1,
            without_ours: 2,
        };
        assert_eq!(comparison.counts(), expected);
        assert_eq!(expected.clone().and(&expected).of(Kind::Measured), 8);
    }

    #[test]
    fn what_a_machine_cannot_run_says_why() {
        let paper = small();
        let settings = Settings {
            link: "10mbit,80ms".parse().expect("a link"),
            ..Settings::new("intersect", "vole-fast", Security::SemiHonest, 1 << 16, 1 << 16)
        };
        let mut recorded = recording(vec![run("loopback", 0.5)]);
        recorded.left_out.push(LeftOut { settings, why: Why::Seconds(7200.0) });
        let recordings = [recorded];
        let comparison = Comparison::new(&paper, &recordings).expect("a comparison");
        let cell = comparison.tables[0].lines[0].cells[2];
        assert_eq!((cell.kind(), cell.to_string()), (Kind::CannotRun, "not here: 2 hours".into()));
    }

    #[test]
    fn without_a_run_there_are_formulas_and_what_is_not_measured() {
        let paper = small();
        let comparison = Comparison::new(&paper, &[]).expect("a comparison");
        assert!(!comparison.is_measured());
        let lines = &comparison.tables[0].lines;
        assert_eq!(lines.len(), 3);
        assert!(matches!(lines[0].cells[0], Cell::Formula(megabytes) if megabytes > 0.5), "{:?}", lines[0]);
        assert_eq!(lines[0].cells[1], Cell::NotMeasured);
    }
}
