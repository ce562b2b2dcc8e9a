//! Counting runs: a file for each partner, on the disk before a run begins, whatever becomes of it then.
//!
//! Time does not go back: what counts is the latest time that any run with the partner has seen. A clock that is set back
//! gives no further runs, and one that was far ahead once has periods go by that time until it is reached.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use vesica_party::service::replace;
use vesica_structures::secret::Secret;
use zeroize::{Zeroize, Zeroizing};

use super::changes::Marks;
use super::rules::{DAY, Per, QUERY, period};
use super::{Policy, Rule, Ruled};
use crate::bounded::read_text;
use crate::failure::{Failure, code};
use crate::handshake::clock;
use crate::key::iso_utc;
use crate::locked;
use crate::noise::Epsilon;
use crate::receipt::{from_hex, to_hex};
use crate::session::{Config, fresh, randomness};
use crate::table::KeyTable;
use crate::words::counted;

/// Version of the file's format.
const VERSION: u32 = 1;

/// Most runs that a file counts; older ones are forgotten once no period has them.
const MOST_RUNS: usize = 10_000;

/// Most tables of which marks are kept, the latest ones.
const MOST_TABLES: usize = 512;

/// Longest file that is read.
const FILE_LIMIT: u64 = 4 << 20;

/// The runs with a partner.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    vesica_policy: u32,
    /// The latest time that a run has seen, in seconds since 1970.
    latest: u64,
    /// Under which marks of tables are made, in hexadecimal.
    secret: String,
    /// In the order in which they began.
    runs: Vec<Counted>,
}

impl Drop for Counts {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

/// A run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    time: u64,
    task: String,
    /// The epsilon of this side's noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epsilon: Option<String>,
    /// The run, if it is kept in a record with which it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    /// The number of the file of marks of its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<u64>,
}

/// A run that is about to begin.
#[derive(Debug)]
pub(crate) struct Beginning<'a> {
    /// The task's name.
    pub task: &'a str,
    /// The epsilon of this side's noise.
    pub epsilon: Option<Epsilon>,
    /// Names the run if it is kept in a record: one that goes on was counted when it began.
    pub record: Option<&'a str>,
    /// Of the own table.
    pub marks: Option<&'a Marks>,
}

impl<'a> Beginning<'a> {
    /// A query to a server.
    pub(crate) fn query(marks: Option<&'a Marks>) -> Self {
        Self { task: QUERY, epsilon: None, record: None, marks }
    }

    /// As far as a configuration says it.
    pub(crate) fn of(config: &'a Config) -> Self {
        let epsilon = config.settings.noise.as_ref().map(|noise| noise.epsilon);
        Self { task: config.task.name(), epsilon, record: None, marks: None }
    }
}

/// What a rule that counts leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The rule's line.
    pub line: usize,
    /// In words.
    pub text: String,
}

/// The file of a partner, which no other process uses meanwhile.
struct Open {
    path: PathBuf,
    counts: Counts,
    _lock: File,
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

