//! Counting runs: a file for each partner, on the disk before a run begins, whatever becomes of it then.
//!
//! Time does not go back: what counts is the latest time at which this file was opened, also by a run that was refused. A
//! clock that is set back gives no further runs and makes no day come again. After a clock that was far ahead, no period
//! ends before the right time has come so far.

use std::collections::BTreeSet;
use std::time::Duration;

use vesica_party::transport::tls::Day;

use super::changes::Marks;
use super::count_file::{Counted, Open, read_marks};
use super::rules::{Per, QUERY, period};
use super::{Policy, Rule, Ruled};
use crate::failure::Failure;
use crate::key::iso_utc;
use crate::locked::{Wait, no_longer_than};
use crate::noise::Epsilon;
use crate::session::{Config, Silent};
use crate::table::KeyTable;
use crate::words::counted;

/// A run that is about to begin.
#[derive(Debug)]
pub(crate) struct Beginning<'a> {
    /// The task's name.
    pub task: &'a str,
    /// The epsilon of this side's noise.
    pub epsilon: Option<Epsilon>,
    /// Names the run if it is kept in a record: one that goes on was counted when it began.
    pub record: Option<&'a str>,
    /// The own table, if a rule compares it with earlier ones.
    pub table: Option<&'a HeldTable>,
}

/// A table that was compared with those of earlier runs, and whose marks are on the disk.
#[derive(Debug)]
pub(crate) struct HeldTable {
    marks: Marks,
    /// Names its marks, and its keys.
    name: String,
    keys: String,
    /// The alternatives of its key: a row has as many digests.
    alternatives: u32,
    /// The tables with which it was compared.
    seen: BTreeSet<String>,
    /// What a rule warns of.
    warnings: Vec<String>,
}

impl<'a> Beginning<'a> {
    /// A query to a server.
    pub(crate) fn query(table: Option<&'a HeldTable>) -> Self {
        Self { task: QUERY, epsilon: None, record: None, table }
    }

    /// As far as a configuration says it.
    pub(crate) fn of(config: &'a Config) -> Self {
        let epsilon = config.settings.noise.as_ref().map(|noise| noise.epsilon);
        Self { task: config.task.name(), epsilon, record: None, table: None }
    }
}

/// What counting a run came to.
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// What rules warn of.
    pub warnings: Vec<String>,
    /// The run, if it was counted now.
    counted: Option<Counted>,
}

/// How long a run that is taken back waits for others.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a rule that counts leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The rule's line.
    pub line: usize,
    /// In words.
    pub text: String,
}

impl Policy {
    fn counts_runs(&self) -> bool {
        let counts = |rule: &Rule| {
            matches!(rule, Rule::Epsilon(_) | Rule::Runs(_) | Rule::Expires(_)) || Self::compares_tables(rule)
        };
        self.rules.iter().any(|ruled| counts(&ruled.rule))
    }

    fn compares_tables(rule: &Rule) -> bool {
        matches!(rule, Rule::RunsPerTable(_) | Rule::LeastChangedKeys { .. })
    }

    /// Compares the own table with those of earlier runs; `None` if no rule asks for that. How long this takes depends on
    /// the table and on the earlier ones: do it before the partner hears of the table. `keeps` what later runs compare
    /// with, or only looks.
    ///
    /// # Errors
    /// If a rule refuses the table, runs cannot be counted, or keys that outgrow memory cannot be read again.
    pub(crate) fn compare(
        &self,
        table: &KeyTable,
        (record, keeps): (Option<&str>, bool),
        wait: &Wait<'_>,
    ) -> Result<Option<HeldTable>, Failure> {
        if !self.rules.iter().any(|ruled| Self::compares_tables(&ruled.rule)) {
            return Ok(None);
        }
        let secret = {
            let open = self.open(wait)?;
            open.secret().ok_or_else(|| self.damaged(&open.path, "it has no secret"))?
        };
        // Other runs need not wait for this.
        let marks = Marks::of(table, &secret)?;
        let open = self.open(wait)?;
        let (name, keys) = marks.names(&secret);
        let alternatives = table.keys_per_row() as u32;
        let mut held = HeldTable { marks, name, keys, alternatives, seen: BTreeSet::new(), warnings: Vec::new() };
        if keeps {
            open.keep(&held.name, &held.marks).map_err(|error| self.unusable(error))?;
        }
        let run = Beginning { task: "", epsilon: None, record, table: Some(&held) };
        if !open.has_counted(&run) {
            let warnings = self.against_tables(&run, &open)?;
            held.warnings = warnings;
        }
        held.seen = open.tables().map(str::to_owned).collect();
        Ok(Some(held))
    }

