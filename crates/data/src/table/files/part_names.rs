//! The files behind one name: a file, all files of a folder, or those whose names match a pattern. Folders of a
//! partitioned table (`dt=2026-01-01`) are gone into.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::table::files::managed::Managed;
use crate::table::files::partitions::is_partition;
use crate::table::{Packing, TableError};

/// Folders of a partitioned table in one another, at most: links among them could go round for ever.
const MOST_FOLDERS: usize = 16;

/// The files that are one table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// What the name itself stands for: a file, a pipe, standard input, or nothing at all.
    One,
    /// Files in order of their names, at least one.
    Parts(PartNames),
}

/// The files behind a folder or a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PartNames {
    /// Their paths.
    pub paths: Vec<String>,
    /// What all paths begin with: the folder, or what stands before the first step with a `*` or `?`.
    pub base: String,
}

/// What `path` names. A name with `*` or `?` is a pattern, unless there is a file of that name.
pub(crate) fn named(path: &str) -> Result<Named, TableError> {
    if path == "-" {
        return Ok(Named::One);
    }
    let folder_of = |path: &str| Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
    let mut managed = Managed::default();
    let (base, parts) = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            managed.refuse(Path::new(path), Path::new(path))?;
            (path, files_in(Path::new(path), path, MOST_FOLDERS)?)
        }
        Ok(found) => {
            if found.is_file() {
                managed.refuse(&folder_of(path), &folder_of(path))?;
            }
            return Ok(Named::One);
        }
        Err(_) if is_pattern(path) => (fixed(path), matching(path)?),
        Err(_) => return Ok(Named::One),
    };
    if parts.is_empty() {
        return Err(TableError::NoParts { path: path.to_owned() });
    }
    for part in &parts {
        managed.refuse(&folder_of(part), Path::new(base))?;
        let failed = |source| TableError::Open { path: part.clone(), source };
        let kind = fs::metadata(part).map_err(failed)?.file_type();
        if kind.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if !kind.is_file() {
            return Err(failed(io::Error::other("it is a pipe or a device, which cannot be one of several files")));
        }
    }
    refuse_twins(&parts)?;
    Ok(Named::Parts(PartNames { paths: parts, base: base.to_owned() }))
}

/// Refuses a file beside its packed copy.
fn refuse_twins(parts: &[String]) -> Result<(), TableError> {
    let mut seen = HashMap::with_capacity(parts.len());
    for part in parts {
        let lower = part.to_ascii_lowercase();
        let (unpacked, _) = Packing::of_name(&lower);
        if let Some(other) = seen.insert(unpacked.to_owned(), part)
            && other.to_ascii_lowercase() != lower
        {
            return Err(TableError::PackedTwin { one: other.clone(), other: part.clone() });
        }
    }
    Ok(())
}

/// What of a pattern stands before its first step with a `*` or `?`.
fn fixed(pattern: &str) -> &str {
    let steps = pattern.split_inclusive('/').take_while(|step| !is_pattern(step));
    pattern.get(..steps.map(str::len).sum()).unwrap_or_default()
}

/// All files of a folder, and of those in it whose names say that they are parts of a partitioned table.
fn files_in(folder: &Path, whole: &str, depth: usize) -> Result<Vec<String>, TableError> {
    let mut files = Vec::new();
    for entry in entries(folder, "*", whole)? {
        match is_partition_folder(Path::new(&entry)) && depth > 0 {
            true => files.extend(files_in(Path::new(&entry), whole, depth - 1)?),
            false => files.push(entry),
        }
    }
    Ok(files)
}

