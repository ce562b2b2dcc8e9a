//! Tables of a paper with ours beside them.

use vesica::task;
use vesica_party::Security;
use vesica_structures::facts::Unsupported;

use super::{Cell, Paper, PaperRow, Runs, Table};
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
    /// Which of the recordings has runs of it, and so is what our cells are from.
    pub recording: Option<usize>,
    /// Our cells, one for each column.
    pub cells: Vec<Cell>,
}

/// The rows of a table in their order, each with ours, and behind those of the same sizes the
/// protocols that the paper has no row for. All cells of a line are from one recording, the first
/// that has a run for it.
pub fn lines<'a>(table: &'a Table, rows: &[&'a PaperRow], recordings: &[Runs]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for group in rows.chunk_by(|a, b| a.sizes() == b.sizes()) {
        let sizes = group.first().and_then(|row| row.sizes());
        let line = |row: Option<&'a PaperRow>, ours: Option<&'a str>, security: Security| {
            let has_run = |runs: &Runs, id: &str| {
                let mut sizes = table.columns.iter().filter_map(|column| column.sizes(sizes));
                sizes.any(|sizes| runs.of(id, security, sizes).next().is_some())
            };
            let recording = ours.and_then(|id| recordings.iter().position(|runs| has_run(runs, id)));
            let runs = recordings.get(recording.unwrap_or(0));
            let cells = table.columns.iter().map(|column| match (ours, runs) {
                (Some(id), Some(runs)) => runs.cell(id, security, sizes, column),
                _ => Cell::NotMeasured,
            });
            let is_broken = ours.zip(runs).is_some_and(|(id, runs)| runs.is_broken(id));
            Line { sizes, security, row, ours, is_broken, recording, cells: cells.collect() }
        };
        lines.extend(group.iter().map(|row| line(Some(row), row.ours.as_deref(), row.security)));
        for security in [Security::SemiHonest, Security::Malicious] {
            if group.iter().any(|row| row.security == security && row.ours.is_some()) {
                lines.extend(table.also.iter().map(|id| line(None, Some(id), security)));
            }
        }
    }
    lines
}

/// All tables of a paper, beside recordings.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The recordings.
    pub recordings: &'a [Recording],
    /// Each table with its lines.
    pub tables: Vec<(&'a Table, Vec<Line<'a>>)>,
}

impl<'a> Comparison<'a> {
    /// Looks up our cells; where there is no recording, they are what formulas say.
    ///
    /// # Errors
    /// If a task of the paper is not in this release.
    pub fn new(paper: &'a Paper, recordings: &'a [Recording]) -> Result<Self, Unsupported> {
        let tables = paper.table.iter().map(|table| {
            let task = task::find(paper.task_of(table))?;
            let reports = |recording: &Recording| recording.runs.iter().map(|(_, run)| run.clone()).collect();
            let mut runs: Vec<Runs> =
                recordings.iter().map(|recording| Runs::new(task, table.threads(), reports(recording))).collect();
            if runs.is_empty() {
                runs.push(Runs::new(task, table.threads(), Vec::new()));
            }
            let mut lines = lines(table, &paper.rows_of(table), &runs);
            // What the paper lacks is shown only where it was measured.
            lines.retain(|line| line.row.is_some() || line.recording.is_some());
            Ok((table, lines))
        });
        Ok(Self { paper, recordings, tables: tables.collect::<Result<_, Unsupported>>()? })
    }

    /// Whether a recording has a run for any row.
    pub fn is_measured(&self) -> bool {
        self.tables.iter().flat_map(|(_, lines)| lines).any(|line| line.recording.is_some())
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

    fn recording(runs: Vec<crate::Report>) -> Recording {
        let runs = runs.into_iter().map(|run| (String::new(), run)).collect();
        Recording { label: "r".into(), machine: None, runs, programs: Vec::new(), passed_over: 0 }
    }

    #[test]
    fn a_line_is_of_the_first_recording_that_has_a_run_for_it() {
        let paper = small();
        let lean = crate::Report { protocol: "vole-lean".into(), ..run("loopback", 1.0) };
        let recordings = [recording(vec![lean]), recording(vec![run("loopback", 0.5)])];
        let comparison = Comparison::new(&paper, &recordings).expect("a comparison");
        assert!(comparison.is_measured());
        let [(_, lines)] = comparison.tables.as_slice() else { panic!("one table") };
        let shown: Vec<_> = lines.iter().map(|line| (line.ours, line.recording, line.cells.clone())).collect();
        assert_eq!(
            shown,
            [
                (Some("vole-fast"), Some(1), vec![Cell::Sent(1.25), Cell::Took(0.5), Cell::NotMeasured]),
                (None, None, vec![Cell::NotMeasured; 3]),
                (Some("vole-lean"), Some(0), vec![Cell::Sent(1.25), Cell::Took(1.0), Cell::NotMeasured]),
            ]
        );
        // 1.25 MB over 2.5 MB; then a cell that cannot be read, and one that is not measured.
        assert_eq!([0, 1, 2, 3].map(|column| lines[0].ratio(column)), [Some(0.5), None, None, None]);
        assert_eq!(lines[2].ratio(0), None);
    }

    #[test]
    fn without_a_run_there_are_formulas_and_what_is_not_measured() {
        let paper = small();
        let comparison = Comparison::new(&paper, &[]).expect("a comparison");
        assert!(!comparison.is_measured());
        let lines = &comparison.tables[0].1;
        assert_eq!(lines.len(), 2);
        assert!(matches!(lines[0].cells[0], Cell::Formula(megabytes) if megabytes > 0.5), "{:?}", lines[0]);
        assert_eq!(lines[0].cells[1], Cell::NotMeasured);
    }
}
