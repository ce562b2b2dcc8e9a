//! Every flag that documents and help texts name exists.

use std::collections::BTreeSet;

use super::{HELPS, PAGES, page};
use crate::harness::Folder;

/// Flags of other programs that the documents name: of compilers, of cargo, of zstd, of containers, and of scripts of this
/// tree.
const OF_OTHERS: [&str; 23] = [
    "--release",
    "--locked",
    "--workspace",
    "--bin",
    "--profile",
    "--package",
    "--path",
    "--prefix",
    "--image",
    "--quick",
    "--name",
    "--test",
    "--publish",
    "--features",
    "--long",
    "--ultra",
    "--file",
    "--signal",
    "--tag",
    "--version",
    "--volume",
    "--no-healthcheck",
    "--entrypoint",
];

/// The flags that a text names.
fn flags(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let starts = !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '-');
        let rest = &text[at + 2..];
        let name: String = rest.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect();
        let name = name.trim_end_matches('-');
        if starts && rest.starts_with(|first: char| first.is_ascii_lowercase()) {
            found.insert(format!("--{name}"));
        }
    }
    found
}

#[test]
fn every_flag_that_is_named_exists() {
    let folder = Folder::new();
    let helps = HELPS.iter().map(|name| (*name, folder.run(&format!("{name} --help")).stdout));
    let helps: Vec<(&str, String)> = helps.collect();
    // A line that defines a flag begins with it, or with its short form.
    let defines = |line: &&str| line.trim_start().starts_with('-');
    let known: BTreeSet<String> =
        helps.iter().flat_map(|(_, help)| help.lines().filter(defines).flat_map(flags)).collect();
    assert!(known.len() > 60, "only {} flags were found", known.len());
    let pages = PAGES.iter().map(|name| (*name, page(name)));
    for (name, text) in pages.chain(helps.iter().map(|(name, help)| (*name, help.clone()))) {
        let unknown: Vec<String> = flags(&text)
            .into_iter()
            .filter(|flag| !known.contains(flag) && !OF_OTHERS.contains(&flag.as_str()))
            .collect();
        assert!(unknown.is_empty(), "{name} names flags that no command has: {unknown:?}");
    }
}
