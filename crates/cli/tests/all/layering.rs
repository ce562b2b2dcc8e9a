//! The layers of the house: each crate depends downwards only. And what no crate of the command may
//! hold.

use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::Metadata;

const LAYERS: [&str; 12] = [
    "vesica-kernels",
    "vesica-structures",
    "vesica-party",
    "vesica-mpc",
    "vesica-protocols",
    "vesica-data",
    "vesica",
    "vesica-cli",
    "vesica-python",
    "vesica-papers",
    "vesica-lab",
    "vesica-fuzz",
];

/// What researchers use beside the product.
const LAB: [&str; 3] = ["vesica-papers", "vesica-lab", "vesica-fuzz"];

const TESTKIT: &str = "vesica-testkit";

fn workspace() -> Metadata {
    Metadata::of(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")))
}

fn height(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == name)
}

#[test]
fn crates_depend_downwards_only() {
    for package in &workspace().packages {
        let name = package.name.as_str();
        for dependency in &package.dependencies {
            let Some(below) = height(&dependency.name) else { continue };
            match height(name) {
                Some(here) => assert!(below < here, "{name} depends on {}, which is not below it", dependency.name),
                None => assert_eq!(name, TESTKIT, "{name} has no place among the layers"),
            }
            assert!(
                name != TESTKIT || below <= height("vesica-party").unwrap_or(0),
                "{TESTKIT} depends on {}",
                dependency.name
            );
        }
    }
}

/// Neither for its programs nor for its tests: whoever builds or tests the product compiles no paper.
#[test]
fn no_crate_of_the_product_knows_papers() {
    let workspace = workspace();
    for package in workspace.packages.iter().filter(|package| !LAB.contains(&package.name.as_str())) {
        let known = package.dependencies.iter().find(|dependency| LAB.contains(&dependency.name.as_str()));
        assert!(known.is_none(), "{} depends on {}", package.name, known.expect("one").name);
    }
    let is_default = |id: &String| workspace.workspace_default_members.contains(id);
    let defaults = workspace.packages.iter().filter(|package| is_default(&package.id));
    let members: Vec<&str> = defaults.map(|package| package.name.as_str()).collect();
    assert!(members.contains(&"vesica-cli"), "{members:?}");
    assert!(LAB.iter().all(|name| !members.contains(name)), "{members:?}");
}

/// The papers stand on the protocols' shared parts and know no engine.
#[test]
fn papers_know_no_engine() {
    let workspace = workspace();
    let papers = workspace.package("vesica-papers").expect("the package");
    for engine in ["vesica", "vesica-data", "vesica-cli"] {
        assert!(papers.dependencies.iter().all(|dependency| dependency.name != engine), "papers depend on {engine}");
    }
}

#[test]
fn the_testkit_is_for_tests_only() {
    for package in &workspace().packages {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.name == TESTKIT) {
            assert!(dependency.is_for_tests(), "{} depends on {TESTKIT}", package.name);
        }
    }
}

/// The trusted dealer knows everything: it is for tests, and nothing that is shipped may take a
/// correlation from it.
#[test]
fn no_shipped_code_names_the_trusted_dealer() {
    let workspace = workspace();
    let (mut found, mut seen) = (Vec::new(), 0);
    for package in workspace.packages.iter().filter(|package| height(&package.name).is_some()) {
        let folder = package.folder();
        let sources = ["src", "examples", "build.rs"].map(|name| folder.join(name));
        for file in sources.iter().filter(|path| path.is_dir()).flat_map(|path| rust_files(path)) {
            let text = fs::read_to_string(&file).expect("readable");
            if file.ends_with("mpc/src/ideal/mod.rs") {
                seen += text.matches("pub struct InsecureDealer").count();
            } else if without_tests(&text).contains("InsecureDealer") {
                found.push(file);
            }
        }
    }
    assert_eq!(seen, 1, "the dealer is where this test looks for it");
    assert!(found.is_empty(), "take correlations from a protocol instead: {found:#?}");
}

#[test]
fn protocols_never_name_kernels() {
    let workspace = workspace();
    let protocols = workspace.package("vesica-protocols").expect("the package");
    assert!(protocols.dependencies.iter().all(|dependency| dependency.name != "vesica-kernels"));
}

/// What stands above may change without what stands below: the handshake carries the task's words
/// as bytes, plans ask workloads, and a functionality does not know which protocols compute it.
#[test]
fn the_handshake_and_plans_know_no_task_and_tasks_no_registry() {
    let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for (folder, above) in [
        ("vesica/src/handshake", "task::"),
        ("vesica/src/plan", "task::"),
        ("vesica/src/task", "session::"),
        ("protocols/src/tasks", "registry"),
    ] {
        let files = rust_files(&crates.join(folder));
        assert!(files.len() > 3, "{folder} is another folder now");
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).expect("readable");
            let mut imports = without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//"));
            assert!(!imports.any(|line| line.contains(&format!("crate::{above}"))), "{} names {above}", file.display());
        }
    }
}

