//! Appending to a log.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use vesica_party::service::replace;
use vesica_party::transport::tls::Identity;

use super::{Entry, HEAD, Head, Line, SignedHead, hash, is_signed, signed};
use crate::bounded::read_text;
use crate::failure::{Failure, code};

/// Longest line of a log. What a run reveals names columns, which are bounded.
pub(super) const MOST_LINE_BYTES: u64 = 4 << 20;

/// Longest file of a head.
const MOST_HEAD_BYTES: u64 = 1 << 12;

/// How long a run waits for another one to write its line.
const PATIENCE: Duration = Duration::from_secs(30);

/// The file beside a log that says how far the log is.
pub(super) fn head_path(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".head");
    name.into()
}

/// A log that no other process writes to.
pub(super) struct OpenLog {
    path: PathBuf,
    file: File,
    /// Where the last whole line ends.
    end: u64,
    head: Head,
}

impl OpenLog {
    /// Opens the log, or makes it, for its user alone. It waits for other runs, and looks whether the last line is the one
    /// that the head names.
    ///
    /// # Errors
    /// If the files cannot be read or written, or do not go together.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let fault = format_args!("cannot write the log {}: {error}", path.display()).to_string();
            Failure::new(code::OUTPUT, fault, "name another file with --run-log, or say --no-run-log")
        };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is no file")));
        }
        let patience = Instant::now() + PATIENCE;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < patience => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(failed(error.into())),
            }
        }
        let (end, last) = last_line(&mut file).map_err(failed)?;
        let head = check_end(path, last.as_deref())?;
        Ok(Self { path: path.to_owned(), file, end, head })
    }

    /// Appends a line with the entry that `make` gives for its number and the hash before it. It is on the disk when this
    /// returns.
    ///
    /// # Errors
    /// If it cannot be signed or written.
    pub fn append(mut self, identity: &Identity, make: impl FnOnce(u64, String) -> Entry) -> Result<(), Failure> {
        let path = self.path.clone();
        let failed = |error: io::Error| {
            let fault = format_args!("cannot write the log {}: {error}", path.display()).to_string();
            Failure::new(code::OUTPUT, fault, "check the disk and the folder's rights")
        };
        let unsigned = || failed(io::Error::other("it could not be signed"));
        let Head { lines, hash: previous } = self.head;
        let line = Line::new(make(lines, previous), identity).ok_or_else(unsigned)?.text();
        // A run that was killed in the middle of its line had not begun.
        self.file.set_len(self.end).map_err(failed)?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        let head = Head { lines: lines + 1, hash: hash(line.as_bytes()) };
        let (key, signature) = signed(HEAD, &head, identity).ok_or_else(unsigned)?;
        let text = serde_json::to_string(&SignedHead { head, key, signature }).unwrap_or_default();
        replace(&head_path(&path), |file| file.write_all(text.as_bytes())).map_err(failed)
    }
}

/// Where the last whole line of a log ends, and this line; what follows it was never finished.
fn last_line(file: &mut File) -> io::Result<(u64, Option<Vec<u8>>)> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(2 * MOST_LINE_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    (&*file).take(length - from).read_to_end(&mut tail)?;
    let Some(end) = tail.iter().rposition(|&byte| byte == b'\n') else {
        return if from == 0 { Ok((0, None)) } else { Err(io::Error::other("it has a line without an end")) };
    };
    tail.truncate(end);
    let line = tail.rsplit(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
    Ok((from + end as u64 + 1, Some(line)))
}

/// What the head of a log says, if there is one.
///
/// # Errors
/// If it cannot be read, or its signature is wrong.
pub(super) fn read_head(log: &Path) -> Result<Option<(Head, String)>, Failure> {
    let path = head_path(log);
    let text = match read_text(&path, MOST_HEAD_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(changed(log, &format!("{} cannot be read: {error}", path.display()))),
    };
    let read: Option<SignedHead> = serde_json::from_str(&text).ok();
    match read.filter(|read| is_signed(HEAD, &read.head, (&read.key, &read.signature))) {
        Some(SignedHead { head, key, .. }) => Ok(Some((head, key))),
        None => Err(changed(log, &format!("{} was changed", path.display()))),
    }
}

/// How far a log is whose last whole line is this one. A run that was killed between line and head has left a head that is
/// one line behind.
fn check_end(path: &Path, last: Option<&[u8]>) -> Result<Head, Failure> {
    let said = read_head(path)?.map_or_else(Head::none, |(head, _)| head);
    let Some(text) = last else {
        return match said.lines {
            0 => Ok(said),
            lines => Err(changed(path, &format!("it has no lines, and had {lines}"))),
        };
    };
    let line: Option<Line> = serde_json::from_slice(text).ok();
    let line = line.filter(Line::is_signed).ok_or_else(|| changed(path, "its last line was changed"))?;
    let Entry { number, ref previous, .. } = line.entry;
    let found = Head { lines: number + 1, hash: hash(text) };
    let is_next = number == said.lines && *previous == said.hash;
    match found == said || is_next {
        true => Ok(found),
        false => Err(changed(path, &format!("it ends with line {number}, and had {} lines", said.lines))),
    }
}

/// The failure of a log that is not as it was left.
pub(super) fn changed(path: &Path, what: &str) -> Failure {
    Failure::new(
        code::INPUT,
        format_args!("the log {} is not as it was left: {what}", path.display()),
        "keep both files for whoever audits you, see `vesica log verify`, and name a new file with --run-log",
    )
}
