//! All that is said on standard error: lines for people, in colour where the terminal has it, or one JSON
//! object a line (`--progress json`).
//!
//! That nobody can read it, because standard error is full, closed or a broken pipe, ends nothing: unlike
//! with the macros of the standard library, which panic then.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use console::Style;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use vesica::Failure;
use vesica::failure::escaped;

/// Whether each line is a JSON object.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// When the process began to say something, or a little before.
static STARTED: OnceLock<Instant> = OnceLock::new();

/// Commands that have `--progress`.
const WITH_PROGRESS: [&str; 6] = ["receive", "send", "run", "query", "bench", "selftest"];

/// The environment variable that stands for `--progress`.
const VARIABLE: &str = "VESICA_PROGRESS";

/// From now on each line is a JSON object, or none is.
pub fn set_json(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// Whether each line is a JSON object.
pub fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Takes the form that these arguments, which were not parsed yet, ask for, and starts the clock.
pub fn begin(arguments: impl Iterator<Item = OsString>) {
    STARTED.get_or_init(Instant::now);
    set_json(asks_for_json(arguments, env::var_os(VARIABLE)));
}

/// Whether arguments, of which the first is the program's name, and the environment variable ask for JSON.
fn asks_for_json(arguments: impl Iterator<Item = OsString>, variable: Option<OsString>) -> bool {
    let words: Vec<String> = arguments.skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let command = words.iter().find(|word| !word.starts_with('-'));
    if command.is_none_or(|command| !WITH_PROGRESS.contains(&command.as_str())) {
        return false;
    }
    let mut typed = None;
    for (place, word) in words.iter().enumerate() {
        match word.strip_prefix("--progress") {
            Some("") => typed = words.get(place + 1).map(String::as_str),
            Some(value) => typed = value.strip_prefix('=').or(typed),
            None => {}
        }
    }
    typed.map_or_else(|| variable.is_some_and(|value| value == "json"), |typed| typed == "json")
}

/// Says a line.
pub fn say(line: impl Display) {
    write(&format!("{line}\n"));
}

/// As [`say`], for text that ends its lines itself.
pub fn write(text: &str) {
    if is_json() {
        for line in text.lines() {
            event(Said::Message { text: line });
        }
    } else {
        write_raw(text);
    }
}

/// Says something worth knowing.
pub fn note(text: impl Display) {
    labelled("note", Style::new().cyan().bold(), text, |text| Said::Note { text });
}

/// Says something that the user should act on.
pub fn warning(text: impl Display) {
    labelled("warning", Style::new().yellow().bold(), text, |text| Said::Warning { text });
}

fn labelled(word: &str, style: Style, text: impl Display, said: fn(&str) -> Said<'_>) {
    // Names of files and columns may have control characters.
    let text = escaped(&text.to_string());
    if is_json() {
        event(said(&text));
    } else {
        write_raw(&format!("{} {text}\n", label(word, style)));
    }
}

/// Says a failure.
pub fn failure(failure: &Failure) {
    let Failure { code, fault, mend, .. } = failure;
    if is_json() {
        event(Said::Error { exit_code: *code, fault, mend });
    } else {
        let (error, help) = (label("error", Style::new().red().bold()), label("help", Style::new().green().bold()));
        write_raw(&format!("{error} {fault}\n{help} {mend}\n"));
    }
}

/// A line of `--progress json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SaidLine<'a> {
    /// Seconds since the command began.
    elapsed_seconds: f64,
    /// What is said.
    #[serde(flatten)]
    said: Said<'a>,
}

