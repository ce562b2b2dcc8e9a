//! What a finished run leaves in the memory of its process, and that no core dump takes that along.

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread;

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

/// So many bytes of a file of a service's state, this far behind the name of its format.
fn part_of(folder: &Folder, file: &str, format: &str, at: usize, length: usize) -> Vec<u8> {
    let state = fs::read(folder.path(file)).expect("a state");
    let place =
        state.windows(format.len()).position(|bytes| bytes == format.as_bytes()).expect("a state of this format");
    state[place + format.len() + at..][..length].to_vec()
}

/// The first residues of a polynomial, of 36 bits each in a state, as they are in memory.
fn residues(packed: &[u8]) -> Vec<u8> {
    let bit = |place: usize| u64::from(packed[place / 8] >> (place % 8) & 1);
    let residue = |number: usize| (0..36).fold(0, |value, place| value | bit(36 * number + place) << place);
    (0..packed.len() * 8 / 36).flat_map(|number| residue(number).to_le_bytes()).collect()
}

/// Whether this is a part of a secret polynomial by its coefficients: 0, 1 and -1 modulo a prime, each many times.
fn is_ternary(part: &[u8]) -> bool {
    let words = || part.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    let Some(minus_one) = words().find(|&word| word > 1) else { return false };
    let times = |value: u64| words().filter(|&word| word == value).count();
    let each = [0, 1, minus_one].map(times);
    minus_one > 1 << 32 && each.iter().all(|&times| times > 8) && each.iter().sum::<usize>() == words().count()
}

/// Bytes of a state that begin with a key: a number of 32 bytes, or eight residues of a polynomial.
const KEY_BYTES: usize = 36;

/// What stands before each client: a word, the state of the server that it has joined, and a hash of its terms.
const ENROLLED_BYTES: usize = 8 + 16 + 32;

/// The other services: their servers, which prepare a set and read it again, and the clients that have a key of their own.
#[test]
fn other_services_leave_none_of_their_secret_keys() {
    let folder = service::tables();
    let rows: String = (0..40).map(|row| format!("http://{row}.example/\n")).collect();
    folder.write("few.csv", format!("url\n{rows}"));
    folder.write("deny.csv", format!("url\n{}", rows.replace("http://1", "http://x")));
    for (protocol, of_server, of_client) in [
        ("oprf-pir", (2, 16 + 9 * 8), None),
        ("oprf-buckets --leak-prefix 3", (1, 16 + 7 * 8), None),
        ("cmdg21", (1, 16 + 14 * 8), Some((1, 14 * 8 + 8))),
        ("cm25-select --trust-clients", (2, 16 + 12 * 8 + 8 + 48), Some((2, 12 * 8 + 8 + 48))),
    ] {
        let (name, flags) = protocol.split_once(' ').unwrap_or((protocol, ""));
        let at = |file: &str, side: &str, (version, place): (u32, usize)| {
            let key = part_of(&folder, file, &format!("{name} {side} {version}"), place, KEY_BYTES);
            let in_memory = residues(&key);
            [key[..32].to_vec(), in_memory]
        };
        for run in 0..2 {
            let server = searched(
                &folder,
                &format!(
                    "{} --no-quota --listen 127.0.0.1:0 --state {name}.state --security semi-honest --protocol {name} {flags}",
                    service::SERVE
                ),
            );
            let line = server.says("listening on ");
            let address = line.split("listening on ").nth(1).expect("an address");
            let asked = flags.replace("--trust-clients", "--trust-server");
            let client = searched(
                &folder,
                &format!(
                    "query --input few.csv --key url --output {name}-{run}.csv --identity us.key --peer them.pub --wait 20 \
                     --connect {address} --security semi-honest --state {name}.cache {asked}"
                ),
            );
            client.says(FINISHED);
            let own = at(&format!("{name}.state"), "server", of_server);
            let running = image(&server);
            let is_seen = own.iter().any(|key| count(&running, key) > 0);
            assert!(is_seen, "{name}, run {run}: the search does not see the server's key");
            if let Some(place) = of_client {
                let keys = at(&format!("{name}.cache"), "client", (place.0, place.1 + ENROLLED_BYTES));
                let left = image(&client);
                assert_eq!(keys.each_ref().map(|key| count(&left, key)), [0, 0], "{name}, run {run}: the client's key");
                let ternary =
                    left.iter().flat_map(|part| part.chunks_exact(512)).filter(|part| is_ternary(part)).count();
                assert_eq!(ternary, 0, "{name}, run {run}: parts of the client's key");
            }
            server.signal("TERM");
            server.says(FINISHED);
            let mut found = ([0, 0], 0);
            within(5, || {
                let stopped = image(&server);
                let ternary = stopped.iter().flat_map(|part| part.chunks_exact(512)).filter(|part| is_ternary(part));
                found = (own.each_ref().map(|key| count(&stopped, key)), ternary.count());
                found == ([0, 0], 0)
            });
            assert_eq!(found, ([0, 0], 0), "{name}, run {run}: copies of the server's key, and parts of it");
        }
    }
}

