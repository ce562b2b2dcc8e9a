//! Reading and verifying a log.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use vesica_party::transport::tls::PublicKey;

use super::file::{HEAD_IS_MISSING, MOST_AT_ONCE, MOST_LINE_BYTES, changed, patience, read_head};
use super::{Event, Head, Line, hash};
use crate::failure::{Failure, code};
use crate::locked;

/// A log whose lines hold together.
#[derive(Clone, Debug)]
pub struct Verified {
    /// All lines.
    pub lines: Vec<Line>,
    /// How far it is. Noted elsewhere, it shows later whether these lines are still the first ones.
    pub head: Head,
    /// The public key lines that signed it, each once.
    pub keys: Vec<String>,
    /// How many runs, queries and conversations have begun without a line of their end: they go on, or were killed.
    pub open: usize,
    /// Whether a line at the end was never finished.
    pub is_torn: bool,
    /// How many lines at the end the head beside the log does not know yet.
    pub behind: usize,
}

/// Verifies a log: each line's hash and signature, and the head beside it; and, where an earlier head is given, that the
/// log still begins with what it had then.
///
/// # Errors
/// If it cannot be read, or is not as it was left: with the number of the first line that is not.
pub fn verify(path: &Path, noted: Option<&Head>) -> Result<Verified, Failure> {
    let unreadable = |error: io::Error| {
        let fault = format_args!("cannot read the log {}: {error}", path.display()).to_string();
        Failure::new(code::INPUT, fault, "name a log that --run-log of a run has written")
    };
    // A pipe would be waited for.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::other("it is no file")));
    }
    let path = &fs::canonicalize(path).map_err(unreadable)?;
    let file = File::open(path).map_err(unreadable)?;
    // Line and head go together. Whoever writes waits for no more than this: lines that were written do not change.
    locked::take_to_read(&file, patience(unreadable))?.map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let said = read_head(path);
    flock(&file, FlockOperation::Unlock).map_err(|error| unreadable(error.into()))?;
    let said = said?;
    let mut file = BufReader::new(file.take(bytes));
    let (mut lines, mut keys, mut head, mut is_torn) = (Vec::<Line>::new(), Vec::new(), Head::none(), false);
    let mut noted_at = noted.filter(|noted| noted.lines == 0).map(|_| Head::none().hash);
    loop {
        let mut text = Vec::new();
        let length = file.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut text).map_err(unreadable)?;
        if length == 0 {
            break;
        }
        let number = head.lines;
        let wrong = |what: &str| changed(path, &format!("line {number} {what}"));
        let text = match text.split_last() {
            Some((b'\n', text)) => text,
            _ if number == 0 || length as u64 == MOST_LINE_BYTES => return Err(wrong("is no line of a log")),
            _ => {
                is_torn = true;
                break;
            }
        };
        let line: Line = serde_json::from_slice(text).map_err(|_| wrong("is no line of a log"))?;
        // A key in another notation would be taken for another key.
        let is_plain = |key: &str| key.parse().is_ok_and(|parsed: PublicKey| parsed.to_string() == key);
        if line.text().as_bytes() != text || !line.is_signed() || !is_plain(&line.key) || !is_plain(&line.entry.partner)
        {
            return Err(wrong("was changed: its signature is wrong"));
        }
        if line.entry.number != number || line.entry.previous != head.hash {
            return Err(wrong("does not follow the one before it: lines were taken out, put in or moved"));
        }
        head = Head { lines: number + 1, hash: hash(text) };
        if noted.is_some_and(|noted| noted.lines == head.lines) {
            noted_at = Some(head.hash.clone());
        }
        if !keys.contains(&line.key) {
            keys.push(line.key.clone());
        }
        lines.push(line);
    }
    let behind = check_head(path, said, &head, &lines, &keys)?;
    if let Some(noted) = noted.filter(|noted| noted_at.as_ref() != Some(&noted.hash)) {
        let what = format!("its first {} lines are not those of the head that was noted", noted.lines);
        return Err(changed(path, &what));
    }
    let runs = |begun| {
        let of_event = lines.iter().filter(move |line| (line.entry.event == Event::Begun) == begun);
        of_event.map(|line| line.entry.run.as_str()).collect::<HashSet<_>>()
    };
    let open = runs(true).difference(&runs(false)).count();
    Ok(Verified { head, keys, open, is_torn, behind, lines })
}

/// How many lines the head beside the log is behind it: none, or those that were written last.
///
/// # Errors
/// If it is another log's head, or none of the keys that signed the lines has signed it.
fn check_head(
    path: &Path,
    said: Option<(Head, String)>,
    found: &Head,
    lines: &[Line],
    keys: &[String],
) -> Result<usize, Failure> {
    let Some((said, signer)) = said else {
        return match lines {
            [] => Ok(0),
            _ => Err(changed(path, HEAD_IS_MISSING)),
        };
    };
    if !lines.is_empty() && !keys.contains(&signer) {
        return Err(changed(path, "its head is signed by a key that has signed none of its lines"));
    }
    let after = usize::try_from(said.lines).ok().and_then(|known| lines.get(known..)).unwrap_or_default();
    let is_behind = after.len() <= MOST_AT_ONCE && after.first().is_some_and(|line| line.entry.previous == said.hash);
    match *found == said || is_behind {
        true => Ok(after.len()),
        false => Err(changed(path, &format!("it has {} lines, and had {}", found.lines, said.lines))),
    }
}
