//! Every row computes what its task says, whatever the sizes, the overlap and the options, and
//! sends as many bytes as its formula says.

use vesica_party::{CostClass, Entry, Mode, Security, Status, Task};
use vesica_protocols::tasks::{
    Aggregate, AggregateRequest, Cardinality, IntersectRequest, Over, Union, UnionReceiverInput, UnionRequest,
    UnionSenderInput,
};
use vesica_testkit::{Depth, Runnable, Trials, conformance_of};

use crate::inputs::{
    FEW_ITEMS, Row, aggregate_inputs, every, inputs, is_for_few_items, request, total, union_inputs, union_request,
    union_request_of,
};
use crate::registry;
use crate::registry::trials_of;

/// Sizes that every row must serve.
const SIZES: [(usize, usize); 8] = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 1000), (1000, 3), (300, 300)];

/// The sizes of a row whose receiver's items take tens of milliseconds each.
pub(crate) const FEW_SIZES: [(usize, usize); 7] = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 7), (1000, 3)];

/// No common item, one, all but one, all.
pub(crate) fn overlaps(n_s: usize, n_r: usize) -> Vec<usize> {
    let least = n_s.min(n_r);
    let mut overlaps = vec![0, 1.min(least), least.saturating_sub(1), least];
    overlaps.sort_unstable();
    overlaps.dedup();
    overlaps
}

/// Whether a row serves a request for intersections with payloads and matches for both.
fn is_labelled(row: Row, security: Security) -> bool {
    row.predicted_bytes(&IntersectRequest { payload_bytes: 1, both_learn: true, ..request(1, 1, security) }).is_ok()
}

fn is_broken(row: Row) -> bool {
    matches!(row.entry().status, Status::Broken { .. })
}

/// Rows that take tens of microseconds an item.
fn is_slow(entry: &Entry) -> bool {
    entry.cost == CostClass::GroupOperations
}

fn check(row: Row, request: &IntersectRequest, overlap: usize) {
    let (sent, asked) = inputs(request, overlap, overlap as u64);
    let run = conformance_of(row, request, sent, asked);
    run.assert_rounds(row.entry().mode(request.security).expect("the mode of a trial"));
    assert_eq!(run.receiver.matches.len(), overlap + run.false_matches, "{} on {request:?}", row.entry().id);
    assert_eq!(run.sender.matches.is_some(), request.both_learn, "{} on {request:?}", row.entry().id);
}

#[test]
fn every_row_computes_the_intersection() {
    let mut trials = trials_of("intersection");
    trials.modes_in_depth(&every(registry::intersect()), |row, mode, depth| {
        let sizes = if is_for_few_items(row.entry()) { &FEW_SIZES[..] } else { &SIZES };
        for &(n_s, n_r) in depth.take(sizes) {
            // A run of a broken row takes its base OTs; it is kept for what it does, and not for use.
            let depth = if is_broken(row) { Depth::Once } else { depth };
            for &overlap in depth.take(&overlaps(n_s, n_r)) {
                check(row, &request(n_s, n_r, mode.security), overlap);
            }
        }
    });
    trials.end();
}

#[test]
fn every_row_carries_payloads_and_lets_both_learn() {
    let mut trials = trials_of("payloads and both learn");
    let rows = trials.in_full(&every(registry::intersect()));
    trials.modes_where(
        &rows,
        |row, mode| is_labelled(row, mode.security),
        |row, mode| {
            for (n_s, n_r, overlap) in [(0, 5, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17)] {
                for payload_bytes in [0, 1, 24] {
                    for both_learn in [false, true] {
                        check(
                            row,
                            &IntersectRequest { payload_bytes, both_learn, ..request(n_s, n_r, mode.security) },
                            overlap,
                        );
                    }
                }
            }
        },
    );
    trials.end();
}