    /// What later runs will compare the own table by; `None` if no rule asks for that.
    ///
    /// # Errors
    /// If runs cannot be counted, or keys that outgrow memory cannot be read again.
    pub(crate) fn marks(
        &self,
        table: &KeyTable,
        goes_on: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Option<Marks>, Failure> {
        if !self.rules.iter().any(|ruled| Self::compares_tables(&ruled.rule)) {
            return Ok(None);
        }
        let secret = {
            let open = self.open(goes_on)?;
            open.save().map_err(|error| self.unusable(error))?;
            from_hex(&open.counts.secret)
                .map(Secret::new)
                .ok_or_else(|| self.damaged(&open.path, "it has no secret"))?
        };
        Marks::of(table, &secret).map(Some)
    }

    /// Counts a run that is about to begin, if the rules let it. It is on the disk when this returns, and stays counted
    /// however the run ends. `goes_on` is asked while another run holds the file. Gives warnings.
    ///
    /// # Errors
    /// If a rule refuses the run, the file cannot be used, or the run does not go on. Nothing is counted then.
    pub(crate) fn count(
        &self,
        run: &Beginning<'_>,
        mut goes_on: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Vec<String>, Failure> {
        if !self.counts_runs() {
            return Ok(Vec::new());
        }
        let mut open = self.open(&mut goes_on)?;
        if open.has_counted(run) {
            return Ok(Vec::new());
        }
        let mut warnings = Vec::new();
        for ruled in &self.rules {
            warnings.extend(self.against_counts(ruled, run, &open)?);
        }
        goes_on()?;
        let failed = |error: io::Error| self.unusable(error);
        let table = run.marks.map(|marks| open.keep(marks)).transpose().map_err(failed)?;
        let Beginning { task, epsilon, record, .. } = *run;
        let (time, epsilon) = (open.counts.latest, epsilon.map(|epsilon| epsilon.to_string()));
        open.counts.runs.push(Counted { time, task: task.into(), epsilon, record: record.map(Into::into), table });
        self.forget(&mut open)?;
        open.save().map_err(failed)?;
        open.sweep();
        Ok(warnings)
    }

    /// Whether a run could begin now, as far as this is known; nothing is counted.
    ///
    /// # Errors
    /// If a rule refuses it, the file cannot be used, or the run does not go on.
    pub(crate) fn check_counts(
        &self,
        run: &Beginning<'_>,
        goes_on: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.counts_runs() {
            return Ok(());
        }
        let open = self.open(goes_on)?;
        match open.has_counted(run) {
            true => Ok(()),
            false => self.rules.iter().try_for_each(|ruled| self.against_counts(ruled, run, &open).map(drop)),
        }
    }

    /// Whether a run with this configuration could begin now, as far as its table plays no part; nothing is counted.
    ///
    /// # Errors
    /// If a rule refuses it, or the file cannot be used.
    pub fn check_now(&self, config: &Config) -> Result<(), Failure> {
        self.check_counts(&Beginning::of(config), || Ok(()))
    }

    /// What each rule that counts leaves at the moment.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn left(&self) -> Result<Vec<Left>, Failure> {
        if !self.counts_runs() {
            return Ok(Vec::new());
        }
        let open = self.open(|| Ok(()))?;
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
                    let tables =
                        open.counts.runs.iter().filter_map(|run| run.table).collect::<std::collections::BTreeSet<_>>();
                    format!("{} known", counted(tables.len() as u64, "earlier table is", "earlier tables are"))
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
            Rule::Expires(day) if (open.counts.latest / DAY) as i64 > day.days => {
                format!("today is {}{ahead}", date(open.counts.latest))
            }
            Rule::Runs(bounds) => {
                let full = bounds.iter().find(|per| open.within(per.seconds).count() >= per.most as usize);
                let Some(Per { seconds, .. }) = full else { return Ok(None) };
                let begun = counted(open.within(*seconds).count() as u64, "run was", "runs were");
                let next = open.within(*seconds).map(|run| run.time).min().map_or(0, |first| first + seconds);
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
                let Some(marks) = run.marks else { return Ok(None) };
                let same = self.earlier(open, |earlier| earlier.is_same_table(marks))?;
                if same.len() < *most as usize {
                    return Ok(None);
                }
                format!("{} begun with the same keys", counted(same.len() as u64, "run was", "runs were"))
            }
            Rule::LeastChangedKeys { least, warns } => {
                let Some(marks) = run.marks else { return Ok(None) };
                let near = self.earlier(open, |earlier| marks.small_change(earlier, *least).is_some())?;
                let Some(last) = near.last() else { return Ok(None) };
                let what = format!(
                    "the table differs in fewer keys or values, and not in none, from that of the run of {}: two results \
                     that differ by little single out who was added or left out",
                    time(last.time)
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

    /// The runs whose tables are like this.
    fn earlier<'a>(&self, open: &'a Open, is_like: impl Fn(&Marks) -> bool) -> Result<Vec<&'a Counted>, Failure> {
        let mut like = Vec::new();
        let mut last: Option<(u64, bool)> = None;
        let mut with_tables: Vec<&Counted> = open.counts.runs.iter().filter(|run| run.table.is_some()).collect();
        with_tables.sort_by_key(|run| run.table);
        for run in with_tables {
            let Some(number) = run.table else { continue };
            // Runs with one table share its file.
            let is_alike = match last {
                Some((known, is_alike)) if known == number => is_alike,
                _ => {
                    let path = open.marks_path(number);
                    let bytes = fs::read(&path).map_err(|error| self.damaged(&path, &error.to_string()))?;
                    is_like(&Marks::from_bytes(&bytes).ok_or_else(|| self.damaged(&path, "it has another length"))?)
                }
            };
            last = Some((number, is_alike));
            if is_alike {
                like.push(run);
            }
        }
        like.sort_by_key(|run| run.time);
        Ok(like)
    }

    /// Opens the file of the partner, or makes it, and takes its lock.
    fn open(&self, goes_on: impl FnMut() -> Result<(), Failure>) -> Result<Open, Failure> {
        let folder = self.state.as_ref().ok_or_else(|| self.unusable("there is no home directory"))?;
        let failed = |error: io::Error| self.unusable(format_args!("{}: {error}", folder.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        // Whoever can write here gives further runs.
        let writable = fs::metadata(folder).map_err(failed)?.mode() & 0o022;
        if writable != 0 {
            return Err(self.unusable(format_args!("others can write to {}", folder.display())));
        }
        let path = folder.join(format!("{}.json", self.key.fingerprint()));
        let lock = path.with_extension("lock");
        let mut options = File::options();
        let lock = options.create(true).truncate(false).write(true).mode(0o600).open(lock).map_err(failed)?;
        locked::take(&lock, goes_on)?.map_err(failed)?;
        let mut counts = match read_text(&path, FILE_LIMIT) {
            Ok(text) => {
                let read: Result<Counts, _> = serde_json::from_str(&text);
                read.map_err(|error| self.damaged(&path, &error.to_string()))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let secret = to_hex(&*fresh(&mut randomness()?));
                Counts { vesica_policy: VERSION, latest: 0, secret, runs: Vec::new() }
            }
            Err(error) => return Err(failed(error)),
        };
        if counts.vesica_policy != VERSION {
            return Err(self.damaged(&path, &format!("its version is {}, not {VERSION}", counts.vesica_policy)));
        }
        let in_runs = counts.runs.iter().map(|run| run.time).max().unwrap_or(0);
        counts.latest = counts.latest.max(in_runs).max(clock::now());
        Ok(Open { path, counts, _lock: lock })
    }

    /// Forgets runs that no period has, where there are too many.
    fn forget(&self, open: &mut Open) -> Result<(), Failure> {
        let too_many = open.counts.runs.len().saturating_sub(MOST_RUNS);
        if too_many == 0 {
            return Ok(());
        }
        let longest = self.rules.iter().map(|ruled| match &ruled.rule {
            Rule::Runs(bounds) => bounds.iter().map(|per| per.seconds).max().unwrap_or(0),
            Rule::Epsilon(bounds) => bounds.iter().map(|per| per.seconds).max().unwrap_or(0),
            _ => 0,
        });
        let longest = longest.max().unwrap_or(0);
        if open.within(longest).count() > MOST_RUNS {
            return Err(self.unusable(format_args!("there are more than {MOST_RUNS} runs in a period")));
        }
        open.counts.runs.drain(..too_many);
        Ok(())
    }

    fn damaged(&self, path: &Path, what: &str) -> Failure {
        let fault = format_args!("cannot use the count of runs {}: {what}", path.display());
        let mend = "restore the files beside it as they were; to count anew, move all files of this partner there away";
        Failure { told: Some(super::TOLD), ..Failure::new(code::INPUT, fault, mend) }
    }
}

impl Open {
    /// Whether a run that goes on was counted when it began.
    fn has_counted(&self, run: &Beginning<'_>) -> bool {
        run.record.is_some() && self.counts.runs.iter().any(|earlier| earlier.record.as_deref() == run.record)
    }

    /// The runs that began within so many seconds.
    fn within(&self, seconds: u64) -> impl Iterator<Item = &Counted> {
        let latest = self.counts.latest;
        self.counts.runs.iter().filter(move |run| run.time.saturating_add(seconds) > latest)
    }

    /// The epsilon that was spent within so many seconds.
    fn spent(&self, seconds: u64) -> crate::noise::Spent {
        self.within(seconds)
            .filter_map(|run| run.epsilon.as_deref())
            .filter_map(|text| Epsilon::parse(text).ok())
            .collect()
    }

    /// That the clock was ahead, if it was.
    fn ahead(&self) -> String {
        match self.counts.latest > clock::now() {
            true => format!(
                " (this machine's clock has said {} before, and the count does not go back)",
                time(self.counts.latest)
            ),
            false => String::new(),
        }
    }

    fn marks_path(&self, number: u64) -> PathBuf {
        self.path.with_extension(format!("{number}.marks"))
    }

    /// Keeps the marks of a table, unless a run before had the same. Gives their number.
    fn keep(&self, marks: &Marks) -> io::Result<u64> {
        let numbers = || self.counts.runs.iter().filter_map(|run| run.table);
        let bytes = marks.to_bytes();
        for number in numbers().collect::<std::collections::BTreeSet<_>>() {
            if fs::read(self.marks_path(number))? == bytes {
                return Ok(number);
            }
        }
        let number = numbers().max().map_or(0, |last| last + 1);
        replace(&self.marks_path(number), |file| file.write_all(&bytes))?;
        Ok(number)
    }

    fn save(&self) -> io::Result<()> {
        let text = Zeroizing::new(serde_json::to_vec_pretty(&self.counts)?);
        replace(&self.path, |file| file.write_all(&text))
    }

    /// Removes the marks of the oldest tables, where there are too many.
    fn sweep(&mut self) {
        let tables = self.counts.runs.iter().filter_map(|run| run.table).collect::<std::collections::BTreeSet<_>>();
        let oldest: Vec<u64> = tables.iter().copied().take(tables.len().saturating_sub(MOST_TABLES)).collect();
        if oldest.is_empty() {
            return;
        }
        for run in &mut self.counts.runs {
            run.table = run.table.filter(|table| !oldest.contains(table));
        }
        // Else they go the next time.
        if self.save().is_ok() {
            oldest.iter().for_each(|number| _ = fs::remove_file(self.marks_path(*number)));
        }
    }
}

fn time(seconds: u64) -> String {
    iso_utc(seconds).unwrap_or_else(|| seconds.to_string())
}

fn date(seconds: u64) -> String {
    time(seconds).split('T').next().unwrap_or_default().to_owned()
}
