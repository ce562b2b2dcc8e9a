//! Every fault at every frame of every row: neither side panics or hangs.

use vesica_protocols::registry;
use vesica_protocols::tasks::IntersectRequest;
use vesica_testkit::faults_of;

use crate::inputs::{inputs, request};

#[test]
fn no_fault_makes_a_row_panic_or_hang() {
    for row in registry::intersect() {
        for mode in row.entry().modes {
            let request = IntersectRequest { payload_bytes: 3, both_learn: true, ..request(20, 30, mode.security) };
            let (sent, asked) = inputs(&request, 10, 1);
            let harm = faults_of(*row, &request, &sent, &asked);
            assert!(harm.failed > harm.unharmed, "{} {}: {harm:?}", row.entry().id, mode.security);
        }
    }
}