/// Tables and masks of several parts, payloads and proofs attached to the right items throughout.
#[test]
fn payloads_and_proofs_survive_many_parts() {
    let mut trials = trials_of("payloads of many parts");
    let serves = |row: Row, mode: &Mode| !is_slow(row.entry()) && is_labelled(row, mode.security);
    let rows = trials.in_full(&every(registry::intersect()));
    trials.modes_where(&rows, serves, |row, mode| {
        for (n_s, n_r, overlap) in [(70_001, 3, 2), (3, 70_001, 2), (40_000, 120_000, 20_001)] {
            check(
                row,
                &IntersectRequest { payload_bytes: 5, both_learn: true, ..request(n_s, n_r, mode.security) },
                overlap,
            );
        }
    });
    trials.end();
}

/// Where one item may have two masks, its payload is under both.
#[test]
fn rows_that_serve_payloads_but_let_one_learn_carry_them() {
    let mut shown = 0;
    let mut trials = trials_of("payloads alone");
    trials.modes_where(
        registry::intersect(),
        |row, mode| !is_labelled(row, mode.security),
        |row, mode| {
            for (n_s, n_r, overlap) in [(0, 5, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17)] {
                let request = IntersectRequest { payload_bytes: 24, ..request(n_s, n_r, mode.security) };
                if row.predicted_bytes(&request).is_ok() {
                    check(row, &request, overlap);
                    shown += 1;
                }
            }
        },
    );
    assert!(shown > 0 || trials.are_chosen());
    trials.end();
}

#[test]
fn every_row_serves_sixteen_thousand_items() {
    let mut trials = trials_of("2^14 items");
    let rows = trials.in_full(registry::intersect());
    trials.modes(&rows, |row, mode| {
        let n = if is_slow(row.entry()) { 1 << 11 } else { 1 << 14 };
        let n_r = if is_for_few_items(row.entry()) { FEW_ITEMS } else { n };
        check(row, &request(n, n_r, mode.security), n_r / 2);
    });
    trials.end();
}

/// Sizes at which tables have many bins and masks many buckets; the rows that nobody would choose
/// here are left to benchmarks.
#[test]
fn the_recommended_rows_serve_a_million_items() {
    let mut trials = trials_of("2^20 items");
    let chosen = |row: Row, _: &Mode| row.entry().status == Status::Recommended && !is_slow(row.entry());
    trials.modes_where(registry::intersect(), chosen, |row, mode| {
        check(row, &request(1 << 20, 1 << 20, mode.security), 1 << 19);
    });
    trials.end();
}

#[test]
fn all_rows_give_the_same_output_on_the_same_inputs() {
    let outputs = |request: &IntersectRequest| {
        let (sent, asked) = inputs(request, 123, 9);
        let all = every(registry::intersect());
        let serving = all.iter().filter(|row| row.predicted_bytes(request).is_ok());
        serving
            .map(|row| {
                let run = conformance_of(*row, request, sent.clone(), asked.clone());
                (row.entry().id, run.sender, run.receiver)
            })
            .collect::<Vec<_>>()
    };
    for security in [Security::SemiHonest, Security::Malicious] {
        let all = outputs(&IntersectRequest { payload_bytes: 5, both_learn: true, ..request(200, 500, security) });
        let (first, others) = all.split_first().expect("a row for either security");
        for other in others {
            assert_eq!((&first.1, &first.2), (&other.1, &other.2), "{} and {} differ", first.0, other.0);
        }
    }
}

fn check_union(row: Runnable<Union>, request: &UnionRequest, mode: &Mode, overlap: usize) -> Vec<u8> {
    let request = &union_request_of(row, *request);
    let (sent, asked) = union_inputs(request, overlap, overlap as u64);
    let run = conformance_of(row, request, sent, asked);
    run.assert_rounds(mode);
    assert_eq!(run.sender.records.is_some(), request.both_learn, "{}", row.entry().id);
    if let Some(records) = run.sender.records {
        assert_eq!(records.open().len(), (request.receiver_items - overlap) * request.record_bytes);
    }
    let records = run.receiver.records.open();
    assert_eq!(records.len(), (request.sender_items - overlap) * request.record_bytes, "{}", row.entry().id);
    records
}

