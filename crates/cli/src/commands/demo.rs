//! `vesica demo`: two tables, two processes, TLS between fresh identities, and a check against a
//! local join.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use vesica::Failure;
use vesica::failure::code;
use vesica::threads::no_thread;

use crate::args::DemoArgs;
use crate::identity;
use crate::outcome::{Outcome, print};
use crate::program;

/// A retailer's customers: one without an address, one twice, capitals and spaces as people type
/// them.
const OURS: &str = "\
name,email,city
Ada,ada@example.org,London
Blaise,Blaise@Example.org,Rouen
Carl,carl@example.org,Braunschweig
Daniel,,Groningen
Emmy, emmy@example.org,Erlangen
Ada (second card),ada@example.org,Turin
Felix,felix@example.org,Hanover
Grace,grace@example.org,New York
";

/// A bank's clients: `segment` travels for matches only.
const THEIRS: &str = "\
mail,segment
emmy@example.org,gold
kurt@example.org,gold
ada@example.org,silver
grace@EXAMPLE.org,bronze
sofia@example.org,silver
,bronze
blaise@example.org,silver
";

const RECEIVE: &str = "receive --input ours.csv --key email --normalise email=email --output matches.csv --identity \
                       us.key --peer them.pub --wait 30";
/// The receiver's command that `--keep` leaves to its user; the sender's is [`SEND`].
const FIRST: &str = "receive --input ours.csv --key email --normalise email=email --output first.csv --identity us.key \
                     --peer them.pub --wait 10m --listen";
const PORT: &str = "127.0.0.1:7400";
const SEND: &str = "send --input theirs.csv --key mail --normalise mail=email --payload segment --identity them.key \
                    --peer us.pub --wait 30";

pub fn run(args: DemoArgs) -> Outcome {
    let folder = Folder::new(args.keep)?;
    let at = |name: &str| folder.path.join(name);
    write(&at("ours.csv"), OURS)?;
    write(&at("theirs.csv"), THEIRS)?;
    for name in ["us", "them"] {
        identity::save(&identity::fresh()?, &at(&format!("{name}.key")), name, None)?;
    }
    print(&format!(
        "Two organisations hold these tables, in {}:\n\nours.csv\n{}\ntheirs.csv\n{}\n",
        folder.path.display(),
        indent(OURS),
        indent(THEIRS)
    ))?;

    let (receive, send) = (format!("{RECEIVE} --listen 127.0.0.1:0"), SEND);
    print(&format!("The receiver learns the result. It ran:\n\n    vesica {receive}\n\n"))?;
    let mut receiver = start(&folder.path, &receive)?;
    let (address, receiver_says) = address_of(&mut receiver)?;
    let send = format!("{send} --connect {address}");
    print(&format!(
        "The sender learns how many keys the receiver has and of which kind, and nothing of its matches. It ran:\n\n    vesica {send}\n\n"
    ))?;
    let sender = start(&folder.path, &send)?;
    let sent = finish(sender, "send")?;
    let received = finish_with(receiver, receiver_says, "receive")?;
    print(&format!("The receiver says:\n\n{}\nThe sender says:\n\n{}\n", indent(&received), indent(&sent)))?;

    let result = fs::read_to_string(at("matches.csv")).map_err(failed)?;
    print(&format!(
        "matches.csv has our rows whose e-mail address the partner has too, with the partner's segment:\n\n{}\n",
        indent(&result)
    ))?;
    let expected = local_join();
    if result != expected {
        return Err(Failure::new(
            code::INTERNAL,
            "the result differs from that of a local join",
            format_args!("report this; expected:\n{expected}"),
        ));
    }
    print("Verified: a local join of both tables gives the same rows.\n")?;
    if folder.keep {
        print(&format!(
            "\nNow make the join yourself. In one terminal, the receiver:\n\n    cd {folder}\n    \
             vesica {FIRST} {PORT}\n\nIn another terminal, the sender:\n\n    cd {folder}\n    \
             vesica {SEND} --connect {PORT}\n",
            folder = folder.path.display()
        ))?;
    }
    Ok(())
}

