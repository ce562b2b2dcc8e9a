//! What each row sends for fixed seeds and inputs, against files in the tree.

use std::path::PathBuf;

use vesica_party::Security;
use vesica_protocols::registry;
use vesica_protocols::tasks::IntersectRequest;
use vesica_testkit::{Runnable, golden};

use crate::inputs::{Aggregate, aggregate_inputs, every, inputs, request, total};

/// The file of a row's mode, or of a variant's, without the characters that some file systems
/// refuse.
fn file(id: &str, security: Security) -> PathBuf {
    let id = id.replace([':', ','], ".");
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{id}.{security}.txt"))
}

#[test]
fn transcripts_are_those_in_the_tree() {
    for row in &every(registry::intersect()) {
        for mode in row.entry().modes {
            let plain = request(60, 50, mode.security);
            let labelled = IntersectRequest { payload_bytes: 4, both_learn: true, ..plain };
            let request = if row.predicted_bytes(&labelled).is_ok() { labelled } else { plain };
            let (sent, asked) = inputs(&request, 20, 2);
            golden(file(row.entry().id, mode.security), *row, &request, sent, asked);
        }
    }
}

fn check_aggregates<T: Aggregate>(rows: &[Runnable<T>], columns: usize, valued: bool) {
    for row in rows {
        for mode in row.entry().modes {
            let request = total(60, 50, columns, mode.security);
            let (sent, asked) = aggregate_inputs(&request, valued, 20, 2);
            golden(file(row.entry().id, mode.security), *row, &request, sent, asked);
        }
    }
}

#[test]
fn transcripts_of_aggregates_are_those_in_the_tree() {
    check_aggregates(registry::cardinality(), 0, false);
    check_aggregates(registry::sum(), 2, false);
    check_aggregates(registry::join_and_compute(), 2, true);
}