#[test]
fn every_union_row_gives_the_new_records() {
    let mut trials = trials_of("union");
    trials.modes_in_depth(&every(registry::union()), |row, mode, depth| {
        for &(n_s, n_r) in depth.take(&SIZES) {
            for &overlap in depth.take(&overlaps(n_s, n_r)) {
                check_union(row, &union_request(n_s, n_r, 16, mode.security), mode, overlap);
            }
        }
        for &record_bytes in depth.take(&[1, 2, 7, 8, 15, 16, 17, 24, 63, 64, 65, 256, 255]) {
            check_union(row, &union_request(40, 70, record_bytes, mode.security), mode, 33);
        }
        for record_bytes in [0, UnionRequest::MOST_RECORD_BYTES + 1] {
            let request = union_request(40, 70, record_bytes, mode.security);
            let mutual = UnionRequest { both_learn: true, ..request };
            assert!(row.predicted_bytes(&request).is_err() && row.predicted_bytes(&mutual).is_err());
        }
    });
    trials.end();
}

/// In several runs, whose number of common items each would otherwise show, nobody gets a record of a dummy.
#[test]
fn union_rows_that_serve_several_runs_give_no_records_of_dummies() {
    let mut trials = trials_of("unions of several runs");
    let sizes = [(0, 3, 0, 0), (3, 0, 0, 0), (40, 70, 20, 9), (1, 1, 0, 1), (1, 1, 1, 0), (300, 300, 299, 1)];
    let of_runs = [2, 1 << 20].into_iter().flat_map(|runs| sizes.map(|sizes| (runs, sizes)));
    trials.modes(&every(registry::union()), |row, mode| {
        // So many runs take values of more than 64 bits in each bin.
        for (runs, (n_s, n_r, common, dummies)) in of_runs.clone() {
            let request = union_request_of(row, UnionRequest { runs, ..union_request(n_s, n_r, 16, mode.security) });
            if row.predicted_bytes(&request).is_err() {
                continue;
            }
            let [keys_s, keys_r] = [n_s - dummies, n_r - dummies];
            let keys = UnionRequest { sender_items: keys_s, receiver_items: keys_r, ..request };
            let (mut sent, mut asked) = union_inputs(&keys, common, 3);
            let dummy = |side: u128| (0..dummies as u128).map(move |number| side << 64 | number);
            sent.items.extend(dummy(1));
            sent.records.resize(n_s * 16, 7);
            asked.items.extend(dummy(2));
            asked.records.resize(if request.both_learn { n_r * 16 } else { 0 }, 7);
            let sent = UnionSenderInput { dummies, ..sent };
            let asked = UnionReceiverInput { dummies, ..asked };
            let run = conformance_of(row, &request, sent, asked);
            assert_eq!(run.receiver.records.open().len(), (keys_s - common) * 16, "{} on {request:?}", row.entry().id);
            if let Some(records) = run.sender.records {
                assert_eq!(records.open().len(), (keys_r - common) * 16, "{} on {request:?}", row.entry().id);
            }
        }
    });
    trials.end();
}

/// A row serves a union of the receiver alone or one of both sides, so that who does not ask for the
/// latter never gets it.
#[test]
fn every_union_row_serves_one_side_or_both() {
    for row in every(registry::union()) {
        let request = union_request(40, 70, 16, row.entry().modes[0].security);
        let serves =
            [false, true].map(|both_learn| row.predicted_bytes(&UnionRequest { both_learn, ..request }).is_ok());
        assert!(serves[0] != serves[1], "{}", row.entry().id);
    }
}

#[test]
fn every_union_row_serves_sixteen_thousand_items() {
    let mut trials = trials_of("unions of 2^14 items");
    let rows = trials.in_full(&every(registry::union()));
    trials.modes(&rows, |row, mode| {
        let n = if is_slow(row.entry()) { 1 << 11 } else { 1 << 14 };
        for overlap in overlaps(n, n).into_iter().chain([n / 2]) {
            check_union(row, &union_request(n, n, 16, mode.security), mode, overlap);
        }
        check_union(row, &union_request(n, n / 8, 40, mode.security), mode, n / 16);
        check_union(row, &union_request(n / 8, n, 40, mode.security), mode, n / 16);
    });
    trials.end();
}

