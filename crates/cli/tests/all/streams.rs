//! Standard output and standard error that are full, closed or a broken pipe: never a panic, never
//! an abort, and no other exit code.

use std::fs::File;
use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::Folder;

/// After this a process is considered to hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a stream may be.
#[derive(Clone, Copy, Debug)]
enum Bad {
    Full,
    BrokenPipe,
    Closed,
}

const ALL: [Bad; 3] = [Bad::Full, Bad::BrokenPipe, Bad::Closed];

fn vesica(folder: &Folder, arguments: &str, bad_stderr: Option<Bad>) -> Command {
    let mut command = match bad_stderr {
        Some(Bad::Closed) => {
            let mut command = Command::new("sh");
            command.args(["-c", "exec \"$@\" 2>&-", "sh", crate::PROGRAM]);
            command
        }
        _ => Command::new(crate::PROGRAM),
    };
    command
        .current_dir(folder.path(""))
        .env("XDG_CONFIG_HOME", folder.path("configuration"))
        .args(arguments.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match bad_stderr {
        None | Some(Bad::Closed) => &mut command,
        Some(bad) => command.stderr(stream(bad)),
    };
    command
}

fn stream(bad: Bad) -> Stdio {
    match bad {
        Bad::Full => File::options().write(true).open("/dev/full").expect("there").into(),
        Bad::BrokenPipe => io::pipe().expect("a pipe").1.into(),
        Bad::Closed => Stdio::null(),
    }
}

/// The exit code and output; a signal, an abort for one, is no exit code.
#[track_caller]
fn ended(mut child: Child) -> (Option<i32>, Output) {
    let end = Instant::now() + PATIENCE;
    while child.try_wait().expect("a status").is_none() {
        if Instant::now() >= end {
            child.kill().expect("killed");
            panic!("the process hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("read");
    (output.status.code(), output)
}

#[track_caller]
fn run(mut command: Command) -> (Option<i32>, Output) {
    ended(command.spawn().expect("started"))
}

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    folder.write("theirs.csv", "mail\na@x.org\n");
    folder
}

#[test]
fn failures_keep_their_exit_code_though_nobody_reads_them() {
    let folder = tables();
    let join = "receive --input ours.csv --key email --output matches.csv --identity us.key --peer them.pub --wait \
                0.1 --connect 127.0.0.1:1";
    for bad in ALL {
        for (arguments, code) in [
            ("", 2),
            ("no-such-command", 2),
            ("receive --input ours.csv --json", 2),
            ("check nothing.csv --key email", 3),
            (&format!("{join} --protocol md5"), 11),
            (&format!("{join} -vv"), 5),
        ] {
            let (ended, output) = run(vesica(&folder, arguments, Some(bad)));
            assert_eq!(ended, Some(code), "{bad:?}, `{arguments}`: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The side whose standard error fails connects, since nobody could read the address from it.
#[test]
fn a_result_is_delivered_though_nobody_reads_standard_error() {
    let folder = tables();
    for bad in ALL {
        for verbose in ["", "-vv"] {
            let mut sender = folder.start(
                "send --input theirs.csv --key mail --listen 127.0.0.1:0 --identity them.key --peer us.pub --wait 50",
            );
            sender.stdin = None;
            let address = sender.address();
            let receive = format!(
                "receive --input ours.csv --key email --output matches.csv --force --identity us.key --peer them.pub \
                 --wait 50 --connect {address} {verbose}"
            );
            let (ended, _) = run(vesica(&folder, &receive, Some(bad)));
            assert_eq!(ended, Some(0), "{bad:?} {verbose}");
            sender.end().expect(0, &[]);
            assert_eq!(folder.read("matches.csv"), "email\na@x.org\n");
            std::fs::remove_file(folder.path("matches.csv")).expect("removed");
        }
    }
}

#[test]
fn standard_output_that_is_full_is_an_error() {
    let folder = tables();
    for arguments in [
        "--help",
        "--version",
        "receive --help",
        "protocols",
        "protocols --json",
        "check ours.csv --key email",
        "man",
        "completions bash",
    ] {
        let mut command = vesica(&folder, arguments, None);
        command.stdout(stream(Bad::Full));
        let (ended, output) = run(command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(ended, Some(4), "`{arguments}`: {said}");
        assert!(said.contains("cannot write to standard output") && said.contains("help: "), "{said}");
        // Both at once.
        let mut command = vesica(&folder, arguments, Some(Bad::Full));
        command.stdout(stream(Bad::Full));
        assert_eq!(run(command).0, Some(4), "`{arguments}`");
        // Whoever closes a pipe has seen enough.
        let mut command = vesica(&folder, arguments, Some(Bad::BrokenPipe));
        command.stdout(stream(Bad::BrokenPipe));
        assert_eq!(run(command).0, Some(0), "`{arguments}`");
    }
}

/// The report of a join, or its result, that reaches nobody.
#[test]
fn a_join_whose_standard_output_fails_says_so() {
    let folder = tables();
    for (bad, output, whole) in [
        (Bad::Full, "matches.csv --json", true),
        (Bad::BrokenPipe, "matches.csv --json", true),
        (Bad::Full, "-", false),
        (Bad::BrokenPipe, "-", false),
    ] {
        let mut sender = folder.start(
            "send --input theirs.csv --key mail --listen 127.0.0.1:0 --identity them.key --peer us.pub --wait 50",
        );
        sender.stdin = None;
        let address = sender.address();
        let receive = format!(
            "receive --input ours.csv --key email --force --identity us.key --peer them.pub --wait 50 --connect \
             {address} --output {output}"
        );
        let mut command = vesica(&folder, &receive, None);
        command.stdout(stream(bad));
        let (ended, outcome) = run(command);
        let said = String::from_utf8_lossy(&outcome.stderr);
        assert_eq!(ended, Some(4), "{bad:?}, {output}: {said}");
        assert_eq!(said.contains("the result in matches.csv is complete"), whole, "{said}");
        sender.end().expect(0, &[]);
        if whole {
            assert_eq!(folder.read("matches.csv"), "email\na@x.org\n");
        }
    }
}
