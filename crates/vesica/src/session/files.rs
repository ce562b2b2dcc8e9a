//! The files that a run names: no two of those that it reads and writes may be one file, by whatever names.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Config;
use crate::failure::{Failure, code};

/// What each file is to the run, and its name.
pub(super) struct Files(Vec<(&'static str, PathBuf)>);

impl Files {
    pub fn of(config: &Config) -> Self {
        let output = config.destination.as_ref().map(|to| PathBuf::from(&to.path));
        let budget = config.settings.noise.as_ref().map(|noise| noise.budget.clone());
        let named = [
            ("--input", Some(PathBuf::from(&config.source.path))),
            ("--output", output),
            ("--receipt", config.receipt.clone()),
            ("--budget", budget),
        ];
        Self(named.into_iter().filter_map(|(flag, path)| Some((flag, path?))).collect())
    }

    /// Refuses two names of one file.
    pub fn check(&self) -> Result<(), Failure> {
        for (place, (flag, path)) in self.0.iter().enumerate() {
            let Some(file) = Identity::of(flag, path) else { continue };
            let same = |(other, path): &&(&'static str, PathBuf)| Identity::of(other, path).is_some_and(|other| other == file);
            if let Some((other, _)) = self.0[..place].iter().find(same) {
                let fault = format_args!("{other} and {flag} name the same file, {}", path.display()).to_string();
                let told = Some("the partner's command line is not valid");
                return Err(Failure { told, ..Failure::new(code::USAGE, fault, "give each a file of its own") });
            }
        }
        Ok(())
    }
}

/// What makes two names one file. Devices and pipes may have several uses.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Device and number of a file that exists.
    Existing(u64, u64),
    /// Folder, and name in it, of one that does not.
    New(PathBuf, PathBuf),
}

impl Identity {
    fn of(flag: &str, path: &Path) -> Option<Self> {
        let existing = |found: Metadata| found.is_file().then(|| Self::Existing(found.dev(), found.ino()));
        if path == Path::new("-") {
            let metadata = |stream: &dyn AsFd| File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok();
            return match flag {
                "--input" => existing(metadata(&io::stdin())?),
                "--output" => existing(metadata(&io::stdout())?),
                // To others it is a name as any.
                _ => Self::new_in(path),
            };
        }
        match fs::metadata(path) {
            Ok(found) => existing(found),
            Err(_) => Self::new_in(path),
        }
    }

    fn new_in(path: &Path) -> Option<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(Self::New(fs::canonicalize(folder).ok()?, path.file_name()?.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn one_file_under_two_names_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).expect("made");
        fs::write(at("a"), "x").expect("written");
        fs::write(at("b"), "x").expect("written");
        symlink("a", at("to-a")).expect("linked");
        fs::hard_link(at("a"), at("also-a")).expect("linked");
        symlink("sub", at("to-sub")).expect("linked");
        let check = |input: PathBuf, output: PathBuf| Files(vec![("--input", input), ("--output", output)]).check();
        for (input, output) in [
            (at("a"), at("a")),
            (at("a"), at("sub/../a")),
            (at("a"), at("to-a")),
            (at("to-a"), at("also-a")),
            (at("sub/new"), at("to-sub/new")),
        ] {
            let failure = check(input, output.clone()).expect_err("one file");
            assert!(failure.code == code::USAGE && failure.fault.contains("--input and --output name the same file"), "{failure}");
            assert!(failure.told.is_some_and(|told| !told.contains("file")), "the partner learns no name");
        }
        for (input, output) in
            [(at("a"), at("b")), (at("a"), at("new")), (at("new"), at("sub/new")), ("/dev/null".into(), "/dev/null".into())]
        {
            check(input, output).expect("two files");
        }
    }
}