    /// Refuses a table that is too often or too nearly that of an earlier run. Gives warnings.
    fn against_tables(&self, run: &Beginning<'_>, open: &Open) -> Result<Vec<String>, Failure> {
        let compares = |ruled: &&Ruled| Self::compares_tables(&ruled.rule);
        let each = self.rules.iter().filter(compares).map(|ruled| self.against_counts(ruled, run, open));
        Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Counts a run that is about to begin, if the rules let it. It is on the disk when this returns, and stays counted
    /// however the run ends; only one that did not begin after all is [taken back](Self::take_back).
    ///
    /// # Errors
    /// If a rule refuses the run, the file cannot be used, or the run does not go on. Nothing is counted then.
    pub(crate) fn count(&self, run: &Beginning<'_>, wait: &Wait<'_>) -> Result<Count, Failure> {
        if !self.counts_runs() {
            return Ok(Count::default());
        }
        let mut open = self.open(wait)?;
        let mut warnings = run.table.map(|table| table.warnings.clone()).unwrap_or_default();
        if open.has_counted(run) {
            self.check_day(&open)?;
            return Ok(Count { warnings, counted: None });
        }
        for ruled in &self.rules {
            warnings.extend(self.against_counts(ruled, run, &open)?);
        }
        (wait.goes_on)()?;
        let (table, keys) = run.table.map(|table| (table.name.clone(), table.keys.clone())).unzip();
        let Beginning { task, epsilon, record, .. } = *run;
        let (time, epsilon) = (open.counts.latest, epsilon.map(|epsilon| epsilon.to_string()));
        let counted = Counted { time, task: task.into(), epsilon, record: record.map(Into::into), table, keys };
        open.counts.runs.push(counted.clone());
        self.forget(&mut open)?;
        open.save().map_err(|error| self.unusable(error))?;
        open.sweep();
        Ok(Count { warnings, counted: Some(counted) })
    }

    /// Takes a run back that was counted and did not begin: nothing has been sent since. Gives `failure`, which kept it from
    /// that, and says there if the run counts all the same.
    pub(crate) fn take_back(&self, count: Count, failure: Failure) -> Failure {
        let Some(counted) = count.counted else { return failure };
        let over = || self.unusable("another process holds the count");
        let taken_back = (|| {
            let mut open = self.open(&Wait { goes_on: &no_longer_than(PATIENCE, over), events: &Silent })?;
            let runs = &mut open.counts.runs;
            if let Some(place) = runs.iter().rposition(|run| run.is_as(&counted)) {
                runs.remove(place);
                open.save().map_err(|error| self.unusable(error))?;
            }
            Ok(())
        })();
        match taken_back {
            Ok(()) => failure,
            Err(Failure { fault, .. }) => self.still_counted(failure, &fault),
        }
    }

    /// A failure of a run that was counted and stays so, for this reason, though it came to nothing.
    pub(crate) fn still_counted(&self, failure: Failure, why: &str) -> Failure {
        if !self.counts_runs() {
            return failure;
        }
        let partner = &self.partner;
        let mend = format!(
            "{}. The run is among those with {partner} that your policy counts: {why}; `vesica policy check {partner}` shows \
             what is left",
            failure.mend
        );
        Failure { mend, ..failure }
    }

    /// Refuses a run behind the last day.
    fn check_day(&self, open: &Open) -> Result<(), Failure> {
        let none = Beginning { task: "", epsilon: None, record: None, table: None };
        let expires = |ruled: &&Ruled| matches!(ruled.rule, Rule::Expires(_));
        self.rules.iter().filter(expires).try_for_each(|ruled| self.against_counts(ruled, &none, open).map(drop))
    }

    /// Whether a run could begin now, as far as this is known; nothing is counted.
    ///
    /// # Errors
    /// If a rule refuses it, the file cannot be used, or the run does not go on.
    pub(crate) fn check_counts(&self, run: &Beginning<'_>, wait: &Wait<'_>) -> Result<(), Failure> {
        if !self.counts_runs() {
            return Ok(());
        }
        let open = self.open(wait)?;
        match open.has_counted(run) {
            true => self.check_day(&open),
            false => self.rules.iter().try_for_each(|ruled| self.against_counts(ruled, run, &open).map(drop)),
        }
    }

    /// Whether a run with this configuration could begin now, as far as its table plays no part; nothing is counted.
    ///
    /// # Errors
    /// If a rule refuses it, or the file cannot be used.
    pub fn check_now(&self, config: &Config, wait: &Wait<'_>) -> Result<(), Failure> {
        self.check_counts(&Beginning::of(config), wait)
    }

    /// What each rule that counts leaves at the moment.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn left(&self, wait: &Wait<'_>) -> Result<Vec<Left>, Failure> {
        if !self.counts_runs() {
            return Ok(Vec::new());
        }
        let open = self.open(wait)?;
        let of = |Ruled { line, rule }: &Ruled| {
            let text = match rule {
                Rule::Runs(bounds) => {
                    let each = bounds.iter().map(|per| {
                        let begun = open.within(per.seconds).count();
                        format!("{begun} of {} begun within {}", per.most, period(per.seconds))
                    });
                    each.collect::<Vec<_>>().join(", ")
                }
                Rule::Epsilon(bounds) => {
                    let each = bounds.iter().map(|per| {
                        format!("{} of {} spent within {}", open.spent(per.seconds), per.most, period(per.seconds))
                    });
                    each.collect::<Vec<_>>().join(", ")
                }
                rule if Self::compares_tables(rule) => {
                    let tables = open.tables().collect::<BTreeSet<_>>().len();
                    format!("{} known", counted(tables as u64, "earlier table is", "earlier tables are"))
                }
                _ => return None,
            };
            Some(Left { line: *line, text })
        };
        Ok(self.rules.iter().filter_map(of).collect())
    }

