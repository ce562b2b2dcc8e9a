//! Where circuits of the lab take their random OTs from: what the product has, and what else papers take. PsiBench runs circuit
//! PSI on silent OT and without it, and names Ferret as the silent OT of its library.

use vesica_mpc::OtSource;
use vesica_mpc::iknp03::Iknp03;
use vesica_mpc::tables_of_ots::TablesOf;
use vesica_party::{Assumption, ChoiceValue, Mode, assumptions};
use vesica_protocols::circuit_psi;
use vesica_protocols::circuit_psi::entry::semi_honest;

use crate::ot::ferret::{self, Ferret};

/// The sources by the values of the choice `ot`.
pub const SOURCES: &[(&str, OtSource)] =
    &[circuit_psi::SOURCES[0], circuit_psi::SOURCES[1], (IKNP.name, OtSource::IKNP), (FERRET.name, ferret::SOURCE)];

/// OTs from OT extension by columns. Rows add what their circuits make of it, and the modes.
pub const IKNP: ChoiceValue = ChoiceValue::new(
    "iknp",
    "ot-iknp03: tables and payloads rest on no LPN (the OPRF of a row may), at 16 bytes for each bit of a choice among the \
     places of a table, and for each OT of a payload.",
)
.deviating(&["The random OTs of tests come from OT extension by columns (ot-iknp03); those of a table make it as in NP99."]);

/// OTs from Ferret.
pub const FERRET: ChoiceValue = ChoiceValue::new(
    "ferret",
    "ot-ferret: silent as in PsiBench, from LPN for a local code, at about a tenth of a byte for each bit of a choice among the \
     places of a table in long vectors.",
)
.deviating(&["The random OTs of tests come from Ferret (ot-ferret); those of a table make it as in NP99."]);

/// What tests and multiplexers on OT extension by columns rest on.
pub const IKNP_TESTS: &[Assumption] = assumptions![semi_honest::<TablesOf<Iknp03>>(), semi_honest::<Iknp03>()];

/// The same on Ferret.
pub const FERRET_TESTS: &[Assumption] = assumptions![semi_honest::<TablesOf<Ferret>>(), semi_honest::<Ferret>()];

/// A value with the modes of a row.
pub const fn with_modes(value: ChoiceValue, modes: &'static [Mode]) -> ChoiceValue {
    ChoiceValue { modes: Some(modes), ..value }
}
