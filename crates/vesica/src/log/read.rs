//! Reading and verifying a log.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::file::{MOST_LINE_BYTES, changed, read_head};
use super::{Event, Head, Line, hash};
use crate::failure::{Failure, code};

/// A log whose lines hold together.
#[derive(Clone, Debug)]
pub struct Verified {
    /// All lines.
    pub lines: Vec<Line>,
    /// How far it is. Noted elsewhere, it shows later whether these lines are still the first ones.
    pub head: Head,
    /// The public key lines that signed it, each once.
    pub keys: Vec<String>,
    /// How many runs have begun without a line of their end: they go on, or were killed.
    pub open: usize,
    /// Whether a line at the end was never finished.
    pub is_torn: bool,
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
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut lines, mut keys, mut head, mut is_torn) = (Vec::<Line>::new(), Vec::new(), Head::none(), false);
    let mut noted_at = noted.filter(|noted| noted.lines == 0).map(|_| Head::none().hash);
    loop {
        let mut text = Vec::new();
        let length = file.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut text).map_err(unreadable)?;
        if length == 0 {
            break;
        }
        let Some((b'\n', text)) = text.split_last() else {
            is_torn = true;
            break;
        };
        let number = head.lines;
        let wrong = |what: &str| changed(path, &format!("line {number} {what}"));
        let line: Line = serde_json::from_slice(text).map_err(|_| wrong("is no line of a log"))?;
        if line.text().as_bytes() != text || !line.is_signed() {
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
    check_head(path, &head, lines.last())?;
    if let Some(noted) = noted.filter(|noted| noted_at.as_ref() != Some(&noted.hash)) {
        let what = format!("its first {} lines are not those of the head that was noted", noted.lines);
        return Err(changed(path, &what));
    }
    let of = |event| lines.iter().filter(move |line| (line.entry.event == Event::Begun) == event);
    let has_ended = |run: &str| of(false).any(|line| line.entry.run == run);
    let open = of(true).filter(|line| !has_ended(&line.entry.run)).count();
    Ok(Verified { head, keys, open, is_torn, lines })
}

/// Whether the head beside the log is that of the log, or one line behind.
fn check_head(path: &Path, found: &Head, last: Option<&Line>) -> Result<(), Failure> {
    let Some((said, _)) = read_head(path)? else {
        return match last {
            None => Ok(()),
            Some(_) => Err(changed(
                path,
                "the file .head beside it is missing, without which nothing shows that it was cut off",
            )),
        };
    };
    let is_behind = last.is_some_and(|last| last.entry.number == said.lines && last.entry.previous == said.hash);
    match *found == said || is_behind {
        true => Ok(()),
        false => Err(changed(path, &format!("it has {} lines, and had {}", found.lines, said.lines))),
    }
}
