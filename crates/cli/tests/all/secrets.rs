//! What a finished run leaves in the memory of its process, and that no core dump takes that along.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use vesica::party::transport::tls::Identity;

use crate::harness::{CORE_DUMPS, Folder, Process, RECEIVER, SENDER, by_shell, within};
use crate::service;

/// In this variable a test program finds the command line that it is to run as `vesica` would.
const SEARCHED: &str = "VESICA_SEARCHED";
const FINISHED: &str = "the run to be searched has finished";

/// No test, but the process that the tests below search: it runs a command line in this test program, and stays until its
/// standard input ends. `vesica` itself lets nobody read its memory.
#[test]
fn a_process_that_is_searched() {
    let Ok(line) = env::var(SEARCHED) else { return };
    let arguments: Vec<OsString> = ["vesica"].into_iter().chain(line.split_whitespace()).map(OsString::from).collect();
    assert_eq!(vesica_cli::run_inside(crate::PROGRAM.into(), &arguments), 0);
    eprintln!("{FINISHED}");
    io::stdin().read_to_end(&mut Vec::new()).expect("an end");
}

fn searched(folder: &Folder, line: &str) -> Process {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "secrets::a_process_that_is_searched", "--nocapture"]).env(SEARCHED, line);
    folder.start_under(command, "")
}

/// A process's memory that can be written: heap, stacks, static variables.
fn image(process: &Process) -> Vec<Vec<u8>> {
    let number = process.child.id();
    let maps = fs::read_to_string(format!("/proc/{number}/maps")).expect("readable by whoever started the process");
    let memory = File::open(format!("/proc/{number}/mem")).expect("readable by whoever started the process");
    let mut parts = Vec::new();
    for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"))) {
        let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let [from, to] = [from, to].map(|address| u64::from_str_radix(address, 16).expect("an address"));
        let mut part = vec![0; (to - from) as usize];
        if memory.read_exact_at(&mut part, from).is_ok() {
            parts.push(part);
        }
    }
    parts
}

/// How often the bytes are in it.
fn count(image: &[Vec<u8>], bytes: &[u8]) -> usize {
    let (first, rest) = bytes.split_first().expect("bytes");
    let mut found = 0;
    for part in image {
        let starts = part.iter().enumerate().filter(|(_, byte)| *byte == first);
        found += starts.filter(|(at, _)| part[at + 1..].starts_with(rest)).count();
    }
    found
}

/// The text of a private key, and what only the partner has, are in no memory that a finished run leaves. SECURITY.md says
/// what may be there: the cells of the own table, what the run gave, and the seed of the own key.
#[test]
fn a_finished_run_leaves_no_text_of_its_key_and_nothing_of_the_partners() {
    let folder = Folder::new();
    let rows = |side: &str| (0..500).map(|i| format!("{side}-{i}-5b1f@x.org,{side}-cell-{i}\n")).collect::<String>();
    folder.write("ours.csv", format!("email,note\n{}common@x.org,common\n", rows("receiver")));
    folder.write("theirs.csv", format!("email,note\n{}common@x.org,shared-cell\n", rows("sender")));
    let receive = format!("receive {RECEIVER} --input ours.csv --key email --output matches.csv");
    let receiver = searched(&folder, &receive);
    let address = receiver.address();
    let send = format!("send {SENDER} --connect {address} --input theirs.csv --key email --payload note");
    let sender = searched(&folder, &send);
    for (process, key, own, partner) in
        [(&receiver, "us.key", "receiver", "sender"), (&sender, "them.key", "sender", "receiver")]
    {
        process.says(FINISHED);
        let image = image(process);
        // The search sees what is there.
        assert!(count(&image, format!("{own}-cell-7").as_bytes()) > 0, "the {own}'s memory was not searched");
        let private = folder.read(key);
        let private = private.lines().find(|line| !line.starts_with('-')).expect("a line of Base64");
        assert_eq!(count(&image, &seed(&folder, key)), 0, "the seed of the {own}'s key is in its memory");
        // Behind the first bytes, which all keys have in common.
        assert_eq!(count(&image, &private.as_bytes()[24..]), 0, "the text of the {own}'s key is in its memory");
        for theirs in [format!("{partner}-7-5b1f"), format!("{partner}-499-5b1f"), format!("{partner}-cell-7")] {
            assert_eq!(count(&image, theirs.as_bytes()), 0, "{theirs} is in the {own}'s memory");
        }
    }
}