/// The rows that the two processes must find, computed from both tables.
fn local_join() -> String {
    let canonical = |mail: &str| mail.trim().to_lowercase();
    let segment_of = |email: &str| {
        let mut clients = THEIRS.lines().skip(1).filter_map(|line| line.split_once(','));
        clients.find(|(mail, _)| !mail.is_empty() && canonical(mail) == canonical(email)).map(|(_, segment)| segment)
    };
    let mut expected = String::new();
    for (number, line) in OURS.lines().enumerate() {
        let email = line.split(',').nth(1).unwrap_or_default();
        match number {
            0 => expected.push_str(&format!("{line},segment\n")),
            _ => expected.extend(segment_of(email).map(|segment| format!("{line},{segment}\n"))),
        }
    }
    expected
}

/// The folder of the demo; removed at the end unless it is to be kept.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn new(keep: Option<PathBuf>) -> Result<Self, Failure> {
        let (path, keep) = match keep {
            Some(path) => (path, true),
            None => (env::temp_dir().join(format!("vesica-demo-{}", std::process::id())), false),
        };
        fs::create_dir(&path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::new(
                code::OUTPUT,
                format_args!("{} exists already", path.display()),
                "name a new folder with --keep, or remove this one",
            ),
            _ => failed(error),
        })?;
        Ok(Self { path, keep })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // The result does not depend on whether the folder can be removed.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn failed(error: std::io::Error) -> Failure {
    Failure::new(
        code::OUTPUT,
        format_args!("the demo cannot use its folder: {error}"),
        "free space, or name a new folder with --keep",
    )
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(failed)
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn start(folder: &Path, arguments: &str) -> Result<Child, Failure> {
    let vesica = program().map_err(lost)?;
    let mut command = Command::new(vesica);
    command
        .current_dir(folder)
        .args(arguments.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.spawn().map_err(lost)
}

fn lost(error: std::io::Error) -> Failure {
    if error.kind() == ErrorKind::WouldBlock {
        return no_thread(&error).into();
    }
    Failure::new(
        code::INTERNAL,
        format_args!("cannot run a copy of vesica: {error}"),
        "check that the program file is still there",
    )
}

/// Reads what a listening child says until it names its address.
fn address_of(child: &mut Child) -> Result<(String, BufReader<ChildStderr>), Failure> {
    let stderr = child.stderr.take().ok_or_else(|| lost(std::io::ErrorKind::BrokenPipe.into()))?;
    let mut stderr = BufReader::new(stderr);
    let mut line = String::new();
    let mut all = String::new();
    loop {
        line.clear();
        if stderr.read_line(&mut line).map_err(lost)? == 0 {
            // EOF means that the child has exited. It has printed why.
            let status = child.wait().map_err(lost)?;
            let failure = Failure::new(code_of(status), "", "see its message above");
            return Err(Failure { fault: format!("the receiver did not start:\n{all}"), ..failure });
        }
        all.push_str(&line);
        if let Some(address) = line.trim_end().strip_prefix("listening on ") {
            return Ok((address.to_owned(), stderr));
        }
    }
}

/// What the demo ends with where a child ended in this way: what the system refused a child, it may give another time.
fn code_of(child: ExitStatus) -> u8 {
    let is_refused = child.code() == Some(code::REFUSED.into());
    if is_refused { code::REFUSED } else { code::INTERNAL }
}

fn finish(mut child: Child, name: &str) -> Result<String, Failure> {
    let stderr = child.stderr.take().ok_or_else(|| lost(std::io::ErrorKind::BrokenPipe.into()))?;
    finish_with(child, BufReader::new(stderr), name)
}

/// The rest of what the child prints, if it succeeds.
fn finish_with(mut child: Child, stderr: BufReader<ChildStderr>, name: &str) -> Result<String, Failure> {
    let said = std::io::read_to_string(stderr).map_err(lost)?;
    let status = child.wait().map_err(lost)?;
    if status.success() {
        return Ok(said);
    }
    Err(Failure::new(
        code_of(status),
        format_args!("`vesica {name}` ended with {status}:\n{said}"),
        "see its message above",
    ))
}
