//! Every row computes the intersection, whatever the sizes, the overlap and the options, and sends as many bytes as its formula says.

use vesica_party::Task;
use vesica_protocols::registry;
use vesica_protocols::tasks::{Intersect, IntersectRequest};

use crate::inputs::{Row, inputs, outputs, request, run};

fn check(row: Row, request: &IntersectRequest, overlap: usize) {
    let what = format!("{} on {request:?} with {overlap} in common", row.entry().id);
    let (sent, asked) = inputs(request, overlap, overlap as u64);
    let (sender, receiver) = run(row, request, &sent, &asked);
    let bytes = sender.tally.total().sent_payload + receiver.tally.total().sent_payload;
    let (sender_out, receiver_out) = outputs(&what, (sender, receiver));
    Intersect::holds(&sent, &asked, &sender_out, &receiver_out).unwrap_or_else(|difference| panic!("{what}: {difference}"));
    assert_eq!(receiver_out.matches.len(), overlap, "{what}");
    assert_eq!(sender_out.matches.is_some(), request.both_learn, "{what}");
    let predicted = row.predicted_bytes(request).unwrap();
    assert!(predicted.contains(&bytes), "{what}: {bytes} bytes, predicted {predicted:?}");
}

#[test]
fn every_row_computes_the_intersection() {
    for row in registry::intersect() {
        for mode in row.entry().modes {
            for (n_s, n_r) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 1000), (1000, 3), (300, 300)] {
                let least: usize = n_s.min(n_r);
                let mut overlaps = vec![0, 1.min(least), least.saturating_sub(1), least];
                overlaps.dedup();
                for overlap in overlaps {
                    check(*row, &request(n_s, n_r, mode.security), overlap);
                }
            }
        }
    }
}

#[test]
fn every_row_carries_payloads_and_lets_both_learn() {
    for row in registry::intersect() {
        for mode in row.entry().modes {
            for (n_s, n_r, overlap) in [(0, 5, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17)] {
                for payload_bytes in [0, 1, 24] {
                    for both_learn in [false, true] {
                        check(*row, &IntersectRequest { payload_bytes, both_learn, ..request(n_s, n_r, mode.security) }, overlap);
                    }
                }
            }
        }
    }
}

#[test]
fn every_row_serves_sixteen_thousand_items() {
    for row in registry::intersect() {
        for mode in row.entry().modes {
            let n = if row.entry().id.starts_with("ecdh") { 1 << 11 } else { 1 << 14 };
            check(*row, &request(n, n, mode.security), n / 2);
        }
    }
}
