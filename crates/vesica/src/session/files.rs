//! The files that a run names: no two of those that it reads and writes may be one file, by
//! whatever names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Config;
use crate::failure::{Failure, code};
use crate::table::{FileIdentity, OpenSink, OpenSource};

/// What a run reads and writes.
pub(super) struct Files {
    input: Arc<dyn OpenSource>,
    output: Option<Arc<dyn OpenSink>>,
    receipt: Option<PathBuf>,
    budget: Option<PathBuf>,
}

impl Files {
    pub fn of(config: &Config) -> Self {
        Self {
            input: config.source.table.clone(),
            output: config.destination.as_ref().map(|to| to.sink.clone()),
            receipt: config.receipt.clone(),
            budget: config.settings.noise.as_ref().map(|noise| noise.budget.clone()),
        }
    }

    /// Refuses two names of one file.
    pub fn check(&self) -> Result<(), Failure> {
        let written = self.output.as_ref().and_then(|sink| sink.file()).into_iter().collect();
        refuse_one_file([
            ("--input", self.input.name(), self.input.files()),
            ("--output", self.output.as_ref().map_or_else(String::new, |sink| sink.name()), written),
            named_path("--receipt", self.receipt.as_deref()),
            named_path("--budget", self.budget.as_deref()),
        ])
    }
}

/// A flag, the name that errors show, and the files that it names: several where they are one table.
pub(crate) type NamedFiles = (&'static str, String, Vec<FileIdentity>);

/// A flag that names a file, if it is given.
pub(crate) fn named_path(flag: &'static str, path: Option<&Path>) -> NamedFiles {
    let name = path.map_or_else(String::new, |path| path.display().to_string());
    (flag, name, path.and_then(FileIdentity::of_path).into_iter().collect())
}

/// Refuses two flags that name one file. What is no file is absent.
pub(crate) fn refuse_one_file<const FLAGS: usize>(named: [NamedFiles; FLAGS]) -> Result<(), Failure> {
    let mut earlier: Vec<(&str, Vec<FileIdentity>)> = Vec::new();
    for (flag, name, files) in named {
        if let Some((other, _)) = earlier.iter().find(|(_, earlier)| files.iter().any(|file| earlier.contains(file))) {
            let fault = format!("{other} and {flag} name the same file, {name}");
            let told = Some("its command line is not valid");
            return Err(Failure { told, ..Failure::new(code::USAGE, fault, "give each a file of its own") });
        }
        earlier.push((flag, files));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::table::{InputOptions, OutputOptions, SinkFile, SourceFile};

    /// Which names are one file is tested where files are identified.
    #[test]
    fn one_file_under_two_names_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
        fs::write(at("table"), "x").expect("written");
        symlink("table", at("link")).expect("linked");
        let check = |input: &str, output: &str| {
            let input = Arc::new(SourceFile { path: input.to_owned(), options: InputOptions::default() });
            let output = SinkFile { path: output.to_owned(), options: OutputOptions::default() };
            Files { input, output: Some(Arc::new(output)), receipt: None, budget: None }.check()
        };
        for output in ["table", "link"] {
            let failure = check(&at("table"), &at(output)).expect_err("one file");
            assert!(
                failure.code == code::USAGE && failure.fault.contains("--input and --output name the same file"),
                "{failure}"
            );
            assert!(failure.told.is_some_and(|told| !told.contains("file")), "the partner learns no name");
        }
        for input in [&at("ta*"), folder.path().to_str().expect("text")] {
            assert!(check(input, &at("table")).is_err(), "a part of {input}");
        }
        check(&at("table"), &at("new")).expect("two files");
        check("/dev/null", "/dev/null").expect("a device may have several uses");
    }
}
