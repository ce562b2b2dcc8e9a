//! What rows share: how a row is written down, and parts of their `ENTRY`s.

use vesica_mpc::code_oprf::Kkrt16;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::softspoken_one_of_n_ot::SoftSpokenOneOfN;
use vesica_party::{Assumption, Choice, ChoiceValue, Mode, Protocol, Rounds, assumptions};

use crate::tasks::SIZES;

/// The deviation of the tables of items.
pub const BINS: &str = "1.24 n_r bins (more below 2^13 items) with three distinct positions an item, by a \
                               bound and not from evidence; sigma has a share of the failure budget.";

/// The deviation of circuits of AND gates.
pub const AND_TREES: &str = "Trees of ANDs whose random inputs come from 1-of-4 OTs, instead of GMW with \
                                    multiplication triples.";

/// How tests by cubic polynomials do.
pub const CUBIC: &str = "Equality tests multiply three shared bits at a time by 1-of-8 OTs; in the first layer r_i is \
                                what the random OTs give, so that it needs no correction.";

/// Tests by trees, for rows whose papers have other circuits.
pub const TREE_TESTS: ChoiceValue = ChoiceValue::new("tree", "A tree of AND gates.").deviating(&[AND_TREES]);

/// Tests by cubic polynomials, for rows whose papers have others.
pub const CUBIC_TESTS: ChoiceValue = ChoiceValue::new(
    "cubic",
    "Polynomials of degree three on random tables: 247 bits a test of 63 bits instead of 310, in fewer rounds.",
)
.deviating(&[CUBIC]);

/// Which equality test; both rest on the same random tables.
pub const EQUALITY: Choice = Choice {
    name: "equality",
    what: "How the two sides test the value of a bin for equality.",
    values: &[TREE_TESTS, CUBIC_TESTS],
};

/// Where random tables come from, for rows whose papers have others.
pub const SILENT_TABLES: &str = "The random OTs of tests come from silent VOLE.";

/// The same without LPN.
const SOFTSPOKEN_TABLES: &str = "The random OTs of tests come from VOLE over small fields [Roy22].";

/// Which OTs. Rows say what their circuits make of either, and the modes of the second.
pub const OTS: Choice = Choice {
    name: "ot",
    what: "Where the random OTs of equality tests and of payloads come from.",
    values: &[SILENT_OTS, SOFTSPOKEN_OTS],
};

/// OTs from silent VOLE.
pub const SILENT_OTS: ChoiceValue = ChoiceValue::new("silent", "Silent VOLE: the least traffic, from LPN.");

/// OTs from OT extension.
pub const SOFTSPOKEN_OTS: ChoiceValue = ChoiceValue::new(
    "softspoken",
    "SoftSpokenOT: tables and payloads rest on no LPN (the OPRF of a row may), at about 1.9 bytes for each bit of a \
     choice among the places of a table, and for each OT of a payload.",
);

/// OTs from silent VOLE, for rows whose papers have others.
pub const SILENT: ChoiceValue = SILENT_OTS.deviating(&[SILENT_TABLES]);

/// OTs from OT extension, for rows whose papers have others.
pub const SOFTSPOKEN: ChoiceValue = SOFTSPOKEN_OTS.deviating(&[SOFTSPOKEN_TABLES]);

/// The one mode that there is.
pub const fn mode(rounds: Rounds, assumptions: &'static [Assumption]) -> Mode {
    Mode::semi_honest(rounds, assumptions, &[SIZES])
}

/// The assumptions of OPRFs from OT extension and of equality tests.
pub const OT_AND_TESTS: &[Assumption] = assumptions![semi_honest::<Kkrt16>(), EQUALITY_TESTS];

/// The same with tests and multiplexers on OT extension.
pub const OT_AND_SOFTSPOKEN_TESTS: &[Assumption] = assumptions![semi_honest::<Kkrt16>(), SOFTSPOKEN_TESTS];

/// The assumptions of equality tests and multiplexers, which all stand on random tables.
pub const EQUALITY_TESTS: &[Assumption] = semi_honest::<OneOfN>();

/// The assumptions of both, on OT extension.
pub const SOFTSPOKEN_TESTS: &[Assumption] =
    assumptions![semi_honest::<SoftSpokenOneOfN>(), semi_honest::<OtExtension>()];

/// What the semi-honest mode of a building block rests on, its first.
pub const fn semi_honest<P: Protocol>() -> &'static [Assumption] {
    P::ENTRY.modes[0].assumptions
}

/// A row for shares: its name, the [`Matching`](super::Matching), the [exchangeable parts](super::Exchangeable) where
/// its description has no choice of them, and that description.
#[macro_export]
macro_rules! circuit_row {
    ($(#[$doc:meta])* $name:ident, $matching:ty, $exchangeable:expr, $entry:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl ::vesica_party::Protocol for $name {
            const ENTRY: ::vesica_party::Entry = $entry;
            type Task = $crate::tasks::Shares;
            type Params = $crate::circuit_psi::shares::Params<<$matching as $crate::circuit_psi::Matching>::Parts>;
            type Sender = $crate::circuit_psi::shares::Sender<$matching>;
            type Receiver = $crate::circuit_psi::shares::Receiver<$matching>;

            fn derive(request: &$crate::tasks::SharesRequest) -> Result<Self::Params, ::vesica_structures::facts::Unsupported> {
                Self::Params::derive::<$matching>(request, $exchangeable)
            }

            fn derive_chosen(
                request: &$crate::tasks::SharesRequest,
                entry: &'static ::vesica_party::Entry,
            ) -> Result<Self::Params, ::vesica_structures::facts::Unsupported> {
                Self::Params::derive::<$matching>(request, $exchangeable.chosen(entry))
            }

            fn predicted_bytes(params: &Self::Params) -> ::std::ops::RangeInclusive<u64> {
                params.predicted_bytes::<$matching>()
            }

            fn further_memory(params: &Self::Params, role: ::vesica_party::Role) -> u64 {
                params.further_memory::<$matching>(role)
            }
        }

        impl $crate::circuit_psi::CircuitRow for $name {
            fn bins(params: &Self::Params) -> usize {
                params.bins()
            }
        }
    };
}
