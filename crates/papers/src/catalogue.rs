//! The catalogue of protocols as documents: PROTOCOLS.md and docs/protocols are exactly these texts.
//!
//! Each task has a page. A statement (an assumption, a deviation, a leak) that several
//! entries share word for word gets a label and is printed once; entries name the label.

use std::fmt::{Display, Write};

use vesica_party::{Assumption, Attack, Choice, Entry, Leak, Learner, Mode, Status};

use vesica_protocols::overview;
use vesica_protocols::overview::{SUMMARIES, tasks};

use crate::registry;

/// Statements of at least this many entries are printed once.
const SHARED_BY: usize = 3;

/// The most protocols that [`attacks_markdown`] names one by one where a label stands for them.
const MOST_NAMED: usize = 8;

/// The folder of the pages of tasks, from the top of the tree.
const FOLDER: &str = "docs/protocols";

/// Each page of the catalogue with its text, by its path from the top of the tree: PROTOCOLS.md, and in its folder one
/// page a task, with the protocols of the product first, and one for statements that several protocols share.
pub fn catalogue_pages() -> Vec<(String, String)> {
    let entries: Vec<&'static Entry> = registry::entries().collect();
    let shared = Shared::of(&entries);
    let of_tasks = tasks(&entries).into_iter().map(|task| {
        let mut text = format!("# Protocols: {task}\n\n{GENERATED}\n\n");
        describe_task(&mut text, &entries, task, &shared);
        (format!("{FOLDER}/{task}.md"), text)
    });
    let mut pages = vec![("PROTOCOLS.md".to_owned(), index(&entries))];
    pages.extend(of_tasks);
    let mut text = format!("# Statements that several protocols share\n\n{GENERATED}\n");
    shared.print(&mut text);
    pages.push((format!("{FOLDER}/shared.md"), text));
    pages
}

/// What every page says of itself.
const GENERATED: &str = "Generated from the registries by `VESICA_BLESS=1 cargo test --release --locked --workspace --test all docs::`; do not \
                         edit. [PROTOCOLS.md](../../PROTOCOLS.md) explains the words.";

/// A link to a protocol from the top of the tree.
fn link(entry: &Entry) -> String {
    format!("[`{id}`]({FOLDER}/{task}.md#{id})", id = entry.id, task = entry.task)
}

fn is_product(entry: &Entry) -> bool {
    vesica_protocols::registry::entries().any(|own| own.id == entry.id)
}

fn index(entries: &[&'static Entry]) -> String {
    let mut text = String::from(
        "# Protocols\n\nGenerated from the registries by `VESICA_BLESS=1 cargo test --release --locked --workspace --test \
         all docs::`; do not edit. `vesica protocols` prints the same facts of the protocols of the product, \
         `vesica-lab protocols` of all. Each task has a page; it begins with the protocols of the product.\n\n\
         - A *mode* is what `--security` selects. It names how \
         the protocol resists a corrupt sender and a corrupt receiver.\n- *Recommended* means that we would use it. \
         It does not mean audited (see SECURITY.md).\n- *Sound* means that no attack is known.\n\
         - *Broken* protocols run only with `--allow-broken`.\n\
         - *Lab* means that the protocol is kept for comparison, and that only `vesica-lab` has it.\n\
         - A *round* is one of a chain of \
         messages that wait for each other. Messages that cross belong to one round.\n- *Cost* names what takes most \
         of the time of a run on large sets.\n- A *deviation* says where our protocol differs from its paper.\n- A \
         *choice* is what a protocol leaves open. `rr22:okvs=band` names the variant of `rr22` in which `okvs` is \
         `band`; `auto` takes no variant, but for `base-ot=ml-kem` with `--post-quantum`.\n- A label such as A1 stands for a statement that several protocols share. \
         [docs/protocols/shared.md](docs/protocols/shared.md) spells them out.\n- Behind an assumption \
         stands the best attack on it, where its work was counted and may be below 2^128. SECURITY.md (*Work of \
         attacks*) lists them all.\n- *Quantum* says whether a large quantum computer breaks a mode, by what the mode assumes; \
         `--post-quantum` refuses those that fall.\n\n## By task\n\n| task | product | lab |\n|---|---|---|\n",
    );
    for task in tasks(entries) {
        let (own, lab): (Vec<&Entry>, Vec<&Entry>) = of_task(entries, task).partition(|entry| is_product(entry));
        let [own, lab] = [own, lab].map(|all| all.into_iter().map(link).collect::<Vec<_>>().join(", "));
        line(&mut text, format_args!("| [{task}]({FOLDER}/{task}.md) | {own} | {lab} |"));
    }
    describe_overview(&mut text, entries);
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
            Some((label, anchor)) => format!("{count} that assume [{label}]({FOLDER}/shared.md#{anchor})"),
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

fn of_task<'a>(entries: &'a [&Entry], task: &'a str) -> impl Iterator<Item = &'a Entry> {
    entries.iter().copied().filter(move |entry| entry.task == task)
}

/// The protocols by how they map sets, as PsiBench's Table 1, and the papers with their protocols.
fn describe_overview(text: &mut String, all: &[&'static Entry]) {
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
    for (map, entries) in overview::groups(all, overview::Grouping::Map) {
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
                    "| {}{broken} | {} | {modes} | {} | {} |",
                    link(entry),
                    style.compare,
                    work.group_operations,
                    work.symmetric_operations
                ),
            );
        }
    }
    line(text, format_args!("\n## By paper\n\n| paper | protocols |\n|---|---|"));
    for (key, ids) in overview::by_paper(all) {
        let ids: Vec<String> = all.iter().filter(|entry| ids.contains(&entry.id)).map(|entry| link(entry)).collect();
        line(text, format_args!("| {key} | {} |", ids.join(", ")));
    }
}

