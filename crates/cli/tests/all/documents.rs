//! The documents: every relative link leads to a file, and the indexes name all of their pages.

use std::fs;
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files of a folder, without those of folders in it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The targets of links to files: `](target)`, without the anchor.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let files = targets.map(|target| target.split('#').next().unwrap_or_default());
    files.filter(|target| !target.is_empty() && !target.contains("://"))
}

#[test]
fn every_link_leads_to_a_file() {
    let top = top();
    let folders = [top.clone(), top.join("docs"), top.join("docs/decisions"), top.join("docs/parameters")];
    let mut found = 0;
    for page in folders.iter().flat_map(|folder| pages(folder)) {
        let text = fs::read_to_string(&page).expect("a readable page");
        for link in links(&text) {
            let target = page.parent().expect("a folder").join(link);
            assert!(target.exists(), "{} links to {link}, which is not there", page.display());
            found += 1;
        }
    }
    assert!(found > 50, "only {found} links were found");
}

#[test]
fn indexes_name_all_of_their_pages() {
    for (index, folder) in [("PARAMETERS.md", "docs/parameters"), ("docs/decisions/README.md", "docs/decisions")] {
        let index = top().join(index);
        let text = fs::read_to_string(&index).expect("an index");
        for page in pages(&top().join(folder)).into_iter().filter(|page| *page != index) {
            let name = page.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(links(&text).any(|link| link.ends_with(&name)), "{} does not name {name}", index.display());
        }
    }
}
