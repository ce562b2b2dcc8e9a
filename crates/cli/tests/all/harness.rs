//! Starting `vesica` processes in a folder of their own, and waiting for them without ever hanging.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// After this a test is considered to hang.
const PATIENCE: Duration = Duration::from_secs(180);

/// Whether this holds within so many seconds.
pub fn within(seconds: u64, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Where a folder's `plan` finds how fast this machine is.
pub const CALIBRATION: &str = "cache/vesica/calibration.json";

/// The variable that lets the system show a process's memory and open files to its user.
pub const CORE_DUMPS: &str = "VESICA_CORE_DUMPS";

/// The folder for what stays from one run to the next.
pub const STATE: &str = "state";

/// A temporary folder with two identities, `us` (who receive) and `them` (who send).
pub struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub fn new() -> Self {
        // A space in the path, since those reach too many shells.
        let folder = Self { folder: tempfile::Builder::new().prefix("vesica test ").tempdir().expect("a folder") };
        for name in ["us", "them"] {
            let made = folder.run(&format!("identity new --out {name}.key"));
            assert_eq!(made.code, 0, "{}", made.stderr);
        }
        folder
    }

    /// A folder in which `plan` finds this machine measured. What other tests take of it would have every plan measure
    /// it again.
    pub fn calibrated() -> Self {
        static MEASURED: OnceLock<String> = OnceLock::new();
        let folder = Self::new();
        let measured = MEASURED.get_or_init(|| {
            let measured = folder.run("plan --calibrate --json");
            measured.expect(0, &["measured this machine"]);
            let object: serde_json::Value = serde_json::from_str(&measured.stdout).expect("one JSON object");
            serde_json::to_string_pretty(&[&object["calibration"]]).expect("JSON")
        });
        fs::create_dir_all(folder.path("cache/vesica")).expect("a folder");
        folder.write(CALIBRATION, measured);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("written");
    }

    /// Writes a file that its owner alone can read.
    pub fn write_secret(&self, name: &str, content: impl AsRef<[u8]>) {
        self.write(name, content);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).expect("permissions");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("readable")
    }

    /// Names of the files that are there now, but for the log of runs, which every run writes.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != STATE);
        names.sort();
        names
    }

    pub fn start(&self, arguments: &str) -> Process {
        self.start_under(Command::new(crate::PROGRAM), arguments)
    }

    /// As `start`, with a file system of 64 KiB at the folder's `tiny`; `None` where the system
    /// does not let a user mount one.
    pub fn start_with_tiny(&self, arguments: &str) -> Option<Process> {
        fs::create_dir_all(self.path("tiny")).expect("a folder");
        let tiny = |then: &str| {
            let script = format!("mount -t tmpfs -o size=64k none tiny && {then}");
            let mut command = Command::new("unshare");
            command.args(["-rm", "sh", "-c", &script, "sh", crate::PROGRAM]).current_dir(self.folder.path());
            command
        };
        let possible = tiny("true").output().is_ok_and(|output| output.status.success());
        possible.then(|| self.start_under(tiny("exec \"$@\""), arguments))
    }

    /// Starts `command`, which ends in running vesica, with these arguments after its own.
    pub fn start_under(&self, mut command: Command, arguments: &str) -> Process {
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        // The user's own settings must play no part.
        for variable in [
            "VESICA_IDENTITY",
            "VESICA_PASSPHRASE_FILE",
            "VESICA_PEERS",
            "VESICA_THREADS",
            "VESICA_MEMORY",
            "VESICA_PROGRESS",
            "VESICA_RUN_LOG",
            "https_proxy",
            "HTTPS_PROXY",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "NO_PROXY",
        ] {
            if command.get_envs().all(|(name, _)| name != variable) {
                command.env_remove(variable);
            }
        }
        command.env("XDG_CONFIG_HOME", self.path("configuration")).env("XDG_CACHE_HOME", self.path("cache"));
        command.env("XDG_STATE_HOME", self.path(STATE));
        // Tests look at a process's open files, which otherwise only root may.
        if command.get_envs().all(|(name, _)| name != CORE_DUMPS) {
            command.env(CORE_DUMPS, "allow");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let stdout = child.stdout.take().expect("piped");
        let stderr = child.stderr.take().expect("piped");
        let (say, lines) = channel();
        let errors = thread::spawn(move || {
            let mut all = String::new();
            for line in BufReader::new(stderr).split(b'\n') {
                let line = String::from_utf8_lossy(&line.expect("a line")).into_owned();
                all.push_str(&line);
                all.push('\n');
                // Nobody may wait for a line any more.
                let _ = say.send(line);
            }
            all
        });
        let output = thread::spawn(move || {
            let mut all = String::new();
            BufReader::new(stdout).read_to_string(&mut all).expect("text");
            all
        });
        let stdin = child.stdin.take();
        Process { arguments: arguments.into(), child, stdin, lines, errors: Some(errors), output: Some(output) }
    }

    /// Runs to the end, with nothing on standard input.
    pub fn run(&self, arguments: &str) -> Ended {
        let mut process = self.start(arguments);
        process.stdin = None;
        process.end()
    }

    /// Runs both sides over TLS to their ends: the receiver's outcome and the sender's. The
    /// arguments come after those of the connection.
    pub fn join(&self, receive: &str, send: &str) -> (Ended, Ended) {
        let (receiver, sender) = self.both(receive, send);
        let sender = sender.end();
        (receiver.end(), sender)
    }

    /// Starts both sides over TLS; the receiver listens.
    pub fn both(&self, receive: &str, send: &str) -> (Process, Process) {
        let mut receiver = self.start(&format!("receive {RECEIVER} {receive}"));
        receiver.stdin = None;
        let address = receiver.address();
        let sender = self.start(&format!("send {SENDER} --connect {address} {send}"));
        (receiver, sender)
    }
}

