//! What is handed out can be built from what its lists name: the image of packaging/Containerfile from
//! `.dockerignore`, and the Python package from its source distribution. Nightly builds both wholly; here
//! their trees are laid from the lists alone, and looked over without a compiler. `packaging/release` makes
//! nothing here, and says why. Of the manual, what mdBook takes is laid.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::metadata::{Metadata, Package};

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Lays a tree of what `listed` names below the repository, files and folders.
fn laid(listed: &BTreeSet<PathBuf>) -> TempDir {
    let tree = tempfile::tempdir().expect("a folder");
    for name in listed {
        copy(&Path::new(TOP).join(name), &tree.path().join(name));
    }
    tree
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for entry in fs::read_dir(from).expect("readable") {
            let name = entry.expect("readable").file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(from, to).unwrap_or_else(|fault| panic!("{} is listed: {fault}", from.display()));
    }
}

/// The packages of the workspace that `name` is made of; `with_tests`, also those that its tests and theirs take.
fn parts_of<'a>(workspace: &'a Metadata, name: &str, with_tests: bool) -> Vec<&'a Package> {
    let mut names = vec![name];
    let mut parts: Vec<&Package> = Vec::new();
    while let Some(name) = names.pop() {
        if parts.iter().any(|part| part.name.as_str() == name) {
            continue;
        }
        let package = workspace.package(name).unwrap_or_else(|| panic!("the tree lacks the package {name}"));
        let below = package.dependencies.iter().filter(|of| of.path.is_some() && (with_tests || !of.is_for_tests()));
        names.extend(below.map(|of| of.name.as_str()));
        parts.push(package);
    }
    parts
}

/// The files that a source file names for the compiler.
fn named_files(text: &str) -> impl Iterator<Item = &str> {
    ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""]
        .into_iter()
        .flat_map(move |head| text.split(head).skip(1))
        .filter_map(|rest| Some(rest.split_once('"')?.0))
}

/// A path without `..`, which need not exist.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display()));
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false => vec![path].into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect(),
        })
        .collect()
}

