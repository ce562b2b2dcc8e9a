//! SIGHUP and SIGXFSZ, whatever the process that runs the tests does with them.

use std::io::Write;
use std::process::Command;

use crate::harness::{Folder, Process, RECEIVER, SENDER, by_shell, hangup_is_ignored};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    folder
}

#[track_caller]
fn no_output(folder: &Folder) {
    assert!(
        !folder.files().iter().any(|name| name.contains("matches") || name.contains("partial")),
        "{:?}",
        folder.files()
    );
}

/// `vesica` with the default for SIGHUP; `None` where it is ignored here and nothing resets it.
fn with_default_hangup() -> Option<Command> {
    let vesica = crate::PROGRAM;
    if !hangup_is_ignored() {
        return Some(Command::new(vesica));
    }
    let possible =
        Command::new("env").args(["--default-signal=HUP", "true"]).output().is_ok_and(|output| output.status.success());
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", vesica]);
    possible.then_some(command)
}

/// Both sides connected; the sender, which is started by `command`, waits for its table.
fn mid_run(folder: &Folder, command: Command) -> (Process, Process) {
    let mut receiver =
        folder.start(&format!("receive {RECEIVER} --input ours.csv --key email --output matches.csv -v"));
    receiver.stdin = None;
    let address = receiver.address();
    let sender = folder.start_under(command, &format!("send {SENDER} --connect {address} --input - --key mail"));
    receiver.says("the partner is connected");
    (receiver, sender)
}

#[test]
fn sighup_on_one_side_tells_the_other() {
    let Some(command) = with_default_hangup() else {
        eprintln!("skipped: SIGHUP is ignored here, and env does not reset signals");
        return;
    };
    let folder = tables();
    let (receiver, sender) = mid_run(&folder, command);
    sender.signal("HUP");
    sender.end().expect(129, &["interrupted by SIGHUP"]);
    receiver.end().expect(9, &["interrupted by SIGHUP"]);
    no_output(&folder);
}

#[test]
fn sighup_that_was_ignored_at_the_start_stays_ignored() {
    let folder = tables();
    let (receiver, mut sender) = mid_run(&folder, by_shell("trap '' HUP; exec \"$@\""));
    sender.signal("HUP");
    sender.stdin.take().expect("open").write_all(b"mail\na@x.org\n").expect("it still reads");
    sender.end().expect(0, &[]);
    receiver.end().expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), "email\na@x.org\n");
}

/// Both sides, the receiver under this limit on file sizes, in units of 512 or 1024 bytes.
fn limited(folder: &Folder, limit: u32, send: &str) -> (crate::harness::Ended, crate::harness::Ended) {
    let receive = format!("receive {RECEIVER} --input ours.csv --key email --output matches.csv");
    let mut receiver = folder.start_under(by_shell(&format!("ulimit -f {limit}; exec \"$@\"")), &receive);
    receiver.stdin = None;
    let address = receiver.address();
    let sender = folder.run(&format!("send {SENDER} --connect {address} --input theirs.csv --key mail {send}"));
    (receiver.end(), sender)
}

#[test]
fn a_file_size_limit_that_the_result_may_exceed_is_told_before_the_protocol() {
    let folder = Folder::new();
    folder.write("ours.csv", format!("email\n{}", "a@x.org\n".repeat(20_000)));
    folder.write("theirs.csv", "mail\na@x.org\n");
    let (receiver, sender) = limited(&folder, 100, "");
    receiver.expect(4, &["cannot write matches.csv", "ulimit -f"]);
    sender.expect(9, &["it cannot write its output"]);
    no_output(&folder);
}

/// What the partner's payload adds is not known beforehand.
#[test]
fn a_file_size_limit_that_is_met_while_writing_is_an_error() {
    let folder = Folder::new();
    folder.write("ours.csv", format!("email\n{}", (0..2000).map(|row| format!("{row}\n")).collect::<String>()));
    let long = "x".repeat(300);
    folder.write(
        "theirs.csv",
        format!("mail,note\n{}", (0..2000).map(|row| format!("{row},{long}\n")).collect::<String>()),
    );
    let (receiver, sender) = limited(&folder, 100, "--payload note");
    receiver.expect(4, &["cannot write matches.csv", "ulimit -f"]);
    sender.expect(0, &[]);
    no_output(&folder);
}
