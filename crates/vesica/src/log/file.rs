//! Appending to a log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use vesica_party::service::replace;
use vesica_party::transport::tls::{Identity, PublicKey};

use super::{Entry, HEAD, Head, Line, SignedHead, hash, is_signed, signed};
use crate::bounded::{beside, read_text};
use crate::failure::{Failure, code};

/// Longest line of a log. What a run reveals names columns, which are bounded.
pub(super) const MOST_LINE_BYTES: u64 = 4 << 20;

/// Longest file of a head.
const MOST_HEAD_BYTES: u64 = 1 << 12;

/// How long a run waits for another one to write its line.
const PATIENCE: Duration = Duration::from_secs(30);

/// The file beside a log that says how far the log is.
pub(super) fn head_path(log: &Path) -> PathBuf {
    beside(log, ".head")
}

/// Waits until no other process uses the log in a way that this lock excludes.
pub(super) fn lock(file: &File, operation: FlockOperation) -> io::Result<()> {
    let patience = Instant::now() + PATIENCE;
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < patience => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK) => return Err(io::Error::other("another process holds it")),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A log that no other process writes to.
pub(super) struct OpenLog {
    path: PathBuf,
    file: File,
    /// Where the last whole line ends.
    end: u64,
    head: Head,
    /// Whether the head beside the log is one line behind.
    is_behind: bool,
}

impl OpenLog {
    /// Opens the log, or makes it, for its user alone. It waits for other runs, and looks whether the last line is the one
    /// that the head names, which this side or one that has signed these lines must have signed.
    ///
    /// # Errors
    /// If the files cannot be read or written, or do not go together.
    pub fn open(path: &Path, own: PublicKey) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let fault = format_args!("cannot write the log {}: {error}", path.display()).to_string();
            Failure::new(code::OUTPUT, fault, "name another file with --run-log, or say --no-run-log")
        };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is no file")));
        }
        lock(&file, FlockOperation::NonBlockingLockExclusive).map_err(failed)?;
        // The head is beside the file itself, by whatever links it is named.
        let path = fs::canonicalize(path).map_err(failed)?;
        let (end, last) = last_lines(&mut file).map_err(failed)?;
        let (head, is_behind) = check_end(&path, &last, &own.to_string())?;
        Ok(Self { path, file, end, head, is_behind })
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
        let write_head = |head: Head| {
            let (key, signature) = signed(HEAD, &head, identity).ok_or_else(unsigned)?;
            let text = serde_json::to_string(&SignedHead { head, key, signature }).unwrap_or_default();
            replace(&head_path(&path), |file| file.write_all(text.as_bytes())).map_err(failed)
        };
        // Never two lines behind.
        if self.is_behind {
            write_head(self.head.clone())?;
        }
        let Head { lines, hash: previous } = self.head;
        let line = Line::new(make(lines, previous), identity).ok_or_else(unsigned)?.text();
        if line.len() as u64 >= MOST_LINE_BYTES {
            return Err(failed(io::Error::other("a line of it would be too long")));
        }
        let written = (|| {
            // What a killed run has left of its line goes.
            self.file.set_len(self.end).map_err(failed)?;
            self.file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
            self.file.sync_all().map_err(failed)?;
            write_head(Head { lines: lines + 1, hash: hash(line.as_bytes()) })
        })();
        // A line that cannot have its head is none.
        written.inspect_err(|_| _ = self.file.set_len(self.end).and_then(|()| self.file.sync_all()))
    }
}

/// Where the last whole line of a log ends, and the last two lines, the last one first; what follows them was never
/// finished.
fn last_lines(file: &mut File) -> io::Result<(u64, Vec<Vec<u8>>)> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(2 * MOST_LINE_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    (&*file).take(length - from).read_to_end(&mut tail)?;
    let Some(end) = tail.iter().rposition(|&byte| byte == b'\n') else {
        return if from == 0 { Ok((0, Vec::new())) } else { Err(io::Error::other("it has a line without an end")) };
    };
    tail.truncate(end);
    let lines = tail.rsplit(|&byte| byte == b'\n').take(2).map(<[u8]>::to_vec).collect();
    Ok((from + end as u64 + 1, lines))
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

/// How far a log is that ends with these lines, the last one first, and whether its head is one line behind: then a run was
/// killed between line and head.
fn check_end(path: &Path, last: &[Vec<u8>], own: &str) -> Result<(Head, bool), Failure> {
    let (said, signer) = read_head(path)?.unwrap_or_else(|| (Head::none(), own.to_owned()));
    let Some(text) = last.first() else {
        return match said.lines {
            0 => Ok((said, false)),
            lines => Err(changed(path, &format!("it has no lines, and had {lines}"))),
        };
    };
    let read = |text: &Vec<u8>| serde_json::from_slice::<Line>(text).ok().filter(Line::is_signed);
    let line = read(text).ok_or_else(|| changed(path, "its last line was changed"))?;
    let is_known = |line: &Line| line.key == signer;
    if own != signer && !is_known(&line) && !last.get(1).and_then(read).as_ref().is_some_and(is_known) {
        return Err(changed(path, "its head is signed by a key that has not signed its last lines"));
    }
    let Entry { number, ref previous, .. } = line.entry;
    let found = Head { lines: number + 1, hash: hash(text) };
    let is_behind = number == said.lines && *previous == said.hash;
    match found == said || is_behind {
        true => Ok((found, is_behind)),
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
