//! The rows: Figures 16 to 19.

use vesica_mpc::peqt;
use vesica_party::{
    Assumption, CostClass, Entry, Leak, Learner, Mode, Resistance, Rounds, Security, Status, Task, assume, assumptions,
};
use vesica_structures::okvs::Kind;

use super::BrokenOpprf;
use crate::circuit_psi::OKVS;
use vesica_protocols::circuit_psi::aggregate::{self, COUNT, MASKED_SUM, PRODUCT};
use vesica_protocols::circuit_psi::entry::{AND_TREES, BINS, EQUALITY_TESTS, SILENT_TABLES};
use vesica_protocols::circuit_psi::vole::LTSXQ26;
use vesica_protocols::circuit_psi::{Exchangeable, OpprfMatching};
use vesica_protocols::tasks::{Cardinality, JoinAndCompute, SIZES, Shares, Sum};
use vesica_protocols::{aggregate_row, circuit_row, styles};

const FREE: &str = "Free cells of both tables are random.";
const HINT_ROWS: &str = "The rows of the hint are keyed by w, those of the first table by its own r.";

const ITEMS: Leak =
    Leak { to: Learner::Receiver, what: "all items of the sender that the receiver can think of", extra: None };
const PAYLOADS: Leak = Leak {
    to: Learner::Receiver,
    what: "all items of the sender that the receiver can think of, and their payloads up to a constant",
    extra: None,
};

/// The tests and the OPRF of Figure 14.
const ASSUMPTIONS: &[Assumption] =
    assumptions![EQUALITY_TESTS, assume!["SHA-256 is a random oracle", "AES-128 is a PRF (rows, keys)"]];

/// What follows Figure 16 in the others.
const AGGREGATE_ASSUMPTIONS: &[Assumption] = assumptions![ASSUMPTIONS, aggregate::ASSUMPTIONS];

const fn mode(rounds: Rounds, assumptions: &'static [Assumption], leakage: &'static [Leak]) -> Mode {
    Mode {
        security: Security::SemiHonest,
        corrupt_sender: Resistance::SemiHonest,
        corrupt_receiver: Resistance::None,
        rounds,
        assumptions,
        leakage,
    }
}

/// Tests by trees, on the clustered table.
const PARTS: Exchangeable = Exchangeable::new(peqt::Variant::AndTree).on(Kind::Clustered);

circuit_row!(
    /// `ltsxq26-circuit`: Figure 16 with SHA-256 and AND trees.
    Circuit, OpprfMatching<BrokenOpprf>, PARTS, Entry {
        id: "ltsxq26-circuit",
        aliases: &[],
        variants: &[OKVS],
        task: Shares::NAME,
        paper: LTSXQ26,
        status: Status::Broken {
            how: "as in ltsxq26 the receiver gets the sender's secret s, here by the hint: with it all of the sender's items in one bin show the same r_i, and anything else something \
                 random. So it learns the sender's items, the members of the intersection among them, and their payloads up to a constant. See docs/ltsxq26.md; vesica-circuit is sound",
            false_match_bits: None,
        },
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[BINS, AND_TREES, SILENT_TABLES, FREE, HINT_ROWS],
        modes: &[mode(Rounds::between(16, 32), ASSUMPTIONS, &[SIZES, PAYLOADS])],
    }
);

/// An aggregate: its name and id, the task, whether the receiver brings values, how it is broken, rounds, what leaks,
/// and deviations.
macro_rules! broken_aggregate {
    (
        $(#[$doc:meta])* $name:ident, $id:literal, $task:ident, $valued:literal, $how:literal, $rounds:expr, $leak:expr,
        $deviations:expr
    ) => {
        aggregate_row!(
            $(#[$doc])* $name, $task, OpprfMatching<BrokenOpprf>, PARTS, $valued,
            Entry {
                id: $id,
                aliases: &[],
                variants: &[OKVS],
                task: $task::NAME,
                paper: LTSXQ26,
                status: Status::Broken { how: $how, false_match_bits: None },
                cost: CostClass::Symmetric,
                map_and_compare: Some(styles::CIRCUIT_TOTALS),
                deviations: $deviations,
                modes: &[mode($rounds, AGGREGATE_ASSUMPTIONS, &[SIZES, $leak])],
            }
        );
    };
}

broken_aggregate!(
    /// `ltsxq26-cardinality`: Figure 17.
    Ltsxq26Cardinality, "ltsxq26-cardinality", Cardinality, false,
    "as in ltsxq26-circuit, whose hint the receiver has before anything is counted: it learns the sender's items, the \
     members of the intersection among them. See docs/ltsxq26.md; vesica-cardinality is sound",
    Rounds::between(15, 27), ITEMS, &[BINS, AND_TREES, SILENT_TABLES, FREE, HINT_ROWS, COUNT]
);
broken_aggregate!(
    /// `ltsxq26-sum`: Figure 18.
    Ltsxq26Sum, "ltsxq26-sum", Sum, false,
    "as in ltsxq26-circuit, whose hint the receiver has before anything is added up: it learns the sender's items, the \
     members of the intersection among them, and their values up to a constant. See docs/ltsxq26.md; vesica-sum is sound",
    Rounds::between(17, 33), PAYLOADS, &[BINS, AND_TREES, SILENT_TABLES, FREE, HINT_ROWS, MASKED_SUM]
);
broken_aggregate!(
    /// `ltsxq26-join-and-compute`: Figure 19.
    Ltsxq26JoinAndCompute, "ltsxq26-join-and-compute", JoinAndCompute, true,
    "as in ltsxq26-circuit, whose hint the receiver has before anything is added up: it learns the sender's items, the \
     members of the intersection among them, and their values up to a constant. See docs/ltsxq26.md; \
     vesica-join-and-compute is sound",
    Rounds::between(21, 37), PAYLOADS, &[BINS, AND_TREES, SILENT_TABLES, FREE, HINT_ROWS, MASKED_SUM, PRODUCT]
);
