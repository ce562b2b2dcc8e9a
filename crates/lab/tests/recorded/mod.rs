//! Recorded runs: `bench/runs/<date>-<machine>/runs.jsonl` has one run a line, as
//! `bench/runs/README.md` says.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// The file's name in each folder of runs.
pub const FILE: &str = "runs.jsonl";

/// One line of such a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The run's name, once in a folder.
    pub name: String,
    /// What `vesica-lab bench --json` printed, or the figures of another program.
    #[serde(default)]
    pub run: Value,
    /// Why there is no run.
    #[serde(default, rename = "left-out")]
    _left_out: Value,
    /// In a suite's recording: how busy other programs kept the machine before the run.
    #[serde(default, rename = "busy_before")]
    _busy_before: Option<f64>,
}

/// All runs of a folder's file, in their order. An error names the file and the line. The first line of a
/// suite's recording is no run.
pub fn read(folder: &Path) -> Result<Vec<Line>, Box<dyn Error>> {
    let path = folder.join(FILE);
    let text = fs::read_to_string(&path).map_err(|fault| format!("{}: {fault}", path.display()))?;
    let parse = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|fault| format!("{}, line {}: {fault}", path.display(), at + 1).into())
    };
    let lines = text.lines().enumerate();
    let mut lines: Vec<Line> = lines
        .filter(|(at, line)| *at > 0 || !line.starts_with("{\"suite\":"))
        .map(parse)
        .collect::<Result<_, Box<dyn Error>>>()?;
    lines.retain(|line| !line.run.is_null());
    Ok(lines)
}
