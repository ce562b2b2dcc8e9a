//! Whole commands, as a user runs them: two CSV files, which `receive` and `send` read, join over
//! TLS and write.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use vesica_party::{Role, Security};
use vesica_structures::facts::Unsupported;

use crate::plan::Plan;
use crate::{BenchError, Settings, Spread, clock};

/// The only task whose whole commands are timed.
const TASK: &str = "intersect";

/// Time between two looks at the commands: what an end can be seen too late.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Least and most bytes of a key; lengths are uniform between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyBytes {
    /// The shortest key.
    pub least: usize,
    /// The longest key.
    pub most: usize,
}

impl FromStr for KeyBytes {
    type Err = Unsupported;

    fn from_str(text: &str) -> Result<Self, Unsupported> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        match (least.parse(), most.parse()) {
            (Ok(least), Ok(most)) if (COUNTER..=most).contains(&least) && most <= 4096 => Ok(Self { least, most }),
            _ => Err(Unsupported::new(
                format!("the key length '{text}' is not understood"),
                "write 24, or 8..64 for lengths between",
            )),
        }
    }
}

/// What whole commands took; its JSON is what `vesica-lab bench --commands --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommandsReport {
    /// Id of the protocol that ran.
    pub protocol: String,
    /// `commands`.
    pub task: String,
    /// Mode.
    pub security: Security,
    /// Rows of the sender's table, each with a key of its own.
    pub sender_items: usize,
    /// Rows of the receiver's table.
    pub receiver_items: usize,
    /// Keys in both tables.
    pub intersection: usize,
    /// Bytes of a key.
    pub key_bytes: KeyBytes,
    /// Counted repeats.
    pub repeats: usize,
    /// Median seconds from the start of the first command to the end of the last one.
    pub total_seconds: f64,
    /// The same seconds: least, quartiles, most.
    pub total_spread: Spread,
    /// The same seconds of every repeat.
    pub samples: Vec<f64>,
    /// Peak memory of `send`, bytes (VmHWM).
    pub peak_rss_sender: u64,
    /// Peak memory of `receive`, bytes.
    pub peak_rss_receiver: u64,
}

/// Times `receive` and `send` of `program` on two CSV files, after one warm-up; what `receive`
/// writes is compared with a plain join.
pub fn whole_commands(program: &Path, settings: &Settings, key_bytes: KeyBytes) -> Result<CommandsReport, BenchError> {
    // A refusal needs no command to say it.
    Plan::new(settings)?;
    if settings.task != TASK {
        return Err(Unsupported::new("whole commands are timed for intersections", "omit --commands or --task").into());
    }
    let folder = Folder::new()?;
    let expected = write_tables(&folder.0, settings, key_bytes)?;
    for name in ["us", "them"] {
        let status = Command::new(program)
            .args(["identity", "new", "--out", &format!("{name}.key")])
            .current_dir(&folder.0)
            .output()?
            .status;
        if !status.success() {
            return Err(BenchError::Process(io::Error::other(format!("`identity new` ended with {status}"))));
        }
    }

    let mut samples = Vec::with_capacity(settings.repeat);
    let mut peaks = [0; 2];
    for repeat in settings.repeats() {
        let begin = clock::monotonic();
        let mut receiver =
            Party::start(program, &folder.0, settings, Role::Receiver, "us.key", &["--listen", "127.0.0.1:0"])?;
        let address = receiver.address()?;
        let sender = Party::start(program, &folder.0, settings, Role::Sender, "them.key", &["--connect", &address])?;
        let mut parties = [sender, receiver];
        while !parties.iter_mut().map(Party::has_ended).collect::<Result<Vec<_>, _>>()?.iter().all(|ended| *ended) {
            thread::sleep(POLL_INTERVAL);
        }
        let seconds = clock::monotonic() - begin;
        for (party, peak) in parties.iter_mut().zip(&mut peaks) {
            party.check()?;
            *peak = party.peak.max(*peak);
        }
        if fs::read(folder.0.join("matches.csv"))? != expected {
            return Err(BenchError::Party {
                role: Role::Receiver,
                fault: "what it wrote is not the join of the tables".into(),
            });
        }
        // Repeat 0 warms up.
        if repeat > 0 {
            samples.push(seconds);
        }
    }
    let total = Spread::of(samples.iter().copied());
    let [peak_rss_sender, peak_rss_receiver] = peaks;
    Ok(CommandsReport {
        protocol: settings.protocol.clone(),
        task: "commands".into(),
        security: settings.security,
        sender_items: settings.sender_items,
        receiver_items: settings.receiver_items,
        intersection: settings.overlap(),
        key_bytes,
        repeats: samples.len(),
        total_seconds: total.median,
        total_spread: total,
        samples,
        peak_rss_sender,
        peak_rss_receiver,
    })
}

/// Characters of a key that count, five bits each: no two keys are the same.
const COUNTER: usize = 8;

