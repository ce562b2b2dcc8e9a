//! The file in which the runs with a partner are counted, and the marks of tables beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use vesica_party::service::replace;
use vesica_structures::secret::Secret;
use zeroize::{Zeroize, Zeroizing};

use super::changes::{BYTES, Marks};
use super::counts::{Beginning, time};
use super::rules::DAY;
use super::{Policy, Rule, TOLD};
use crate::bounded::read_text;
use crate::failure::{Failure, code};
use crate::handshake::clock;
use crate::locked::Wait;
use crate::noise::{Epsilon, Spent};
use crate::receipt::{from_hex, to_hex};
use crate::session::{fresh, randomness};

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
pub(super) struct Counts {
    pub vesica_policy: u32,
    /// The latest time that a run has seen, in seconds since 1970.
    pub latest: u64,
    /// Under which marks of tables are made, in hexadecimal.
    pub secret: String,
    /// In the order in which they began.
    pub runs: Vec<Counted>,
}

impl Drop for Counts {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counted {
    pub time: u64,
    pub task: String,
    /// The epsilon of this side's noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<String>,
    /// The run, if it is kept in a record with which it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// Names the file of marks of its table, while that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Names the keys of its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
}

impl Counted {
    /// Whether this counts for all rules like another one. Its table may have been forgotten meanwhile.
    pub fn is_as(&self, other: &Self) -> bool {
        let of = |run: &Self| (run.time, run.task.clone(), run.epsilon.clone(), run.record.clone());
        of(self) == of(other)
    }
}

/// The file of a partner, which no other process uses meanwhile.
pub(super) struct Open {
    pub path: PathBuf,
    pub counts: Counts,
    lock: File,
}

impl Policy {
    /// Opens the file of the partner, or makes it, and takes its lock.
    pub(super) fn open(&self, wait: &Wait<'_>) -> Result<Open, Failure> {
        let folder = self.state.as_ref().ok_or_else(|| self.unusable("there is no home directory"))?;
        let failed = |error: io::Error| self.unusable(format_args!("{}: {error}", folder.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        // Whoever can write here gives further runs.
        let found = fs::metadata(folder).map_err(failed)?;
        let (own, owner) = (rustix::process::geteuid().as_raw(), found.uid());
        if found.mode() & 0o022 != 0 || (owner != own && owner != 0) {
            return Err(self.unusable(format_args!("others can write to {}", folder.display())));
        }
        let path = folder.join(format!("{}.json", self.keys.known_as().fingerprint()));
        let mut options = File::options();
        let lock_path = path.with_extension("lock");
        let lock = options.create(true).truncate(false).write(true).mode(0o600).open(lock_path).map_err(failed)?;
        let held =
            || format!("waiting for another run with {}, which holds the count {}", self.partner, path.display());
        wait.take(&lock, held)?.map_err(failed)?;
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
        let mut open = Open { path, counts, lock };
        let now = clock::now();
        if now > open.counts.latest {
            // Also where the run is refused: else its time could come again.
            open.counts.latest = now;
            open.save().map_err(failed)?;
        }
        if !has_counts {
            (&open.lock).write_all(b"counted\n").and_then(|()| open.lock.sync_all()).map_err(failed)?;
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
    pub(super) fn forget(&self, open: &mut Open) -> Result<(), Failure> {
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

    pub(super) fn damaged(&self, path: &Path, what: impl Display) -> Failure {
        let fault = format_args!("cannot use the count of runs {}: {what}", path.display());
        let mend = "restore the files beside it as they were; to count anew, move all files of this partner there away";
        Failure { told: Some(TOLD), ..Failure::new(code::REFUSED, fault, mend) }
    }
}

impl Open {
    /// Whether a run that goes on was counted when it began.
    pub(super) fn has_counted(&self, run: &Beginning<'_>) -> bool {
        run.record.is_some() && self.counts.runs.iter().any(|earlier| earlier.record.as_deref() == run.record)
    }

    /// The runs that began within so many seconds.
    pub(super) fn within(&self, seconds: u64) -> impl Iterator<Item = &Counted> {
        let latest = self.counts.latest;
        self.counts.runs.iter().filter(move |run| run.time.saturating_add(seconds) > latest)
    }

    /// The epsilon that was spent within so many seconds.
    pub(super) fn spent(&self, seconds: u64) -> Spent {
        self.within(seconds)
            .filter_map(|run| run.epsilon.as_deref())
            .filter_map(|text| Epsilon::parse(text).ok())
            .collect()
    }

    /// That the clock was ahead, if it was.
    pub(super) fn ahead(&self) -> String {
        match self.counts.latest > clock::now() {
            true => format!(
                " (this machine's clock has said {} before, and the count does not go back)",
                time(self.counts.latest)
            ),
            false => String::new(),
        }
    }

    /// Under which marks of tables are made.
    pub(super) fn secret(&self) -> Option<Secret<[u8; 32]>> {
        from_hex(&self.counts.secret).map(Secret::new)
    }

    /// The names of the tables whose marks are kept, that of each run.
    pub(super) fn tables(&self) -> impl Iterator<Item = &str> {
        self.counts.runs.iter().filter_map(|run| run.table.as_deref())
    }

    pub(super) fn marks_path(&self, name: &str) -> PathBuf {
        self.path.with_extension(format!("{name}.marks"))
    }

    /// Keeps the marks of a table, also those that are there already: how long this takes tells nothing.
    pub(super) fn keep(&self, name: &str, marks: &Marks) -> io::Result<()> {
        let bytes = marks.to_bytes();
        replace(&self.marks_path(name), |file| file.write_all(&bytes))
    }

    pub(super) fn save(&self) -> io::Result<()> {
        let text = Zeroizing::new(serde_json::to_vec_pretty(&self.counts)?);
        replace(&self.path, |file| file.write_all(&text))
    }

    /// Removes the marks of tables with which no run was for the longest, where there are too many, and those that no run
    /// has. What cannot be removed goes the next time.
    pub(super) fn sweep(&mut self) {
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
pub(super) fn read_marks(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(BYTES);
    File::open(path)?.take(BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
