//! Runs the commands of each page in a folder of its own: two sides that belong together as two processes.

use std::fs;
use std::thread;

use super::{Block, HELPS, PAGES, blocks, commands, examples, fixtures, page, picture, words};
use crate::harness::{Ended, Folder, by_shell};

/// The page whose commands run one after the other in one folder, where none finds its output there already.
const ONE_FOLDER: &str = "docs/cookbook.md";

/// Where commands stand.
#[derive(Default)]
struct Text<'a> {
    /// The whole page.
    page: &'a str,
    /// Whether the page's commands leave their outputs to those after them.
    is_one_folder: bool,
}

/// Commands that cannot run in a test: how each begins, and why. One that is in no document any more fails.
const NOT_RUN: [(&str, &str); 16] = [
    ("cargo run --release", "builds the tree; the demo runs in help.rs"),
    ("cargo test --release", "is the test itself"),
    ("cargo install", "builds the tree"),
    ("cargo build --profile dist", "builds the tree"),
    ("packaging/install", "documents.rs runs it, with a folder of its own"),
    ("mv deny.csv.new", "signals a server that is still running; service.rs does"),
    ("kill -USR1", "signals a server that is still running; service.rs does"),
    ("printf", "a pipe into a query; the query before it runs"),
    ("vesica run job.toml --role receiver --input 2026-12.csv", "needs a file peers.toml; jobs.rs has one"),
    ("vesica receipt run.json --policy", "needs a run under that policy; policies.rs has one"),
    ("vesica relay --listen", "runs until a signal; networks.rs has one"),
    ("vesica receive ... --relay", "needs a relay; networks.rs has one"),
    ("vesica send ... --relay", "needs a relay; networks.rs has one"),
    ("vesica send ... --connect partner.example:7400 --proxy", "needs a proxy; networks.rs has one"),
    ("HTTPS_PROXY=", "needs a proxy; networks.rs has one"),
    ("vesica plan --calibrate", "measures the machine, which other tests load"),
];

/// The side of a run that a command is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Receive,
    Send,
    Serve,
    Query,
}

impl Side {
    fn of(command: &str) -> Option<Self> {
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["vesica", "receive", ..] | ["vesica", "run", _, "--role", "receiver", ..] => Some(Self::Receive),
            ["vesica", "send", ..] | ["vesica", "run", _, "--role", "sender", ..] => Some(Self::Send),
            ["vesica", "serve", ..] => Some(Self::Serve),
            ["vesica", "query", ..] => Some(Self::Query),
            _ => None,
        }
    }

    fn partner(self) -> Self {
        match self {
            Self::Receive => Self::Send,
            Self::Send => Self::Receive,
            Self::Serve => Self::Query,
            Self::Query => Self::Serve,
        }
    }

    /// The subcommand, and what `...` stands for after it, where the command does not say it.
    fn defaults(self) -> (&'static str, &'static str) {
        match self {
            Self::Receive => {
                ("receive", "--input ours.csv --key email --output out.csv --identity us.key --peer them.pub")
            }
            Self::Send => ("send", "--input theirs.csv --key mail --identity them.key --peer us.pub"),
            Self::Serve => (
                "serve",
                "--input deny.csv --key url --identity server.key --clients clients.txt --state deny.state \
                 --quota 1000/day",
            ),
            Self::Query => {
                ("query", "--input seen.csv --key url --output out.csv --identity client.key --peer server.pub")
            }
        }
    }
}

/// Flags on which both sides must agree.
const AGREED: [&str; 5] = ["--task", "--security", "--protocol", "--leak-prefix", "--reveal-if-at-least"];

/// The word after `flag`.
fn value<'a>(command: &'a str, flag: &str) -> Option<&'a str> {
    command.split(' ').skip_while(|word| *word != flag).nth(1)
}

/// The command with another value for `flag`, or with the flag added.
fn with(command: &str, flag: &str, is: &str) -> String {
    match value(command, flag) {
        Some(was) => command.replacen(&format!("{flag} {was}"), &format!("{flag} {is}"), 1),
        None => format!("{command} {flag} {is}"),
    }
}

