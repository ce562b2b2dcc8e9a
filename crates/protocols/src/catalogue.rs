//! The catalogue of protocols as a document: PROTOCOLS.md is exactly this text.
//!
//! Protocols are grouped by task. A statement (an assumption, a deviation, a leak) that several
//! entries share word for word gets a label and is printed once; entries name the label.

use std::fmt::{Display, Write};

use vesica_party::{Assumption, Attack, Choice, Entry, Leak, Learner, Mode, Status};

use crate::{overview, registry};

/// The tasks in the order of the document, each with one sentence on what it computes.
const SUMMARIES: &[(&str, &str)] = &[
    (
        "intersect",
        "The receiver learns which of its items the sender has as well, with the sender's payload of these on request.",
    ),
    (
        "union",
        "The receiver gets the records of the sender's items that it does not have, and learns nothing else of them.",
    ),
    ("cardinality", "The receiver learns how many items both sides have, for each of its groups."),
    (
        "union-cardinality",
        "The receiver learns how many items of the sender it does not have; with its own, that is the size of the union.",
    ),
    ("sum", "The receiver learns the sum of the sender's values over the common items, for each of its groups."),
    (
        "union-sum",
        "The receiver learns the sum of the sender's values over the items that it does not have itself; with its own \
         values, that is the sum over the union.",
    ),
    (
        "join-and-compute",
        "The receiver learns the sum of products of the sender's values with its own over the common items.",
    ),
    (
        "shares",
        "Both sides get shares of which items are common and of the items' payloads. A share alone says nothing.",
    ),
    (
        "random-ot",
        "The sender gets pairs of random blocks. The receiver gets random bits, and of each pair the block that its \
         bit names.",
    ),
    (
        "random-tables",
        "The sender gets tables of 2^k random bits. The receiver gets a random place in each table, and the bit there.",
    ),
    (
        "subfield-vole",
        "The sender gets `delta` and `b`, the receiver `c` and `a = b + delta c`, all of them random; `c` lies in a \
         subfield.",
    ),
    (
        "batch-oprf",
        "For each instance there is a random function. The receiver gets its value at one key; the sender evaluates \
         it where it likes.",
    ),
    (
        "one-of-n-ot",
        "For each transfer there are 2^k random blocks. The receiver gets the one that it chooses; the sender makes \
         those that it asks for.",
    ),
    (
        "opprf",
        "The receiver gets a random value for each of its keys. For a key that the sender has programmed it gets the \
         sender's value.",
    ),
    ("equality", "Both sides get shares of one bit for each pair of values: whether the two are equal."),
    ("bits-to-ring", "Both sides hold exclusive-or shares of bits and get additive shares of the same bits."),
    (
        "multiplex-ring",
        "Both sides get shares of the rows of numbers whose shared bit is set, and of zeros for the others.",
    ),
    (
        "multiplex-bytes",
        "Both sides get shares of the rows of bytes whose shared bit is set, and of zeros for the others.",
    ),
    (
        "inner-product",
        "Both sides get shares of the inner products of the sender's vector with each of the receiver's vectors.",
    ),
    (
        "permute-share",
        "The sender's values are permuted in an order that only the receiver knows; both sides get shares of the \
         result.",
    ),
];

/// Statements of at least this many entries are printed once.
const SHARED_BY: usize = 3;

/// The most protocols that [`attacks_markdown`] names one by one where a label stands for them.
const MOST_NAMED: usize = 8;

