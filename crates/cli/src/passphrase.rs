//! A passphrase that somebody types at the terminal. It comes from nowhere else but a file: other users of the machine
//! can see arguments, and programs that we start inherit the environment.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use vesica::Failure;
use vesica::failure::code;
use vesica::party::transport::tls::Passphrase;
use zeroize::Zeroizing;

use crate::signals;

/// Longest line that is read, in bytes: more than any passphrase has.
const MAX_LINE: usize = 2048;

/// Where somebody can be asked: standard input may be the table, and standard error a file.
const TERMINAL: &str = "/dev/tty";

/// Time between two attempts to write to a terminal that takes nothing.
const PAUSE: Duration = Duration::from_millis(20);

/// Bytes of the terminal that mean an interruption (Ctrl-C) and the end of the input (Ctrl-D).
const INTERRUPT: u8 = 0x03;
const END_OF_INPUT: u8 = 0x04;

/// Whether this process is a command that somebody may have typed.
static MAY_ASK: AtomicBool = AtomicBool::new(false);

/// What somebody is asked now. Whoever ends the process takes it away first.
static PROMPT: Mutex<Prompt> = Mutex::new(Prompt { question: None, is_over: false });

/// Runs a command, which may ask for a passphrase. A program that calls us for its own tables has other uses for its
/// terminal.
pub fn allow_asking<T>(command: impl FnOnce() -> T) -> T {
    MAY_ASK.store(true, Ordering::Relaxed);
    let done = command();
    MAY_ASK.store(false, Ordering::Relaxed);
    done
}

/// Asks for a passphrase; `None` if nobody can be asked.
///
/// # Errors
/// If the terminal fails, the answer is no passphrase, or Ctrl-C is typed.
pub fn ask(question: &str) -> Result<Option<Passphrase>, Failure> {
    if !MAY_ASK.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let Ok(terminal) = OpenOptions::new().read(true).write(true).open(TERMINAL) else { return Ok(None) };
    signals::mind_terminal()?;
    let answer = answer(&terminal, question).map_err(|error| failed(&error))?;
    let Some(line) = answer else {
        return Err(Failure::new(code::INTERRUPTED, "interrupted at the passphrase", "start again"));
    };
    let passphrase = Passphrase::new(line);
    let none = || Failure::new(code::IDENTITY, "this is no passphrase", "type 1 to 1024 bytes of text");
    passphrase.map(Some).ok_or_else(none)
}

/// Asks for a new passphrase, and a second time for the same.
///
/// # Errors
/// As of [`ask`]; if both answers differ, or nobody can be asked.
pub fn ask_for_new() -> Result<Passphrase, Failure> {
    let nobody = || {
        Failure::new(
            code::IDENTITY,
            "there is no terminal to ask for the new passphrase",
            "write it into a file, and name that with the flag for it (`vesica identity --help`)",
        )
    };
    let first = ask("New passphrase: ")?.ok_or_else(nobody)?;
    let second = ask("The same again: ")?.ok_or_else(nobody)?;
    match first.is(&second) {
        true => Ok(first),
        false => Err(Failure::new(code::IDENTITY, "the two passphrases differ", "start again, and type one twice")),
    }
}

/// Gives the terminal back to whoever comes after this process, which is to end, and asks nothing any more. Whether
/// somebody was being asked.
pub fn give_up() -> bool {
    let mut prompt = prompt();
    prompt.is_over = true;
    prompt.question.take().is_some()
}

/// Does what stops the process for a while, with the terminal as it was before the question; then asks it again.
pub fn aside(stop: impl FnOnce()) {
    let mut prompt = prompt();
    if let Some(question) = &prompt.question {
        question.withdraw();
    }
    stop();
    // The terminal may be gone: then reading the answer fails.
    if let Some(Ok(())) = prompt.question.as_mut().map(Question::silence) {
        drop(prompt);
        let _ = say();
    }
}

/// Writes the question, unless it is taken away before the terminal takes it: one that is stopped (Ctrl-S) takes nothing.
/// Whoever ends the process must not wait for that.
fn say() -> io::Result<()> {
    loop {
        let is_said = prompt().question.as_mut().map_or(Ok(true), Question::say)?;
        if is_said {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
}

fn prompt() -> MutexGuard<'static, Prompt> {
    PROMPT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        code::IDENTITY,
        format_args!("cannot ask for the passphrase at the terminal: {error}"),
        "name a file that has it with --passphrase-file",
    )
}

