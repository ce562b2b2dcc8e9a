//! Servers that break off while they prepare their set, and go on when they start again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::harness::{Ended, Folder, Process, by_shell};
use crate::service::{SERVE, expected, query, report, tables};

/// Where what is prepared stands until the state file is there.
const FILE: &str = "deny.state.preparing";

/// Bytes of what stands in front of a part's content.
const PART_HEAD: usize = 44;

/// How a start says that it goes on.
const GOES_ON: &str = "going on with the preparation: ";

const OPTIONS: &str = "--no-quota --listen 127.0.0.1:0 --state deny.state --threads 1 --payload label";

/// Tables as `tables` has them, with so many keys of the server.
fn folder(keys: usize) -> Folder {
    let folder = tables();
    write_table(&folder, keys, "a", "");
    folder
}

fn write_table(folder: &Folder, keys: usize, label: &str, also: &str) {
    let rows = (0..keys).map(|i| format!("http://{}.example/,{label}\n", 3 * i));
    folder.write("deny.csv", format!("url,label\n{}{also}", rows.collect::<String>()));
}

fn start(folder: &Folder, arguments: &str) -> Process {
    folder.start(&format!("{SERVE} {OPTIONS} {arguments}"))
}

/// Where the parts that are kept whole begin, and where the last one ends: behind a head of that many bytes, parts begin
/// with a hash, the length of their content and a check.
fn borders(bytes: &[u8]) -> Vec<usize> {
    let head = bytes.first_chunk().copied().map_or(0, u64::from_le_bytes);
    let mut borders = vec![8 + head as usize];
    while let Some(&end) = borders.last() {
        let content = bytes.get(end + 32..).and_then(|rest| rest.first_chunk().copied()).map(u32::from_le_bytes);
        match content.map(|content| end + PART_HEAD + content as usize) {
            Some(next) if next <= bytes.len() => borders.push(next),
            _ => break,
        }
    }
    borders
}

/// Bytes up to the end of the last part that is kept whole.
fn kept_whole(folder: &Folder) -> u64 {
    let bytes = fs::read(folder.path(FILE)).unwrap_or_default();
    borders(&bytes).last().map_or(0, |&end| end as u64)
}

