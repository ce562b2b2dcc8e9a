//! The rows and their variants.

use std::ops::RangeInclusive;

use vesica_mpc::inner_product::InnerProduct;
use vesica_mpc::opprf::{self, Opprf};
use vesica_mpc::{OtSource, peqt};
use vesica_party::{
    Assumption, Choice, ChoiceValue, CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assumptions, deviations,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::okvs::{Band, Clustered};

use super::aggregate;
use super::opprf::VoleOpprf;
use crate::circuit_psi::OpprfMatching;
use crate::circuit_psi::entry::{
    AND_TREES, BINS, CUBIC, CUBIC_TESTS, EQUALITY, EQUALITY_TESTS, OTS, SILENT_TREES, SOFTSPOKEN_TESTS,
    SOFTSPOKEN_TREES, TREE_TESTS, circuit_row, mode, semi_honest,
};
use crate::psi::ltsxq26;
use crate::psi::vole::RR22;
use crate::styles;
use crate::tasks::{Aggregate, AggregateRequest, Cardinality, JoinAndCompute, Shares, Sum, UnionCardinality, UnionSum};

const ASSUMPTIONS: &[Assumption] = assumptions![semi_honest::<Opprf<Band>>(), EQUALITY_TESTS];

const MODES: &[Mode] = &[mode(Rounds::between(16, 32), ASSUMPTIONS)];

/// `rs21-circuit:equality=cubic` takes two rounds less at 2^20 items than its row and than the
/// narrow rows, as counted.
const RS21_CUBIC_MODES: &[Mode] = &[mode(Rounds::between(16, 30), ASSUMPTIONS)];
const RS21_EQUALITY: Choice =
    Choice { values: &[TREE_TESTS, ChoiceValue { modes: Some(RS21_CUBIC_MODES), ..CUBIC_TESTS }], ..EQUALITY };

/// The OPRF of `rs21-circuit:ot=softspoken` stays on silent VOLE.
const RS21_SOFTSPOKEN_MODES: &[Mode] =
    &[mode(Rounds::between(16, 32), assumptions![semi_honest::<Opprf<Band>>(), SOFTSPOKEN_TESTS])];
const RS21_SOFTSPOKEN: ChoiceValue = ChoiceValue { modes: Some(RS21_SOFTSPOKEN_MODES), ..SOFTSPOKEN_TREES };
const RS21_OTS: Choice = Choice { values: &[SILENT_TREES, RS21_SOFTSPOKEN], ..OTS };

/// Products and groups take inner products.
const AGGREGATE_ASSUMPTIONS: &[Assumption] = assumptions![ASSUMPTIONS, semi_honest::<InnerProduct>()];

const FASTER: Paper = Paper {
    reference: "Figures 16 to 19, on the OPRF of Raghuraman, Rindal (CCS 2022, ePrint 2022/320)",
    ..ltsxq26::PAPER
};

/// Aggregates over a union, which the paper builds on any circuit PSI.
const EXTENSIONS: Paper = Paper {
    key: "CSSW25",
    title: "Concretely Efficient Private Set Union via Circuit-based PSI",
    reference: "Chandran, Schneider, Stillger, Weinert. ASIACCS 2025, Appendix B",
};

/// The OPPRF of the recommended rows: the band OKVS, narrow values.
pub(crate) type BandOpprf = VoleOpprf<Band, false>;

const SOUND_OPRF: &str = "The OPRF is VOLE-PSI's and not the paper's, which is broken; its field is wide enough for \
                          all 3 n_s evaluations, and its outputs for r_i and payload.";
const EMPTY_BINS: &str = "Empty bins take something random on the receiver's side and no dummy item: the OPRF's table \
                          holds n_r keys, not one a bin.";

/// Which OKVS holds keys and hint.
const OKVS: Choice = Choice {
    name: "okvs",
    what: "The table of the OPRF and of the hint.",
    values: &[
        ChoiceValue::new("band", "The band table of one row of bits a key: 1.05 cells a key, the least traffic."),
        ChoiceValue::new("clustered", "The clustered 3-hash table: 1.3 cells a key, faster."),
    ],
};

circuit_row!(
    /// `vesica-circuit`: the band OKVS, narrow values, tests by cubic polynomials.
    VesicaCircuit, OpprfMatching<BandOpprf>, peqt::Variant::Cubic, Entry {
        id: "vesica-circuit",
        aliases: &[],
        variants: &[OKVS],
        task: Shares::NAME,
        paper: FASTER,
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC],
        modes: MODES,
    }
);

circuit_row!(
    /// `rs21-circuit`: everything in `F`, AND trees.
    Rs21Circuit, OpprfMatching<VoleOpprf<Clustered, true>>, peqt::Variant::AndTree, Entry {
        id: "rs21-circuit",
        aliases: &[],
        variants: &[RS21_EQUALITY, RS21_OTS],
        task: Shares::NAME,
        paper: opprf::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[
            "The clustered 3-hash table instead of the PaXoS OKVS (2.4 n cells): fewer cells at the same failure bound.",
            "Silent VOLE on a code with a stated distance instead of the Silver-era code.",
            AND_TREES,
            EMPTY_BINS,
            BINS,
        ],
        modes: MODES,
    }
);

circuit_row!(
    /// `rr22-circuit`: the table in a subfield, AND trees.
    Rr22Circuit, OpprfMatching<VoleOpprf<Clustered, false>>, peqt::Variant::AndTree, Entry {
        id: "rr22-circuit",
        aliases: &[],
        variants: &[EQUALITY],
        task: Shares::NAME,
        paper: RR22,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[
            "B is a subspace over GF(2) of 41 + log2(3 n_s) bits.",
            "A VOLE code with a stated distance, and the weight that VOLE (and not OT) needs.",
            AND_TREES,
            EMPTY_BINS,
            BINS,
        ],
        modes: MODES,
    }
);