/// Tables and keys have nothing to do with partners: of this workspace they use the hash and the
/// field arithmetic of `kernels` alone.
#[test]
fn data_knows_no_protocol() {
    let workspace = workspace();
    let data = workspace.package("vesica-data").expect("the package");
    let own: Vec<_> = data
        .dependencies
        .iter()
        .map(|dependency| dependency.name.as_str())
        .filter(|name| name.starts_with("vesica"))
        .collect();
    assert_eq!(own, ["vesica-kernels"]);
}

#[test]
fn only_kernels_may_be_unsafe() {
    for package in &workspace().packages {
        // What PyO3 makes of functions and classes for Python allows it where that is needed.
        let rule = match package.name.as_str() {
            "vesica-kernels" => continue,
            "vesica-python" => "#![deny(unsafe_code)]",
            _ => "#![forbid(unsafe_code)]",
        };
        for target in package.targets.iter().filter(|target| target.is_library() || target.is_program()) {
            let root = std::fs::read_to_string(&target.src_path).expect("the crate's root");
            assert!(root.contains(rule), "{} does not say {rule}", target.src_path.display());
        }
    }
}

/// The output macros of the standard library panic where standard output or standard error is full
/// or closed, and a panic in the panic hook aborts.
#[test]
fn no_shipped_crate_prints_by_macro() {
    let workspace = workspace();
    let shipped =
        workspace.packages.iter().filter(|package| height(&package.name).is_some() && package.name != "vesica-fuzz");
    let mut found = Vec::new();
    for package in shipped {
        let source = package.folder().join("src");
        for file in rust_files(&source) {
            let text = fs::read_to_string(&file).expect("readable");
            let shipped = without_tests(&text);
            found.extend(output_macros(shipped).map(|line| format!("{}:{line}", file.display())));
        }
    }
    assert!(found.is_empty(), "use `outcome::say` or `outcome::print` of the command instead: {found:#?}");
}

#[test]
fn output_macros_are_found_in_shipped_code_only() {
    let text = "// println!(x)\nfn f() { eprintln!(); }\n#[cfg(test)]\nuse x;\n  dbg!(1);\n#[cfg(test)]\nmod tests \
                {\nprintln!();\n";
    assert_eq!(output_macros(without_tests(text)).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(output_macros("my_print!(); reprint!(); fn print() {}").count(), 0);
}

/// The crates of which each function says in its name that its time depends on its input, beside the input's length.
const VARTIME_IN_NAMES: [&str; 3] = ["vesica-kernels", "vesica-structures", "vesica-mpc"];

/// Of functions that are documented: those of a trait are where the trait is, and not where it is implemented.
#[test]
fn functions_whose_time_depends_on_their_input_end_in_vartime() {
    let workspace = workspace();
    let (mut named, mut wrong) = (0, Vec::new());
    for package in VARTIME_IN_NAMES.map(|name| workspace.package(name).expect("the package")) {
        for file in rust_files(&package.folder().join("src")) {
            let text = fs::read_to_string(&file).expect("readable");
            for (name, doc) in documented_functions(without_tests(&text)) {
                named += usize::from(name.ends_with("_vartime"));
                if name.ends_with("_vartime") != doc.contains("Time depends on") {
                    wrong.push(format!("{name} in {}", file.display()));
                }
            }
        }
    }
    assert!(named >= 15, "{named} functions end in _vartime");
    assert!(wrong.is_empty(), "a name ends in _vartime exactly if the comment says \"Time depends on\": {wrong:#?}");
}

#[test]
fn functions_are_found_with_their_comments() {
    let text = "/// Sorts. Time depends\n/// on the items.\n#[inline]\npub(crate) const fn sort_vartime<T>() {}\nfn bare() {}\n/// A \
                type.\nstruct Fn;\n    /// Adds.\n    fn add(x: fn()) {}\n";
    let found: Vec<(&str, String)> = documented_functions(text).collect();
    assert_eq!(found, [("sort_vartime", "Sorts. Time depends on the items.".into()), ("add", "Adds.".into())]);
}

/// Names of functions that have a comment, and the comments, each in one line.
fn documented_functions(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut doc: Vec<&str> = Vec::new();
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        if let Some(comment) = line.strip_prefix("///") {
            doc.push(comment.trim());
            return None;
        }
        if line.starts_with("#[") {
            return None;
        }
        let comment = std::mem::take(&mut doc).join(" ");
        let (before, after) = line.split_once("fn ")?;
        let is_item =
            before.split_whitespace().all(|word| word.starts_with("pub") || ["const", "unsafe"].contains(&word));
        let name = after.split(['(', '<']).next()?;
        (is_item && !comment.is_empty()).then_some((name, comment))
    })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

/// What comes before a file's tests.
fn without_tests(text: &str) -> &str {
    let tests = ["#[cfg(test)]\nmod tests {", "#[test]"].iter().filter_map(|start| text.find(start)).min();
    &text[..tests.unwrap_or(text.len())]
}

/// The numbers of the lines that use one.
fn output_macros(text: &str) -> impl Iterator<Item = usize> {
    let uses_one = |line: &str| {
        ["print!", "println!", "eprint!", "eprintln!", "dbg!"].iter().any(|name| {
            line.match_indices(name)
                .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
        })
    };
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.filter(move |(_, line)| uses_one(line)).map(|(index, _)| index + 1)
}
