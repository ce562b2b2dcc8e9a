//! Small files, and names of files beside others. Reading them whole: what a user names may be anything, and a wrong name must not fill the
//! memory.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The text of a file of at most `limit` bytes, without the byte-order mark that some editors write in front of it.
///
/// # Errors
/// If it cannot be read, is longer, or is no UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, limit)?);
    let text = text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))?;
    Ok(unmarked(text))
}

/// As [`read_text`], for a file of which each line counts for itself: bytes that are no UTF-8 become U+FFFD.
///
/// # Errors
/// If it cannot be read, or is longer.
pub fn read_lines(path: &Path, limit: u64) -> io::Result<String> {
    Ok(unmarked(String::from_utf8_lossy(&read(path, limit)?).into_owned()))
}

fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if File::open(path)?.take(limit + 1).read_to_end(&mut bytes)? as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is longer than the {limit} bytes that such a file may have"),
        ));
    }
    Ok(bytes)
}

fn unmarked(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(unmarked) => unmarked.to_owned(),
        None => text,
    }
}

/// The file beside this one whose name ends so behind the name of this one.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "four").expect("written");
        assert_eq!(read_text(&path, 4).ok().as_deref(), Some("four"));
        let error = read_text(&path, 3).expect_err("too long");
        assert_eq!(error.to_string(), "it is longer than the 3 bytes that such a file may have");
        assert!(read_text(Path::new("/dev/zero"), 1 << 20).is_err());
        std::fs::write(&path, "\u{feff}[acme]\r\n").expect("written");
        assert_eq!(read_text(&path, 20).ok().as_deref(), Some("[acme]\r\n"));
        std::fs::write(&path, b"one\n\xff\n").expect("written");
        assert!(read_text(&path, 20).is_err());
        assert_eq!(read_lines(&path, 20).ok().as_deref(), Some("one\n\u{fffd}\n"));
    }
}
