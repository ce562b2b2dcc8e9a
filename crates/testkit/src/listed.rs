//! Whether a crate's list of messages has all of them.

use std::path::Path;
use std::{fs, io};

use vesica_party::fuzzing::AnyMessage;

/// Checks that each `impl Message` and `impl Fixed` below `source`, and each message of an `arrows!`, is in the
/// `messages!` of its file, and that `listed`, the crate's list, has them all. Tests, which a file has at its end, are
/// left out.
///
/// # Panics
/// If a message is missing, or a file cannot be read.
pub fn assert_all_listed<'a>(source: impl AsRef<Path>, listed: impl Iterator<Item = &'a AnyMessage>) {
    let mut implemented = 0;
    for_each_file(source.as_ref(), &mut |path, text| {
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let list = shipped
            .split_once("vesica_party::messages![")
            .and_then(|(_, list)| list.split_once("];"))
            .map_or("", |(list, _)| list);
        let list: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let names = shipped.lines().filter_map(message_of);
        let mut count = 0;
        for name in names {
            assert!(list.contains(&name), "{}: messages! lacks {name}", path.display());
            count += 1;
        }
        assert_eq!(list.len(), count, "{}: messages! has {list:?}, and {count} are implemented", path.display());
        implemented += count;
    })
    .unwrap_or_else(|fault| panic!("cannot read {}: {fault}", source.as_ref().display()));
    assert!(implemented > 0, "no message below {}", source.as_ref().display());
    assert_eq!(listed.count(), implemented, "the crate's list and the files' lists differ");
}

/// The name of the message that a line implements, or declares in an `arrows!`.
fn message_of(line: &str) -> Option<&str> {
    let implemented = ["impl Message for ", "impl Fixed for "].iter().find_map(|head| line.strip_prefix(head));
    let declared = || {
        let (head, rest) = line.split_once("fixed ").or_else(|| line.split_once("counted "))?;
        let is_item = matches!(head.trim(), "" | "pub" | "pub(super)" | "pub(crate)");
        (is_item && rest.starts_with(|first: char| first.is_ascii_uppercase())).then_some(rest)
    };
    implemented.or_else(declared)?.split(['(', '[', ' ']).next()
}

/// Goes through the Rust files below a folder.
fn for_each_file(folder: &Path, visit: &mut impl FnMut(&Path, &str)) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            for_each_file(&path, visit)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path, &fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
