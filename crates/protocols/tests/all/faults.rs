//! Every fault in every row, at frames all over the run: neither side panics or hangs.

use vesica_protocols::registry;
use vesica_protocols::tasks::IntersectRequest;
use vesica_testkit::{Runnable, Thorough, faults_of};

use crate::inputs::{Aggregate, aggregate_inputs, every, inputs, request, total};

#[test]
fn no_fault_makes_a_row_panic_or_hang() {
    for row in every(registry::intersect()).iter().filter(|row| !PARTS.contains(&row.entry().id)) {
        // The strongest mode has all arrows of the others; one row shows the weaker one too.
        let modes = row.entry().modes;
        let shown = if row.entry().id == "vole-fast" { modes } else { &modes[modes.len() - 1..] };
        for mode in shown {
            let plain = request(20, 30, mode.security);
            let labelled = IntersectRequest { payload_bytes: 3, both_learn: true, ..plain };
            let request = if row.predicted_bytes(&labelled).is_ok() { labelled } else { plain };
            let (sent, asked) = inputs(&request, 10, 1);
            // Many OTs, which meet every fault in the tests of `mpc`, or the arrows of `vole-fast` and `vole-lean`.
            let slow = ["ltsxq26", "ltsxq26-wide", "gmr21", "spot-low", "spot-fast", "rs21", "rr22"];
            let thorough = if slow.contains(&row.entry().id) || row.entry().is_variant() { Thorough::InTurn } else { Thorough::Every };
            let harm = faults_of(*row, &request, &sent, &asked, thorough);
            // A link that is cut or a wrong step fails a run; a bit of a ciphertext may go unnoticed where parties are taken to be honest.
            assert!(2 * harm.failed > harm.unharmed, "{} {}: {harm:?}", row.entry().id, mode.security);
        }
    }
}

/// Rows whose arrows are all among those of `ltsxq26`, of `vesica-join-and-compute`, or of `gmr21` and `czz24-sum`.
const PARTS: [&str; 7] =
    ["ltsxq26-band", "ltsxq26-aes", "ltsxq26-aes-band", "vesica-cardinality", "vesica-sum", "gmr21-cardinality", "gmr21-sum"];

fn check_aggregates<T: Aggregate>(rows: &[Runnable<T>], columns: usize, valued: bool) {
    for row in rows.iter().filter(|row| !PARTS.contains(&row.entry().id)) {
        for mode in row.entry().modes {
            let request = total(20, 30, columns, mode.security);
            let (sent, asked) = aggregate_inputs(&request, valued, 10, 1);
            // A run of a circuit PSI takes a while, and its blocks meet every fault in the tests of `mpc`.
            let harm = faults_of(*row, &request, &sent, &asked, Thorough::InTurn);
            assert!(2 * harm.failed > harm.unharmed, "{} {}: {harm:?}", row.entry().id, mode.security);
        }
    }
}

#[test]
fn no_fault_makes_an_aggregate_panic_or_hang() {
    check_aggregates(registry::cardinality(), 0, false);
    check_aggregates(registry::sum(), 2, false);
    check_aggregates(registry::join_and_compute(), 2, true);
}
