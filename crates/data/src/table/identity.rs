//! What makes two names one file.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file, by whatever name. Devices and pipes have none: they may have several uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity(Known);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// Device and number of a file that exists.
    Existing(u64, u64),
    /// Folder, and name in it, of one that does not.
    New(PathBuf, PathBuf),
}

impl FileIdentity {
    /// The file of this name, which need not exist.
    pub fn of_path(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(found) => Self::existing(&found),
            Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                Some(Self(Known::New(fs::canonicalize(folder).ok()?, path.file_name()?.into())))
            }
        }
    }

    /// The file that standard input is.
    pub fn of_standard_input() -> Option<Self> {
        Self::of_stream(&io::stdin())
    }

    /// The file that standard output is.
    pub fn of_standard_output() -> Option<Self> {
        Self::of_stream(&io::stdout())
    }

    fn of_stream(stream: &dyn AsFd) -> Option<Self> {
        Self::existing(&File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()?)
    }

    fn existing(found: &Metadata) -> Option<Self> {
        found.is_file().then(|| Self(Known::Existing(found.dev(), found.ino())))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn one_file_under_two_names_has_one_identity() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).expect("made");
        fs::write(at("a"), "x").expect("written");
        fs::write(at("b"), "x").expect("written");
        symlink("a", at("to-a")).expect("linked");
        fs::hard_link(at("a"), at("also-a")).expect("linked");
        symlink("sub", at("to-sub")).expect("linked");
        let of = |name: &str| FileIdentity::of_path(&at(name)).expect("a file");
        for (one, other) in
            [("a", "a"), ("a", "sub/../a"), ("a", "to-a"), ("to-a", "also-a"), ("sub/new", "to-sub/new")]
        {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
        for (one, other) in [("a", "b"), ("a", "new"), ("new", "sub/new")] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
        assert_eq!(FileIdentity::of_path(Path::new("/dev/null")), None);
    }
}
