//! Every fault in every row, at frames all over the run: neither side panics or hangs.

use std::collections::BTreeSet;

use vesica_party::Status;
use vesica_testkit::{Runnable, Thorough, Trials, faults_of, transcript_of};

use crate::inputs::{Example, Suite, every};
use crate::registry;
use crate::registry::trials_of;

/// Messages of a run that is quick enough to be repeated with every fault at every frame. Runs with
/// more are of circuits, whose blocks meet every fault in the tests of `mpc`.
const FEW_MESSAGES: usize = 30;

/// Bytes of a run that takes as long: keys for ciphertexts, of which each takes milliseconds to make.
const MANY_BYTES: u64 = 16 << 20;

struct Faults {
    trials: Trials,
    /// Arrows that met every fault.
    struck: BTreeSet<(u16, u8)>,
}

impl Suite for Faults {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        let struck = &mut self.struck;
        // What is used comes first, and with it the messages that other rows have too.
        let is_recommended = |row: Runnable<T>| row.entry().status == Status::Recommended && !row.entry().is_variant();
        let mut rows = rows.to_vec();
        rows.sort_by_key(|row| !is_recommended(*row));
        let rows = self.trials.in_full(&rows);
        self.trials.modes(&rows, |row, mode| {
            let (request, sent, asked) = T::example(row, mode.security, [20, 30], 10, 1);
            let transcript = transcript_of(row, &request, sent.clone(), asked.clone());
            let arrows: BTreeSet<_> =
                [true, false].into_iter().flat_map(|streamed| transcript.arrows(streamed)).collect();
            let is_new = is_recommended(row) || !arrows.is_subset(struck);
            // A broken row takes many base OTs, and nobody uses it.
            let is_long = transcript.messages() > FEW_MESSAGES
                || row.predicted_bytes(&request).is_ok_and(|bytes| *bytes.end() > MANY_BYTES);
            let is_quick = !is_long && row.entry().broken().is_none();
            let thorough = if is_new && is_quick { Thorough::Every } else { Thorough::InTurn };
            let harm = faults_of(row, &request, &sent, &asked, thorough);
            // A link that is cut or a wrong step fails a run; a bit of a ciphertext may go unnoticed where
            // parties are taken to be honest.
            assert!(2 * harm.failed > harm.unharmed, "{harm:?}");
            if thorough == Thorough::Every {
                struck.extend(arrows);
            }
        });
    }
}

/// A test for each registry, so that both cores work to the end.
macro_rules! no_fault_makes_a_row_panic_or_hang {
    ($($registry:ident),+) => {
        $(
            #[test]
            fn $registry() {
                let mut suite = Faults { trials: trials_of("faults"), struck: BTreeSet::new() };
                suite.rows(&every(registry::$registry()));
                suite.trials.end();
            }
        )+
    };
}
no_fault_makes_a_row_panic_or_hang!(
    intersect,
    union,
    shares,
    cardinality,
    union_cardinality,
    sum,
    union_sum,
    join_and_compute
);
