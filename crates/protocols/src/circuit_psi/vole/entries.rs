//! The rows.

use vesica_mpc::base_ot;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::peqt;
use vesica_party::{Assumption, Choice, ChoiceValue, CostClass, Entry, Mode, Rounds, Status, Task, assumptions};
use vesica_structures::facts::Paper;
use vesica_structures::okvs::Band;

use super::opprf::VoleOpprf;
use crate::circuit_psi::aggregate::{self, COUNT, MASKED_SUM, PRODUCT};
use crate::circuit_psi::entry::{BINS, CUBIC, EQUALITY_TESTS, SILENT_TABLES, mode, semi_honest};
use crate::circuit_psi::{Exchangeable, OpprfMatching};
use crate::tasks::{Cardinality, JoinAndCompute, Shares, Sum, UnionCardinality, UnionSum};
use crate::{aggregate_row, circuit_row, okvs_choice, styles};

/// What the circuit rows rest on.
pub const ASSUMPTIONS: &[Assumption] = assumptions![semi_honest::<Opprf<Band>>(), EQUALITY_TESTS];

/// The one mode of the circuit rows.
pub const MODES: &[Mode] = &[mode(Rounds::between(16, 32), ASSUMPTIONS)];

/// Products and groups take inner products.
const AGGREGATE_ASSUMPTIONS: &[Assumption] = assumptions![ASSUMPTIONS, aggregate::ASSUMPTIONS];

/// The paper of the figures; its own OPRF is broken.
pub const LTSXQ26: Paper = Paper {
    key: "LTSXQ26",
    title: "Faster Than Ever: A New Lightweight Private Set Intersection and Its Variants",
    reference: "Ling, Tang, Shan, Xiang, Qiu. 2026",
};

const FASTER: Paper =
    Paper { reference: "Figures 16 to 19, on the OPRF of Raghuraman, Rindal (CCS 2022, ePrint 2022/320)", ..LTSXQ26 };

/// Aggregates over a union, which the paper builds on any circuit PSI.
const EXTENSIONS: Paper = Paper {
    key: "CSSW25",
    title: "Concretely Efficient Private Set Union via Circuit-based PSI",
    reference: "Chandran, Schneider, Stillger, Weinert. ASIACCS 2025, Appendix B",
};

/// The OPPRF of the recommended rows, of narrow values.
pub type NarrowOpprf = VoleOpprf<false>;

const SOUND_OPRF: &str = "The OPRF is VOLE-PSI's and not the paper's, which is broken; its field is wide enough for \
                          all 3 n_s evaluations, and its outputs for r_i and payload.";
/// A deviation: bins without an item.
pub const EMPTY_BINS: &str = "Empty bins take something random on the receiver's side and no dummy item: the OPRF's table \
                          holds n_r keys, not one a bin.";

/// The band table.
pub const BAND: ChoiceValue =
    ChoiceValue::new("band", "The band table of one row of bits a key: 1.05 cells a key, the least traffic.");

/// The clustered table.
pub const CLUSTERED: ChoiceValue =
    ChoiceValue::new("clustered", "The clustered 3-hash table: 1.3 cells a key, faster.");

/// Which OKVS holds keys and hint, for rows on the band table.
const OKVS: Choice =
    Choice { name: okvs_choice::NAME, what: "The table of the OPRF and of the hint.", values: &[BAND, CLUSTERED] };

circuit_row!(
    /// `vesica-circuit`: the band OKVS, narrow values, tests by cubic polynomials.
    VesicaCircuit, OpprfMatching<NarrowOpprf>, Exchangeable::new(peqt::Variant::Cubic), Entry {
        id: "vesica-circuit",
        aliases: &[],
        variants: &[OKVS, base_ot::CHOICE],
        task: Shares::NAME,
        paper: FASTER,
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, SILENT_TABLES],
        modes: MODES,
    }
);

const SHARED_BITS: &str = "The circuit PSI is that of vesica-cardinality and vesica-sum, with the cuckoo table at the \
                           receiver. Its bits stay shared, so that no permutation and no further OPRF are needed.";
/// An aggregate: its name and id, the task, the paper, whether the receiver brings values, status,
/// choices, rounds, and deviations.
macro_rules! vesica_aggregate {
    (
        $(#[$doc:meta])* $name:ident, $id:literal, $task:ident, $paper:expr, $valued:literal, $status:ident, $variants:expr,
        $rounds:expr, $deviations:expr
    ) => {
        aggregate_row!(
            $(#[$doc])* $name, $task, OpprfMatching<NarrowOpprf>, Exchangeable::new(peqt::Variant::Cubic), $valued,
            Entry {
                id: $id,
                aliases: &[],
                variants: $variants,
                task: $task::NAME,
                paper: $paper,
                status: Status::$status,
                cost: CostClass::Symmetric,
                map_and_compare: Some(styles::CIRCUIT_TOTALS),
                deviations: $deviations,
                modes: &[mode($rounds, AGGREGATE_ASSUMPTIONS)],
            }
        );
    };
}

vesica_aggregate!(
    /// `vesica-cardinality`: Figure 17.
    VesicaCardinality, "vesica-cardinality", Cardinality, FASTER, false, Recommended, &[OKVS, base_ot::CHOICE], Rounds::between(15, 27), &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, SILENT_TABLES, COUNT]
);
vesica_aggregate!(
    /// `vesica-sum`: Figure 18.
    VesicaSum, "vesica-sum", Sum, FASTER, false, Recommended, &[OKVS, base_ot::CHOICE], Rounds::between(17, 33), &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, SILENT_TABLES, MASKED_SUM]
);
vesica_aggregate!(
    /// `vesica-join-and-compute`: Figure 19.
    VesicaJoinAndCompute, "vesica-join-and-compute", JoinAndCompute, FASTER, true, Recommended, &[OKVS, base_ot::CHOICE], Rounds::between(21, 37), &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, SILENT_TABLES, MASKED_SUM, PRODUCT]
);
// No times are recorded yet by which `auto` could choose these.
vesica_aggregate!(
    /// `vesica-union-cardinality`: Figure 17, over new items.
    VesicaUnionCardinality, "vesica-union-cardinality", UnionCardinality, EXTENSIONS, false, Sound, &[base_ot::CHOICE], Rounds::between(15, 27),
    &[EMPTY_BINS, BINS, CUBIC, SILENT_TABLES, SHARED_BITS, COUNT,
      "The sender opens its number of items less its share of the sum, so that the two shares add up to the number \
       of new items: no circuit hides the number of common ones."]
);
vesica_aggregate!(
    /// `vesica-union-sum`: Figure 18, over new items.
    VesicaUnionSum, "vesica-union-sum", UnionSum, EXTENSIONS, false, Sound, &[base_ot::CHOICE], Rounds::between(17, 33),
    &[EMPTY_BINS, BINS, CUBIC, SILENT_TABLES, SHARED_BITS, MASKED_SUM,
      "The sender opens the total of all its values less its share of the sum, and the number of new items stays hidden. The \
       paper's OTs show it; its formula for what they give wants (1 - z_i) a_i for z_i a_i."]
);
