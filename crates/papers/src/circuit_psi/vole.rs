//! Circuit PSI from VOLE as its papers have it. The figure is that of
//! [`vesica_protocols::circuit_psi::vole`].

use super::OKVS;
use vesica_mpc::base_ot;
use vesica_mpc::opprf::{self, Opprf};
use vesica_mpc::peqt;
use vesica_party::{Choice, ChoiceValue, CostClass, Entry, Mode, Rounds, Status, Task, assumptions};
use vesica_protocols::circuit_psi::entry::{
    AND_TREES, BINS, CUBIC_TESTS, EQUALITY, OTS, SILENT, SILENT_TABLES, SOFTSPOKEN, SOFTSPOKEN_TESTS, TREE_TESTS, mode,
    semi_honest,
};
use vesica_protocols::circuit_psi::vole::entries::{ASSUMPTIONS, EMPTY_BINS, MODES};
use vesica_protocols::circuit_psi::vole::opprf::VoleOpprf;
use vesica_protocols::circuit_psi::{Exchangeable, OpprfMatching};
use vesica_protocols::psi::vole::entries::RR22;
use vesica_protocols::tasks::Shares;
use vesica_protocols::{circuit_row, styles};
use vesica_structures::okvs::{Band, Kind};

const TREES_ON_CLUSTERED: Exchangeable = Exchangeable::new(peqt::Variant::AndTree).on(Kind::Clustered);

/// `rs21-circuit:equality=cubic` takes two rounds less at 2^20 items than its row and than the
/// narrow rows, as counted.
const RS21_CUBIC_MODES: &[Mode] = &[mode(Rounds::between(16, 30), ASSUMPTIONS)];
const RS21_EQUALITY: Choice =
    Choice { values: &[TREE_TESTS, ChoiceValue { modes: Some(RS21_CUBIC_MODES), ..CUBIC_TESTS }], ..EQUALITY };

/// The OPRF of `rs21-circuit:ot=softspoken` stays on silent VOLE.
const RS21_SOFTSPOKEN_MODES: &[Mode] =
    &[mode(Rounds::between(16, 32), assumptions![semi_honest::<Opprf<Band>>(), SOFTSPOKEN_TESTS])];
const RS21_SOFTSPOKEN: ChoiceValue = ChoiceValue { modes: Some(RS21_SOFTSPOKEN_MODES), ..SOFTSPOKEN };
const RS21_OTS: Choice = Choice { values: &[SILENT, RS21_SOFTSPOKEN], ..OTS };

circuit_row!(
    /// `rs21-circuit`: everything in `F`, AND trees.
    Rs21Circuit, OpprfMatching<VoleOpprf<true>>, TREES_ON_CLUSTERED, Entry {
        id: "rs21-circuit",
        aliases: &[],
        variants: &[RS21_EQUALITY, RS21_OTS, base_ot::CHOICE],
        task: Shares::NAME,
        paper: opprf::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[
            "The clustered 3-hash table instead of the PaXoS OKVS (2.4 n cells): fewer cells at the same failure bound.",
            "Silent VOLE on a code with a stated distance instead of the Silver-era code.",
            AND_TREES,
            SILENT_TABLES,
            EMPTY_BINS,
            BINS,
        ],
        modes: MODES,
    }
);

circuit_row!(
    /// `rr22-circuit`: the table in a subfield, AND trees.
    Rr22Circuit, OpprfMatching<VoleOpprf<false>>, TREES_ON_CLUSTERED, Entry {
        id: "rr22-circuit",
        aliases: &[],
        variants: &[EQUALITY, OKVS, base_ot::CHOICE],
        task: Shares::NAME,
        paper: RR22,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[
            "B is a subspace over GF(2) of 41 + log2(3 n_s) bits.",
            "A VOLE code with a stated distance, and the weight that VOLE (and not OT) needs.",
            AND_TREES,
            SILENT_TABLES,
            EMPTY_BINS,
            BINS,
        ],
        modes: MODES,
    }
);
