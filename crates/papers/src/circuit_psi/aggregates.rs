//! Totals on the circuit PSI of other papers, by the parts of `vesica-cardinality` and `vesica-sum`: the papers' own
//! public codes have such functions, which "Faster Than Ever" (LTSXQ26) measures in its Tables V and VI.

use vesica_mpc::{base_ot, peqt};
use vesica_party::{Assumption, CostClass, Entry, Rounds, Status, Task, assumptions};

use super::pepsi::{self, ConstantWeightMatching};
use vesica_protocols::circuit_psi::aggregate::{self, COUNT, MASKED_SUM};
use vesica_protocols::circuit_psi::entry::{AND_TREES, BINS, EQUALITY, OT_AND_TESTS, SILENT_TABLES, mode};
use vesica_protocols::circuit_psi::psty19::{self, PolynomialOpprf};
use vesica_protocols::circuit_psi::{Exchangeable, OpprfMatching};
use vesica_protocols::tasks::{Cardinality, Sum};
use vesica_protocols::{aggregate_row, styles};

const AFTER_PSTY19: &[Assumption] = assumptions![OT_AND_TESTS, aggregate::ASSUMPTIONS];
const AFTER_PEPSI: &[Assumption] = assumptions![pepsi::ASSUMPTIONS, aggregate::ASSUMPTIONS];

const NO_CIRCUIT: &str = "The paper leaves what is computed of the shares to any circuit; its public code evaluates one by \
                          GMW.";
const LIMBS: &str = "Values travel as limbs of 16 bits, which are multiplied to what was found, masked additively by \
                     masks out of the multiplexer's random OTs: 66 bits a bin for a column; only sums are opened.";

/// A row on the OPPRF of PSTY19: its name and id, the task, rounds, and the deviation of its total.
macro_rules! psty19_row {
    ($(#[$doc:meta])* $name:ident, $id:literal, $task:ident, $rounds:expr, $total:expr) => {
        aggregate_row!(
            $(#[$doc])* $name, $task, OpprfMatching<PolynomialOpprf>, Exchangeable::new(peqt::Variant::AndTree), false,
            Entry {
                id: $id,
                aliases: &[],
                variants: &[EQUALITY, base_ot::CHOICE],
                task: $task::NAME,
                paper: psty19::PAPER,
                status: Status::Sound,
                cost: CostClass::Polynomials,
                map_and_compare: Some(styles::CIRCUIT_TOTALS),
                deviations: &[
                    psty19::POLYNOMIALS,
                    psty19::MEGA_BINS,
                    psty19::OPRF_WIDTH,
                    NO_CIRCUIT,
                    $total,
                    BINS,
                    AND_TREES,
                    SILENT_TABLES,
                ],
                modes: &[mode($rounds, AFTER_PSTY19)],
            }
        );
    };
}

psty19_row!(
    /// `psty19-cardinality`.
    Psty19Cardinality, "psty19-cardinality", Cardinality, Rounds::between(17, 27), COUNT
);
psty19_row!(
    /// `psty19-sum`.
    Psty19Sum, "psty19-sum", Sum, Rounds::between(19, 33), MASKED_SUM
);

/// A row on the comparisons of PEPSI: its name and id, the task, rounds, and the deviation of its total.
macro_rules! pepsi_row {
    ($(#[$doc:meta])* $name:ident, $id:literal, $task:ident, $rounds:expr, $total:expr) => {
        aggregate_row!(
            $(#[$doc])* $name, $task, ConstantWeightMatching, Exchangeable::new(peqt::Variant::Cubic), false,
            Entry {
                id: $id,
                aliases: &[],
                variants: &[base_ot::CHOICE],
                task: $task::NAME,
                paper: pepsi::PAPER,
                status: Status::Sound,
                cost: CostClass::Lattice,
                map_and_compare: Some(styles::HE_TOTALS),
                deviations: &[
                    pepsi::FROM_CODE,
                    pepsi::HIDDEN,
                    pepsi::ONE_WEIGHT,
                    pepsi::WIDE_ITEMS,
                    pepsi::REPEATED,
                    pepsi::ONE_SWITCH,
                    $total,
                    BINS,
                ],
                modes: &[mode($rounds, AFTER_PEPSI)],
            }
        );
    };
}

pepsi_row!(
    /// `pepsi-cardinality`.
    PepsiCardinality, "pepsi-cardinality", Cardinality, Rounds::between(15, 25), COUNT
);
pepsi_row!(
    /// `pepsi-sum`.
    PepsiSum, "pepsi-sum", Sum, Rounds::between(15, 29), LIMBS
);
