//! What each row sends for fixed seeds and inputs, against files in the tree.

use std::path::PathBuf;

use vesica_protocols::registry;
use vesica_protocols::tasks::IntersectRequest;
use vesica_testkit::golden;

use crate::inputs::{inputs, request};

#[test]
fn transcripts_are_those_in_the_tree() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for row in registry::intersect() {
        for mode in row.entry().modes {
            let request = IntersectRequest { payload_bytes: 4, both_learn: true, ..request(60, 50, mode.security) };
            let (sent, asked) = inputs(&request, 20, 2);
            let file = folder.join(format!("{}.{}.txt", row.entry().id, mode.security));
            golden(file, *row, &request, sent, asked);
        }
    }
}
