//! Outputs: refused early, complete or absent.

use std::os::unix::fs::{PermissionsExt, symlink};

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_buffer::IntervalMonthDayNano;
use vesica_data::table::{Blame, Join, Matches, Output, OutputOptions, TableError, read_keys, write_matches};

use super::columnar_tables::{arrow_file, batch};
use super::{Folder, key, open, told};

fn create(folder: &Folder, path: &str, force: bool) -> Result<Output, TableError> {
    let input = open(&folder.path("in.csv")).unwrap();
    Output::create(path, &OutputOptions { force, format: None }, &input)
}

fn run(folder: &Folder, path: &str, force: bool) -> Result<u64, TableError> {
    let input = open(&folder.path("in.csv")).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let output = create(folder, path, force)?;
    Ok(write_matches(&input, &table, &Matches { keys: &[0], payload: None }, Join::Inner, output)?.rows)
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.csv", "id\n1\n2\n1\n");
    folder
}

#[test]
fn an_existing_file_needs_force_and_keeps_its_mode() {
    let folder = folder();
    let path = folder.write("out.csv", "precious");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = create(&folder, path.to_str().unwrap(), false).unwrap_err();
    assert!(told(&error).contains("exists already; ") && told(&error).contains("--force"), "{error}");
    assert_eq!(error.blame(), Blame::Output);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(run(&folder, path.to_str().unwrap(), true).unwrap(), 2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "id\n1\n1\n");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(folder.names(), ["in.csv", "out.csv"]);
}

#[test]
fn a_file_made_meanwhile_is_not_replaced() {
    let folder = folder();
    let input = open(&folder.path("in.csv")).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let path = folder.path("out.csv");
    let output = create(&folder, path.to_str().unwrap(), false).unwrap();
    std::fs::write(&path, "precious").unwrap();
    let error = write_matches(&input, &table, &Matches { keys: &[0], payload: None }, Join::Inner, output).unwrap_err();
    assert!(told(&error).contains("exists already"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(folder.names(), ["in.csv", "out.csv"]);
}

#[test]
fn a_dropped_output_leaves_nothing() {
    let folder = folder();
    let output = create(&folder, folder.path("out.csv").to_str().unwrap(), false).unwrap();
    assert!(!folder.path("out.csv").exists());
    drop(output);
    assert_eq!(folder.names(), ["in.csv"]);
}

#[test]
fn a_link_keeps_pointing_to_its_file() {
    let folder = folder();
    let target = folder.write("target.csv", "old");
    symlink(&target, folder.path("link.csv")).unwrap();
    assert!(create(&folder, folder.path("link.csv").to_str().unwrap(), false).is_err());
    run(&folder, folder.path("link.csv").to_str().unwrap(), true).unwrap();
    assert_eq!(std::fs::read_to_string(target).unwrap(), "id\n1\n1\n");
    assert!(folder.path("link.csv").is_symlink());
}

#[test]
fn places_that_cannot_be_written_show_before_the_protocol() {
    let folder = folder();
    let error = create(&folder, folder.path("no/such/out.csv").to_str().unwrap(), false).unwrap_err();
    assert!(told(&error).contains("create the folder first"), "{error}");
    assert!(error.to_string().ends_with("out.csv: No such file or directory (os error 2)"), "no other name: {error}");
    assert_eq!(error.blame(), Blame::Output);
    for path in [folder.0.path().to_str().unwrap(), folder.path("new/").to_str().unwrap(), ""] {
        let error = create(&folder, path, true).expect_err("no file");
        assert!(told(&error).contains("directory; name a file in it"), "{error}");
    }
    symlink("nothing.csv", folder.path("dangling.csv")).unwrap();
    let error = create(&folder, folder.path("dangling.csv").to_str().unwrap(), true).unwrap_err();
    assert!(told(&error).contains("a link to a file that does not exist"), "{error}");
    assert_eq!((error.blame(), folder.names()), (Blame::Output, vec!["dangling.csv".to_owned(), "in.csv".to_owned()]));
}

/// What the output's format cannot hold shows when the output is made, which is before the
/// protocol.
#[test]
fn columns_that_the_format_cannot_hold_show_before_the_protocol() {
    let folder = Folder::new();
    let columns = |types: Vec<(&str, ArrayRef)>| {
        batch([("id", Arc::new(Int32Array::from(vec![1])) as ArrayRef)].into_iter().chain(types).collect())
    };
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]));
    arrow_file(&folder.path("list.arrow"), &columns(vec![("l", list)]));
    // Parquet has no such type.
    let interval: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(1, 2, 3)]));
    arrow_file(&folder.path("interval.arrow"), &columns(vec![("i", interval)]));
    folder.write("twice.csv", "id,a,a\n1,2,3\n");
    for (input, good, bad, text) in [
        ("list.arrow", "a.parquet", "a.csv", "column `l`"),
        ("interval.arrow", "b.csv", "b.parquet", "MonthDayNano"),
        ("twice.csv", "c.csv", "c.arrow", "several columns named `a`"),
    ] {
        let input = open(&folder.path(input)).unwrap();
        let create =
            |name: &str| Output::create(folder.path(name).to_str().unwrap(), &OutputOptions::default(), &input);
        create(good).expect(good);
        let error = create(bad).expect_err(bad);
        assert!(error.blame() == Blame::Output && told(&error).contains(text), "{error}");
    }
}