/// Fills `...` in.
fn complete(command: &str, side: Side) -> String {
    if !command.split(' ').any(|word| word == "...") {
        return command.into();
    }
    let mut command = command.split(' ').filter(|word| *word != "...").collect::<Vec<_>>().join(" ");
    let defaults: Vec<&str> = side.defaults().1.split(' ').collect();
    for pair in defaults.chunks(2) {
        if value(&command, pair[0]).is_none() {
            command = with(&command, pair[0], pair[1]);
        }
    }
    command
}

/// A partner for a command that stands alone.
fn invent(command: &str, side: Side) -> String {
    if command.starts_with("vesica run") {
        let (own, other) = if side == Side::Receive { ("receiver", "sender") } else { ("sender", "receiver") };
        return with(&command.replace(own, other), "--role", other);
    }
    let partner = side.partner();
    let mut invented = complete(&format!("vesica {} ...", partner.defaults().0), partner);
    if let Some(own) = value(command, "--identity").and_then(|name| name.strip_suffix(".key"))
        && partner != Side::Serve
    {
        invented = with(&invented, "--peer", &format!("{own}.pub"));
    }
    if let Some(peer) = value(command, "--peer").and_then(|name| name.strip_suffix(".pub")) {
        invented = with(&invented, "--identity", &format!("{peer}.key"));
    }
    for flag in AGREED {
        if let Some(agreed) = value(command, flag) {
            invented = with(&invented, flag, agreed);
        }
    }
    if command.contains(" --group-by ") {
        invented.push_str(" --max-groups 5");
    }
    let columns: Vec<&str> = command.split(" --key ").skip(1).filter_map(|rest| rest.split(' ').next()).collect();
    if columns.len() > 1 {
        // The partner's table has the same columns.
        invented = with(&invented, "--input", "ours.csv").replace(" --key mail", "");
        invented.extend(columns.iter().map(|column| format!(" --key {column}")));
        invented.extend(value(command, "--normalise").map(|rule| format!(" --normalise {rule}")));
    }
    if command.contains(" --or-key ") {
        // A column of both tables.
        invented.push_str(" --or-key phone");
    }
    if value(command, "--join") == Some("left") {
        invented.push_str(" --payload segment");
    }
    match (value(command, "--task"), partner) {
        (Some("sum" | "union-sum"), Side::Send) => invented.push_str(" --payload amount --scale amount=2"),
        (Some("sum" | "union-sum"), Side::Receive) => invented = with(&invented, "--output", "sum.csv"),
        _ => {}
    }
    invented
}

/// Runs both sides, the one that listens first, and gives their ends in this order. Addresses become those of this
/// machine.
fn run_pair(folder: &Folder, one: &str, other: &str, text: &Text) -> [Ended; 2] {
    let is_receiver = |command: &str| matches!(Side::of(command), Some(Side::Receive));
    let listens = |command: &str| command.contains(" --listen ") || command.starts_with("vesica serve");
    let connects = |command: &str| command.contains(" --connect ");
    // Where neither says it, the receiver listens.
    let turn = listens(other) || connects(one) || (!listens(one) && !connects(other) && is_receiver(other));
    let (first, second) = if turn { (other, one) } else { (one, other) };
    for command in [first, second] {
        prepare(folder, command, text);
    }
    let [first, second] =
        [first, second].map(|command| match command.contains("--role receiver") && !text.is_one_folder {
            // The output is named in the job alone.
            true => format!("{command} --force"),
            false => command.to_owned(),
        });
    let first = with(&first, "--listen", "127.0.0.1:0");
    let mut listener = folder.start(first.trim_start_matches("vesica "));
    listener.stdin = None;
    let line = listener.says("listening on ");
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
    let second = with(&second, "--connect", address);
    let connected = folder.run(second.trim_start_matches("vesica "));
    succeeded(&second, &connected);
    let serves = Side::of(&first) == Some(Side::Serve);
    if serves {
        listener.signal("TERM");
    }
    let listened = listener.end();
    if !serves {
        succeeded(&first, &listened);
    }
    [listened, connected]
}

#[track_caller]
fn succeeded(command: &str, ended: &Ended) {
    assert_eq!(ended.code, 0, "`{command}` fails: {}", ended.stderr);
}

