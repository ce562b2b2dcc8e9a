//! Files of runs, a JSON object a line.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::programs::ProgramReport;
use crate::{Report, Settings};

/// The first line of a recording: of which suite, on which machine, by which release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Name of the suite.
    pub suite: String,
    /// The processor.
    pub processor: String,
    /// How many processors the program may use.
    pub cores: usize,
    /// The kernels in use.
    pub kernels: String,
    /// The release that measured.
    pub vesica: String,
}

impl About {
    /// The machine, in words.
    pub fn machine(&self) -> String {
        format!("{}, {} cores; kernels: {}; vesica {}", self.processor, self.cores, self.kernels, self.vesica)
    }
}

/// What became of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The figures.
    Run(Box<Report>),
    /// What a program of others did.
    Program(Box<ProgramReport>),
    /// Why the protocol does not serve this size, mode or task.
    Refused(String),
    /// Why this machine cannot make the run.
    LeftOut(Box<LeftOut>),
}

/// A run that was not made, because the machine of the recording is too small for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// What would have been measured.
    pub settings: Settings,
    /// Why it was not.
    pub why: Why,
}

/// What of a machine does not suffice for a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The seconds that it is expected to take are more than were permitted.
    Seconds(f64),
    /// The bytes of memory that both parties are expected to take are more than there are.
    Memory(u64),
    /// So many cores are needed for one thread each.
    Cores(usize),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Seconds(seconds) if seconds < 90.0 * 60.0 => write!(f, "{:.0} minutes", seconds / 60.0),
            Self::Seconds(seconds) => write!(f, "{:.0} hours", seconds / 3600.0),
            Self::Memory(bytes) => write!(f, "{:.0} GiB", bytes as f64 / (1u64 << 30) as f64),
            Self::Cores(cores) => write!(f, "{cores} cores"),
        }
    }
}

/// A line of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The run's name.
    pub name: String,
    /// The share of the machine that others took before the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_before: Option<f64>,
    /// The figures, or why there are none.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read or written.
    #[error("cannot use {path}: {error}")]
    File {
        /// Which file.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// A line is not what it should be.
    #[error("line {line} of {path} is no line of a recording: {fault}")]
    Line {
        /// Which file.
        path: String,
        /// Which line, from one.
        line: usize,
        /// What is wrong.
        fault: String,
    },
    /// The recording is of something else.
    #[error("{path} was recorded with other facts: {was} there, {is} here")]
    OfOther {
        /// Which file.
        path: String,
        /// What the file says.
        was: String,
        /// What is so here.
        is: String,
    },
}

/// A recording that is open for more runs.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    file: File,
    recorded: HashSet<String>,
    reports: Vec<Report>,
}

impl Recording {
    /// Opens the recording, or begins one. A line that was cut off by a kill is taken out.
    ///
    /// # Errors
    /// If the file cannot be used, is no recording, or was made of another suite, on another machine
    /// or by another release.
    pub fn open(path: &Path, about: &About) -> Result<Self, RecordError> {
        let failed = |error| RecordError::File { path: path.display().to_string(), error };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        let mut lines = text.get(..whole).unwrap_or_default().lines().zip(1..);
        match lines.next() {
            None => write_line(&mut file, about).map_err(failed)?,
            Some((first, line)) => {
                let was: About = parse(path, first, line)?;
                if was != *about {
                    let told = |about: &About| serde_json::to_string(about).unwrap_or_default();
                    let (was, is) = (told(&was), told(about));
                    return Err(RecordError::OfOther { path: path.display().to_string(), was, is });
                }
            }
        }
        let mut recording = Self { path: path.to_owned(), file, recorded: HashSet::new(), reports: Vec::new() };
        for (text, line) in lines {
            recording.take(parse::<Line>(path, text, line)?);
        }
        Ok(recording)
    }

    fn take(&mut self, line: Line) {
        self.recorded.insert(line.name);
        if let Outcome::Run(report) = line.outcome {
            self.reports.push(*report);
        }
    }

    /// The runs that are there.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Whether the run of this name is there.
    pub fn has(&self, name: &str) -> bool {
        self.recorded.contains(name)
    }

    /// Adds a line, at once and for good.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, line: Line) -> Result<(), RecordError> {
        write_line(&mut self.file, &line)
            .map_err(|error| RecordError::File { path: self.path.display().to_string(), error })?;
        self.take(line);
        Ok(())
    }
}

fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()
}

fn parse<'a, T: Deserialize<'a>>(path: &Path, text: &'a str, line: usize) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|error| RecordError::Line {
        path: path.display().to_string(),
        line,
        fault: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        About { suite: "s".into(), processor: "p".into(), cores: 2, kernels: "k".into(), vesica: "1".into() }
    }

    fn refused(name: &str) -> Line {
        Line { name: name.into(), busy_before: None, outcome: Outcome::Refused("too many".into()) }
    }

    #[test]
    fn a_recording_is_taken_up_again_and_a_line_that_was_cut_off_is_not_counted() {
        let folder = std::env::temp_dir().join(format!("vesica-recording-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("s.jsonl");
        let _ = fs::remove_file(&path);
        let mut recording = Recording::open(&path, &about()).expect("begun");
        recording.add(refused("one")).expect("written");
        let mut file = OpenOptions::new().append(true).open(&path).expect("there");
        file.write_all(b"{\"name\":\"two\",\"ref").expect("cut off");
        let mut again = Recording::open(&path, &about()).expect("taken up");
        assert!(again.has("one") && !again.has("two"));
        again.add(refused("two")).expect("written");
        let text = fs::read_to_string(&path).expect("text");
        assert_eq!(text.lines().count(), 3, "{text}");
        let read = crate::report_page::read(std::slice::from_ref(&path)).expect("a recording");
        assert_eq!(read[0].passed_over, 2);
        assert!(read[0].machine.as_ref().is_some_and(|machine| machine.starts_with("p, 2 cores")));
        let other = About { cores: 3, ..about() };
        assert!(matches!(Recording::open(&path, &other), Err(RecordError::OfOther { .. })));
        fs::write(&path, "nonsense\n").expect("written");
        assert!(matches!(Recording::open(&path, &about()), Err(RecordError::Line { line: 1, .. })));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