/// Each batch of Parquet has its own dictionary; an Arrow file has one for all.
#[test]
fn dictionaries_of_several_batches_become_an_arrow_file() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20_000).map(|row| format!("name {row}")).collect();
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..20_000));
    let dictionary: ArrayRef =
        Arc::new(names.iter().map(|name| Some(name.as_str())).collect::<DictionaryArray<Int32Type>>());
    super::columnar_tables::parquet(&folder.path("in.parquet"), &batch(vec![("id", ids), ("name", dictionary)]));
    let input = open(&folder.path("in.parquet")).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let keys: Vec<u32> = (0..20_000).collect();
    assert_eq!(super::join(&input, &table, &keys, None, Join::Inner, &folder.path("out.arrow")).unwrap(), 20_000);
    let found = super::columnar_tables::read(&folder.path("out.arrow"));
    let found = found.iter().flat_map(|batch| {
        batch.column_by_name("name").unwrap().as_string::<i32>().iter().map(|name| name.unwrap().to_owned())
    });
    assert!(found.eq(names));
}

/// `/dev/full` answers every write as a full disk does.
#[test]
fn a_full_disk_is_named() {
    let folder = folder();
    let error = run(&folder, "/dev/full", false).unwrap_err();
    assert!(told(&error).contains("cannot write /dev/full") && told(&error).contains("the disk is full"), "{error}");
    let input = open(&folder.path("in.csv")).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    for format in ["parquet", "arrow", "arrow-stream"] {
        let options = OutputOptions { force: false, format: vesica_data::table::Format::parse(format) };
        let output = Output::create("/dev/full", &options, &input).unwrap();
        let error =
            write_matches(&input, &table, &Matches { keys: &[0], payload: None }, Join::Inner, output).unwrap_err();
        assert!(told(&error).contains("the disk is full"), "{format}: {error}");
    }
}

#[test]
fn a_device_is_written_directly() {
    let folder = folder();
    assert_eq!(run(&folder, "/dev/null", false).unwrap(), 2);
}

/// Set in the child of [`a_full_disk_leaves_nothing`]: a folder on a file system that is too small.
const TINY: &str = "VESICA_TEST_TINY_FOLDER";

/// On a file system of 64 KiB, mounted in a namespace of its own where the system lets users do
/// that.
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = Folder::new();
    let tiny = folder.path("tiny");
    std::fs::create_dir(&tiny).unwrap();
    let mounted = |then: &str| {
        let script = format!("mount -t tmpfs -o size=64k none \"${TINY}\" && {then}");
        std::process::Command::new("unshare")
            .args(["-rm", "sh", "-c", &script, "sh"])
            .env(TINY, &tiny)
            .arg(std::env::current_exe().unwrap())
            .output()
    };
    if !mounted("true").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let a user mount a small file system");
        return;
    }
    let output = mounted("exec \"$1\" --ignored --exact outputs::child_of_a_full_disk").unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "started by a_full_disk_leaves_nothing"]
fn child_of_a_full_disk() {
    let Ok(tiny) = std::env::var(TINY) else { return };
    let folder = Folder::new();
    let input = folder.write("in.csv", format!("id,x\n{}", "1,random text that takes its space\n".repeat(10_000)));
    let input = open(&input).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let error =
        super::join(&input, &table, &[0], None, Join::Inner, &std::path::Path::new(&tiny).join("out.csv")).unwrap_err();
    assert!(told(&error).contains("the disk is full"), "{error}");
    assert_eq!(std::fs::read_dir(&tiny).unwrap().count(), 0, "neither the output nor its temporary file is left");
}
