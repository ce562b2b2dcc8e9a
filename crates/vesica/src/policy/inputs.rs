//! Which files a table may be in.

use std::fmt;
use std::fs;
use std::path::{self, Component, Path, PathBuf};

use crate::table::name_matches;

/// A pattern of paths: `*` stands for any text within a name, `?` for one character, and `**` for folders of any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// As the file has it.
    text: String,
    /// The steps from the root on.
    steps: Vec<String>,
}

impl Inputs {
    /// Reads a pattern that starts at `folder`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        if text.split('/').any(|step| step.contains("**") && step != "**") {
            return Err(format!("has {text:?}: ** stands for folders, and alone between two /"));
        }
        let is_pattern = |step: &&str| step.contains(['*', '?']);
        // Names before the first pattern are of real folders, wherever links lead.
        let fixed: Vec<&str> = text.split('/').take_while(|step| !is_pattern(step)).collect();
        let (fixed, open): (String, Vec<&str>) = match text.split('/').any(|step| is_pattern(&step)) {
            true => (fixed.join("/") + "/", text.split('/').skip(fixed.len()).collect()),
            false => (text.to_owned(), Vec::new()),
        };
        // A pattern that begins with a pattern starts at the folder, one that begins with `/` at the root.
        let fixed = if text.split('/').next().is_some_and(|step| is_pattern(&step)) { String::new() } else { fixed };
        if open.contains(&"..") {
            return Err(format!("has {text:?}: no .. may follow a pattern"));
        }
        let mut steps = steps(&real(&folder.join(fixed))).ok_or_else(|| format!("has {text:?}, which is no path"))?;
        steps.extend(open.into_iter().filter(|step| !matches!(*step, "" | ".")).map(str::to_owned));
        Ok(Self { text: text.to_owned(), steps })
    }

    /// Whether a file may be read.
    pub(super) fn hold(&self, file: &Path) -> bool {
        steps(&real(file)).is_some_and(|found| matches(&self.steps, &found))
    }
}

impl fmt::Display for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The path without links; of what does not exist, as it is named.
fn real(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    fs::canonicalize(path).or_else(|_| path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The names of a path from the root on; `None` if one is no UTF-8, or leads up.
fn steps(path: &Path) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    for step in path.components() {
        match step {
            Component::Normal(name) => steps.push(name.to_str()?.to_owned()),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(steps)
}

fn matches(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "**" => {
            matches(rest, path) || path.split_first().is_some_and(|(_, further)| matches(pattern, further))
        }
        (Some((name, rest)), Some((found, further))) => name_matches(name, found) && matches(rest, further),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn patterns_hold_what_they_name_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = fs::canonicalize(folder.path()).expect("a path");
        fs::create_dir_all(folder.join("export/2026/11")).expect("made");
        for file in ["export/a.csv", "export/2026/b.csv", "export/2026/11/c.parquet", "other.csv"] {
            fs::write(folder.join(file), "id\n").expect("written");
        }
        symlink(folder.join("other.csv"), folder.join("export/link.csv")).expect("linked");
        for (pattern, held) in [
            ("export/a.csv", &["export/a.csv", "export/../export/a.csv", "./export/a.csv"][..]),
            ("export/*.csv", &["export/a.csv", "export/new.csv"]),
            ("export/**", &["export/a.csv", "export/2026/b.csv", "export/2026/11/c.parquet"]),
            ("export/**/*.csv", &["export/a.csv", "export/2026/b.csv"]),
            ("export/?.csv", &["export/a.csv"]),
            ("*.csv", &["other.csv", "export/link.csv"]),
            ("./*/a.csv", &["export/a.csv"]),
            ("**/11/*", &["export/2026/11/c.parquet"]),
            ("export", &[]),
        ] {
            let inputs = Inputs::parse(pattern, &folder).expect(pattern);
            for held in held {
                assert!(inputs.hold(&folder.join(held)), "{pattern} {held}");
            }
            let all = ["export/a.csv", "export/2026/b.csv", "export/2026/11/c.parquet", "other.csv", "export/link.csv"];
            for file in all.into_iter().filter(|file| !held.contains(file)) {
                assert!(!inputs.hold(&folder.join(file)), "{pattern} {file}");
            }
        }
        // From the root on, whatever the folder is.
        let inputs =
            Inputs::parse(&format!("{}/export/*.csv", folder.display()), Path::new("/elsewhere")).expect("one");
        assert!(inputs.hold(&folder.join("export/a.csv")) && !inputs.hold(Path::new("/elsewhere/export/a.csv")));
        let here = Inputs::parse("*.csv", Path::new("")).expect("one");
        assert!(here.hold(Path::new("a.csv")) && !here.hold(Path::new("src/a.csv")));
        for wrong in ["a**/b", "*/../secret.csv"] {
            assert!(Inputs::parse(wrong, &folder).is_err(), "{wrong}");
        }
    }
}
