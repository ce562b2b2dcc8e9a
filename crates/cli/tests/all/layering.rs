//! The layers of the house: each crate depends downwards only.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

const LAYERS: [&str; 9] = [
    "vesica-kernels",
    "vesica-structures",
    "vesica-party",
    "vesica-mpc",
    "vesica-protocols",
    "vesica",
    "vesica-bench",
    "vesica-cli",
    "vesica-fuzz",
];

const TESTKIT: &str = "vesica-testkit";

fn workspace() -> Metadata {
    MetadataCommand::new().manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml")).no_deps().exec().expect("metadata")
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
            assert!(name != TESTKIT || below <= height("vesica-party").unwrap_or(0), "{TESTKIT} depends on {}", dependency.name);
        }
    }
}

#[test]
fn the_testkit_is_for_tests_only() {
    for package in &workspace().packages {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.name == TESTKIT) {
            assert_eq!(dependency.kind, DependencyKind::Development, "{} depends on {TESTKIT}", package.name);
        }
    }
}

#[test]
fn protocols_never_name_kernels() {
    let workspace = workspace();
    let protocols = workspace.packages.iter().find(|package| package.name.as_str() == "vesica-protocols").expect("the package");
    assert!(protocols.dependencies.iter().all(|dependency| dependency.name != "vesica-kernels"));
}

#[test]
fn only_kernels_may_be_unsafe() {
    for package in &workspace().packages {
        if package.name.as_str() == "vesica-kernels" {
            continue;
        }
        for target in package.targets.iter().filter(|target| target.is_lib() || target.is_bin()) {
            let root = std::fs::read_to_string(&target.src_path).expect("the crate's root");
            assert!(root.contains("#![forbid(unsafe_code)]"), "{} does not forbid unsafe code", target.src_path);
        }
    }
}
