//! Counting runs: a file for each partner, on the disk before a run begins, whatever becomes of it then.
//!
//! Time does not go back: what counts is the latest time at which this file was opened, also by a run that was refused. A
//! clock that is set back gives no further runs and makes no day come again. After a clock that was far ahead, no period
//! ends before the right time has come so far.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use vesica_party::service::replace;
use vesica_party::transport::tls::Day;
use vesica_structures::secret::Secret;
use zeroize::{Zeroize, Zeroizing};

use super::changes::{BYTES, Marks};
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
    /// Names the file of marks of its table, while that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    /// Names the keys of its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keys: Option<String>,
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
        mut goes_on: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Option<HeldTable>, Failure> {
        if !self.rules.iter().any(|ruled| Self::compares_tables(&ruled.rule)) {
            return Ok(None);
        }
        let secret = {
            let open = self.open(&mut goes_on)?;
            open.secret().ok_or_else(|| self.damaged(&open.path, "it has no secret"))?
        };
        // Other runs need not wait for this.
        let marks = Marks::of(table, &secret)?;
        let open = self.open(goes_on)?;
        let (name, keys) = marks.names(&secret);
        let alternatives = table.keys_per_row() as u32;
        let mut held = HeldTable { marks, name, keys, alternatives, seen: BTreeSet::new(), warnings: Vec::new() };
        if keeps {
            open.keep(&held).map_err(|error| self.unusable(error))?;
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
        let mut warnings = run.table.map(|table| table.warnings.clone()).unwrap_or_default();
        if open.has_counted(run) {
            self.check_day(&open)?;
            return Ok(warnings);
        }
        for ruled in &self.rules {
            warnings.extend(self.against_counts(ruled, run, &open)?);
        }
        goes_on()?;
        let (table, keys) = run.table.map(|table| (table.name.clone(), table.keys.clone())).unzip();
        let Beginning { task, epsilon, record, .. } = *run;
        let (time, epsilon) = (open.counts.latest, epsilon.map(|epsilon| epsilon.to_string()));
        open.counts.runs.push(Counted {
            time,
            task: task.into(),
            epsilon,
            record: record.map(Into::into),
            table,
            keys,
        });
        self.forget(&mut open)?;
        open.save().map_err(|error| self.unusable(error))?;
        open.sweep();
        Ok(warnings)
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
            true => self.check_day(&open),
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

    /// Opens the file of the partner, or makes it, and takes its lock.
    fn open(&self, goes_on: impl FnMut() -> Result<(), Failure>) -> Result<Open, Failure> {
        let folder = self.state.as_ref().ok_or_else(|| self.unusable("there is no home directory"))?;
        let failed = |error: io::Error| self.unusable(format_args!("{}: {error}", folder.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        // Whoever can write here gives further runs.
        let found = fs::metadata(folder).map_err(failed)?;
        let (own, owner) = (rustix::process::geteuid().as_raw(), found.uid());
        if found.mode() & 0o022 != 0 || (owner != own && owner != 0) {
            return Err(self.unusable(format_args!("others can write to {}", folder.display())));
        }
        let path = folder.join(format!("{}.json", self.key.fingerprint()));
        let mut options = File::options();
        let lock_path = path.with_extension("lock");
        let mut lock = options.create(true).truncate(false).write(true).mode(0o600).open(lock_path).map_err(failed)?;
        locked::take(&lock, goes_on)?.map_err(failed)?;
        // From the first count on, the lock says that there is one.
        let has_counts = lock.metadata().map_err(failed)?.len() > 0;
        let counts = match read_text(&path, FILE_LIMIT).map(Zeroizing::new) {
            Ok(text) => self.read_counts(&path, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_counts => {
                return Err(self.damaged(&path, "it is gone, and was there"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let secret = to_hex(&*fresh(&mut randomness()?));
                Counts { vesica_policy: VERSION, latest: 0, secret, runs: Vec::new() }
            }
            Err(error) => return Err(failed(error)),
        };
        let mut open = Open { path, counts, _lock: lock.try_clone().map_err(failed)? };
        let now = clock::now();
        if now > open.counts.latest {
            // Also where the run is refused: else its time could come again.
            open.counts.latest = now;
            open.save().map_err(failed)?;
        }
        if !has_counts {
            lock.write_all(b"counted\n").and_then(|()| lock.sync_all()).map_err(failed)?;
        }
        Ok(open)
    }

    /// The counts in a text that is what this module wrote.
    fn read_counts(&self, path: &Path, text: &str) -> Result<Counts, Failure> {
        // The text of an error could hold the secret.
        let read: Result<Counts, _> = serde_json::from_str(text);
        let counts =
            read.map_err(|error| self.damaged(path, format_args!("line {}, column {}", error.line(), error.column())))?;
        if counts.vesica_policy != VERSION {
            return Err(self.damaged(path, format_args!("its version is {}, not {VERSION}", counts.vesica_policy)));
        }
        let is_name = |name: &String| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_sound = |run: &Counted| {
            run.time <= counts.latest
                && run.epsilon.as_ref().is_none_or(|epsilon| Epsilon::parse(epsilon).is_ok())
                && run.table.as_ref().is_none_or(is_name)
        };
        match counts.runs.iter().all(is_sound) {
            true => Ok(counts),
            false => Err(self.damaged(path, "it has a run that no run has written")),
        }
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

    fn damaged(&self, path: &Path, what: impl Display) -> Failure {
        let fault = format_args!("cannot use the count of runs {}: {what}", path.display());
        let mend = "restore the files beside it as they were; to count anew, move all files of this partner there away";
        Failure { told: Some(super::TOLD), ..Failure::new(code::REFUSED, fault, mend) }
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

    /// Under which marks of tables are made.
    fn secret(&self) -> Option<Secret<[u8; 32]>> {
        from_hex(&self.counts.secret).map(Secret::new)
    }

    /// The names of the tables whose marks are kept, that of each run.
    fn tables(&self) -> impl Iterator<Item = &str> {
        self.counts.runs.iter().filter_map(|run| run.table.as_deref())
    }

    fn marks_path(&self, name: &str) -> PathBuf {
        self.path.with_extension(format!("{name}.marks"))
    }

    /// Keeps the marks of a table, also those that are there already: how long this takes tells nothing.
    fn keep(&self, table: &HeldTable) -> io::Result<()> {
        let bytes = table.marks.to_bytes();
        replace(&self.marks_path(&table.name), |file| file.write_all(&bytes))
    }

    fn save(&self) -> io::Result<()> {
        let text = Zeroizing::new(serde_json::to_vec_pretty(&self.counts)?);
        replace(&self.path, |file| file.write_all(&text))
    }

    /// Removes the marks of tables with which no run was for the longest, where there are too many, and those that no run
    /// has. What cannot be removed goes the next time.
    fn sweep(&mut self) {
        let mut latest = BTreeMap::new();
        for run in &self.counts.runs {
            latest.extend(run.table.clone().map(|table| (table, run.time)));
        }
        let mut by_time: Vec<(u64, String)> = latest.into_iter().map(|(table, time)| (time, table)).collect();
        by_time.sort_unstable();
        let too_many = by_time.len().saturating_sub(MOST_TABLES);
        let oldest: BTreeSet<&String> = by_time.iter().take(too_many).map(|(_, table)| table).collect();
        if !oldest.is_empty() {
            for run in &mut self.counts.runs {
                run.table = run.table.take().filter(|table| !oldest.contains(table));
            }
            if self.save().is_err() {
                return;
            }
        }
        let kept: BTreeSet<PathBuf> = self.tables().map(|table| self.marks_path(table)).collect();
        let stem = self.path.file_stem().map(|stem| format!("{}.", stem.to_string_lossy())).unwrap_or_default();
        let Some(files) = self.path.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
        for file in files.flatten().filter(|file| file.file_name().to_string_lossy().starts_with(&stem)) {
            // Another run may be about to count what it has just written.
            let is_old = || Some(file.metadata().ok()?.modified().ok()?.elapsed().ok()?.as_secs() > DAY);
            let is_marks = file.path().extension().is_some_and(|ending| ending == "marks");
            if is_marks && !kept.contains(&file.path()) && is_old() == Some(true) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

/// Reads a file of marks, which has so many bytes.
fn read_marks(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(BYTES);
    File::open(path)?.take(BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn time(seconds: u64) -> String {
    iso_utc(seconds).unwrap_or_else(|| seconds.to_string())
}