#[test]
fn all_union_rows_give_the_same_records() {
    let request = union_request(200, 500, 9, Security::SemiHonest);
    let mut all = every(registry::union()).into_iter().map(|row| {
        let mode = row.entry().mode(request.security).expect("a semi-honest mode");
        let records = check_union(row, &request, mode, 123);
        let mut records: Vec<Vec<u8>> = records.chunks(9).map(<[u8]>::to_vec).collect();
        records.sort_unstable();
        (row.entry().id, records)
    });
    let (first, expected) = all.next().expect("a row");
    for (id, records) in all {
        assert_eq!(records, expected, "{first} and {id} differ");
    }
}

/// All sizes and overlaps, if the row is tried in full; then columns, groups and thresholds where the row serves them, and
/// noise.
fn check_aggregates<T: Aggregate>(rows: &[Runnable<T>], columns: &[usize], valued: bool) {
    let mut trials = trials_of(T::NAME);
    trials.modes_in_depth(rows, |row, mode, depth| {
        let check = |request: &AggregateRequest, overlap: usize| {
            let (sent, asked) = aggregate_inputs::<T>(request, valued, overlap, overlap as u64);
            let run = conformance_of(row, request, sent, asked);
            if request.groups == 1 && request.at_least == 0 {
                run.assert_rounds(mode);
            }
            assert_eq!(run.receiver.groups.len(), request.groups, "{} on {request:?}", row.entry().id);
            assert!(
                request.at_least > 1 && request.runs == 1 || run.receiver.groups.iter().all(Option::is_some),
                "{} on {request:?}",
                row.entry().id
            );
        };
        for &(n_s, n_r) in depth.take(&SIZES) {
            for &overlap in depth.take(&overlaps(n_s, n_r)) {
                check(&total(n_s, n_r, columns[0], mode.security), overlap);
            }
        }
        for &columns in &columns[1..] {
            check(&total(40, 70, columns, mode.security), 33);
        }
        for at_least in [0, 5] {
            let grouped = AggregateRequest { groups: 3, at_least, ..total(40, 70, columns[0], mode.security) };
            if row.predicted_bytes(&grouped).is_ok() {
                assert_eq!(T::OVER, Over::Common, "{} groups what is in no group", row.entry().id);
                check(&grouped, 20);
            }
        }
        for (n_s, n_r, overlap) in [(0, 3, 0), (3, 0, 0), (40, 70, 33)] {
            // So many runs take values of more than 64 bits in each bin.
            for runs in [2, 1 << 20] {
                let shared = AggregateRequest { runs, ..total(n_s, n_r, columns[0], mode.security) };
                let grouped = AggregateRequest { groups: 3, ..shared };
                if row.predicted_bytes(&shared).is_ok() {
                    assert!(!mode.shows_count(), "{} shows the count of each bucket", row.entry().id);
                    check(&shared, overlap);
                    match T::OVER {
                        Over::Common => check(&grouped, overlap),
                        Over::New => assert!(row.predicted_bytes(&grouped).is_err(), "{}", row.entry().id),
                    }
                } else {
                    // Bounds of papers' circuits are for one run.
                    let refused = row.predicted_bytes(&shared).expect_err("refused");
                    let is_for_one = row.entry().status != Status::Recommended && refused.what.contains("for one run");
                    let has_none = mode.shows_count() || T::NAME == Cardinality::NAME || is_for_one;
                    assert!(has_none, "{} has no buckets", row.entry().id);
                }
                // All is opened, masked: what all runs give together is compared elsewhere.
                let withheld = AggregateRequest { at_least: 2, ..shared };
                if row.predicted_bytes(&withheld).is_ok() {
                    assert!(!mode.shows_count(), "{} shows the count", row.entry().id);
                    check(&withheld, overlap);
                }
                let noisy = AggregateRequest { noisy: true, ..withheld };
                assert!(row.predicted_bytes(&noisy).is_err(), "{} compares beside noise", row.entry().id);
            }
        }
        for (n_s, n_r, overlap) in [(0, 3, 0), (3, 0, 0), (9, 8, 5)] {
            let noisy = AggregateRequest { noisy: true, ..total(n_s, n_r, columns[0], mode.security) };
            // Who learns the exact count is not to be told that noise hides single items.
            if row.predicted_bytes(&noisy).is_ok() {
                assert!(!mode.shows_count(), "{} adds noise beside an exact count", row.entry().id);
                check(&noisy, overlap);
            } else {
                assert!(mode.shows_count() || T::NAME == Cardinality::NAME, "{} refuses noise", row.entry().id);
            }
        }
    });
    trials.end();
}

