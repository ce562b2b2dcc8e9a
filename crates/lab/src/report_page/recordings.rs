//! Recorded runs from their files: `runs.jsonl` has one run a line, and the README.md beside it names
//! the machine. bench/runs/README.md describes both.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::programs::ProgramReport;
use crate::suite::{About, LeftOut};
use crate::{Report, Spread};

/// The file of runs in a folder.
const FILE: &str = "runs.jsonl";
/// What the line of a README.md that names the machine begins with.
const MACHINE: &str = "- processor: ";
/// Fields that only a report of one protocol has, and so tell it from other kinds of lines.
const MARKS: [&str; 3] = ["protocol", "setup_seconds", "total_bytes"];

/// The field of the spread of a run's times.
const SPREAD: &str = "total_spread";

/// Why runs could not be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableRuns {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is no JSON object, or no whole report.
    #[error("{}, line {line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// What is wrong with it.
        fault: serde_json::Error,
    },
}

/// The runs of one file. Their times can be compared with each other, and not with those of another
/// recording.
#[derive(Debug, Default)]
pub struct Recording {
    /// The folder's name, or the whole path where two recordings have the same name.
    pub label: String,
    /// The processor and what else the README.md says on that line, if it says so.
    pub machine: Option<String>,
    /// Runs in the order of the file, by name.
    pub runs: Vec<(String, Report)>,
    /// Runs of programs of others in the order of the file, by name.
    pub programs: Vec<(String, ProgramReport)>,
    /// Runs that the machine could not make.
    pub left_out: Vec<LeftOut>,
    /// How many lines were no runs of one protocol, and were left out.
    pub passed_over: usize,
}

impl Recording {
    /// How many cores the machine has, if it says so.
    pub fn cores(&self) -> Option<usize> {
        let (before, _) = self.machine.as_ref()?.split_once(" cores")?;
        before.rsplit(' ').next()?.parse().ok()
    }
}

/// Reads recordings; each path is a `runs.jsonl`, or a folder that has one.
///
/// # Errors
/// If a file cannot be read, or has a line that is no JSON object or no whole report.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Recording>, UnreadableRuns> {
    let files: Vec<PathBuf> =
        paths.iter().map(|path| if path.is_dir() { path.join(FILE) } else { path.clone() }).collect();
    let labels: Vec<String> = files.iter().map(|file| short_label(file)).collect();
    let is_unique = |label: &String| labels.iter().filter(|other| *other == label).count() == 1;
    files
        .iter()
        .zip(&labels)
        .map(|(file, label)| {
            let label = if is_unique(label) { label.clone() } else { file.display().to_string() };
            read_one(file, label)
        })
        .collect()
}

/// The name of the folder that has the file; the file's own name where that does not say more.
fn short_label(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name).filter(|_| file.file_name().is_some_and(|name| name == FILE));
    folder.or(file.file_name()).unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

fn read_one(file: &Path, label: String) -> Result<Recording, UnreadableRuns> {
    let text = fs::read_to_string(file).map_err(|source| UnreadableRuns::File { path: file.to_path_buf(), source })?;
    let about = fs::read_to_string(file.with_file_name("README.md")).unwrap_or_default();
    let machine = about.lines().find_map(|line| line.strip_prefix(MACHINE)).map(|text| text.trim().to_owned());
    // A suite's recording says it itself.
    let about: Option<About> = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
    let lines_before_runs = usize::from(about.is_some());
    let machine = about.map(|about| about.machine()).or(machine);
    let mut recording =
        Recording { label, machine, runs: Vec::new(), programs: Vec::new(), left_out: Vec::new(), passed_over: 0 };
    let lines = text.lines().enumerate().skip(lines_before_runs);
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        match parse(line) {
            Ok(Some((name, Entry::Run(run)))) => recording.runs.push((name, *run)),
            Ok(Some((name, Entry::Program(program)))) => recording.programs.push((name, *program)),
            Ok(Some((_, Entry::LeftOut(left_out)))) => recording.left_out.push(*left_out),
            Ok(None) => recording.passed_over += 1,
            Err(fault) => {
                return Err(UnreadableRuns::Line { path: file.to_path_buf(), line: number + 1, fault });
            }
        }
    }
    Ok(recording)
}

/// What a line holds.
#[derive(Debug)]
enum Entry {
    Run(Box<Report>),
    Program(Box<ProgramReport>),
    LeftOut(Box<LeftOut>),
}

