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
        let path = |path: &Path| Some((path.display().to_string(), FileIdentity::of_path(path)?));
        let named = [
            ("--input", self.input.file().map(|file| (self.input.name(), file))),
            ("--output", self.output.as_ref().and_then(|sink| Some((sink.name(), sink.file()?)))),
            ("--receipt", self.receipt.as_deref().and_then(path)),
            ("--budget", self.budget.as_deref().and_then(path)),
        ];
        let mut earlier: Vec<(&str, FileIdentity)> = Vec::new();
        for (flag, (name, file)) in named.into_iter().filter_map(|(flag, named)| Some((flag, named?))) {
            if let Some((other, _)) = earlier.iter().find(|(_, earlier)| *earlier == file) {
                let fault = format!("{other} and {flag} name the same file, {name}");
                let told = Some("its command line is not valid");
                return Err(Failure { told, ..Failure::new(code::USAGE, fault, "give each a file of its own") });
            }
            earlier.push((flag, file));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::table::{InputOptions, OutputOptions, SinkFile, SourceFile};

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
        let text = |path: PathBuf| path.to_str().expect("text").to_owned();
        let check = |input: PathBuf, output: PathBuf| {
            let input = Arc::new(SourceFile { path: text(input), options: InputOptions::default() });
            let output = SinkFile { path: text(output), options: OutputOptions::default() };
            Files { input, output: Some(Arc::new(output)), receipt: None, budget: None }.check()
        };
        for (input, output) in [
            (at("a"), at("a")),
            (at("a"), at("sub/../a")),
            (at("a"), at("to-a")),
            (at("to-a"), at("also-a")),
            (at("sub/new"), at("to-sub/new")),
        ] {
            let failure = check(input, output.clone()).expect_err("one file");
            assert!(
                failure.code == code::USAGE && failure.fault.contains("--input and --output name the same file"),
                "{failure}"
            );
            assert!(failure.told.is_some_and(|told| !told.contains("file")), "the partner learns no name");
        }
        for (input, output) in [
            (at("a"), at("b")),
            (at("a"), at("new")),
            (at("new"), at("sub/new")),
            ("/dev/null".into(), "/dev/null".into()),
        ] {
            check(input, output).expect("two files");
        }
    }
}