/// Groups of one common item less than the threshold, of exactly as many, and of one more; without
/// noise and with it.
fn check_thresholds<T: Aggregate>(trials: &mut Trials, rows: &[Runnable<T>], columns: usize, valued: bool) {
    trials.modes(rows, |row, mode| {
        let security = mode.security;
        for noisy in [false, true] {
            let request = AggregateRequest { groups: 3, at_least: 4, noisy, ..total(30, 40, columns, security) };
            if row.predicted_bytes(&request).is_err() {
                continue;
            }
            let (sent, mut asked) = aggregate_inputs::<T>(&request, valued, 12, 77);
            let mut of_common = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2].into_iter();
            for (item, group) in asked.items.iter().zip(&mut asked.groups) {
                *group = if sent.items.contains(item) { of_common.next().unwrap() } else { 0 };
            }
            let shown: Vec<bool> =
                conformance_of(row, &request, sent, asked).receiver.groups.iter().map(Option::is_some).collect();
            assert_eq!(shown, [false, true, true], "{} on {request:?}", row.entry().id);
        }
    });
}

#[test]
fn groups_are_shown_from_exactly_the_threshold_on() {
    let mut trials = trials_of("thresholds");
    check_thresholds(&mut trials, registry::cardinality(), 0, false);
    check_thresholds(&mut trials, registry::sum(), 2, false);
    check_thresholds(&mut trials, registry::join_and_compute(), 2, true);
    trials.end();
}

/// One new item less than the threshold, exactly as many, and one more; where dummies would make up
/// for what lacks, and where a set is empty.
fn check_thresholds_of_new_items<T: Aggregate>(trials: &mut Trials, rows: &[Runnable<T>], columns: usize) {
    trials.modes(rows, |row, mode| {
        for noisy in [false, true] {
            for (n_r, overlap) in [(50, 20), (0, 0)] {
                let plain = AggregateRequest { noisy, ..total(30, n_r, columns, mode.security) };
                let (sent, asked) = aggregate_inputs::<T>(&plain, false, overlap, 78);
                let new = (30 - sent.dummies - overlap) as u64;
                for at_least in [new - 1, new, new + 1] {
                    let request = AggregateRequest { at_least, ..plain };
                    if row.predicted_bytes(&request).is_err() {
                        assert!(mode.shows_count(), "{} has no threshold", row.entry().id);
                        continue;
                    }
                    let shown = conformance_of(row, &request, sent.clone(), asked.clone()).receiver.groups;
                    assert_eq!(shown[0].is_some(), at_least <= new, "{} on {request:?}", row.entry().id);
                }
            }
        }
    });
}

#[test]
fn new_items_are_aggregated_from_exactly_the_threshold_on() {
    let mut trials = trials_of("thresholds of new items");
    check_thresholds_of_new_items(&mut trials, registry::union_cardinality(), 0);
    check_thresholds_of_new_items(&mut trials, registry::union_sum(), 2);
    trials.end();
}

#[test]
fn every_union_cardinality_row_counts_new_items() {
    check_aggregates(registry::union_cardinality(), &[0], false);
}

#[test]
fn every_union_sum_row_sums_new_items() {
    check_aggregates(registry::union_sum(), &[1, 3], false);
}

#[test]
fn every_cardinality_row_counts() {
    check_aggregates(registry::cardinality(), &[0], false);
}

#[test]
fn every_sum_row_sums() {
    check_aggregates(registry::sum(), &[1, 3], false);
}

#[test]
fn every_join_row_sums_products() {
    check_aggregates(registry::join_and_compute(), &[1, 3], true);
}