/// Waits until a server has kept so many bytes more than `before`, all of them in whole parts.
fn wait_until_kept(folder: &Folder, server: &mut Process, before: u64, bytes: u64) {
    let end = Instant::now() + Duration::from_secs(60);
    while kept_whole(folder) < before + bytes {
        assert!(Instant::now() < end && server.child.try_wait().expect("a status").is_none(), "nothing is kept");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills a server when it has kept so many bytes more than there were.
fn kill_after(folder: &Folder, mut server: Process, bytes: u64) {
    wait_until_kept(folder, &mut server, kept_whole(folder), bytes);
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    assert!(!folder.path("deny.state").exists());
    let mode = fs::metadata(folder.path(FILE)).expect("kept").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
}

/// How many of how many keys a line says.
fn figures(line: &str) -> [u64; 2] {
    let rest = line.split(GOES_ON).nth(1).expect("it goes on");
    let mut words = rest.split(' ').step_by(2).map(|word| word.parse().expect("a number"));
    [words.next().expect("how many"), words.next().expect("of how many")]
}

fn address(server: &Process) -> String {
    let line = server.says("listening on ");
    line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address").to_owned()
}

/// Has a server prepare the rest: answers are those of a plain join, and nothing is left but the state.
fn answers(folder: &Folder, server: Process, asks: &str) -> Ended {
    let address = address(&server);
    report(folder, &address, asks);
    assert_eq!(folder.read("hits.csv"), expected(folder, true));
    let files: Vec<String> = folder.files().into_iter().filter(|name| name.starts_with("deny.state")).collect();
    assert_eq!(files, ["deny.state", "deny.state.lock"]);
    server.signal("TERM");
    let ended = server.end();
    ended.expect(0, &["stopped"]);
    ended
}

#[test]
fn a_server_that_is_killed_while_it_prepares_goes_on() {
    let folder = folder(100_000);
    let server = start(&folder, "");
    kill_after(&folder, server, 60_000);
    let mut before = 0;
    // Each time, what was kept before is not prepared again.
    for _ in 0..2 {
        let server = start(&folder, "");
        let [kept, all] = figures(&server.says(GOES_ON));
        assert!(kept > before && kept < all && all == 106_496, "{kept} {before} {all}");
        before = kept;
        kill_after(&folder, server, 60_000);
    }
    // Rows in another order are the same set.
    let table = folder.read("deny.csv");
    let (head, rows) = table.split_once('\n').expect("a head");
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    folder.write("deny.csv", format!("{head}\n{}\n", rows.join("\n")));
    let server = start(&folder, "");
    let [kept, _] = figures(&server.says(GOES_ON));
    assert!(kept > before, "{kept} {before}");
    answers(&folder, server, "");
    // The state holds the set: nothing goes on, and nothing is kept.
    let ended = answers(&folder, start(&folder, ""), "");
    ended.expect(0, &["the state file holds them"]);
    assert!(!ended.stderr.contains(GOES_ON), "{}", ended.stderr);
}

#[test]
fn a_signal_ends_a_preparation_and_leaves_what_is_prepared() {
    let folder = folder(60_000);
    let mut server = start(&folder, "");
    wait_until_kept(&folder, &mut server, 0, 60_000);
    server.signal("TERM");
    assert_eq!(server.end().code, 143);
    let kept = fs::read(folder.path(FILE)).expect("kept");
    let server = start(&folder, "");
    server.says(GOES_ON);
    answers(&folder, server, "");
    // Left by whatever means: the state has the set, and the secret key must not come back.
    folder.write(FILE, kept);
    answers(&folder, start(&folder, ""), "").expect(0, &["removing", "the state file has the set", "holds them"]);
}

/// What is damaged, missing or of other keys is prepared again, and the rest is taken.
#[test]
fn a_changed_table_and_a_damaged_file_cost_only_time() {
    let folder = folder(100_000);
    let server = start(&folder, "");
    // Two parts and more, which have a mebibyte at most: one of them stays when a key comes.
    kill_after(&folder, server, 1_500_000);
    let kept = fs::read(folder.path(FILE)).expect("kept");
    let restore = |bytes: &[u8]| {
        let _ = fs::remove_file(folder.path("deny.state"));
        folder.write(FILE, bytes);
        fs::set_permissions(folder.path(FILE), fs::Permissions::from_mode(0o600)).expect("allowed");
    };
    // A key comes that the client has, and all labels change: most parts stay.
    write_table(&folder, 100_000, "c", "http://1.example/,d\n");
    let server = start(&folder, "");
    let [parts, _] = figures(&server.says(GOES_ON));
    assert!(parts > 0);
    answers(&folder, server, "");
    // In the content of each part: that in which the new key is is not looked at.
    let mut damaged = kept.clone();
    let parts = borders(&kept);
    assert!(parts.len() > 2, "{parts:?}");
    parts.iter().take(parts.len() - 1).for_each(|start| damaged[start + PART_HEAD + 100] ^= 1);
    restore(&damaged);
    let server = start(&folder, "");
    server.says("deny.state.preparing is damaged: what stood there is prepared again");
    answers(&folder, server, "");
    restore(&kept[..kept.len() / 3]);
    answers(&folder, start(&folder, ""), "");
    // Its head, and nothing at all.
    for bytes in [[&b"nothing that a server writes"[..], &kept].concat(), Vec::new()] {
        restore(&bytes);
        let ended = answers(&folder, start(&folder, ""), "");
        ended.expect(0, &["is of no use, and all is prepared anew"]);
        assert!(!ended.stderr.contains(GOES_ON), "{}", ended.stderr);
    }
    // Somebody may have read the secret key.
    restore(&kept);
    fs::set_permissions(folder.path(FILE), fs::Permissions::from_mode(0o644)).expect("allowed");
    answers(&folder, start(&folder, ""), "").expect(0, &["prepared anew: others can read it (mode 0644)"]);
    // Other settings.
    restore(&kept);
    let asks = "--security semi-honest";
    start(&folder, asks).end().expect(11, &["was begun with other settings: --security", "--replace-state"]);
    assert!(fs::read(folder.path(FILE)).is_ok_and(|bytes| bytes == kept), "nothing is lost");
    let ended = answers(&folder, start(&folder, &format!("{asks} --replace-state")), asks);
    ended.expect(0, &["prepared anew: it was begun with other settings: --security"]);
}

/// Where payloads of two sets under one key would have one keystream, another table has another key.
#[test]
fn a_protocol_without_updates_goes_on_with_the_same_table_alone() {
    let folder = folder(60_000);
    let (options, asks) = ("--protocol oprf-buckets --leak-prefix 8 --security semi-honest", "--security semi-honest");
    let asks = format!("{asks} --leak-prefix 8");
    let server = start(&folder, options);
    kill_after(&folder, server, 60_000);
    let kept = fs::read(folder.path(FILE)).expect("kept");
    let server = start(&folder, options);
    server.says(GOES_ON);
    answers(&folder, server, &asks);
    fs::remove_file(folder.path("deny.state")).expect("removed");
    folder.write(FILE, &kept);
    fs::set_permissions(folder.path(FILE), fs::Permissions::from_mode(0o600)).expect("allowed");
    write_table(&folder, 60_000, "a", "http://1.example/,d\n");
    let ended = answers(&folder, start(&folder, options), &asks);
    assert!(!ended.stderr.contains(GOES_ON), "{}", ended.stderr);
}

#[test]
fn slow_hashes_are_kept_and_not_made_again() {
    let folder = folder(1500);
    let options = "--slow-hash 1MiB,8";
    let server = start(&folder, options);
    kill_after(&folder, server, 2000);
    // A table with one key more has the other keys' hashes.
    write_table(&folder, 1500, "b", "http://1.example/,d\n");
    let server = start(&folder, options);
    let [kept, all] = figures(&server.says(GOES_ON));
    assert!(kept > 0 && kept < all && all == 1501, "{kept} {all}");
    server.says(&format!("hashing {} keys with --slow-hash 1MiB,8", all - kept));
    answers(&folder, server, "");
}

/// A file that may not grow beyond a length stands for a full disk. The longest part has 2^20 bytes, and all have 3 MB.
#[test]
fn a_full_disk_keeps_what_is_there() {
    let folder = folder(100_000);
    let limited = by_shell("trap '' XFSZ; ulimit -f 2400; exec \"$@\"");
    let mut server = folder.start_under(limited, &format!("{SERVE} {OPTIONS}"));
    server.stdin = None;
    server.end().expect(4, &["what is prepared cannot be kept in", "the room on the disk"]);
    assert!(fs::metadata(folder.path(FILE)).is_ok_and(|file| file.len() <= 2400 * 512));
    let server = start(&folder, "");
    assert!(figures(&server.says(GOES_ON))[0] > 0);
    answers(&folder, server, "");
}

/// A reload that prepares most of a set under the same key, and is killed.
#[test]
fn a_reload_goes_on_when_the_server_starts_again() {
    let folder = folder(60_000);
    let options = "--max-shrink 100";
    let mut server = start(&folder, options);
    let address = address(&server);
    report(&folder, &address, "--state deny.cache");
    let rows = (0..60_000).map(|i| format!("http://{}.example/,a\n", 3 * i + 1));
    folder.write("deny.csv", format!("url,label\n{}", rows.collect::<String>()));
    server.signal("HUP");
    wait_until_kept(&folder, &mut server, 0, 60_000);
    // The set before answers meanwhile.
    query(&folder, &address, "--state deny.cache").expect(0, &["100 keys match"]);
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    let server = start(&folder, options);
    server.says(GOES_ON);
    let ended = answers(&folder, server, "--state deny.cache");
    ended.expect(0, &["the state file was updated: 60000 added, 60000 removed"]);
}