/// What hides a text of 16 bytes or more in a stream of one-time pads, wherever in it the text begins. What is not random
/// is left out.
fn pads(stream: &[u8], text: &[u8]) -> HashSet<u128> {
    let word = |bytes: &[u8]| u128::from_le_bytes(bytes[..16].try_into().expect("sixteen bytes"));
    let is_random = |pad: &u128| pad.to_le_bytes().into_iter().collect::<HashSet<_>>().len() > 11;
    stream.windows(16).map(|window| word(window) ^ word(text)).filter(is_random).collect()
}

/// How many of the pads are in a memory.
fn count_pads(image: &[Vec<u8>], pads: &HashSet<u128>) -> usize {
    let words = image.iter().flat_map(|part| part.windows(16));
    words.filter(|word| pads.contains(&u128::from_le_bytes((*word).try_into().expect("sixteen bytes")))).count()
}

/// Passes on what a process says to another one, and keeps it.
fn record(mut from: TcpStream, mut to: TcpStream) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let (mut recorded, mut part) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = from.read(&mut part) {
            recorded.extend(&part[..count]);
            to.write_all(&part[..count]).expect("passed on");
        }
        let _ = to.shutdown(Shutdown::Write);
        recorded
    })
}

/// With a pad and the traffic, its cell can be read. All cells have one text, so that the pads are known from what was sent.
#[test]
fn a_finished_run_leaves_no_pad_of_a_payload() {
    const CELL: &str = "5b1f-one-cell-of-all-rows-5b1f";
    let folder = Folder::new();
    let rows = |from: usize| (from..from + 500).map(|i| format!("{i}@x.org,{CELL}\n")).collect::<String>();
    folder.write("ours.csv", format!("email,note\n{}", rows(0)));
    folder.write("theirs.csv", format!("email,note\n{}", rows(499)));
    for security in ["malicious", "semi-honest"] {
        let both = format!("--insecure-plaintext --wait 20 --key email --security {security}");
        let receive = format!("receive {both} --listen 127.0.0.1:0 --input ours.csv --output {security}.csv");
        let receiver = searched(&folder, &receive);
        let address = receiver.address();
        let relay = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = relay.local_addr().expect("an address");
        let sender = searched(&folder, &format!("send {both} --connect {at} --input theirs.csv --payload note"));
        let (near, far) = (relay.accept().expect("the sender").0, TcpStream::connect(address).expect("the receiver"));
        let clone = |socket: &TcpStream| socket.try_clone().expect("a handle");
        let (sent, _) = (record(clone(&near), clone(&far)), record(far, near));
        let sent = sent.join().expect("no panic");
        let pads = pads(&sent, CELL.as_bytes());
        assert!(pads.len() > 500 * CELL.len(), "{security}: {} pads", pads.len());
        for (side, process) in [("sender", &sender), ("receiver", &receiver)] {
            process.says(FINISHED);
            assert_eq!(count_pads(&image(process), &pads), 0, "{security}: pads are in the {side}'s memory");
        }
        assert!(folder.read(&format!("{security}.csv")).contains(CELL));
    }
}

/// The states of these servers have their encrypted payloads byte by byte.
#[test]
fn a_service_leaves_no_pad_of_a_payload() {
    const LABEL: &str = "5b1f-one-label-of-all-rows-5b1f";
    let folder = service::tables();
    let rows: String = (0..300).map(|row| format!("http://{row}.example/,{LABEL}\n")).collect();
    folder.write("deny.csv", format!("url,label\n{rows}"));
    for protocol in ["oprf-rfc9497", "oprf-buckets --leak-prefix 3"] {
        let (name, flags) = protocol.split_once(' ').unwrap_or((protocol, ""));
        let server = searched(
            &folder,
            &format!(
                "{} --no-quota --listen 127.0.0.1:0 --state {name}.state --security semi-honest --protocol {name} {flags} \
                 --payload label",
                service::SERVE
            ),
        );
        let line = server.says("listening on ");
        let address = line.split("listening on ").nth(1).expect("an address");
        let client = searched(
            &folder,
            &format!(
                "query --input seen.csv --key url --output {name}.csv --identity us.key --peer them.pub --wait 20 \
                 --connect {address} --security semi-honest {flags}"
            ),
        );
        client.says(FINISHED);
        server.signal("TERM");
        server.says(FINISHED);
        let pads = pads(&fs::read(folder.path(&format!("{name}.state"))).expect("a state"), LABEL.as_bytes());
        assert!(pads.len() > 300 * 16, "{name}: {} pads", pads.len());
        for (side, process) in [("server", &server), ("client", &client)] {
            assert_eq!(count_pads(&image(process), &pads), 0, "{name}: pads are in the {side}'s memory");
        }
        assert!(folder.read(&format!("{name}.csv")).contains(LABEL));
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