fn is_partition_folder(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_partition) && path.is_dir()
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The names that match `pattern`, in order. A `*` or `?` stands for no `/`.
fn matching(pattern: &str) -> Result<Vec<String>, TableError> {
    if pattern.split('/').any(|step| step.contains("**")) {
        return Err(TableError::Option(
            format!("cannot read {pattern}: `**` does not stand for folders of any depth"),
            "write one `*` for each folder on the way",
        ));
    }
    let mut found = vec![String::new()];
    let mut steps = pattern.split_inclusive('/').peekable();
    while let Some(step) = steps.next() {
        let (name, slash) = step.strip_suffix('/').map_or((step, ""), |name| (name, "/"));
        let mut next = Vec::new();
        for before in &found {
            if !is_pattern(name) {
                next.push(format!("{before}{step}"));
                continue;
            }
            let folder = if before.is_empty() { "." } else { before };
            // Only the folders on the way have something in them.
            let is_last = steps.peek().is_none();
            if !is_last && !Path::new(folder).is_dir() {
                continue;
            }
            for entry in entries(Path::new(folder), name, pattern)? {
                let entry = if before.is_empty() { entry.strip_prefix("./").unwrap_or(&entry) } else { &entry };
                if is_last || Path::new(entry).is_dir() {
                    next.push(format!("{entry}{slash}"));
                }
            }
        }
        found = next;
    }
    // Without a pattern in the last step, not each folder needs to have a file of that name.
    found.retain(|path| fs::symlink_metadata(path).is_ok());
    found.sort_unstable();
    let mut files = Vec::with_capacity(found.len());
    for path in found {
        match is_partition_folder(Path::new(&path)) {
            true => files.extend(files_in(Path::new(&path), pattern, MOST_FOLDERS)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

/// What is in a folder under names that match, in order. Names that begin with a dot or `_` are
/// left out, as of files that programs keep beside a table, unless the pattern begins so, or a `_` begins the name of
/// a column (`_dt=2026-01-01`).
fn entries(folder: &Path, pattern: &str, whole: &str) -> Result<Vec<String>, TableError> {
    let failed = |source| TableError::Open { path: folder.display().to_string(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let Some(name) = name.to_str() else {
            let fault = format!("cannot read {whole}: a name in the folder {} is not UTF-8", folder.display());
            return Err(TableError::Option(fault, "rename this file"));
        };
        let is_beside = name.starts_with('.') || (name.starts_with('_') && !name.contains('='));
        let is_beside = is_beside && !pattern.starts_with(['.', '_']);
        if !is_beside
            && matches(pattern, name)
            && let Some(path) = folder.join(name).to_str()
        {
            found.push(path.to_owned());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether `name` matches: `*` stands for any text, `?` for one character.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    // Behind the last star, and where the text that it stands for ends.
    let mut star = None;
    loop {
        let (wanted, found) = (pattern.clone().next(), name.clone().next());
        match (wanted, found) {
            (Some('*'), _) => {
                pattern.next();
                star = Some((pattern.clone(), name.clone()));
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                pattern.next();
                name.next();
            }
            (None, None) => return true,
            _ => {
                let Some((behind, mut end)) = star else { return false };
                if end.next().is_none() {
                    return false;
                }
                star = Some((behind.clone(), end.clone()));
                (pattern, name) = (behind, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "abc"),
            ("a*c", "ac"),
            ("a*c", "abcbc"),
            ("*.csv", "a.csv.csv"),
            ("part-?.csv", "part-ä.csv"),
            ("a*b*c", "aXbYbZc"),
            ("[1].csv", "[1].csv"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("?", ""), ("?", "ab"), ("a*c", "acb"), ("*.csv", "a.csv.gz"), ("a*b*c", "acb"), ("A*", "a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn names_become_files_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
        for sub in ["d", "year=1", "year=2", "year=3", "_temporary", "empty"] {
            fs::create_dir(at(sub)).expect("made");
        }
        for name in [
            "p-2.csv",
            "p-10.csv",
            "p-1.csv",
            "q*.csv",
            "d/b.csv",
            "d/a.csv",
            "d/.a.csv.crc",
            "d/_SUCCESS",
            "year=2/x",
            "year=1/x",
            "year=3/y",
            "_temporary/x",
        ] {
            fs::write(at(name), "id\n1\n").expect("written");
        }
        let parts = |path: &str| match named(&at(path)) {
            Ok(Named::Parts(parts)) => parts.paths.iter().map(|part| part[at("").len()..].to_owned()).collect(),
            Ok(Named::One) => vec!["one".to_owned()],
            Err(error) => vec![error.to_string()],
        };
        assert_eq!(parts("p-*.csv"), ["p-1.csv", "p-10.csv", "p-2.csv"]);
        assert_eq!(parts("p-?.csv"), ["p-1.csv", "p-2.csv"]);
        assert_eq!(parts("q*.csv"), ["one"], "a file of this name comes first");
        assert_eq!(parts("d"), ["d/a.csv", "d/b.csv"]);
        assert_eq!(parts("d/"), ["d/a.csv", "d/b.csv"]);
        assert_eq!(parts("d/_*"), ["d/_SUCCESS"]);
        assert_eq!(parts("year=*/x"), ["year=1/x", "year=2/x"]);
        assert_eq!(parts("*/x"), ["year=1/x", "year=2/x"]);
        assert_eq!(parts("nothing.csv"), ["one"], "the error of a missing file is its own");
        for path in ["p-*.parquet", "empty", "empty/*", "none/*.csv/x"] {
            let [error] = &parts(path)[..] else { panic!("{path}") };
            assert!(error.contains("no file") || error.contains("cannot open"), "{path}: {error}");
        }
        assert!(parts("**/x")[0].contains("**"));
        for (path, base) in [("d", "d"), ("year=*/x", ""), ("year=2/*", "year=2/")] {
            let Ok(Named::Parts(parts)) = named(&at(path)) else { panic!("{path}") };
            assert_eq!(parts.base, at(base), "{path}");
        }
        // Folders of a partitioned table are gone into.
        assert_eq!(parts("year=?"), ["year=1/x", "year=2/x", "year=3/y"]);
        fs::create_dir_all(at("h/a=1/b=x")).expect("made");
        fs::create_dir_all(at("h/_c=1")).expect("made");
        for name in ["h/a=1/b=x/p.csv", "h/_c=1/p.csv", "h/a=1/_SUCCESS"] {
            fs::write(at(name), "id\n").expect("written");
        }
        assert_eq!(parts("h"), ["h/_c=1/p.csv", "h/a=1/b=x/p.csv"]);
        std::os::unix::fs::symlink(".", at("h/a=1/l=1")).expect("made");
        assert!(parts("h")[0].contains("cannot open"), "a link that goes round");
        // A folder in a folder, and a pipe, are no files.
        assert!(matches!(named(&at("*")), Err(TableError::Open { .. })));
    }
}