/// The seed of a private key, with which anybody is its owner.
fn seed(folder: &Folder, key: &str) -> [u8; 32] {
    *Identity::load(&folder.path(key)).expect("a key").seed()
}

/// With scrypt's last block, a guess at the passphrase costs one hash. It has 20 KiB that look random.
#[test]
fn an_opened_key_leaves_neither_its_passphrase_nor_what_scrypt_worked_on() {
    let folder = Folder::new();
    let seed = seed(&folder, "us.key");
    folder.write_secret("pass", "correct horse 5b1f\n");
    folder.run("identity passphrase us.key --new-passphrase-file pass").expect(0, &[]);
    let process = searched(&folder, "identity revoke --identity us.key --passphrase-file pass --out us.revocation");
    process.says(FINISHED);
    let image = image(&process);
    for (name, bytes) in [("passphrase", &b"correct horse 5b1f"[..]), ("seed", &seed)] {
        assert_eq!(count(&image, bytes), 0, "the {name} is in its memory");
    }
    // Of 4096 random bytes, each value is there, and none more than 64 times, but with a probability below 2^-13.
    let is_random = |page: &&[u8]| {
        let mut times = [0; 256];
        page.iter().for_each(|&byte| times[usize::from(byte)] += 1);
        times.iter().all(|times| (1..64).contains(times))
    };
    let random = image.iter().flat_map(|part| part.chunks_exact(4096)).filter(is_random).count();
    assert_eq!(random, 0, "pages that look random");
}

/// A server that has read its state, answered, and read its table again.
#[test]
fn a_server_that_has_stopped_leaves_none_of_its_secret_keys() {
    let folder = service::tables();
    let serve = format!("{} --no-quota --listen 127.0.0.1:0 --state deny.state", service::SERVE);
    for run in 0..2 {
        let server = searched(&folder, &serve);
        let line = server.says("listening on ");
        let address = line.split("listening on ").nth(1).expect("an address");
        service::query(&folder, address, "").expect(0, &[]);
        folder.write("deny.csv", format!("{}http://{run}.more/,a\n", folder.read("deny.csv")));
        server.signal("HUP");
        server.says("the table was read again: ");
        let state = fs::read(folder.path("deny.state")).expect("a state");
        // Behind the name of the format stand an identifier, seven numbers, the key of the OPRF and the seed of the key
        // that signs updates.
        let name = b"oprf-rfc9497 server 2";
        let place = state.windows(name.len()).position(|bytes| bytes == name).expect("a state of this format");
        let keys = &state[place + name.len() + 16 + 7 * 8..][..64];
        let own = seed(&folder, "them.key");
        let secrets = [("OPRF", &keys[..32]), ("updates", &keys[32..]), ("identity", &own)];
        let running = image(&server);
        for (name, key) in secrets {
            assert!(count(&running, key) > 0, "run {run}: the search does not see the key of the {name}");
        }
        server.signal("TERM");
        server.says(FINISHED);
        // The thread that reads the table again looks ten times a second whether the server has stopped.
        let mut found = secrets.map(|(name, _)| (name, 0));
        within(5, || {
            let stopped = image(&server);
            found = secrets.map(|(name, key)| (name, count(&stopped, key)));
            found.iter().all(|(_, count)| *count == 0)
        });
        assert_eq!(found, secrets.map(|(name, _)| (name, 0)), "run {run}");
    }
}

/// Whether the system dumps the memory of a receiver that a signal ends while it waits.
fn is_dumped(setting: &str) -> bool {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    let mut command = by_shell("ulimit -c unlimited && exec \"$@\"");
    command.env(CORE_DUMPS, setting);
    let mut process =
        folder.start_under(command, &format!("receive {RECEIVER} --input ours.csv --key email --output matches.csv"));
    process.address();
    process.signal("ABRT");
    process.child.wait().expect("an end").core_dumped()
}

#[test]
fn no_core_is_dumped_unless_somebody_says_so() {
    if !is_dumped("allow") {
        return eprintln!("skipped: this system dumps the memory of no process");
    }
    assert!(!is_dumped(""));
}
