//! Predictions against what is measured.

use vesica::party::{CostClass, Entry, Role};
use vesica::plan;
use vesica::protocols::tasks::Extent;

use crate::fit::fit;
use crate::measure::{Case, Peaks, alone, is_on_a_curve, rows, run};

/// What messages that wait for a busy reader may add. How much that is depends on the scheduler;
/// the 24 MiB that the model adds for every process are there for it.
const QUEUED: u64 = 2 << 20;

/// What a prediction may be beyond 2.5 times the measured peak: small sets are not what it is for.
const SLACK: u64 = 4 << 20;

/// Runs that a test can afford: of equal sizes, and of unequal ones either way.
fn sizes(entry: &Entry) -> [(u32, u32); 3] {
    if takes_few_items(entry) {
        return [(13, 2), (7, 3), (13, 4)];
    }
    if is_on_a_curve(entry) { [(10, 10), (6, 10), (10, 6)] } else { [(13, 13), (7, 13), (13, 7)] }
}

/// Whether each item of the receiver takes tens of milliseconds, or any query takes as much memory as
/// one of hundreds of items. The receiver of `tcl23` has the larger set.
fn takes_few_items(entry: &Entry) -> bool {
    entry.cost == CostClass::Lattice && entry.id != "tcl23"
}

/// The peaks of an honest run; nothing where the row does not serve the case.
fn peaks(case: &Case) -> Option<Peaks> {
    if !case.is_served() {
        return None;
    }
    let (peaks, ends) = run(*case, *case);
    assert!(ends.0.is_ok() && ends.1.is_ok(), "{case:?}: {ends:?}");
    Some(peaks)
}

/// The prediction for a side, without what every process has.
fn predicted(case: &Case, role: Role) -> u64 {
    let id = case.entry.id;
    let memory = plan::memory(id, case.workload().workload()).unwrap_or_else(|| panic!("nothing is known of {id}"));
    memory.of(role) - plan::PROCESS_MEMORY
}

#[test]
fn no_row_takes_more_than_predicted_nor_much_less() {
    let _alone = alone();
    for (task, entry, security) in rows() {
        for (senders, receivers) in sizes(entry) {
            let case = Case::plain(task, entry, Extent::new(1 << senders, 1 << receivers, security));
            let Some(peaks) = peaks(&case) else { continue };
            for role in [Role::Sender, Role::Receiver] {
                let (mut measured, predicted) = (peaks.of(role) as u64, predicted(&case, role));
                // A variant without coefficients of its own takes its row's and half as much again.
                let most = |measured: u64| if entry.is_variant() { 4 * measured } else { 5 * measured / 2 };
                // Seldom, a side holds a small part of what it mostly does, by how the threads take turns: a
                // prediction is far off if it is so for the largest of four peaks.
                for _ in 0..3 {
                    if predicted > most(measured) + SLACK {
                        measured = measured.max(self::peaks(&case).map_or(0, |peaks| peaks.of(role) as u64));
                    }
                }
                let what = format!("the {role} of {case:?}: {measured} bytes, predicted {predicted}");
                assert!(measured <= predicted + QUEUED, "more memory than predicted: {what}");
                // How much of a client's queries waits for the link goes by how the threads take turns.
                let varies = (entry.id == "oprf-pir" || entry.id.starts_with("pepsi")) && role == Role::Receiver;
                assert!(varies || predicted <= most(measured) + SLACK, "a prediction that is far off: {what}");
            }
        }
    }
}

#[test]
fn payloads_columns_and_groups_are_within_the_prediction() {
    let _alone = alone();
    for (task, entry, security) in rows() {
        let (senders, receivers) = sizes(entry)[0];
        let plain = Case::plain(task, entry, Extent::new(1 << (senders - 1), 1 << (receivers - 1), security));
        for case in task.richer_amounts().into_iter().map(|amounts| Case { amounts, ..plain }) {
            let Some(peaks) = peaks(&case) else { continue };
            for role in [Role::Sender, Role::Receiver] {
                let (measured, predicted) = (peaks.of(role) as u64, predicted(&case, role));
                let what = format!("the {role} of {case:?}: {measured} bytes, predicted {predicted}");
                assert!(measured <= predicted + QUEUED, "more memory than predicted: {what}");
            }
        }
    }
}

/// Makes the constants of the model: `cargo test --release -p vesica --test memory -- --ignored
/// --nocapture > FILE` prints measured peaks, and for each row in each mode its line of
/// `crates/vesica/src/plan/footprints.txt` or `crates/lab/src/plan/footprints.txt`; with `VESICA_TRIAL=ID` for one row, or for a variant that
/// takes more than the model gives to one without a line of its own.
#[test]
#[ignore = "measures many sizes, which takes minutes"]
fn print_footprints() {
    let _alone = alone();
    let only = std::env::var("VESICA_TRIAL").ok();
    for (task, entry, security) in rows() {
        let id = entry.id;
        if only.as_ref().map_or(entry.is_variant(), |only| only != id) {
            continue;
        }
        let (logs, far) = match id {
            // The set is large in use.
            "oprf-rfc9497" | "ra17" => (&[8, 12, 14][..], Some(17)),
            // Beside its matrix and its look-ups under way, which the model adds.
            "oprf-pir" | "oprf-buckets" => (&[6, 9, 11][..], None),
            _ if is_on_a_curve(entry) => (&[6, 9, 11][..], None),
            "rs21" | "rr22" | "vole-fast" | "vole-lean" => (&[8, 12, 13, 14][..], Some(19)),
            _ => (&[8, 12, 13][..], Some(16)),
        };
        let near = logs.iter().flat_map(|&senders| logs.iter().map(move |&receivers| (senders, receivers)));
        let far = far.into_iter().flat_map(|far: u32| [(far, far), (8, far), (far, 8)]);
        let mut measured = Vec::new();
        for (senders, receivers) in near.chain(far) {
            let receivers = if takes_few_items(entry) { receivers / 3 } else { receivers };
            let extent = Extent::new(1 << senders, 1 << receivers, security);
            if let Some(Peaks { sender, receiver }) = peaks(&Case::plain(task, entry, extent)) {
                println!("PEAK {id} {security} {senders} {receivers} {sender} {receiver}");
                measured.push((extent.sender_items, extent.receiver_items, sender, receiver));
            }
        }
        let of = |pick: fn(&(usize, usize, usize, usize)) -> usize| {
            measured.iter().map(|all| (all.0, all.1, pick(all))).collect::<Vec<_>>()
        };
        let words = |of: [u64; 3]| of.map(|number| number.to_string()).join(" ");
        println!("{id} {security} {} {}", words(fit(&of(|all| all.2), 1)), words(fit(&of(|all| all.3), 2)));
    }
}
