//! Limits of the system on a process: a command that gets too few threads or too little address space runs with fewer,
//! or refuses by the limit's name; it never calls that a defect, is never aborted, and leaves no partner waiting.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::{Ended, Folder, Process};

/// A folder with tables, in which vesica runs under a limit.
struct Limited {
    folder: Folder,
    limit: Limit,
}

enum Limit {
    /// On threads and processes together, of a user who has no others.
    Threads { user: u32, program: PathBuf },
    /// On address space, in MB.
    AddressSpace,
}

impl Limited {
    fn to_address_space() -> Self {
        Self { folder: tables(), limit: Limit::AddressSpace }
    }

    /// Nothing without the rights to become another user: the limit counts all that a user runs, and
    /// root has none.
    fn to_threads() -> Option<Self> {
        if fs::metadata("/proc/self").expect("a process").uid() != 0 {
            eprintln!("skipped: only root can run a command as a user of its own");
            return None;
        }
        // Tests run at once, and each counts its own threads.
        static USERS: AtomicU32 = AtomicU32::new(0);
        // Containers often have no users beyond 65,535.
        let user = 20_000 + std::process::id() * 16 % 40_000 + USERS.fetch_add(1, Ordering::Relaxed);
        let folder = tables();
        // The program may lie where only root looks.
        let program = folder.path("vesica");
        let built = Path::new(crate::PROGRAM);
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).expect("a copy");
        fs::set_permissions(folder.path(""), Permissions::from_mode(0o777)).expect("permitted");
        for name in ["", "us.key", "them.key"] {
            if let Err(error) = chown(folder.path(name), Some(user), Some(user)) {
                eprintln!("skipped: this machine has no user {user}: {error}");
                return None;
            }
        }
        Some(Self { folder, limit: Limit::Threads { user, program } })
    }

    fn command(&self, most: u64) -> Command {
        match &self.limit {
            Limit::Threads { user, program } => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
                command.args(["prlimit".into(), format!("--nproc={most}")]).arg(program);
                command.env("TMPDIR", self.folder.path(""));
                command
            }
            Limit::AddressSpace => {
                let mut command = Command::new("prlimit");
                command.arg(format!("--as={}", most * 1_000_000)).arg(crate::PROGRAM);
                command
            }
        }
    }

    fn start(&self, most: u64, arguments: &str) -> Process {
        let mut process = self.folder.start_under(self.command(most), arguments);
        process.stdin = None;
        process
    }

    /// Tries one command, on its own or with a partner that is not limited, from a limit under which
    /// nothing runs to one that is none. `partner` has the partner's command.
    fn climb(&self, limits: &[u64], arguments: &str, partner: Option<&str>) {
        let mut succeeded = false;
        for &most in limits {
            // The limited side comes second and knows where; what comes first tries until then.
            let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
            let at_port = |command: &str| command.replace("PORT", &port.to_string());
            let partner = partner.map(|partner| self.folder.start(&at_port(partner)));
            let ended = self.start(most, &at_port(arguments)).end();
            self.check(&ended, most, arguments);
            assert!(ended.code == 0 || !succeeded, "`{arguments}` fails under {most}, but not under less");
            succeeded = ended.code == 0;
            if let Some(partner) = partner.filter(|_| succeeded) {
                partner.end().expect(0, &[]);
            }
            let _ = fs::remove_file(self.folder.path("out.csv"));
        }
        assert!(succeeded, "`{arguments}` does not even run under {limits:?}");
    }

    fn check(&self, ended: &Ended, most: u64, arguments: &str) {
        let said = &ended.stderr;
        assert!(ended.code == 0 || ended.code == 11, "`{arguments}` under {most} ended with {}: {said}", ended.code);
        assert!(!said.contains("defect") && !said.contains("panicked"), "`{arguments}` under {most}: {said}");
        let limit = match self.limit {
            Limit::Threads { .. } => "ulimit -u",
            Limit::AddressSpace => "ulimit -v",
        };
        assert!(ended.code == 0 || said.contains(limit), "`{arguments}` under {most}: {said}");
    }
}

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    folder.write("theirs.csv", "mail\nb@x.org\nc@x.org\n");
    folder
}

const RECEIVE: &str =
    "receive --input ours.csv --key email --output out.csv --identity us.key --peer them.pub --wait 20";
const SEND: &str = "send --input theirs.csv --key mail --identity them.key --peer us.pub --wait 20";

/// Commands that run alone, and those that meet a partner, with the partner's.
fn commands() -> Vec<(String, Option<String>)> {
    let [listen, connect] = ["--listen 127.0.0.1:PORT", "--connect 127.0.0.1:PORT"];
    let alone = ["check ours.csv --key email", "demo", "plan --sender-items 1000 --receiver-items 1000"];
    let alone = alone.map(|command| (command.to_owned(), None)).into_iter();
    let met = [
        (format!("{RECEIVE} {listen} --dry-run"), Some(format!("{SEND} {connect} --dry-run"))),
        (format!("{RECEIVE} {listen}"), Some(format!("{SEND} {connect}"))),
        (format!("{SEND} {connect}"), Some(format!("{RECEIVE} {listen}"))),
    ];
    alone.chain(met).collect()
}

#[test]
fn refused_threads_are_no_defect() {
    let Some(limited) = Limited::to_threads() else { return };
    for (command, partner) in commands() {
        limited.climb(&[1, 2, 5, 10, 11, 12, 14, 60], &command, partner.as_deref());
    }
}

#[test]
fn too_little_address_space_is_refused() {
    let limited = Limited::to_address_space();
    // All rows run in one process, which takes more.
    for most in [60, 120, 200] {
        limited.check(&limited.start(most, "selftest").end(), most, "selftest");
    }
    for (command, partner) in commands() {
        limited.climb(&[50, 60, 80, 100, 105, 110, 120, 200, 300, 4000], &command, partner.as_deref());
    }
}

/// A server that cannot have its threads says so and ends; one that has them answers.
#[test]
fn a_server_without_threads_refuses_to_start() {
    let Some(limited) = Limited::to_threads() else { return };
    let line = fs::read_to_string(limited.folder.path("us.pub")).expect("a key");
    limited.folder.write("clients.txt", line);
    let serve = "serve --input theirs.csv --key mail --identity them.key --clients clients.txt --no-quota --listen \
                 127.0.0.1:0";
    for most in [1, 2, 5, 8] {
        limited.check(&limited.start(most, serve).end(), most, serve);
    }
    let server = limited.start(40, serve);
    let address = server.says("listening on ").rsplit(' ').next().expect("an address").to_owned();
    let query = format!(
        "query --input ours.csv --key email --output out.csv --identity us.key --peer them.pub --connect {address}"
    );
    limited.folder.run(&query).expect(0, &[]);
    server.signal("TERM");
    server.end().expect(0, &[]);
}
