//! Protocols for sets in groups: by task, by how sets are mapped, and by how what was mapped is compared
//! (PsiBench, Tables 1 and 2); and protocols by a name that a reader has.

use vesica_party::{Compare, Entry, Map};

use crate::tasks::{
    Cardinality, Intersect, JoinAndCompute, SetFunctionality, Shares, Sum, Union, UnionCardinality, UnionSum,
};

/// The tasks in the order of documents, each with one sentence on what it computes: those on sets, then building blocks.
pub const SUMMARIES: &[(&str, &str)] = &[
    of::<Intersect>(),
    of::<Union>(),
    of::<Cardinality>(),
    of::<UnionCardinality>(),
    of::<Sum>(),
    of::<UnionSum>(),
    of::<JoinAndCompute>(),
    of::<Shares>(),
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

const fn of<T: SetFunctionality>() -> (&'static str, &'static str) {
    (T::NAME, T::SUMMARY)
}

/// What puts protocols into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The task.
    Task,
    /// How sets are mapped.
    Map,
    /// How what was mapped is compared.
    Compare,
}

/// The groups in the order of documents, none of them empty, each with its name. By task: all protocols,
/// building blocks included. Otherwise: those for sets.
pub fn groups(all: &[&'static Entry], by: Grouping) -> Vec<(String, Vec<&'static Entry>)> {
    let of = |name: String, is_in: &dyn Fn(&Entry) -> bool| -> (String, Vec<&'static Entry>) {
        (name, all.iter().copied().filter(|entry| is_in(entry)).collect())
    };
    let groups: Vec<(String, Vec<&'static Entry>)> = match by {
        Grouping::Task => tasks(all).into_iter().map(|task| of(task.to_owned(), &|entry| entry.task == task)).collect(),
        Grouping::Map => {
            let is = |map: Map| move |entry: &Entry| entry.map_and_compare.is_some_and(|style| style.map == map);
            Map::ALL.into_iter().map(|map| of(map.to_string(), &is(map))).collect()
        }
        Grouping::Compare => {
            let is = |compare: Compare| {
                move |entry: &Entry| entry.map_and_compare.is_some_and(|style| style.compare == compare)
            };
            Compare::ALL.into_iter().map(|compare| of(compare.to_string(), &is(compare))).collect()
        }
    };
    groups.into_iter().filter(|(_, entries)| !entries.is_empty()).collect()
}

/// The protocols of this id, alias, paper or task, whatever their case; a paper's key may be cut off.
pub fn named(all: &[&'static Entry], name: &str) -> Vec<&'static Entry> {
    let name = name.to_lowercase();
    let is_exact =
        |entry: &&Entry| entry.answers_to(&name) || entry.task == name || entry.paper.key.to_lowercase() == name;
    let exact: Vec<&Entry> = all.iter().copied().filter(is_exact).collect();
    if !exact.is_empty() || name.is_empty() {
        return exact;
    }
    all.iter()
        .copied()
        .filter(|entry| entry.id.contains(&name) || entry.paper.key.to_lowercase().starts_with(&name))
        .collect()
}

/// Each paper's key with the ids that come from it, by key.
pub fn by_paper(all: &[&'static Entry]) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut papers: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in all {
        match papers.iter_mut().find(|(key, _)| *key == entry.paper.key) {
            Some((_, ids)) => ids.push(entry.id),
            None => papers.push((entry.paper.key, vec![entry.id])),
        }
    }
    papers.sort_by_key(|(key, _)| key.to_lowercase());
    papers
}

/// The tasks of these entries, in the order of documents; a task that [`SUMMARIES`] lacks comes
/// last.
pub fn tasks<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    let mut tasks: Vec<&str> = Vec::new();
    for entry in entries {
        if !tasks.contains(&entry.task) {
            tasks.push(entry.task);
        }
    }
    tasks.sort_by_key(|task| SUMMARIES.iter().position(|(name, _)| name == task).unwrap_or(SUMMARIES.len()));
    tasks
}