/// The line that is typed at the terminal in answer to a question; `None` if it is interrupted.
fn answer(terminal: &File, question: &str) -> io::Result<Option<Zeroizing<String>>> {
    /// Takes the question away, however the function ends.
    struct Asking;
    impl Drop for Asking {
        fn drop(&mut self) {
            prompt().question = None;
        }
    }
    let question = Question::new(question)?;
    let _asking = Asking;
    let mut prompt = prompt();
    if prompt.is_over {
        return Ok(None);
    }
    prompt.question.insert(question).silence()?;
    drop(prompt);
    say()?;
    read_line(terminal)
}

/// What is asked at the terminal, and whether nothing may be asked any more.
struct Prompt {
    question: Option<Question>,
    is_over: bool,
}

/// A question at a terminal that does not show what is typed, until this is dropped.
struct Question {
    text: String,
    /// How many bytes of the text the terminal has.
    said: usize,
    /// The terminal, opened so that no write waits for it.
    terminal: File,
    before: Termios,
}

impl Question {
    fn new(text: &str) -> io::Result<Self> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let terminal = OpenOptions::new().write(true).custom_flags(flags).open(TERMINAL)?;
        let before = tcgetattr(&terminal)?;
        Ok(Self { text: text.into(), said: 0, terminal, before })
    }

    /// Silences the terminal, before the question is written to it.
    fn silence(&mut self) -> io::Result<()> {
        self.said = 0;
        let mut modes = self.before.clone();
        // Without ISIG, Ctrl-C is a byte that we read. Without ICANON, no line of ours stays in the buffer of the terminal.
        modes.local_modes &= !(LocalModes::ECHO | LocalModes::ISIG | LocalModes::ICANON);
        // A read waits for one byte, however long that takes.
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(&self.terminal, OptionalActions::Flush, &modes)?)
    }

    /// Writes as much of the question as the terminal takes now. Whether that is all.
    fn say(&mut self) -> io::Result<bool> {
        let left = self.text.as_bytes().get(self.said..).unwrap_or_default();
        match (&self.terminal).write(left) {
            Ok(count) => self.said += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(self.said >= self.text.len())
    }

    /// Has the terminal as it was before, and a new line on it.
    fn withdraw(&self) {
        // The terminal may be gone, or stopped; there is nothing else to do then.
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
        let _ = (&self.terminal).write_all(b"\n");
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// A line as a terminal without editing gives it: one byte after the other, with Backspace and Ctrl-U.
fn read_line(mut terminal: impl Read) -> io::Result<Option<Zeroizing<String>>> {
    const BACKSPACE: [u8; 2] = [0x08, 0x7f];
    const KILL_LINE: u8 = 0x15;
    // Reserved at once, so that it never moves and one wipe covers it.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_LINE));
    let mut one = Zeroizing::new([0]);
    loop {
        match terminal.read(&mut *one) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let [byte] = *one;
        match byte {
            b'\n' | b'\r' | END_OF_INPUT => break,
            INTERRUPT => return Ok(None),
            KILL_LINE => bytes.clear(),
            erase if BACKSPACE.contains(&erase) => {
                // A character may have several bytes: those behind the first are 0b10xxxxxx.
                while bytes.pop().is_some_and(|byte: u8| byte & 0xc0 == 0x80) {}
            }
            _ if bytes.len() == MAX_LINE => return Err(io::Error::other("the line is too long")),
            byte => bytes.push(byte),
        }
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| io::Error::other("the line is no UTF-8"))?;
    Ok(Some(Zeroizing::new(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_line_is_what_is_left_after_its_corrections() {
        for (typed, expected) in [
            (&b"horse\n"[..], Some("horse")),
            (b"horse\r", Some("horse")),
            (b"horse", Some("horse")),
            (b"hosr\x7f\x08rse\n", Some("horse")),
            ("hä\x7forse\n".as_bytes(), Some("horse")),
            (b"wrong\x15horse\n", Some("horse")),
            (b"\x7f\x7fa\x04b\n", Some("a")),
            (b"hor\x03se\n", None),
        ] {
            let line = read_line(typed).expect("a line");
            assert_eq!(line.as_deref().map(String::as_str), expected, "{typed:?}");
        }
        assert!(read_line(&[b'a'; MAX_LINE + 1][..]).is_err() && read_line(&b"\xff\n"[..]).is_err());
    }

    #[test]
    fn a_program_that_is_no_command_asks_nobody() {
        assert!(ask("Passphrase: ").expect("no failure").is_none());
    }
}
