//! A sender that learns nothing sees as many bytes from the receiver in every phase whatever is
//! common.

use vesica_party::transport::memory;
use vesica_party::{Phase, Tally};
use vesica_protocols::tasks::{Aggregate, IntersectRequest};
use vesica_testkit::{Runnable, Trials, options, run_over};

use crate::inputs::{
    FEW_ITEMS, aggregate_inputs, every, inputs, is_for_few_items, request, total, union_inputs, union_request,
    union_request_of,
};
use crate::registry;
use crate::registry::trials_of;

const N: usize = 200;
/// Nothing, half and all in common.
const OVERLAPS: [usize; 3] = [0, N / 2, N];

fn sent(tally: &Tally) -> Vec<(Phase, u64)> {
    tally.phases.iter().map(|(phase, count)| (*phase, count.sent_payload)).collect()
}

fn assert_alike(receivers: Vec<Vec<(Phase, u64)>>) {
    assert!(receivers.iter().all(|sent| *sent == receivers[0]), "{receivers:?}");
}

#[test]
fn what_a_receiver_of_intersections_sends_does_not_grow_with_them() {
    let mut trials = trials_of("what a receiver of intersections sends");
    let rows = trials.in_full(&every(registry::intersect()));
    trials.modes(&rows, |row, mode| {
        for payload_bytes in [0, 24] {
            let n_r = if is_for_few_items(row.entry()) { FEW_ITEMS } else { N };
            let request = IntersectRequest { payload_bytes, ..request(N, n_r, mode.security) };
            if row.predicted_bytes(&request).is_err() {
                continue;
            }
            let of = |overlap| {
                let (sender, receiver) = inputs(&request, overlap, overlap as u64);
                let (_, received) = run_over(memory::pair(), options(), row, &request, sender, receiver);
                let found = received.result.expect("a result").matches.len();
                let may_find_more = row.entry().false_match_bits().is_some();
                assert!(found == overlap || may_find_more && found > overlap, "{found} of {overlap}");
                sent(&received.tally)
            };
            assert_alike([0, n_r / 2, n_r].map(of).to_vec());
        }
    });
    trials.end();
}

#[test]
fn what_a_receiver_of_unions_sends_does_not_depend_on_them() {
    let mut trials = trials_of("what a receiver of unions sends");
    // What pt26 sends goes by the size of the union, which its sender learns.
    let rows: Vec<_> = every(registry::union()).into_iter().filter(|row| row.entry().id != "pt26").collect();
    let rows = trials.in_full(&rows);
    trials.modes(&rows, |row, mode| {
        let request = union_request_of(row, union_request(N, N, 24, mode.security));
        let of = |overlap| {
            let (sender, receiver) = union_inputs(&request, overlap, overlap as u64);
            let (_, received) = run_over(memory::pair(), options(), row, &request, sender, receiver);
            assert_eq!(received.result.expect("a result").records.opened().len(), (N - overlap) * 24);
            sent(&received.tally)
        };
        assert_alike(OVERLAPS.map(of).to_vec());
    });
    trials.end();
}

fn check_aggregates<T: Aggregate>(trials: &mut Trials, rows: &[Runnable<T>], columns: usize, valued: bool) {
    trials.modes(rows, |row, mode| {
        let request = total(N, N, columns, mode.security);
        let of = |overlap| {
            let (sender, receiver) = aggregate_inputs::<T>(&request, valued, overlap, overlap as u64);
            let (_, received) = run_over(memory::pair(), options(), row, &request, sender, receiver);
            received.result.unwrap_or_else(|abort| panic!("{}: {abort}", T::NAME));
            sent(&received.tally)
        };
        assert_alike(OVERLAPS.map(of).to_vec());
    });
}

#[test]
fn what_a_receiver_of_aggregates_sends_does_not_depend_on_them() {
    let mut trials = trials_of("what a receiver of aggregates sends");
    check_aggregates(&mut trials, registry::cardinality(), 0, false);
    check_aggregates(&mut trials, registry::union_cardinality(), 0, false);
    check_aggregates(&mut trials, registry::sum(), 2, false);
    check_aggregates(&mut trials, registry::union_sum(), 2, false);
    check_aggregates(&mut trials, registry::join_and_compute(), 2, true);
    trials.end();
}
