//! Appending to a log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use vesica_party::service::replace;
use vesica_party::transport::tls::{Identity, PublicKey};

use super::{Entry, HEAD, Head, Line, SignedHead, hash, is_signed, signed};
use crate::bounded::{beside, read_text};
use crate::failure::{Failure, code};
use crate::locked;

/// Longest line of a log. What a run reveals names columns, which are bounded.
pub(super) const MOST_LINE_BYTES: u64 = 4 << 20;

/// What is wrong with a log that has lines and no head.
pub(super) const HEAD_IS_MISSING: &str =
    "the file .head beside it is missing, without which nothing shows that it was cut off";

/// Longest file of a head.
const MOST_HEAD_BYTES: u64 = 1 << 12;

/// How long a line waits for other processes that use the log.
const PATIENCE: Duration = Duration::from_secs(30);

/// Most lines that are written at once, with one head behind them.
pub(super) const MOST_AT_ONCE: usize = 64;

/// The file beside a log that says how far the log is.
pub(super) fn head_path(log: &Path) -> PathBuf {
    beside(log, ".head")
}

/// Ends the wait for a lock after [`PATIENCE`], with what `failed` makes of the reason.
pub(super) fn patience(failed: impl Fn(io::Error) -> Failure) -> impl Fn() -> Result<(), Failure> {
    locked::no_longer_than(PATIENCE, move || failed(io::Error::other("another process holds it")))
}

/// A log that no other process writes to.
pub(super) struct OpenLog {
    path: PathBuf,
    file: File,
    /// Where the last whole line ends.
    end: u64,
    head: Head,
    /// Whether the head beside the log is not there yet, or behind its last lines.
    is_behind: bool,
}

impl OpenLog {
    /// Opens the log, or makes it, for its user alone. It waits for other processes as long as `goes_on` lets it, and looks
    /// whether the last line is the one that the head names, which this side or one that has signed these lines must have
    /// signed.
    ///
    /// # Errors
    /// If the files cannot be read or written, or do not go together; or with the reason that `goes_on` gives.
    pub fn open(path: &Path, own: PublicKey, goes_on: &dyn Fn() -> Result<(), Failure>) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let fault = format_args!("cannot write the log {}: {error}", path.display()).to_string();
            Failure::new(code::OUTPUT, fault, "name another file with --run-log, or say --no-run-log")
        };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is no file")));
        }
        let patience = patience(failed);
        locked::take(&file, || goes_on().and_then(|()| patience()))?.map_err(failed)?;
        // The head is beside the file itself, by whatever links it is named.
        let path = fs::canonicalize(path).map_err(failed)?;
        let (end, head, is_behind) = check_end(&path, &mut file, &own.to_string())?;
        Ok(Self { path, file, end, head, is_behind })
    }

    /// Appends a line for each entry, of at most [`MOST_AT_ONCE`], with its number and the hash before it. They are on the
    /// disk when this returns, or none is.
    ///
    /// # Errors
    /// If they cannot be signed or written.
    pub fn append(mut self, identity: &Identity, entries: impl IntoIterator<Item = Entry>) -> Result<(), Failure> {
        let path = self.path.clone();
        let failed = |error: io::Error| {
            let fault = format_args!("cannot write the log {}: {error}", path.display()).to_string();
            Failure::new(code::OUTPUT, fault, "check the disk and the folder's rights")
        };
        let unsigned = || failed(io::Error::other("it could not be signed"));
        let write_head = |head: Head| {
            let (key, signature) = signed(HEAD, &head, identity).ok_or_else(unsigned)?;
            let text = serde_json::to_string(&SignedHead { head, key, signature }).unwrap_or_default();
            replace(&head_path(&path), |file| file.write_all(text.as_bytes())).map_err(failed)
        };
        // Never behind what was written at two times, and there before the first line: without it, nothing shows later
        // that lines are gone.
        if self.is_behind {
            write_head(self.head.clone())?;
        }
        let before = self.head.clone();
        let (mut head, mut text) = (self.head, String::new());
        for entry in entries {
            let Head { lines: number, hash: previous } = head;
            let line = Line::new(Entry { number, previous, ..entry }, identity).ok_or_else(unsigned)?.text();
            if line.len() as u64 >= MOST_LINE_BYTES {
                return Err(failed(io::Error::other("a line of it would be too long")));
            }
            head = Head { lines: number + 1, hash: hash(line.as_bytes()) };
            text.push_str(&line);
            text.push('\n');
        }
        let written = (|| {
            // What a killed run has left of its line goes.
            self.file.set_len(self.end).map_err(failed)?;
            self.file.write_all(text.as_bytes()).map_err(failed)?;
            self.file.sync_all().map_err(failed)?;
            write_head(head)
        })();
        // Lines that cannot have their head are none. A head that stands, though its folder could not be synced, has them.
        let has_old_head = || matches!(read_head(&path), Ok(Some((said, _))) if said == before);
        written.inspect_err(|_| {
            if has_old_head() {
                let _ = self.file.set_len(self.end).and_then(|()| self.file.sync_all());
            }
        })
    }
}

