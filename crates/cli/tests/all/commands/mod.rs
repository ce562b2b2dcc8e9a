//! Every command in the documents and in the examples of `--help` runs, and every flag named there exists.
//!
//! A fenced block without a language tag holds commands only; in a block tagged `console`, a line with a prompt
//! (`anna$ `) is a command and any other is output. `...` in a command stands for the flags that it needs and does
//! not say. `pages` runs the commands on tables that `fixtures` makes.

mod fixtures;
mod flags;
mod pages;
mod picture;

use std::fs;
use std::path::Path;

/// The pages whose commands run, from the top of the tree.
const PAGES: [&str; 15] = [
    "README.md",
    "docs/buckets.md",
    "docs/cookbook.md",
    "docs/guides/clean-room.md",
    "docs/guides/hashed-emails.md",
    "docs/jobs.md",
    "docs/keys.md",
    "docs/limits.md",
    "docs/networks.md",
    "docs/operating.md",
    "docs/policy.md",
    "docs/service.md",
    "docs/shares-format.md",
    "docs/tasks.md",
    "docs/walkthrough.md",
];

/// The subcommands whose help has examples or flags.
const HELPS: [&str; 25] = [
    "receive",
    "send",
    "run",
    "init",
    "config",
    "serve",
    "query",
    "relay",
    "relay ticket",
    "identity new",
    "identity show",
    "receipt",
    "policy",
    "policy check",
    "policy sign",
    "log verify",
    "log show",
    "log compare",
    "demo",
    "check",
    "plan",
    "protocols",
    "selftest",
    "completions",
    "man",
];

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect("a page")
}

/// The commands of one fenced block, or of all examples of one help text.
type Block = Vec<String>;

/// The fenced blocks of a page: the language tag and the text of each.
fn fenced(page: &str) -> Vec<(&str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), blocks.last_mut()) {
            (Some(_), _) if is_open => is_open = false,
            (Some(tag), _) => {
                is_open = true;
                blocks.push((tag, String::new()));
            }
            (None, Some((_, text))) if is_open => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

/// The blocks of commands of a page.
fn blocks(page: &str) -> Vec<Block> {
    let all = fenced(page).into_iter().filter(|(tag, _)| ["", "console"].contains(tag));
    all.map(|(tag, text)| commands(&text, tag == "console")).collect()
}

/// The examples of a help text, one block.
fn examples(help: &str) -> Block {
    let Some((_, examples)) = help.split_once("Examples:\n") else { return Block::new() };
    let is_command = |line: &str| ["vesica ", "... ", "printf "].iter().any(|start| line.trim().starts_with(start));
    let all = commands(examples, false).into_iter();
    all.filter(|command| is_command(command)).collect()
}

/// Joins lines that go on, and takes prompts and comments away.
fn commands(text: &str, is_console: bool) -> Block {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let command = match line.split_once("$ ") {
            Some((prompt, command)) if prompt.chars().all(char::is_alphanumeric) => command,
            _ if is_console => return None,
            _ => line,
        };
        (!command.is_empty() && !command.starts_with('#')).then(|| words(command).join(" "))
    });
    lines.collect()
}

/// The words of a command; single quotes, which no word here needs inside of it, go.
fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(|word| word.replace('\'', "")).collect()
}