/// The key of a number below 2^40.
fn key(number: u64, bytes: KeyBytes) -> String {
    // An odd factor permutes the numbers, so that neighbours do not look alike.
    let spread = number.wrapping_mul(0x9e_3779_b97f) & ((1 << (5 * COUNTER)) - 1);
    let mut random = ChaCha20Rng::seed_from_u64(number);
    let length = random.random_range(bytes.least..=bytes.most);
    let letter = |five_bits: u64| char::from(b"abcdefghijklmnopqrstuvwxyz.-_@01"[five_bits as usize % 32]);
    (0..length)
        .map(|place| if place < COUNTER { letter(spread >> (5 * place)) } else { letter(random.next_u64()) })
        .collect()
}

/// Writes both tables, rows in random order; gives the plain join. The receiver has the keys from
/// zero on, the sender the last ones of these that both have, and then its own.
fn write_tables(folder: &Path, settings: &Settings, bytes: KeyBytes) -> io::Result<Vec<u8>> {
    let own = (settings.receiver_items - settings.overlap()) as u64;
    let mut order = ChaCha20Rng::seed_from_u64(0);
    let mut shuffled = |from: u64, items: usize| {
        let mut numbers: Vec<u64> = (from..from + items as u64).collect();
        numbers.shuffle(&mut order);
        numbers
    };
    let mut expected = b"id,name,city\n".to_vec();
    let mut ours = BufWriter::new(fs::File::create(folder.join("ours.csv"))?);
    ours.write_all(&expected)?;
    for number in shuffled(0, settings.receiver_items) {
        let row = format!("{number},{},city{}\n", key(number, bytes), number % 1000);
        ours.write_all(row.as_bytes())?;
        if number >= own {
            expected.extend_from_slice(row.as_bytes());
        }
    }
    ours.flush()?;
    let mut theirs = BufWriter::new(fs::File::create(folder.join("theirs.csv"))?);
    theirs.write_all(b"name,since\n")?;
    for number in shuffled(own, settings.sender_items) {
        writeln!(theirs, "{},{}", key(number, bytes), 1970 + number % 50)?;
    }
    theirs.flush()?;
    Ok(expected)
}

/// A command that runs. One that is left behind is killed.
struct Party {
    role: Role,
    child: Child,
    says: BufReader<ChildStderr>,
    peak: u64,
}

impl Party {
    fn start(
        program: &Path,
        folder: &Path,
        settings: &Settings,
        role: Role,
        identity: &str,
        end: &[&str],
    ) -> Result<Self, BenchError> {
        let (own, peer) = match role {
            Role::Receiver => {
                (["receive", "--input", "ours.csv", "--output", "matches.csv", "--force"].as_slice(), "them.pub")
            }
            Role::Sender => (["send", "--input", "theirs.csv"].as_slice(), "us.pub"),
        };
        let mut command = Command::new(program);
        command.args(own).args(end).args(["--key", "name", "--identity", identity, "--peer", peer]);
        command.args(["--protocol", &settings.protocol, "--security", &settings.security.to_string()]);
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        match child.stderr.take() {
            Some(says) => Ok(Self { role, child, says: BufReader::new(says), peak: 0 }),
            None => Err(BenchError::Party { role, fault: "its pipe is missing".into() }),
        }
    }

    /// Where it listens.
    fn address(&mut self) -> Result<String, BenchError> {
        let mut said = String::new();
        loop {
            let from = said.len();
            if self.says.read_line(&mut said)? == 0 {
                return Err(BenchError::Party { role: self.role, fault: said });
            }
            if let Some(address) = said[from..].trim_end().strip_prefix("listening on ") {
                return Ok(address.to_owned());
            }
        }
    }

    fn has_ended(&mut self) -> io::Result<bool> {
        // A process that has ended no longer says how much memory it had.
        self.peak = self.peak.max(clock::peak_memory(&self.child.id().to_string()));
        Ok(self.child.try_wait()?.is_some())
    }

    fn check(&mut self) -> Result<(), BenchError> {
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        self.says.read_to_string(&mut said)?;
        Err(BenchError::Party {
            role: self.role,
            fault: format!("its command ended with {status}: {}", said.trim_end()),
        })
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        // Both fail for a command that has ended, as all have by now but after a failure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder for tables and identities, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("vesica-bench-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_have_the_lengths_asked_for() {
        let bytes: KeyBytes = "8..64".parse().expect("a range");
        let keys: std::collections::HashSet<String> = (0..5000).map(|number| key(number, bytes)).collect();
        assert_eq!(keys.len(), 5000);
        assert_eq!(keys.iter().map(String::len).min(), Some(8));
        assert_eq!(keys.iter().map(String::len).max(), Some(64));
        assert_eq!("24".parse::<KeyBytes>().expect("a length"), KeyBytes { least: 24, most: 24 });
        for bad in ["", "7", "64..8", "8..", "..9", "8..9999", "a..b"] {
            assert!(bad.parse::<KeyBytes>().is_err(), "{bad}");
        }
    }
}
