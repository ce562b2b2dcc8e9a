//! Protocols for sets in groups: by task, by how sets are mapped, and by how what was mapped is compared
//! (PsiBench, Tables 1 and 2); and protocols by a name that a reader has.

use vesica_party::{Compare, Entry, Map};

use crate::registry;

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
pub fn groups(by: Grouping) -> Vec<(String, Vec<&'static Entry>)> {
    let of = |name: String, is_in: &dyn Fn(&Entry) -> bool| -> (String, Vec<&'static Entry>) {
        (name, registry::entries().filter(|entry| is_in(entry)).collect())
    };
    let all: Vec<(String, Vec<&'static Entry>)> = match by {
        Grouping::Task => {
            let entries: Vec<&Entry> = registry::entries().collect();
            let tasks = crate::catalogue::tasks(&entries);
            tasks.into_iter().map(|task| of(task.to_owned(), &|entry| entry.task == task)).collect()
        }
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
    all.into_iter().filter(|(_, entries)| !entries.is_empty()).collect()
}

/// The protocols of this id, alias, paper or task, whatever their case; a paper's key may be cut off.
pub fn named(name: &str) -> Vec<&'static Entry> {
    let name = name.to_lowercase();
    let is_exact =
        |entry: &&Entry| entry.answers_to(&name) || entry.task == name || entry.paper.key.to_lowercase() == name;
    let exact: Vec<&Entry> = registry::entries().filter(is_exact).collect();
    if !exact.is_empty() || name.is_empty() {
        return exact;
    }
    registry::entries()
        .filter(|entry| entry.id.contains(&name) || entry.paper.key.to_lowercase().starts_with(&name))
        .collect()
}

/// Each paper's key with the ids that come from it, by key.
pub fn by_paper() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut papers: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in registry::entries() {
        match papers.iter_mut().find(|(key, _)| *key == entry.paper.key) {
            Some((_, ids)) => ids.push(entry.id),
            None => papers.push((entry.paper.key, vec![entry.id])),
        }
    }
    papers.sort_by_key(|(key, _)| key.to_lowercase());
    papers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_for_sets_is_in_one_group_of_each_kind() {
        let ids = |by| -> Vec<&str> {
            let mut ids: Vec<&str> =
                groups(by).into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.id).collect();
            ids.sort_unstable();
            ids
        };
        let mut own: Vec<&str> = registry::own_entries().map(|entry| entry.id).collect();
        own.sort_unstable();
        assert_eq!(ids(Grouping::Map), own);
        assert_eq!(ids(Grouping::Compare), own);
        assert_eq!(ids(Grouping::Task).len(), registry::entries().count());
    }

    #[test]
    fn a_protocol_is_found_by_its_paper_and_by_its_names() {
        let ids = |name| -> Vec<&str> { named(name).into_iter().map(|entry| entry.id).collect() };
        assert_eq!(ids("KKRT16"), ["kkrt16", "oprf-kkrt16"]);
        assert_eq!(ids("paxos"), ["prty20"]);
        assert_eq!(ids("CZZ22"), ["czz24"]);
        assert_eq!(ids("union-sum").len(), registry::union_sum().len());
        assert!(ids("hfh99").contains(&"ecdh-hfh99") && ids("zcl23").len() >= 2);
        assert!(ids("no such").is_empty() && ids("").is_empty());
    }

    #[test]
    fn every_paper_is_listed_once() {
        let papers = by_paper();
        assert!(papers.is_sorted_by(|(one, _), (other, _)| one.to_lowercase() < other.to_lowercase()));
        assert_eq!(papers.iter().map(|(_, ids)| ids.len()).sum::<usize>(), registry::entries().count());
    }
}
