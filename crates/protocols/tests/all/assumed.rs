//! What a row assumes is what its parts assume.

use vesica_mpc::silent::EXPANDER_LPN;
use vesica_party::{Entry, Mode, Security, Status};
use vesica_protocols::registry;
use vesica_protocols::tasks::{SharesInput, SharesRequest};
use vesica_testkit::{Runnable, Transcript, transcript_of};

use crate::inputs::{Aggregate, aggregate_inputs, inputs, request, total};

/// Enough items for vectors that are made by trees and the code, in every row that makes any.
const ITEMS: usize = 1 << 12;

/// Whether the seed of a code was sent: step 5 of silent VOLE.
fn uses_the_expander(transcript: &Transcript) -> bool {
    !transcript.of("silent-vole", 5).is_empty()
}

/// What was seen of a row's mode, and whether the entry says it; rows that use the code.
fn check(entry: &Entry, mode: &Mode, transcript: &Transcript) -> usize {
    let (uses, says) = (uses_the_expander(transcript), mode.assumptions.contains(&EXPANDER_LPN));
    assert_eq!(says, uses, "{} {}: the code is used: {uses}; the entry says so: {says}", entry.id, mode.security);
    let search = mode.assumptions.iter().any(|assumption| assumption.starts_with("about 2^124"));
    assert!(search || !uses, "{} {} does not say what a search for the offset takes", entry.id, mode.security);
    usize::from(uses)
}

fn aggregates<T: Aggregate>(rows: &[Runnable<T>], columns: usize, valued: bool) -> usize {
    let mut using = 0;
    for row in rows {
        for mode in row.entry().modes {
            let request = total(ITEMS, ITEMS, columns, mode.security);
            let (sent, asked) = aggregate_inputs(&request, valued, 20, 2);
            using += check(row.entry(), mode, &transcript_of(*row, &request, sent, asked));
        }
    }
    using
}

/// From what rows send, not from what they are called.
#[test]
fn what_stands_on_the_expander_says_so_in_every_mode() {
    let mut using = 0;
    for row in registry::intersect() {
        for mode in row.entry().modes.iter().filter(|_| !matches!(row.entry().status, Status::Broken { .. })) {
            let request = request(ITEMS, ITEMS, mode.security);
            let (sent, asked) = inputs(&request, 20, 2);
            using += check(row.entry(), mode, &transcript_of(*row, &request, sent, asked));
        }
    }
    for row in registry::shares() {
        for mode in row.entry().modes {
            let sizes = request(ITEMS, ITEMS, Security::SemiHonest);
            let request = SharesRequest {
                sender_items: ITEMS,
                receiver_items: ITEMS,
                security: Security::SemiHonest,
                sender_payload_bytes: 0,
                receiver_payload_bytes: 0,
            };
            let (sent, asked) = inputs(&sizes, 20, 2);
            let [sent, asked] = [sent.items, asked.items].map(|items| SharesInput { items, payloads: Vec::new() });
            using += check(row.entry(), mode, &transcript_of(*row, &request, sent, asked));
        }
    }
    using += aggregates(registry::cardinality(), 0, false);
    using += aggregates(registry::sum(), 1, false);
    using += aggregates(registry::join_and_compute(), 1, true);
    assert!(using >= 16, "{using} modes were seen to use the code");
}