/// `vesica` started by a line of the shell, in which `"$@"` is its command.
pub fn by_shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", crate::PROGRAM]);
    command
}

/// Whether SIGHUP is ignored here, and so by what is started.
pub fn hangup_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(ignored.trim(), 16).expect("a mask") & 1 == 1
}

/// How the receiver meets its peer.
pub const RECEIVER: &str = "--listen 127.0.0.1:0 --identity us.key --peer them.pub --wait 20";
/// How the sender does, but for the address.
pub const SENDER: &str = "--identity them.key --peer us.pub --wait 20";

/// A running `vesica`.
pub struct Process {
    arguments: String,
    pub child: Child,
    /// Kept open until dropped: a side that reads its table from it waits meanwhile.
    pub stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    output: Option<JoinHandle<String>>,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Process {
    /// Waits until a line on standard error contains `text`, and gives the line.
    pub fn says(&self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        let mut said = String::new();
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => said.push_str(&format!("\n  {line}")),
                Err(_) => panic!("`vesica {}` never says {text:?}, but says: {said}", self.arguments),
            }
        }
    }

    /// The address that it listens on.
    pub fn address(&self) -> String {
        let line = self.says("listening on ");
        line.trim_start_matches("listening on ").to_owned()
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        let end = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                break status;
            }
            if Instant::now() >= end {
                self.child.kill().expect("killed");
                let said = self.errors();
                panic!("`vesica {}` hangs; it said: {said}", self.arguments);
            }
            thread::sleep(Duration::from_millis(5));
        };
        let stdout = self.output.take().map(|output| output.join().expect("read")).unwrap_or_default();
        Ended { code: status.code().unwrap_or(-1), stdout, stderr: self.errors() }
    }

    fn errors(&mut self) -> String {
        self.errors.take().map(|errors| errors.join().expect("read")).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Asserts the exit code, and that standard error holds each of `texts`, a fault and a mend if
    /// it failed.
    #[track_caller]
    pub fn expect(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "standard error: {}", self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is missing in: {}", self.stderr);
        }
        if code != 0 {
            assert!(
                self.stderr.contains("error: ") && self.stderr.contains("help: "),
                "fault and mend in: {}",
                self.stderr
            );
        }
    }
}
