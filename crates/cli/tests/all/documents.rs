//! The documents: every relative link leads to a file, every path of code is there, the indexes name all of their pages,
//! and what they say of exit codes, versions and the installation is true.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::Folder;

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
fn pages_say_which_wire_format_this_is() {
    let version = vesica::handshake::WIRE_VERSION;
    let page = |name: &str| fs::read_to_string(top().join(name)).expect("a page");
    assert!(page("docs/operating.md").contains(&format!("({version} in this release")));
    assert!(page("CHANGELOG.md").contains(&format!("The wire format is number {version}.")));
}

#[test]
fn every_link_leads_to_a_file() {
    let top = top();
    let folders = ["", "docs", "docs/audit", "docs/decisions", "docs/guides", "docs/parameters"];
    let mut found = 0;
    for page in folders.iter().flat_map(|folder| pages(&top.join(folder))) {
        let text = fs::read_to_string(&page).expect("a readable page");
        for link in links(&text) {
            let target = page.parent().expect("a folder").join(link);
            assert!(target.exists(), "{} links to {link}, which is not there", page.display());
            found += 1;
        }
    }
    assert!(found > 50, "only {found} links were found");
}

/// The paths between backticks of a text that begin with `crates/` or with the name of a crate (whose `src` they are in), as
/// paths from the top; `{a,b}` stands for two. A last step without an ending may be a module.
fn named_paths(text: &str) -> Vec<String> {
    let in_path = |char: char| char.is_ascii_alphanumeric() || "_-./{},".contains(char);
    let spans = text.split('`').skip(1).step_by(2).filter(|span| span.contains('/') && span.chars().all(in_path));
    let crates = top().join("crates");
    let mut paths = Vec::new();
    for span in spans {
        let first = span.split('/').next().unwrap_or_default();
        let from_top = match first {
            "crates" => span.to_owned(),
            // The crate `vesica` is named from the top: `vesica/` alone is the folder of a user's settings.
            "" | "vesica" => continue,
            _ if crates.join(first).is_dir() => format!("crates/{first}/src{}", &span[first.len()..]),
            _ => continue,
        };
        let mut ways = vec![from_top];
        while let Some(at) = ways.iter().position(|way| way.contains('{')) {
            let way = ways.swap_remove(at);
            let (before, rest) = way.split_once('{').expect("a brace");
            let (each, after) = rest.split_once('}').expect("the end of a brace");
            ways.extend(each.split(',').map(|one| format!("{before}{one}{after}")));
        }
        paths.extend(ways);
    }
    paths
}

#[test]
fn every_path_of_code_that_a_page_names_is_there() {
    let top = top();
    let folders = ["", "docs", "docs/decisions", "docs/guides", "docs/parameters", "docs/protocols"];
    let mut found = 0;
    for page in folders.iter().flat_map(|folder| pages(&top.join(folder))) {
        // A changelog names what was there.
        if page.ends_with("CHANGELOG.md") {
            continue;
        }
        for path in named_paths(&fs::read_to_string(&page).expect("a readable page")) {
            let module = top.join(format!("{}.rs", path.trim_end_matches('/')));
            let other = top.join(path.replacen("/src/", "/", 1));
            assert!(
                top.join(&path).exists() || module.exists() || other.exists(),
                "{} names {path}, which is not there",
                page.display()
            );
            found += 1;
        }
    }
    assert!(found > 100, "only {found} paths were found");
}

#[test]
fn indexes_name_all_of_their_pages() {
    let indexes = [
        ("AUDIT.md", "docs/audit"),
        ("PARAMETERS.md", "docs/parameters"),
        ("docs/decisions/README.md", "docs/decisions"),
    ];
    for (index, folder) in indexes {
        let index = top().join(index);
        let text = fs::read_to_string(&index).expect("an index");
        for page in pages(&top().join(folder)).into_iter().filter(|page| *page != index) {
            let name = page.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(links(&text).any(|link| link.ends_with(&name)), "{} does not name {name}", index.display());
        }
    }
}

/// docs/tasks.md has a row for each task.
#[test]
fn the_page_on_tasks_has_every_task() {
    let page = fs::read_to_string(top().join("docs/tasks.md")).expect("a page");
    for name in vesica::task::names() {
        assert!(page.lines().any(|line| line.starts_with(&format!("| `{name}` |"))), "docs/tasks.md has no {name}");
    }
}

/// Each exit code that `vesica --help` lists has a row in docs/operating.md, and no other has.
#[test]
fn the_page_on_operating_has_every_exit_code() {
    let help = Folder::new().run("--help").stdout;
    let (_, listed) = help.split_once("Exit codes:").expect("a list");
    let codes = |text: &str| -> Vec<u8> { text.split([' ', ',', '\n']).filter_map(|word| word.parse().ok()).collect() };
    let page = fs::read_to_string(top().join("docs/operating.md")).expect("a page");
    let (_, table) = page.split_once("| code |").expect("a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let described: Vec<u8> = rows.flat_map(|row| codes(row.split('|').nth(1).expect("a cell")).into_iter()).collect();
    // Zero is in the sentence before the table.
    assert_eq!(codes(listed).split_first(), Some((&0, &described[..])));
}

#[test]
fn the_changelog_has_the_version_that_the_program_prints() {
    let printed = Folder::new().run("--version").stdout;
    let version = printed.trim().strip_prefix("vesica ").expect("a version");
    let changes = fs::read_to_string(top().join("CHANGELOG.md")).expect("a list of changes");
    assert!(changes.lines().any(|line| line.starts_with(&format!("## {version} "))), "CHANGELOG.md has no {version}");
}

/// `packaging/install` installs the program with its manual and completions, and refuses what is no program.
#[test]
fn the_script_installs_program_manual_and_completions() {
    let folder = Folder::new();
    let script = top().join("packaging/install");
    let install = |program: &Path| {
        let mut command = Command::new(&script);
        command.arg("--prefix").arg(folder.path("a place")).arg(program).output().expect("started")
    };
    let refused = install(&folder.path("us.pub"));
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no program"));
    let installed = install(Path::new(crate::PROGRAM));
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    for (file, text) in [
        ("share/man/man1/vesica-receive.1", "normalise"),
        ("share/bash-completion/completions/vesica", "_vesica"),
        ("share/zsh/site-functions/_vesica", "#compdef vesica"),
        ("share/fish/vendor_completions.d/vesica.fish", "complete -c vesica"),
    ] {
        assert!(folder.read(&format!("a place/{file}")).contains(text), "{file}");
    }
    let version = Command::new(folder.path("a place/bin/vesica")).arg("--version").output().expect("started");
    assert!(version.status.success());
}