/// The last lines of a log, the last one first: at least `wanted` of them, or all. Before them, where the last whole line
/// ends: what follows it was never finished.
fn last_lines(file: &mut File, wanted: usize) -> io::Result<(u64, Vec<Vec<u8>>)> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut span = 1 << 16;
    loop {
        let from = length.saturating_sub(span);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        (&*file).take(length - from).read_to_end(&mut tail)?;
        let ends = tail.iter().filter(|&&byte| byte == b'\n').count();
        let Some(end) = tail.iter().rposition(|&byte| byte == b'\n').filter(|_| from == 0 || ends > wanted) else {
            match from {
                0 => return Ok((0, Vec::new())),
                _ if span > MOST_LINE_BYTES.saturating_mul(wanted as u64 + 1) => {
                    return Err(io::Error::other("it has a line without an end"));
                }
                _ => span = span.saturating_mul(8),
            }
            continue;
        };
        tail.truncate(end);
        // The first one may have begun before this part of the file.
        let whole = if from == 0 { ends } else { ends - 1 };
        let lines = tail.rsplit(|&byte| byte == b'\n').take(whole).map(<[u8]>::to_vec).collect();
        return Ok((from + end as u64 + 1, lines));
    }
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

/// Where the last whole line of a log ends, how far the log is, and whether its head has yet to say so: that of a new log,
/// or of one that a process was writing to which was killed between lines and head.
fn check_end(path: &Path, file: &mut File, own: &str) -> Result<(u64, Head, bool), Failure> {
    let unreadable = |error: io::Error| {
        let fault = format_args!("cannot read the log {}: {error}", path.display()).to_string();
        Failure::new(code::OUTPUT, fault, "check the disk and the folder's rights")
    };
    let (end, last) = last_lines(file, 1).map_err(unreadable)?;
    let (said, signer, text) = match (read_head(path)?, last.first()) {
        (None, None) => return Ok((end, Head::none(), true)),
        (None, Some(_)) => return Err(changed(path, HEAD_IS_MISSING)),
        (Some((said, _)), None) if said.lines == 0 => return Ok((end, said, false)),
        (Some((said, _)), None) => {
            return Err(changed(path, &format!("it has no lines, and had {}", said.lines)));
        }
        (Some((said, signer)), Some(text)) => (said, signer, text),
    };
    let read = |text: &Vec<u8>| serde_json::from_slice::<Line>(text).ok().filter(Line::is_signed);
    let line = read(text).ok_or_else(|| changed(path, "its last line was changed"))?;
    let found = Head { lines: line.entry.number.saturating_add(1), hash: hash(text) };
    let behind = found.lines.checked_sub(said.lines).filter(|&lines| lines <= MOST_AT_ONCE as u64);
    let not_so = || changed(path, &format!("it ends with line {}, and had {} lines", line.entry.number, said.lines));
    let behind = behind.ok_or_else(not_so)? as usize;
    // The lines that the head does not know, and the one that it names.
    let (_, last) = last_lines(file, behind + 1).map_err(unreadable)?;
    let mut next = found.clone();
    for text in last.iter().take(behind) {
        let line = read(text).filter(|_| hash(text) == next.hash).ok_or_else(not_so)?;
        next = Head { lines: line.entry.number, hash: line.entry.previous };
    }
    if next != said {
        return Err(not_so());
    }
    let named = last.get(behind).and_then(read);
    if own != signer && named.is_none_or(|named| named.key != signer) {
        return Err(changed(path, "its head is signed by a key that has not signed its last line"));
    }
    Ok((end, found, behind > 0))
}

/// The failure of a log that is not as it was left.
pub(super) fn changed(path: &Path, what: &str) -> Failure {
    Failure::new(
        code::INPUT,
        format_args!("the log {} is not as it was left: {what}", path.display()),
        "keep both files for whoever audits you, see `vesica log verify`, and name a new file with --run-log",
    )
}