/// All entries as Markdown.
pub fn catalogue_markdown() -> String {
    let entries: Vec<&Entry> = registry::entries().collect();
    let shared = Shared::of(&entries);
    let mut text = String::from(
        "# Protocols\n\nGenerated from the registry by `VESICA_BLESS=1 cargo test --release -p vesica-protocols`; do \
         not edit. `vesica protocols` prints the same facts.\n\n- A *mode* is what `--security` selects. It names how \
         the protocol resists a corrupt sender and a corrupt receiver.\n- *Recommended* means that we would use it. \
         It does not mean audited (see SECURITY.md).\n- *Sound* means that no attack is known. The protocol is kept \
         for comparison.\n- *Broken* protocols run only with `--allow-broken`.\n- A *round* is one of a chain of \
         messages that wait for each other. Messages that cross belong to one round.\n- *Cost* names what takes most \
         of the time of a run on large sets.\n- A *deviation* says where our protocol differs from its paper.\n- A \
         *choice* is what a protocol leaves open. `rr22:okvs=band` names the variant of `rr22` in which `okvs` is \
         `band`; `auto` takes no variant.\n- A label such as A1 stands for a statement that several protocols share. \
         [Shared statements](#shared-statements) spells them out.\n- Behind an assumption \
         stands the best attack on it, where its work was counted and may be below 2^128. SECURITY.md (*Work of \
         attacks*) lists them all.\n\n",
    );
    for task in tasks(&entries) {
        let ids: Vec<String> = of_task(&entries, task).map(|entry| format!("[`{id}`](#{id})", id = entry.id)).collect();
        line(&mut text, format_args!("- **[{task}](#task-{task})**: {}", ids.join(", ")));
    }
    describe_overview(&mut text);
    for task in tasks(&entries) {
        describe_task(&mut text, &entries, task, &shared);
    }
    shared.print(&mut text);
    text
}

/// The attacks whose work was counted on rows that are not broken, as the table of SECURITY.md: the cheapest first.
pub fn attacks_markdown() -> String {
    let entries: Vec<&'static Entry> = registry::entries().collect();
    let shared = Shared::of(&entries);
    let mut attacked: Vec<(Assumption, Attack, Vec<&str>)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.broken().is_none()) {
        for assumption in all_modes(entry).flat_map(|mode| mode.assumptions) {
            let Some(attack) = assumption.attack else { continue };
            match attacked.iter_mut().find(|(other, ..)| other == assumption) {
                Some((.., ids)) if ids.contains(&entry.id) => {}
                Some((.., ids)) => ids.push(entry.id),
                None => attacked.push((*assumption, attack, vec![entry.id])),
            }
        }
    }
    attacked.sort_by(|(_, a, _), (_, b, _)| a.takes.bits().total_cmp(&b.takes.bits()));
    let mut text = String::from("| what falls | best attack | derived in | protocols |\n|---|---|---|---|\n");
    for (assumption, attack, ids) in attacked {
        let (page, count) = (attack.source, ids.len());
        let name = page.rsplit('/').next().unwrap_or(page);
        let ids = match shared.assumptions.label(&assumption).filter(|_| count > MOST_NAMED) {
            Some((label, anchor)) => format!("{count} that assume [{label}](PROTOCOLS.md#{anchor})"),
            None => ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", "),
        };
        line(&mut text, format_args!("| {} | {} | [{name}]({page}) | {ids} |", attack.falls, attack.takes));
    }
    text
}

/// The modes of an entry, and those of its values that have other ones.
fn all_modes(entry: &Entry) -> impl Iterator<Item = &'static Mode> {
    let values = entry.variants.iter().flat_map(|choice| choice.values);
    entry.modes.iter().chain(values.filter_map(|value| value.modes).flatten())
}

/// The tasks of these entries, in the order of the document; a task that [`SUMMARIES`] lacks comes
/// last.
pub(crate) fn tasks<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    let mut tasks: Vec<&str> = Vec::new();
    for entry in entries {
        if !tasks.contains(&entry.task) {
            tasks.push(entry.task);
        }
    }
    tasks.sort_by_key(|task| SUMMARIES.iter().position(|(name, _)| name == task).unwrap_or(SUMMARIES.len()));
    tasks
}

fn of_task<'a>(entries: &'a [&Entry], task: &'a str) -> impl Iterator<Item = &'a Entry> {
    entries.iter().copied().filter(move |entry| entry.task == task)
}

