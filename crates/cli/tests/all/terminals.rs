//! A passphrase that is typed at a terminal: however the question ends, the terminal shows again what is typed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::fs::Mode;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::harness::{Ended, Folder, Process, by_shell, hangup_is_ignored, within};

/// A terminal of our own, which `vesica` takes for that of its user.
struct Terminal {
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
    name: String,
    /// Keeps the terminal open when no process has it.
    _open: File,
}

impl Terminal {
    fn new() -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("ours");
        let name = ptsname(&keyboard, Vec::new()).expect("a name");
        let path = OsStr::from_bytes(name.as_bytes());
        // No terminal of this process: it belongs to another session.
        let _open = rustix::fs::open(path, rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY, Mode::empty());
        let (keyboard, shown) = (File::from(keyboard), Arc::new(Mutex::new(Vec::new())));
        let (mut screen, seen) = (keyboard.try_clone().expect("a copy"), shown.clone());
        thread::spawn(move || {
            let mut bytes = [0; 256];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                seen.lock().expect("no panic").extend_from_slice(&bytes[..count]);
            }
        });
        let name = name.into_string().expect("text");
        Self { keyboard, shown, name, _open: File::from(_open.expect("opened")) }
    }

    /// Starts `vesica` as if somebody had typed its command here, but for its standard error, which we read.
    fn start(&self, folder: &Folder, arguments: &str) -> Process {
        folder.start_under(by_shell(&format!("ulimit -c 0; exec setsid -c \"$@\" < {}", self.name)), arguments)
    }

    /// Starts `vesica` here with its standard error.
    fn start_whole(&self, folder: &Folder, arguments: &str) -> Process {
        folder.start_under(by_shell(&format!("ulimit -c 0; exec setsid -c \"$@\" < {0} 2> {0}", self.name)), arguments)
    }

    fn type_in(&self, text: &str) {
        (&self.keyboard).write_all(text.as_bytes()).expect("typed");
    }

    fn has_echo(&self) -> bool {
        tcgetattr(&self.keyboard)
            .expect("modes")
            .local_modes
            .contains(LocalModes::ECHO | LocalModes::ISIG | LocalModes::ICANON)
    }

    fn shows(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.shown.lock().expect("no panic")).contains(text)
    }

    /// Waits until it is asked for a passphrase, so often in all.
    #[track_caller]
    fn is_asked(&self, question: &str, times: usize) {
        let asked = || String::from_utf8_lossy(&self.shown.lock().expect("no panic")).matches(question).count();
        assert!(within(60, || asked() == times && !self.has_echo()), "{question:?} is asked {} times", asked());
    }
}

/// A folder with a key under the passphrase `horse`, and what each command needs that opens it.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\n");
    folder.write("policy.toml", "tasks = [\"intersect\"]\n");
    folder.write_secret("pass", "horse\n");
    folder.run("identity passphrase us.key --new-passphrase-file pass").expect(0, &[]);
    folder
}

const TABLE: &str = "--identity us.key --input ours.csv --key email";

/// Each command that opens a key, as far as to its question, and each way in which that can end.
#[test]
fn whatever_ends_a_question_gives_the_terminal_back() {
    let folder = folder();
    let peer = "--peer them.pub --connect 127.0.0.1:1 --wait 0.1";
    let asks = "Passphrase of us.key: ";
    let commands = [
        format!("receive {TABLE} --output m.csv {peer}"),
        format!("send {TABLE} {peer}"),
        format!("query {TABLE} --output m.csv {peer}"),
        format!("serve {TABLE} --clients them.pub --no-quota --listen 127.0.0.1:0"),
        "identity passphrase us.key --remove".into(),
        "identity revoke --identity us.key --out us.revocation".into(),
        "policy sign policy.toml --identity us.key".into(),
    ];
    for command in &commands {
        for (signal, code) in [("TERM", 143), ("INT", 130), ("QUIT", -1), ("HUP", 129)] {
            // A server reads its table again.
            if signal == "HUP" && (hangup_is_ignored() || command.starts_with("serve")) {
                continue;
            }
            let terminal = Terminal::new();
            let process = terminal.start(&folder, command);
            terminal.is_asked(asks, 1);
            process.signal(signal);
            let ended = process.end();
            assert!(terminal.has_echo(), "{command}, SIG{signal}: the terminal stays silent; {ended:?}");
            assert_eq!(ended.code, code, "{command}, SIG{signal}: {ended:?}");
        }
        let terminal = Terminal::new();
        let process = terminal.start(&folder, command);
        terminal.is_asked(asks, 1);
        terminal.type_in("hor\x03");
        process.end().expect(130, &["interrupted"]);
        assert!(terminal.has_echo() && !terminal.shows("hor"), "{command}, Ctrl-C");
    }
    assert!(!folder.files().iter().any(|name| name == "us.revocation" || name == "policy.toml.sig"));
}

/// What is written to a terminal that was stopped waits until somebody lets it go on. A signal does not.
#[test]
fn a_signal_ends_a_question_at_a_terminal_that_is_stopped() {
    let folder = folder();
    let peer = "--peer them.pub --connect 127.0.0.1:1 --wait 0.1";
    for command in [format!("send {TABLE} {peer}"), "identity revoke --identity us.key --out us.revocation".into()] {
        let terminal = Terminal::new();
        terminal.type_in("\x13");
        let process = terminal.start_whole(&folder, &command);
        assert!(within(60, || !terminal.has_echo()), "{command}: it is about to ask");
        process.signal("TERM");
        let ended = process.end();
        assert!(terminal.has_echo() && !terminal.shows("Passphrase"), "{command}: {ended:?}");
        assert_eq!(ended.code, 143, "{command}: {ended:?}");
        // One that goes on again is asked.
        terminal.type_in("\x11");
        terminal.type_in("\x13");
        let process = terminal.start_whole(&folder, &command);
        assert!(within(60, || !terminal.has_echo()), "{command}: it is about to ask");
        terminal.type_in("\x11");
        terminal.is_asked("Passphrase of us.key: ", 1);
        terminal.type_in("\x03");
        assert_eq!(process.end().code, 130);
    }
}

#[test]
fn a_passphrase_is_typed_unseen_also_after_a_stop() {
    let folder = folder();
    let terminal = Terminal::new();
    let typed = |process: Process, text: &str| -> Ended {
        terminal.type_in(text);
        let ended = process.end();
        assert!(terminal.has_echo() && !terminal.shows("horse"), "{ended:?}");
        ended
    };
    let revoke = "identity revoke --identity us.key --out us.revocation";
    let process = terminal.start(&folder, revoke);
    terminal.is_asked("Passphrase of us.key: ", 1);
    typed(process, "cow\n").expect(6, &["the passphrase of us.key is wrong"]);
    let process = terminal.start(&folder, revoke);
    terminal.is_asked("Passphrase of us.key: ", 2);
    process.signal("TSTP");
    assert!(within(60, || terminal.has_echo()), "a process that is stopped leaves the terminal silent");
    process.signal("CONT");
    terminal.is_asked("Passphrase of us.key: ", 3);
    typed(process, "horse\n").expect(0, &[]);
    let process = terminal.start(&folder, "identity new --out new.key --passphrase");
    terminal.is_asked("New passphrase: ", 1);
    terminal.type_in("horse\n");
    terminal.is_asked("The same again: ", 1);
    typed(process, "house\n").expect(6, &["the two passphrases differ"]);
}