/// Makes the files that a command reads, and takes away those that it would write.
fn prepare(folder: &Folder, command: &str, text: &Text) {
    let makes = ["--output", "--out", "--receipt", "--html", "--keep", "--state", ">", ">>"];
    for written in makes.iter().filter_map(|flag| value(command, flag)).filter(|_| !text.is_one_folder) {
        let _ = fs::remove_file(folder.path(written));
        if let Some(stem) = written.strip_suffix(".key") {
            let _ = fs::remove_file(folder.path(&format!("{stem}.pub")));
        }
    }
    let words: Vec<&str> = command.split(' ').collect();
    // A relay's ticket makes the key that it is marked by.
    let is_made = |flag: &str| makes.contains(&flag) || (flag == "--key" && command.starts_with("vesica relay"));
    for pair in words.windows(2).filter(|pair| !is_made(pair[0])) {
        fixtures::make(folder, pair[1], text.page);
    }
}

/// Runs the commands of one block.
fn run_block(folder: &Folder, block: &Block, text: &Text) {
    let is_run = |command: &&String| !NOT_RUN.iter().any(|(start, _)| command.starts_with(start));
    let mut left = block.iter().filter(is_run).peekable();
    while let Some(command) = left.next() {
        let Some(side) = Side::of(command) else {
            prepare(folder, command, text);
            let mut shell = by_shell(&format!("vesica() {{ \"$VESICA\" \"$@\"; }}; {command}"));
            shell.env("VESICA", crate::PROGRAM);
            let mut process = folder.start_under(shell, "");
            process.stdin = None;
            succeeded(command, &process.end());
            continue;
        };
        let one = complete(command, side);
        let other = match left.next_if(|next| Side::of(next) == Some(side.partner())) {
            Some(next) => complete(next, side.partner()),
            None => invent(&one, side),
        };
        run_pair(folder, &one, &other, text);
    }
}

/// The examples of a subcommand, with `...` at the start named after it.
fn help_block(folder: &Folder, name: &str) -> Block {
    let named = |command: String| match command.strip_prefix("... ") {
        Some(rest) => format!("vesica {name} ... {rest}"),
        None => command,
    };
    examples(&folder.run(&format!("{name} --help")).stdout).into_iter().map(named).collect()
}

#[test]
fn commands_of_the_pages_run() {
    thread::scope(|scope| {
        for name in PAGES {
            scope.spawn(move || {
                let (folder, text) = (Folder::new(), page(name));
                let text = Text { page: &text, is_one_folder: name == ONE_FOLDER };
                blocks(text.page).iter().for_each(|block| run_block(&folder, block, &text));
            });
        }
    });
}

#[test]
fn examples_of_the_help_texts_run() {
    thread::scope(|scope| {
        for name in HELPS {
            scope.spawn(move || {
                let folder = Folder::new();
                run_block(&folder, &help_block(&folder, name), &Text::default());
            });
        }
    });
}

#[test]
fn commands_that_do_not_run_are_in_the_documents() {
    let folder = Folder::new();
    let mut all: Vec<String> = PAGES.iter().flat_map(|name| blocks(&page(name)).concat()).collect();
    all.extend(HELPS.iter().flat_map(|name| help_block(&folder, name)));
    for (start, why) in NOT_RUN {
        assert!(all.iter().any(|command| command.starts_with(start)), "no document has `{start}` ({why}) any more");
    }
}

/// `vesica demo --keep` ends with two commands, which make a first join just as they stand, but for the port.
#[test]
fn the_demo_leaves_a_first_join_to_make() {
    let folder = Folder::new();
    let demo = folder.run("demo --keep first-join");
    demo.expect(0, &[]);
    let (_, printed) = demo.stdout.split_once("cd first-join\n").expect("two commands at the end");
    let both: Block = commands(printed, false).into_iter().filter(|line| line.starts_with("vesica ")).collect();
    assert_eq!(both.len(), 2, "{printed}");
    let inside = |command: &str| {
        let is_there = |word: &str| folder.path(&format!("first-join/{word}")).is_file();
        let named = words(command).into_iter().map(|word| match word.as_str() {
            "first.csv" => "first-join/first.csv".to_owned(),
            file if is_there(file) => format!("first-join/{file}"),
            _ => word,
        });
        named.collect::<Vec<_>>().join(" ")
    };
    let [received, sent] = run_pair(&folder, &inside(&both[0]), &inside(&both[1]), &Text::default());
    picture::check(&both[0], &received, &both[1], &sent);
    assert_eq!(folder.read("first-join/first.csv"), folder.read("first-join/matches.csv"));
}