const COUNT: &str = "Shares of bits become additive ones by one OT each, modulo the power of two that holds the \
                     count; the sender opens its sum.";
const MASKED_SUM: &str = "The hint carries values that are masked additively, by masks out of the multiplexer's \
                          random OTs: it takes 66 bits a bin for a column; only sums are opened.";
const SHARED_BITS: &str = "The circuit PSI is that of vesica-cardinality and vesica-sum, with the cuckoo table at the \
                           receiver. Its bits stay shared, so that no permutation and no further OPRF are needed.";
const PRODUCT: &str =
    "What is left of the product is one inner product of the sender's shares and the receiver's values, from RLWE.";

circuit_row!(
    /// `vesica-circuit:okvs=clustered`.
    VesicaCircuitClustered, OpprfMatching<VoleOpprf<Clustered, false>>, peqt::Variant::Cubic,
    VesicaCircuit::ENTRY.variant("vesica-circuit:okvs=clustered", VesicaCircuit::ENTRY.deviations, MODES)
);
circuit_row!(
    /// `rs21-circuit:equality=cubic`.
    Rs21CircuitCubic, OpprfMatching<VoleOpprf<Clustered, true>>, peqt::Variant::Cubic,
    Rs21Circuit::ENTRY.variant("rs21-circuit:equality=cubic", deviations![Rs21Circuit::ENTRY.deviations, TREE_TESTS => CUBIC_TESTS], RS21_CUBIC_MODES)
);
circuit_row!(
    /// `rs21-circuit:ot=softspoken`.
    Rs21CircuitSoftSpoken, OpprfMatching<VoleOpprf<Clustered, true>>, peqt::Variant::AndTree, OtSource::SoftSpoken,
    Rs21Circuit::ENTRY.variant(
        "rs21-circuit:ot=softspoken",
        deviations![Rs21Circuit::ENTRY.deviations, SILENT_TREES => RS21_SOFTSPOKEN],
        RS21_SOFTSPOKEN_MODES,
    )
);
circuit_row!(
    /// `rr22-circuit:equality=cubic`.
    Rr22CircuitCubic, OpprfMatching<VoleOpprf<Clustered, false>>, peqt::Variant::Cubic,
    Rr22Circuit::ENTRY.variant("rr22-circuit:equality=cubic", deviations![Rr22Circuit::ENTRY.deviations, TREE_TESTS => CUBIC_TESTS], MODES)
);

/// An aggregate: its name and id, the task, the paper, whether the receiver brings values, status,
/// rounds, and deviations.
macro_rules! aggregate_row {
    (
        $(#[$doc:meta])* $name:ident, $id:literal, $task:ident, $paper:expr, $valued:literal, $status:ident, $rounds:expr,
        $deviations:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Protocol for $name {
            const ENTRY: Entry = Entry {
                id: $id,
                aliases: &[],
                variants: &[],
                task: $task::NAME,
                paper: $paper,
                status: Status::$status,
                cost: CostClass::Symmetric,
                map_and_compare: Some(styles::CIRCUIT_TOTALS),
                deviations: $deviations,
                modes: &[mode($rounds, AGGREGATE_ASSUMPTIONS)],
            };
            type Task = $task;
            type Params = aggregate::Params;
            type Sender = aggregate::Sender<BandOpprf>;
            type Receiver = aggregate::Receiver<BandOpprf>;

            fn derive(request: &AggregateRequest) -> Result<aggregate::Params, Unsupported> {
                aggregate::Params::derive::<BandOpprf>(request, $task::OVER, $valued)
            }

            fn predicted_bytes(params: &aggregate::Params) -> RangeInclusive<u64> {
                params.predicted_bytes()
            }
        }
    };
}

aggregate_row!(
    /// `vesica-cardinality`: Figure 17.
    VesicaCardinality, "vesica-cardinality", Cardinality, FASTER, false, Recommended, Rounds::between(15, 27), &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, COUNT]
);
aggregate_row!(
    /// `vesica-sum`: Figure 18.
    VesicaSum, "vesica-sum", Sum, FASTER, false, Recommended, Rounds::between(17, 33), &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, MASKED_SUM]
);
aggregate_row!(
    /// `vesica-join-and-compute`: Figure 19.
    VesicaJoinAndCompute, "vesica-join-and-compute", JoinAndCompute, FASTER, true, Recommended, Rounds::between(21, 37), &[SOUND_OPRF, EMPTY_BINS, BINS, CUBIC, MASKED_SUM, PRODUCT]
);
// No times are recorded yet by which `auto` could choose these.
aggregate_row!(
    /// `vesica-union-cardinality`: Figure 17, over new items.
    VesicaUnionCardinality, "vesica-union-cardinality", UnionCardinality, EXTENSIONS, false, Sound, Rounds::between(15, 27),
    &[EMPTY_BINS, BINS, CUBIC, SHARED_BITS, COUNT,
      "The sender opens its number of items less its share of the sum, so that the two shares add up to the number \
       of new items: no circuit hides the number of common ones."]
);
aggregate_row!(
    /// `vesica-union-sum`: Figure 18, over new items.
    VesicaUnionSum, "vesica-union-sum", UnionSum, EXTENSIONS, false, Sound, Rounds::between(17, 33),
    &[EMPTY_BINS, BINS, CUBIC, SHARED_BITS, MASKED_SUM,
      "The sender opens the total of all its values less its share of the sum, and the number of new items stays hidden. The \
       paper's OTs show it; its formula for what they give wants (1 - z_i) a_i for z_i a_i."]
);
