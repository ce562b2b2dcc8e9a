//! The rule by which a protocol is in the product, against what takes it.

use std::collections::BTreeSet;

use vesica::party::Security;
use vesica::plan::{Link, Permissions, automatic};
use vesica::protocols::registry;
use vesica::protocols::tasks::Extent;
use vesica::task::TASKS;

/// What `auto` takes for workloads of all kinds, of the protocols of the product and of papers together.
fn taken() -> BTreeSet<&'static str> {
    vesica_lab::install();
    let sizes = [(100, 100), (1 << 12, 1 << 12), (1 << 18, 1 << 18), (1 << 18, 100)];
    let links = [1_000_000, 10_000_000_000].map(|bits_per_second| Link { bits_per_second, ..Link::ASSUMED });
    let permissions = [false, true].map(|count| Permissions { count, ..Permissions::default() });
    let mut taken = BTreeSet::new();
    for (n_s, n_r) in sizes {
        for security in [Security::SemiHonest, Security::Malicious] {
            for task in TASKS {
                for amounts in task.richer_amounts().into_iter().chain([task.least_amounts()]) {
                    let Ok(workload) = task.workload(&Extent::new(n_s, n_r, security), &amounts) else { continue };
                    let choices = links.iter().flat_map(|link| {
                        permissions.map(|permissions| automatic(workload.workload(), link, permissions))
                    });
                    taken.extend(choices.flatten().map(|entry| entry.id));
                }
            }
        }
    }
    taken
}

/// Rows that `auto` takes over a slow link, where nothing that serves was measured, and that the product leaves out all
/// the same: the parameters of `pt26` rest on an abstract and on experiments. The product takes `vesica-union-both` there.
const LEFT_OUT: [&str; 1] = ["pt26"];

#[test]
fn what_auto_takes_is_in_the_product() {
    let own: BTreeSet<&str> = registry::own_entries().map(|entry| entry.id).collect();
    let taken = taken();
    let left: Vec<&&str> = taken.iter().filter(|id| !own.contains(*id) && !LEFT_OUT.contains(id)).collect();
    assert!(left.is_empty(), "auto takes {left:?}, which the product does not have");
    assert!(taken.len() > 8, "or this tests nothing: {taken:?}");
}

/// Each name of a paper's protocol is known to the product as one of this program, and nothing else is.
#[test]
fn the_product_knows_the_names_of_this_programs_protocols() {
    let entries = vesica_papers::registry::own_entries().filter(|entry| !entry.is_variant());
    let names: BTreeSet<&str> = entries.flat_map(|entry| entry.aliases.iter().copied().chain([entry.id])).collect();
    assert_eq!(names, vesica::rows::IN_LAB.iter().copied().collect());
}

/// Every row of a paper is known to the memory model.
#[test]
fn every_row_has_its_footprint() {
    vesica_lab::install();
    for task in TASKS {
        for entry in task.entries() {
            for mode in entry.modes {
                let workload = task.workload(&Extent::new(100, 100, mode.security), &task.least_amounts_of(entry));
                let workload = workload.expect("the least");
                assert!(
                    vesica::plan::memory(entry.id, workload.workload()).is_some(),
                    "{} {}",
                    entry.id,
                    mode.security
                );
            }
        }
    }
}
