//! Predictions against what is measured.

use vesica::party::Role;
use vesica::plan::{self, SetTask, Terms};
use vesica::protocols::any::AnyProtocol;

use crate::fit::fit;
use crate::measure::{Peaks, alone, is_on_a_curve, rows, run, terms};

/// What messages that wait for a busy reader may add. How much that is depends on the scheduler; the 24 MiB that the model adds for every process are there for it.
const QUEUED: u64 = 2 << 20;

/// What a prediction may be beyond 2.5 times the measured peak: small sets are not what it is for.
const SLACK: u64 = 4 << 20;

/// Runs that a test can afford: of equal sizes, and of unequal ones either way.
fn sizes(row: &AnyProtocol) -> [(u32, u32); 3] {
    if is_on_a_curve(row) { [(10, 10), (6, 10), (10, 6)] } else { [(13, 13), (7, 13), (13, 7)] }
}

/// The peaks of an honest run; nothing where the row does not serve the terms.
fn peaks(row: AnyProtocol, terms: &Terms) -> Option<Peaks> {
    row.predicted_bytes(terms).ok()?;
    let (peaks, ends) = run(row, *terms, *terms);
    assert!(ends.0.is_ok() && ends.1.is_ok(), "{} with {terms:?}: {ends:?}", row.entry().id);
    Some(peaks)
}

/// The prediction for a side, without what every process has.
fn predicted(row: &AnyProtocol, terms: &Terms, role: Role) -> u64 {
    let memory = plan::memory(row.entry().id, terms).unwrap_or_else(|| panic!("nothing is known of {}", row.entry().id));
    memory.of(role) - plan::PROCESS_MEMORY
}

#[test]
fn no_row_takes_more_than_predicted_nor_much_less() {
    let _alone = alone();
    for (row, task, security) in rows() {
        for (senders, receivers) in sizes(&row) {
            let terms = terms(task, security, 1 << senders, 1 << receivers);
            let Some(peaks) = peaks(row, &terms) else { continue };
            for role in [Role::Sender, Role::Receiver] {
                let (measured, predicted) = (peaks.of(role) as u64, predicted(&row, &terms, role));
                let what = format!("the {role} of {} with {terms:?}: {measured} bytes, predicted {predicted}", row.entry().id);
                assert!(measured <= predicted + QUEUED, "more memory than predicted: {what}");
                assert!(predicted <= 5 * measured / 2 + SLACK, "a prediction that is far off: {what}");
            }
        }
    }
}

/// The terms with what may go with the items, where the row serves it.
fn richer(row: &AnyProtocol, plain: Terms) -> Vec<Terms> {
    let all = match plain.task {
        SetTask::Intersect => vec![
            Terms { payload_bytes: 8, ..plain },
            Terms { payload_bytes: 100, ..plain },
            Terms { payload_bytes: 8, both_learn: true, ..plain },
        ],
        SetTask::Shares => vec![Terms { payload_bytes: 8, ..plain }, Terms { payload_bytes: 64, receiver_payload_bytes: 8, ..plain }],
        _ => vec![
            Terms { columns: 2 * plain.columns, ..plain },
            Terms { columns: 4 * plain.columns, ..plain },
            Terms { groups: 8, ..plain },
            Terms { groups: 8, at_least: 5, columns: 3 * plain.columns, ..plain },
        ],
    };
    all.into_iter().filter(|terms| row.predicted_bytes(terms).is_ok()).collect()
}

#[test]
fn payloads_columns_and_groups_are_within_the_prediction() {
    let _alone = alone();
    for (row, task, security) in rows() {
        let (senders, receivers) = sizes(&row)[0];
        for terms in richer(&row, terms(task, security, 1 << (senders - 1), 1 << (receivers - 1))) {
            let Some(peaks) = peaks(row, &terms) else { continue };
            for role in [Role::Sender, Role::Receiver] {
                let (measured, predicted) = (peaks.of(role) as u64, predicted(&row, &terms, role));
                let what = format!("the {role} of {} with {terms:?}: {measured} bytes, predicted {predicted}", row.entry().id);
                assert!(measured <= predicted + QUEUED, "more memory than predicted: {what}");
            }
        }
    }
}

/// Makes the constants of the model: `cargo test --release -p vesica --test memory -- --ignored --nocapture > FILE` prints measured peaks, and for each row
/// in each mode its line of `crates/vesica/src/plan/footprints.rs`.
#[test]
#[ignore = "measures many sizes, which takes minutes"]
fn print_footprints() {
    let _alone = alone();
    for (row, task, security) in rows() {
        let id = row.entry().id;
        if row.entry().is_variant() {
            continue;
        }
        let (logs, far) = match id {
            _ if is_on_a_curve(&row) => (&[6, 9, 11][..], None),
            "rs21" | "rr22" | "vole-fast" | "vole-lean" => (&[8, 12, 13, 14][..], Some(19)),
            _ => (&[8, 12, 13][..], Some(16)),
        };
        let near = logs.iter().flat_map(|&senders| logs.iter().map(move |&receivers| (senders, receivers)));
        let far = far.into_iter().flat_map(|far: u32| [(far, far), (8, far), (far, 8)]);
        let mut measured = Vec::new();
        for (senders, receivers) in near.chain(far) {
            let terms = terms(task, security, 1 << senders, 1 << receivers);
            if let Some(Peaks { sender, receiver }) = peaks(row, &terms) {
                println!("PEAK {id} {security} {senders} {receivers} {sender} {receiver}");
                measured.push((terms.sender_items, terms.receiver_items, sender, receiver));
            }
        }
        let of =
            |pick: fn(&(usize, usize, usize, usize)) -> usize| measured.iter().map(|all| (all.0, all.1, pick(all))).collect::<Vec<_>>();
        println!("    row({id:?}, Security::{security:?}, [{:?}, {:?}]),", fit(&of(|all| all.2), 1), fit(&of(|all| all.3), 2));
    }
}