/// The protocols by how they map sets, as PsiBench's Table 1, and the papers with their protocols.
fn describe_overview(text: &mut String) {
    line(
        text,
        format_args!(
            "\n## Map and compare\n\nPsiBench (Liang et al.) divides a protocol into two parts: both sets are *mapped* to \
             values that tell nothing beyond what is common, and these are *compared*. Work is that of both sides \
             together, as far as it grows with the sets. `n_s` and `n_r` are the numbers of the sender's and the \
             receiver's items, and 1.3 stands for a table that is larger where sets are small. `vesica protocols --by \
             map` prints this table."
        ),
    );
    for (map, entries) in overview::groups(overview::Grouping::Map) {
        line(
            text,
            format_args!(
                "\n### Map: {map}\n\n| id | compare | modes: corrupt sender, corrupt receiver (rounds) | multiplications in \
                 a group | symmetric operations |\n|---|---|---|---|---|"
            ),
        );
        for entry in entries {
            let Some(style) = entry.map_and_compare else { continue };
            let modes: Vec<String> = entry
                .modes
                .iter()
                .map(|mode| format!("{}, {} ({})", mode.corrupt_sender, mode.corrupt_receiver, mode.rounds))
                .collect();
            let (modes, work, broken) =
                (modes.join("; "), style.work, if entry.broken().is_some() { " **broken**" } else { "" });
            line(
                text,
                format_args!(
                    "| [`{id}`](#{id}){broken} | {} | {modes} | {} | {} |",
                    style.compare,
                    work.group_operations,
                    work.symmetric_operations,
                    id = entry.id
                ),
            );
        }
    }
    line(text, format_args!("\n## By paper\n\n| paper | protocols |\n|---|---|"));
    for (key, ids) in overview::by_paper() {
        let ids: Vec<String> = ids.into_iter().map(|id| format!("[`{id}`](#{id})")).collect();
        line(text, format_args!("| {key} | {} |", ids.join(", ")));
    }
}

fn describe_task(text: &mut String, entries: &[&Entry], task: &str, shared: &Shared) {
    line(text, format_args!("\n## Task: {task}\n"));
    if let Some((_, summary)) = SUMMARIES.iter().find(|(name, _)| *name == task) {
        line(text, format_args!("{summary}\n"));
    }
    line(text, format_args!("| id | modes (rounds) | cost | status | paper |\n|---|---|---|---|---|"));
    for entry in of_task(entries, task) {
        let modes: Vec<String> =
            entry.modes.iter().map(|mode| format!("{} ({})", mode.security, mode.rounds)).collect();
        let (modes, status, key) = (modes.join(", "), status(entry), entry.paper.key);
        line(text, format_args!("| [`{id}`](#{id}) | {modes} | {} | {status} | {key} |", entry.cost, id = entry.id));
    }
    for entry in of_task(entries, task) {
        describe(text, entry, shared);
    }
}

fn describe(text: &mut String, entry: &Entry, shared: &Shared) {
    line(text, format_args!("\n### `{}`\n", entry.id));
    line(text, format_args!("{}. {}. {}\n", entry.paper.title, entry.paper.reference, status_in_full(entry)));
    if !entry.aliases.is_empty() {
        let aliases: Vec<String> = entry.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        line(text, format_args!("- Also called: {}", aliases.join(", ")));
    }
    for choice in entry.variants {
        describe_choice(text, choice, shared);
    }
    list(text, "Deviation", entry.deviations, &shared.deviations);
    for mode in entry.modes {
        line(
            text,
            format_args!(
                "\n**{}**: corrupt sender {}, corrupt receiver {}\n",
                mode.security, mode.corrupt_sender, mode.corrupt_receiver
            ),
        );
        list(text, "Assumes", mode.assumptions, &shared.assumptions);
        let leakage: Vec<LeakStatement> = mode.leakage.iter().map(LeakStatement).collect();
        list(text, "Leaks", &leakage, &shared.leakage);
    }
}