/// The run of a line; nothing where the line is of another kind: a refusal, facts of the machine,
/// another program by hand, whole commands.
fn parse(line: &str) -> Result<Option<(String, Entry)>, serde_json::Error> {
    let fields: serde_json::Map<String, Value> = serde_json::from_str(line)?;
    if let (Some(Value::String(name)), Some(program)) = (fields.get("name"), fields.get("program")) {
        return Ok(Some((name.clone(), Entry::Program(Box::new(ProgramReport::deserialize(program)?)))));
    }
    if let (Some(Value::String(name)), Some(left_out)) = (fields.get("name"), fields.get("left-out")) {
        return Ok(Some((name.clone(), Entry::LeftOut(Box::new(LeftOut::deserialize(left_out)?)))));
    }
    let (Some(Value::String(name)), Some(run)) = (fields.get("name"), fields.get("run")) else { return Ok(None) };
    if MARKS.iter().any(|mark| run.get(mark).is_none()) {
        return Ok(None);
    }
    let mut run = run.clone();
    if let (None, Some(samples)) = (run.get(SPREAD), run.get("samples").and_then(Value::as_array)) {
        // The first recordings had samples without their spread.
        let spread = Spread::of(samples.iter().filter_map(|sample| sample.get("total_seconds")?.as_f64()));
        let spread = serde_json::to_value(spread)?;
        if let Some(fields) = run.as_object_mut() {
            fields.insert(SPREAD.into(), spread);
        }
    }
    Ok(Some((name.clone(), Entry::Run(Box::new(Report::deserialize(run)?)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_kinds_are_passed_over_and_malformed_ones_are_errors() {
        for other in [
            r#"{"machine":{"processor":"x"}}"#,
            r#"{"name":"a","refused":"too large"}"#,
            r#"{"name":"public-x","run":{"name":"x","commit":"1","runs":[]}}"#,
            r#"{"name":"commands","run":{"protocol":"rr22","task":"commands","total_seconds":1.5}}"#,
        ] {
            assert!(matches!(parse(other), Ok(None)), "{other}");
        }
        for malformed in [
            "{",
            "7",
            r#"{"name":"a","run":{"protocol":"rr22","setup_seconds":1.0,"total_bytes":"many"}}"#,
            r#"{"name":"a","program":{"program":"x"}}"#,
        ] {
            assert!(parse(malformed).is_err(), "{malformed}");
        }
    }

    /// Every file of runs that the repository has.
    #[test]
    fn the_recorded_runs_are_read() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs");
        let folders = fs::read_dir(top).expect("recorded runs").map(|entry| entry.expect("an entry").path());
        let folders: Vec<PathBuf> = folders.filter(|folder| folder.join(FILE).is_file()).collect();
        let recordings = read(&folders).expect("readable runs");
        assert!(recordings.iter().map(|recording| recording.runs.len()).sum::<usize>() > 1000);
        assert!(recordings.iter().any(|recording| recording.passed_over > 0));
        assert!(recordings.iter().any(|recording| recording.machine.as_ref().is_some_and(|text| text.contains("AMD"))));
        assert!(recordings.iter().any(|recording| recording.cores() == Some(2)));
        assert!(recordings.iter().any(|recording| recording.cores() == Some(16)));
    }

    #[test]
    fn recordings_are_named_by_their_folders_where_that_tells_them_apart() {
        let folder = std::env::temp_dir().join(format!("vesica-recordings-{}", std::process::id()));
        let paths: Vec<PathBuf> = ["a/x", "b/x", "b/y"].iter().map(|name| folder.join(name)).collect();
        for path in &paths {
            fs::create_dir_all(path).expect("a folder");
            fs::write(path.join(FILE), "\n{\"machine\":{}}\n").expect("a file");
        }
        let recordings = read(&paths).expect("readable");
        assert_eq!(recordings[2].label, "y");
        assert!(recordings[0].label.ends_with("a/x/runs.jsonl") && recordings[0].passed_over == 1);
        fs::write(paths[2].join(FILE), "{}\n\n{").expect("a file");
        let error = read(&paths).expect_err("malformed").to_string();
        assert!(error.contains("b/y/runs.jsonl, line 3: "), "{error}");
        fs::remove_dir_all(folder).expect("removed");
    }
}
