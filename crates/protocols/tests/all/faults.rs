//! Every fault at every frame of every row: neither side panics or hangs.

use vesica_protocols::registry;
use vesica_protocols::tasks::IntersectRequest;
use vesica_testkit::faults_of;

use crate::inputs::{inputs, request};

#[test]
fn no_fault_makes_a_row_panic_or_hang() {
    for row in registry::intersect() {
        // The strongest mode has all arrows of the others; one row shows the weaker one too.
        let modes = row.entry().modes;
        let shown = if row.entry().id == "vole-fast" { modes } else { &modes[modes.len() - 1..] };
        for mode in shown {
            let request = IntersectRequest { payload_bytes: 3, both_learn: true, ..request(20, 30, mode.security) };
            let (sent, asked) = inputs(&request, 10, 1);
            let harm = faults_of(*row, &request, &sent, &asked);
            // A link that is cut or a wrong step fails a run; a bit of a ciphertext may go unnoticed where parties are taken to be honest.
            assert!(2 * harm.failed > harm.unharmed, "{} {}: {harm:?}", row.entry().id, mode.security);
        }
    }
}
