//! The lists by which suites of rows tell what is in use, against what takes these rows.

use std::collections::BTreeSet;

use vesica::party::{Entry, Security};
use vesica::plan::{Link, Permissions, automatic};
use vesica::protocols::tasks::Extent;
use vesica::task::TASKS;
use vesica_testkit::{Use, also_in_use, is_in_use};

use crate::harness::Folder;

/// What `auto` takes for workloads of all kinds.
fn taken() -> BTreeSet<&'static str> {
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

#[test]
fn what_auto_takes_is_tried_in_full() {
    let taken = taken();
    let entries: Vec<&Entry> = TASKS.iter().flat_map(|task| task.entries()).collect();
    let of = |id: &&str| entries.iter().find(|entry| entry.id == *id).expect("an entry");
    let left: Vec<&&str> = taken.iter().filter(|id| !is_in_use(of(id))).collect();
    assert!(left.is_empty(), "auto takes {left:?}, which suites do not try in full");
    assert!(also_in_use(Use::Automatic).iter().any(|id| taken.contains(id)), "or this tests nothing: {taken:?}");
}

/// The refusal of a protocol that serves no tables names all that do.
#[test]
fn what_is_served_is_tried_in_full() {
    let folder = Folder::new();
    folder.write("deny.csv", "url\na.org\n");
    let refused = folder.run(
        "serve --input deny.csv --key url --identity them.key --any-client --no-quota --listen 127.0.0.1:0 --protocol md5",
    );
    refused.expect(7, &[&format!("name one of {}", also_in_use(Use::Service).join(", "))]);
}
