//! What cargo says of a workspace, as far as tests ask. A library for it would choose features of `serde` that no program
//! has, and with them everything above `serde` would be compiled once more for tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

/// A workspace.
#[derive(Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub workspace_default_members: Vec<String>,
    pub workspace_root: PathBuf,
}

/// A package of it.
#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    pub id: String,
    /// An SPDX expression.
    pub license: Option<String>,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
    pub targets: Vec<Target>,
}

/// What a package depends on.
#[derive(Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `dev`, `build`, or nothing.
    pub kind: Option<String>,
    /// The folder, if it is one of the workspace.
    pub path: Option<PathBuf>,
}

/// A library, a program or a test.
#[derive(Deserialize)]
pub struct Target {
    pub kind: Vec<String>,
    pub src_path: PathBuf,
}

impl Metadata {
    /// The workspace of a folder.
    pub fn of(top: &Path) -> Self {
        let said = said(top, &["--no-deps"]);
        assert!(said.status.success(), "{}: {}", top.display(), String::from_utf8_lossy(&said.stderr));
        serde_json::from_slice(&said.stdout).expect("cargo's format 1")
    }

    /// The same with all libraries of the lock file, if cargo has fetched them.
    pub fn with_libraries(top: &Path) -> Option<Self> {
        let said = said(top, &["--locked"]);
        said.status.success().then(|| serde_json::from_slice(&said.stdout).expect("cargo's format 1"))
    }

    /// The package of this name.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

fn said(top: &Path, options: &[&str]) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--offline"]).args(options).arg("--manifest-path");
    cargo.arg(top.join("Cargo.toml")).output().expect("cargo runs")
}

impl Package {
    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.manifest_path.parent().expect("a folder")
    }
}

impl Dependency {
    /// Whether only tests take it.
    pub fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

impl Target {
    /// Whether it is a program.
    pub fn is_program(&self) -> bool {
        self.kind.iter().any(|kind| kind == "bin")
    }

    /// Whether it is a library.
    pub fn is_library(&self) -> bool {
        self.kind.iter().any(|kind| kind.ends_with("lib"))
    }
}