/// What a row leaves open, and what each value changes.
fn describe_choice(text: &mut String, choice: &Choice, shared: &Shared) {
    line(text, format_args!("- Choice `{}`: {}", choice.name, choice.what));
    for (place, value) in choice.values.iter().enumerate() {
        let default = if place == 0 { " (default)" } else { "" };
        line(text, format_args!("  - `{}`{default}: {}", value.name, value.what));
        for deviation in value.deviations {
            let words = shared.deviations.link(deviation).unwrap_or_else(|| (*deviation).to_owned());
            line(text, format_args!("    - Deviation: {words}"));
        }
        for mode in value.modes.unwrap_or_default() {
            let (sender, receiver) = (mode.corrupt_sender, mode.corrupt_receiver);
            line(
                text,
                format_args!(
                    "    - {}: corrupt sender {sender}, corrupt receiver {receiver}, rounds {}",
                    mode.security, mode.rounds
                ),
            );
            let words = |what: &Assumption| shared.assumptions.link(what).unwrap_or_else(|| what.to_string());
            let assumptions: Vec<String> = mode.assumptions.iter().map(words).collect();
            line(text, format_args!("    - {}: assumes {}", mode.security, assumptions.join(", ")));
            let words = |leak: &'static Leak| {
                let leak = LeakStatement(leak);
                shared.leakage.link(&leak).unwrap_or_else(|| leak.to_string())
            };
            let leakage: Vec<String> = mode.leakage.iter().map(words).collect();
            line(text, format_args!("    - {}: leaks {}", mode.security, leakage.join("; ")));
        }
    }
}

/// The statements: shared ones by their labels on one line, the others a line each.
fn list<T: PartialEq + Display>(text: &mut String, kind: &str, statements: &[T], shared: &Labels<T>) {
    let labels: Vec<String> = statements.iter().filter_map(|statement| shared.link(statement)).collect();
    if !labels.is_empty() {
        line(text, format_args!("- {kind}: {}", labels.join(", ")));
    }
    for statement in statements.iter().filter(|statement| shared.link(statement).is_none()) {
        line(text, format_args!("- {kind}: {statement}"));
    }
}

/// A leak as a sentence; equal if the learner and the words are.
#[derive(Clone, Copy)]
struct LeakStatement<'a>(&'a Leak);

impl PartialEq for LeakStatement<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.0.to, self.0.what) == (other.0.to, other.0.what)
    }
}

impl Display for LeakStatement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let to = match self.0.to {
            Learner::Sender => "the sender",
            Learner::Receiver => "the receiver",
            Learner::Both => "both",
        };
        write!(f, "to {to}: {}", self.0.what)
    }
}

/// The statements that are printed once.
struct Shared {
    assumptions: Labels<Assumption>,
    leakage: Labels<LeakStatement<'static>>,
    deviations: Labels<&'static str>,
}

impl Shared {
    fn of(entries: &[&'static Entry]) -> Self {
        Self {
            assumptions: Labels::of('A', entries, |entry| {
                entry.modes.iter().flat_map(|mode| mode.assumptions).copied().collect()
            }),
            leakage: Labels::of('L', entries, |entry| {
                entry.modes.iter().flat_map(|mode| mode.leakage).map(LeakStatement).collect()
            }),
            deviations: Labels::of('D', entries, |entry| entry.deviations.to_vec()),
        }
    }

    fn print(&self, text: &mut String) {
        line(text, format_args!("\n## Shared statements\n\n### Assumptions\n"));
        self.assumptions.print(text);
        line(text, format_args!("\n### Leaks\n"));
        self.leakage.print(text);
        line(text, format_args!("\n### Deviations\n"));
        self.deviations.print(text);
    }
}

/// Statements of one kind with their labels: a letter, and their place in the order in which the
/// document meets them.
struct Labels<T> {
    letter: char,
    statements: Vec<T>,
}

impl<T: PartialEq + Display + Copy> Labels<T> {
    /// Labels for the statements that [`SHARED_BY`] entries or more make.
    fn of(letter: char, entries: &[&'static Entry], statements_of: impl Fn(&'static Entry) -> Vec<T>) -> Self {
        // How many entries make each statement; a statement of two modes of one entry counts once.
        let mut counts: Vec<(T, usize)> = Vec::new();
        for entry in entries {
            let mut own: Vec<T> = Vec::new();
            for statement in statements_of(entry) {
                if !own.contains(&statement) {
                    own.push(statement);
                }
            }
            for statement in own {
                match counts.iter_mut().find(|(other, _)| *other == statement) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((statement, 1)),
                }
            }
        }
        let shared = counts.into_iter().filter(|&(_, count)| count >= SHARED_BY);
        Self { letter, statements: shared.map(|(statement, _)| statement).collect() }
    }

