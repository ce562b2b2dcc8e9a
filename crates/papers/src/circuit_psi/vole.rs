//! Circuit PSI from VOLE as its papers have it. The figure is that of
//! [`vesica_protocols::circuit_psi::vole`].

use super::OKVS;
use vesica_mpc::base_ot;
use vesica_mpc::opprf::{self, Opprf};
use vesica_mpc::peqt;
use vesica_party::{Assumption, Choice, ChoiceValue, CostClass, Entry, Mode, Rounds, Status, Task, assumptions};
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

use super::ots::{FERRET, FERRET_TESTS, IKNP, IKNP_TESTS, SOURCES, with_modes};

const TREES_ON_CLUSTERED: Exchangeable = Exchangeable::new(peqt::Variant::AndTree).on(Kind::Clustered);

/// `rs21-circuit:equality=cubic` takes two rounds less at 2^20 items than its row and than the
/// narrow rows, as counted.
const RS21_CUBIC_MODES: &[Mode] = &[mode(Rounds::between(16, 30), ASSUMPTIONS)];
const RS21_EQUALITY: Choice =
    Choice { values: &[TREE_TESTS, ChoiceValue { modes: Some(RS21_CUBIC_MODES), ..CUBIC_TESTS }], ..EQUALITY };

/// The OPRF of `rs21-circuit` stays on silent VOLE, whatever its OTs come from.
const RS21_OPRF: &[Assumption] = semi_honest::<Opprf<Band>>();
const RS21_ROUNDS: Rounds = Rounds::between(16, 32);
const RS21_SOFTSPOKEN: &[Mode] = &[mode(RS21_ROUNDS, assumptions![RS21_OPRF, SOFTSPOKEN_TESTS])];
const RS21_IKNP: &[Mode] = &[mode(RS21_ROUNDS, assumptions![RS21_OPRF, IKNP_TESTS])];
const RS21_FERRET: &[Mode] = &[mode(RS21_ROUNDS, assumptions![RS21_OPRF, FERRET_TESTS])];
const RS21_OTS: Choice = Choice {
    values: &[
        SILENT,
        with_modes(SOFTSPOKEN, RS21_SOFTSPOKEN),
        with_modes(IKNP, RS21_IKNP),
        with_modes(FERRET, RS21_FERRET),
    ],
    ..OTS
};

circuit_row!(
    /// `rs21-circuit`: everything in `F`, AND trees.
    Rs21Circuit, OpprfMatching<VoleOpprf<true>>, TREES_ON_CLUSTERED.from(SOURCES), Entry {
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