/// Checks that a tree has all that `package` is compiled from; returns how many files its sources name.
fn assert_complete(top: &Path, package: &str) -> usize {
    let workspace = Metadata::of(top);
    let (mut missing, mut named) = (Vec::new(), 0);
    for part in parts_of(&workspace, package, false) {
        let folder = part.folder();
        for source in rust_files(&folder.join("src")) {
            let text = fs::read_to_string(&source).expect("text");
            let beside = source.parent().expect("a folder");
            for file in named_files(&text).map(|name| plain(&beside.join(name))) {
                named += 1;
                if !file.is_file() {
                    missing.push(format!("{} of {}", file.display(), source.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{package}: the lists lack {}", missing.join(", "));
    for file in ["Cargo.lock", ".cargo/config.toml"] {
        assert!(top.join(file).is_file(), "{package}: the lists lack {file}");
    }
    named
}

#[test]
fn the_image_is_built_from_what_its_list_names() {
    let list = fs::read_to_string(Path::new(TOP).join(".dockerignore")).expect("the list");
    let mut lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(lines.next(), Some("*"), "all is left out but what follows");
    let listed = lines.map(|line| line.strip_prefix('!').expect("a name that is taken").into()).collect();
    let tree = laid(&listed);
    assert!(assert_complete(tree.path(), "vesica-cli") > 2);
}

/// What maturin puts into a source distribution: the package's crate and those that it reaches by paths, as a
/// workspace, and what pyproject.toml includes.
#[test]
fn the_python_package_is_built_from_its_source_distribution() {
    let project = fs::read_to_string(Path::new(TOP).join("pyproject.toml")).expect("the project");
    let project: toml::Table = project.parse().expect("TOML");
    let maturin = &project["tool"]["maturin"];
    let mut listed: BTreeSet<PathBuf> = ["Cargo.toml", "Cargo.lock", "pyproject.toml"].map(Into::into).into();
    let all = Metadata::of(Path::new(TOP));
    for part in parts_of(&all, "vesica-python", true) {
        let folder = part.folder();
        listed.insert(folder.strip_prefix(&all.workspace_root).expect("below").into());
    }
    for include in maturin["include"].as_array().expect("a list") {
        if include["format"].as_str() == Some("sdist") {
            listed.extend(matching(include["path"].as_str().expect("a path")));
        }
    }
    let tree = laid(&listed);
    assert!(assert_complete(tree.path(), "vesica-python") > 2);
    for named in [maturin["manifest-path"].as_str(), maturin["python-source"].as_str()] {
        assert!(tree.path().join(named.expect("a path")).exists(), "{named:?}");
    }
}

/// The files that a pattern of pyproject.toml stands for: a star in the last part of a path is any text.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let Some((head, tail)) = name.split_once('*') else { return vec![pattern.into()] };
    let names = fs::read_dir(Path::new(TOP).join(folder)).expect("a folder").map(|entry| entry.expect("readable"));
    let found: Vec<PathBuf> = names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(head) && name.ends_with(tail))
        .map(|name| Path::new(folder).join(name))
        .collect();
    assert!(!found.is_empty(), "{pattern} stands for no file");
    found
}

fn release(arguments: &[&str]) -> Output {
    Command::new(Path::new(TOP).join("packaging/release")).args(arguments).output().expect("started")
}

/// Nothing is built here: what these calls lack shows before that.
#[test]
fn a_release_leaves_no_step_out_unasked() {
    const STEPS: [&str; 8] = ["x86_64", "aarch64", "debian", "image", "python", "sbom", "licences", "manual"];
    let missing = release(&["--missing"]);
    assert!(missing.status.success(), "{missing:?}");
    let text = String::from_utf8(missing.stdout).expect("text");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    for line in &lines {
        assert!(
            matches!(line[..], [step, tool, mend] if STEPS.contains(&step) && !tool.is_empty() && !mend.is_empty()),
            "{line:?}"
        );
    }
    let without = |kept: &str| {
        STEPS.iter().filter(|step| **step != kept).flat_map(|step| ["--without", step]).collect::<Vec<_>>()
    };
    let full = tempfile::tempdir().expect("a folder");
    fs::write(full.path().join("of an earlier release"), "").expect("written");
    let full = full.path().to_str().expect("text");
    for (arguments, code, said) in [
        (vec!["--without", "nothing"], 2, "packaging/release [--without STEP]"),
        (vec!["--without", "licences"], 2, "the files of the step debian hold that of the step licences"),
        (without("none"), 2, "packaging/release [--without STEP]"),
        ([without("licences"), vec![full]].concat(), 4, "is not empty"),
    ] {
        let refused = release(&arguments);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(code) && error.contains(said), "{arguments:?}: {refused:?}");
    }
    for step in STEPS.into_iter().filter(|step| lines.iter().any(|line| line[0] == *step)) {
        let refused = release(&without(step));
        let error = String::from_utf8_lossy(&refused.stderr);
        let is_named = error.contains(&format!("--without {step}"));
        // The files of these hold those of other steps, which is another error.
        let is_whole = ["debian", "image"].contains(&step);
        assert!(refused.status.code() == Some(69) && is_named || is_whole, "{step}: {refused:?}");
    }
}

#[test]
fn the_manual_has_every_page_and_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new(Path::new(TOP).join("packaging/manual"))
        .args(["--source", "--program", env!("CARGO_BIN_EXE_vesica")])
        .arg(folder.path())
        .env("REPOSITORY_URL", "https://forge.example/vesica/blob/v1/")
        .output()
        .expect("started");
    assert!(made.status.success(), "{made:?}");
    let page = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    let list = page("llms.txt");
    for address in
        ["(index.html): ", "(docs/cookbook.html): ", "(docs/protocols/union.html): ", "(commands/receive.html): "]
    {
        assert!(list.contains(address), "{address} is missing in {list}");
    }
    assert!(page("SUMMARY.md").contains("\n  - [`vesica receive`](commands/receive.md)"));
    assert!(page("commands/receive.md").contains("\n### `--pad-to <N>` {#receive-pad-to}\n"), "a flag has a place");
    // A page is called by its title; what is no page is in the repository.
    assert!(page("docs/operating.md").contains("[A table that many clients ask about](service.md)"));
    assert!(page("index.md").contains("](https://forge.example/vesica/blob/v1/examples/overlap.ipynb)"));
    assert!(!page("ARCHITECTURE.md").contains("```mermaid"), "mdBook draws none");
    assert!(folder.path().join("docs/figures/first-join.svg").is_file());
    let again = Command::new(Path::new(TOP).join("packaging/manual")).arg(folder.path()).output().expect("started");
    assert_eq!(again.status.code(), Some(4), "{again:?}");
}

/// What `packaging/manual` says of a site whose only page this is.
fn faults_of_a_site(page: &str) -> String {
    let site = tempfile::tempdir().expect("a folder");
    fs::write(site.path().join("index.html"), page).expect("written");
    fs::write(site.path().join("llms.txt"), "- [Start](index.html): a page.\n").expect("written");
    let script = "import pathlib, sys, links; print(*links.checked(pathlib.Path(sys.argv[1]).resolve())[1], sep='\\n')";
    let said = Command::new("python3")
        .args(["-B", "-c", script])
        .arg(site.path())
        .env("PYTHONPATH", Path::new(TOP).join("packaging/site"))
        .output()
        .expect("started");
    assert!(said.status.success(), "{said:?}");
    String::from_utf8(said.stdout).expect("text").trim().to_owned()
}

#[test]
fn a_link_of_the_manual_that_leads_nowhere_is_found() {
    let sound = r##"<h1 id="top">Start</h1><a href="#top">a</a><a href="index.html#top">b</a><a href="https://x.example/">c</a>"##;
    assert_eq!(faults_of_a_site(sound), "");
    for (page, fault) in [
        (r#"<a href="other.html">a</a>"#, "index.html has a link to other.html, which is no file of the site"),
        (r##"<a href="#below">a</a>"##, "index.html has a link to #below, and the page has no such place"),
        (r#"<a href="../llms.txt">a</a>"#, "index.html has a link to ../llms.txt, which is no file of the site"),
        (r#"<script src="https://x.example/a.js"></script>"#, "index.html loads https://x.example/a.js from elsewhere"),
    ] {
        assert_eq!(faults_of_a_site(page), fault);
    }
}