/// What is said as an object. docs/operating.md says when.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Said<'a> {
    /// The port is open.
    Listening {
        /// The address with the port.
        address: &'a str,
    },
    /// The partner is there.
    Connected,
    /// A stage begins.
    Stage {
        /// Its name.
        stage: &'a str,
        /// The same in words.
        text: &'a str,
        /// The protocol that runs in it.
        protocol: Option<&'a str>,
    },
    /// How far a stage has come.
    Progress {
        /// Its name, or what is measured or checked.
        stage: &'a str,
        /// The share of it that is done, from 0 to 1; null if nothing tells.
        fraction: Option<f64>,
        /// About how many seconds it goes on; null if nothing tells.
        seconds_left: Option<f64>,
        /// Of a run or a query.
        #[serde(flatten)]
        of_run: Option<SaidOfRun<'a>>,
    },
    /// Something worth knowing.
    Note {
        /// In words.
        text: &'a str,
    },
    /// Something that the user should act on.
    Warning {
        /// In words.
        text: &'a str,
    },
    /// Something else.
    Message {
        /// In words.
        text: &'a str,
    },
    /// The command fails.
    Error {
        /// The exit code.
        exit_code: u8,
        /// What went wrong.
        fault: &'a str,
        /// What the user can do about it.
        mend: &'a str,
    },
    /// The command has ended.
    End {
        /// The exit code; 0 after success.
        exit_code: u8,
    },
}

/// What is said of the progress of a run or a query alone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SaidOfRun<'a> {
    /// The protocol that runs in the stage.
    pub protocol: Option<&'a str>,
    /// Bytes sent since the run began.
    pub sent_bytes: u64,
    /// Bytes received since the run began.
    pub received_bytes: u64,
    /// Bytes of both sides when the stage ends; null if nothing tells.
    pub expected_bytes: Option<u64>,
}

/// Says this with the time since the command began. Nothing unless lines are JSON.
pub fn event(said: Said<'_>) {
    if is_json() {
        let elapsed = STARTED.get_or_init(Instant::now).elapsed();
        let line = SaidLine { elapsed_seconds: elapsed.as_millis() as f64 / 1e3, said };
        write_raw(&format!("{}\n", json!(line)));
    }
}

/// The last line of a command that ends with this exit code.
pub fn end(code: u8) {
    event(Said::End { exit_code: code });
}

/// A word at the head of a line.
fn label(word: &str, style: Style) -> String {
    let word = format!("{word}:");
    if has_colour() { style.force_styling(true).apply_to(word).to_string() } else { word }
}

/// Whether standard error shows colours.
pub fn has_colour() -> bool {
    colours(io::stderr().is_terminal(), env::var_os("NO_COLOR"), env::var_os("TERM"))
}

fn colours(is_terminal: bool, no_color: Option<OsString>, term: Option<OsString>) -> bool {
    is_terminal && no_color.is_none_or(|value| value.is_empty()) && term.is_none_or(|term| term != "dumb")
}

fn write_raw(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_have_them() {
        let some = |text: &str| Some(OsString::from(text));
        assert!(colours(true, None, some("xterm")) && colours(true, some(""), None));
        for (is_terminal, no_color, term) in
            [(false, None, some("xterm")), (true, some("1"), some("xterm")), (true, None, some("dumb"))]
        {
            assert!(!colours(is_terminal, no_color.clone(), term.clone()), "{is_terminal} {no_color:?} {term:?}");
        }
        let red = Style::new().red().bold().force_styling(true).apply_to("error:").to_string();
        assert!(red.starts_with("\u{1b}[") && red.ends_with("\u{1b}[0m"), "{red:?}");
    }

    #[test]
    fn json_is_asked_for_by_the_flag_and_else_by_the_variable() {
        let asks = |line: &str, variable: Option<&str>| {
            asks_for_json(line.split_whitespace().map(OsString::from), variable.map(OsString::from))
        };
        assert!(asks("vesica receive --progress json", None) && asks("vesica -v send --progress=json x", None));
        assert!(asks("vesica query", Some("json")) && asks("vesica run a.toml --json", Some("json")));
        assert!(asks("vesica receive --progress=plain --progress json", None), "the last one counts");
        for (line, variable) in [
            ("vesica receive", None),
            ("vesica receive --json", Some("plain")),
            ("vesica receive --progress never", Some("json")),
            ("vesica receive --progress-json", None),
            ("vesica plan", Some("json")),
            ("vesica config --progress json", None),
            ("vesica", Some("json")),
            ("vesica receive --progress", None),
        ] {
            assert!(!asks(line, variable), "{line} {variable:?}");
        }
    }
}