    fn print(&self, text: &mut String) {
        for (number, statement) in (1..).zip(&self.statements) {
            let (upper, lower) = (self.letter, self.letter.to_ascii_lowercase());
            line(text, format_args!("- <a id=\"{lower}{number}\"></a>**{upper}{number}** {statement}"));
        }
    }
}

impl<T: PartialEq> Labels<T> {
    /// The label of the statement and its anchor, if it is a shared one.
    fn label(&self, statement: &T) -> Option<(String, String)> {
        let number = self.statements.iter().position(|other| other == statement)? + 1;
        Some((format!("{}{number}", self.letter), format!("{}{number}", self.letter.to_ascii_lowercase())))
    }

    /// A link to the statement, if it is a shared one.
    fn link(&self, statement: &T) -> Option<String> {
        self.label(statement).map(|(label, anchor)| format!("[{label}](#{anchor})"))
    }
}

fn status(entry: &Entry) -> &'static str {
    match entry.status {
        Status::Recommended => "recommended",
        Status::Sound => "sound",
        Status::Broken { .. } => "**broken**",
    }
}

fn status_in_full(entry: &Entry) -> String {
    match entry.status {
        Status::Recommended => "Recommended.".into(),
        Status::Sound => "Sound.".into(),
        Status::Broken { how, false_match_bits: None } => format!("**Broken**: {how}"),
        Status::Broken { how, false_match_bits: Some(bits) } => {
            format!("**Broken**: {how}. An item that only the receiver has matches with probability up to 2^-{bits}")
        }
    }
}

#[expect(clippy::expect_used, reason = "a `String` takes every text")]
fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes every text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_its_sentence_and_every_sentence_its_task() {
        let entries: Vec<&Entry> = registry::entries().collect();
        let named: Vec<&str> = SUMMARIES.iter().map(|(name, _)| *name).collect();
        assert_eq!(tasks(&entries), named);
    }

    #[test]
    fn every_statement_is_there_and_a_shared_one_exactly_once() {
        let text = catalogue_markdown();
        let entries: Vec<&Entry> = registry::entries().collect();
        let shared = Shared::of(&entries);
        let mut lines: Vec<String> = Vec::new();
        for entry in &entries {
            lines.extend(entry.deviations.iter().map(|statement| sentence("Deviation", statement, &shared.deviations)));
            for mode in entry.modes {
                lines.extend(
                    mode.assumptions.iter().map(|statement| sentence("Assumes", statement, &shared.assumptions)),
                );
                let leakage = mode.leakage.iter().map(LeakStatement);
                lines.extend(leakage.map(|statement| sentence("Leaks", &statement, &shared.leakage)));
            }
        }
        for line in &lines {
            let occurrences = text.lines().filter(|other| *other == line).count();
            assert!(occurrences > 0, "{line} is missing");
            assert!(!line.starts_with("- <a") || occurrences == 1, "{line} is there {occurrences} times");
        }
        assert!(lines.iter().any(|line| line.starts_with("- <a")), "nothing is shared");
    }

    /// The line that spells a statement out.
    fn sentence<T: PartialEq + Display>(kind: &str, statement: &T, shared: &Labels<T>) -> String {
        match shared.statements.iter().position(|other| other == statement) {
            Some(place) => {
                let label = format!("{}{}", shared.letter, place + 1);
                format!("- <a id=\"{}\"></a>**{label}** {statement}", label.to_ascii_lowercase())
            }
            None => format!("- {kind}: {statement}"),
        }
    }
}