    /// Refuses a run that a rule which counts does not allow. Gives a warning, if there is one.
    fn against_counts(&self, ruled: &Ruled, run: &Beginning<'_>, open: &Open) -> Result<Option<String>, Failure> {
        let ahead = open.ahead();
        let what = match &ruled.rule {
            Rule::Expires(day) if Day::of(open.counts.latest) > *day => {
                format!("today is {}{ahead}", Day::of(open.counts.latest))
            }
            Rule::Runs(bounds) => {
                let full = bounds.iter().find(|per| open.within(per.seconds).count() >= per.most as usize);
                let Some(Per { seconds, .. }) = full else { return Ok(None) };
                let begun = counted(open.within(*seconds).count() as u64, "run was", "runs were");
                let next =
                    open.within(*seconds).map(|run| run.time).min().map_or(0, |first| first.saturating_add(*seconds));
                format!(
                    "{begun} begun within {}; the first of them counts until {}{ahead}",
                    period(*seconds),
                    time(next)
                )
            }
            Rule::Epsilon(bounds) => {
                let Some(epsilon) = run.epsilon else { return Ok(None) };
                let exceeds = |per: &&Per<Epsilon>| {
                    open.spent(per.seconds).checked_add(epsilon).is_none_or(|after| after > per.most.into())
                };
                let Some(per) = bounds.iter().find(exceeds) else { return Ok(None) };
                let spent = open.spent(per.seconds);
                format!("{spent} was spent within {}, and this run takes {epsilon}{ahead}", period(per.seconds))
            }
            Rule::RunsPerTable(most) => {
                let Some(table) = run.table else { return Ok(None) };
                let same = open.counts.runs.iter().filter(|run| run.keys.as_ref() == Some(&table.keys)).count();
                if same < *most as usize {
                    return Ok(None);
                }
                format!("{} begun with the same keys", counted(same as u64, "run was", "runs were"))
            }
            Rule::LeastChangedKeys { least, warns } => {
                let Some(table) = run.table else { return Ok(None) };
                let Some(last) = self.near(open, table, least.saturating_mul(table.alternatives))? else {
                    return Ok(None);
                };
                let what = format!(
                    "the table differs in fewer keys or values, and not in none, from that of the run of {}: two results \
                     that differ by little single out who was added or left out",
                    time(last)
                );
                if *warns {
                    let Failure { fault, .. } = self.refusal(ruled, &what);
                    return Ok(Some(fault));
                }
                what
            }
            _ => return Ok(None),
        };
        Err(self.refusal(ruled, &what))
    }

    /// When the last run began whose table differs from this one by less than `least`, if there is one that this table was
    /// not yet compared with.
    fn near(&self, open: &Open, table: &HeldTable, least: u32) -> Result<Option<u64>, Failure> {
        let mut last = None;
        for name in open.tables().filter(|name| !table.seen.contains(*name)).collect::<BTreeSet<_>>() {
            let path = open.marks_path(name);
            let bytes = read_marks(&path).map_err(|error| self.damaged(&path, error))?;
            let earlier = Marks::from_bytes(&bytes).ok_or_else(|| self.damaged(&path, "it has another length"))?;
            if table.marks.small_change(&earlier, least).is_some() {
                let of_table = open.counts.runs.iter().filter(|run| run.table.as_deref() == Some(name));
                last = last.max(of_table.map(|run| run.time).max());
            }
        }
        Ok(last)
    }
}

/// A time as people read it.
pub(super) fn time(seconds: u64) -> String {
    iso_utc(seconds).unwrap_or_else(|| seconds.to_string())
}
