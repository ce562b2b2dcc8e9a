//! The product's `psty19` with more places to take its random OTs from; `psty19-psi` opens it, and no registry has it.

use vesica_mpc::code_oprf::Kkrt16;
use vesica_mpc::{base_ot, peqt};
use vesica_party::{Choice, Entry, Mode, Protocol, Rounds, assumptions};
use vesica_protocols::circuit_psi::entry::{mode, semi_honest};
use vesica_protocols::circuit_psi::psty19::{self, PolynomialOpprf};
use vesica_protocols::circuit_psi::{Exchangeable, OpprfMatching};
use vesica_protocols::circuit_row;

use super::ots::{FERRET, FERRET_TESTS, IKNP, IKNP_TESTS, SOURCES, with_modes};

const ROW: Entry = <psty19::Psty19 as Protocol>::ENTRY;
const ROUNDS: Rounds = ROW.modes[0].rounds;
const IKNP_MODES: &[Mode] = &[mode(ROUNDS, assumptions![semi_honest::<Kkrt16>(), IKNP_TESTS])];
const FERRET_MODES: &[Mode] = &[mode(ROUNDS, assumptions![semi_honest::<Kkrt16>(), FERRET_TESTS])];
const EQUALITY: Choice = ROW.variants[0];
const OTS: Choice = ROW.variants[1];

circuit_row!(
    /// `psty19`, with the OTs of the lab.
    Psty19, OpprfMatching<PolynomialOpprf>, Exchangeable::new(peqt::Variant::AndTree).from(SOURCES), Entry {
        variants: &[
            EQUALITY,
            Choice {
                values: &[OTS.values[0], OTS.values[1], with_modes(IKNP, IKNP_MODES), with_modes(FERRET, FERRET_MODES)],
                ..OTS
            },
            base_ot::CHOICE,
        ],
        ..ROW
    }
);
