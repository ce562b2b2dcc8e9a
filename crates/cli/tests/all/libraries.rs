//! Which libraries there may be: from where, and under which licences, by the lists of `deny.toml`. `cargo deny`, which
//! `.ci/nightly` runs, reads the same file and knows advisories, too.

use std::fs;
use std::path::Path;

use crate::metadata::Metadata;

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn table(path: &str) -> toml::Table {
    fs::read_to_string(Path::new(TOP).join(path)).expect(path).parse().expect("TOML")
}

/// The texts of a list of `deny.toml`.
fn listed(section: &str, name: &str) -> Vec<String> {
    let listed = table("deny.toml")[section][name].as_array().expect("a list").clone();
    listed.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// A package of a lock file comes from a registry that is allowed and with a checksum, or is one of ours.
fn is_from_an_allowed_place(package: &toml::Value, registries: &[String]) -> bool {
    let Some(source) = package.get("source") else { return package.get("checksum").is_none() };
    let registry = source.as_str().and_then(|source| source.strip_prefix("registry+"));
    registry.is_some_and(|registry| registries.iter().any(|allowed| allowed == registry))
        && package.get("checksum").is_some()
}

#[test]
fn libraries_come_from_the_registry_alone() {
    let registries = listed("sources", "allow-registry");
    for lock in ["Cargo.lock", "fuzz/Cargo.lock", "bench/micro/Cargo.lock"] {
        let table = table(lock);
        let packages = table["package"].as_array().expect("packages");
        assert!(packages.len() > 100, "{lock}");
        for package in packages {
            assert!(is_from_an_allowed_place(package, &registries), "{lock}: {package:?}");
        }
    }
}

#[test]
fn other_sources_are_recognised() {
    let registries = ["https://one.example".to_owned()];
    for (package, allowed) in [
        ("source = 'registry+https://one.example'\nchecksum = '0'", true),
        ("name = 'ours'", true),
        ("source = 'registry+https://one.example'", false),
        ("source = 'registry+https://other.example'\nchecksum = '0'", false),
        ("source = 'git+https://one.example'\nchecksum = '0'", false),
    ] {
        let package = toml::Value::Table(package.parse().expect("TOML"));
        assert_eq!(is_from_an_allowed_place(&package, &registries), allowed, "{package:?}");
    }
}

/// Whether licences that are allowed satisfy an SPDX expression. The old form `A/B` means `A OR B`.
fn is_satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "+with+");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let satisfied = any_of(&mut rest, allowed);
    assert!(rest.is_empty(), "{expression} is no expression of licences");
    satisfied
}

fn any_of(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut satisfied = all_of(words, allowed);
    while let Some(rest) = words.strip_prefix(&["OR"]) {
        *words = rest;
        satisfied |= all_of(words, allowed);
    }
    satisfied
}

fn all_of(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut satisfied = one(words, allowed);
    while let Some(rest) = words.strip_prefix(&["AND"]) {
        *words = rest;
        satisfied &= one(words, allowed);
    }
    satisfied
}

fn one(words: &mut &[&str], allowed: &[&str]) -> bool {
    let (first, rest) = words.split_first().expect("a licence");
    *words = rest;
    if *first != "(" {
        return allowed.contains(&first.replace("+with+", " WITH ").as_str());
    }
    let satisfied = any_of(words, allowed);
    *words = words.strip_prefix(&[")"]).expect("a bracket that closes");
    satisfied
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"];
    for expression in ["MIT", "GPL-3.0/MIT", "GPL-3.0 OR (ISC AND MIT)", "Apache-2.0 WITH LLVM-exception AND ISC"] {
        assert!(is_satisfied(expression, &allowed), "{expression}");
    }
    for expression in ["GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR Apache-2.0) AND MIT", "MIT WITH LLVM-exception"] {
        assert!(!is_satisfied(expression, &allowed), "{expression}");
    }
}

/// Also of libraries for other systems, which cargo has to have fetched.
#[test]
fn licences_of_libraries_are_those_that_are_listed() {
    let Some(workspace) = Metadata::with_libraries(Path::new(TOP)) else {
        return eprintln!("skipped: cargo has not fetched the libraries of all systems (cargo fetch --locked)");
    };
    let listed = listed("licenses", "allow");
    let allowed: Vec<&str> = listed.iter().map(String::as_str).collect();
    assert!(workspace.packages.len() > 200);
    for package in &workspace.packages {
        let licence = package.license.as_deref().unwrap_or_default();
        assert!(is_satisfied(licence, &allowed), "{} is under {licence:?}: see deny.toml", package.name);
    }
}