fn describe_task(text: &mut String, entries: &[&Entry], task: &str, shared: &Shared) {
    if let Some((_, summary)) = SUMMARIES.iter().find(|(name, _)| *name == task) {
        line(text, format_args!("{summary}\n"));
    }
    line(text, format_args!("| id | modes (rounds) | cost | status | paper | program |\n|---|---|---|---|---|---|"));
    for entry in of_task(entries, task) {
        let modes: Vec<String> =
            entry.modes.iter().map(|mode| format!("{} ({})", mode.security, mode.rounds)).collect();
        let (modes, status, key) = (modes.join(", "), status(entry), entry.paper.key);
        let program = if is_product(entry) { "vesica" } else { "lab" };
        let id = entry.id;
        line(text, format_args!("| [`{id}`](#{id}) | {modes} | {} | {status} | {key} | {program} |", entry.cost));
    }
    for entry in of_task(entries, task) {
        describe(text, entry, shared);
    }
}

fn describe(text: &mut String, entry: &Entry, shared: &Shared) {
    line(text, format_args!("\n## `{}`\n", entry.id));
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
        line(text, format_args!("- Quantum: {}", entry.quantum(mode)));
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
        for [old, new] in value.replaced {
            let words = |what: &Assumption| shared.assumptions.link(what).unwrap_or_else(|| what.to_string());
            line(text, format_args!("    - Assumes {} in place of {}", words(new), words(old)));
        }
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
        line(text, format_args!("\n## Assumptions\n"));
        self.assumptions.print(text);
        line(text, format_args!("\n## Leaks\n"));
        self.leakage.print(text);
        line(text, format_args!("\n## Deviations\n"));
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
        self.label(statement).map(|(label, anchor)| format!("[{label}](shared.md#{anchor})"))
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
        let text: String = catalogue_pages().into_iter().map(|(_, text)| text).collect();
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

    fn all() -> Vec<&'static Entry> {
        registry::entries().collect()
    }

    #[test]
    fn every_protocol_for_sets_is_in_one_group_of_each_kind() {
        let ids = |by| -> Vec<&str> {
            let mut ids: Vec<&str> = overview::groups(&all(), by)
                .into_iter()
                .flat_map(|(_, entries)| entries)
                .map(|entry| entry.id)
                .collect();
            ids.sort_unstable();
            ids
        };
        let sets = all().into_iter().filter(|entry| entry.map_and_compare.is_some());
        let mut own: Vec<&str> = sets.map(|entry| entry.id).collect();
        own.sort_unstable();
        assert_eq!(ids(overview::Grouping::Map), own);
        assert_eq!(ids(overview::Grouping::Compare), own);
        assert_eq!(ids(overview::Grouping::Task).len(), registry::entries().count());
    }

    #[test]
    fn a_protocol_is_found_by_its_paper_and_by_its_names() {
        let ids = |name| -> Vec<&str> { overview::named(&all(), name).into_iter().map(|entry| entry.id).collect() };
        assert_eq!(ids("KKRT16"), ["kkrt16", "oprf-kkrt16"]);
        assert_eq!(ids("paxos"), ["prty20"]);
        assert_eq!(ids("CZZ22"), ["czz24"]);
        assert_eq!(ids("union-sum").len(), all().into_iter().filter(|entry| entry.task == "union-sum").count());
        assert!(ids("hfh99").contains(&"ecdh-hfh99") && ids("zcl23").len() >= 2);
        assert!(ids("no such").is_empty() && ids("").is_empty());
    }

    #[test]
    fn every_paper_is_listed_once() {
        let papers = overview::by_paper(&all());
        assert!(papers.is_sorted_by(|(one, _), (other, _)| one.to_lowercase() < other.to_lowercase()));
        assert_eq!(papers.iter().map(|(_, ids)| ids.len()).sum::<usize>(), registry::entries().count());
    }
}
