//! The rows: one for each circuit PSI that PsiBench runs as a PSI, and PSTY19, which they come from.

use vesica_mpc::base_ot;
use vesica_party::{Choice, ChoiceValue, Entry, Mode, Protocol, Rounds, Task};

use super::Opened;
use crate::circuit_psi::ots::with_modes;
use crate::circuit_psi::{cgs22, psty19, vole};
use vesica_protocols::psi::vole::entries::joined;
use vesica_protocols::styles;
use vesica_protocols::tasks::Intersect;

/// The deviation of all of them.
const OPENED: &str = "The paper's result are the shares. Here the sender opens its own to the receiver, bin by bin, as \
                      PsiBench does to compare circuit PSI with PSI. Both do not learn: which bins matched would say \
                      where the receiver put its items.";

/// A row that opens a circuit PSI: its name, the circuit PSI, its id, the choices that it has, and the
/// modes.
macro_rules! opened_row {
    ($(#[$doc:meta])* $name:ident, $circuit:ty, $id:literal, $choices:expr, $modes:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Opened for $name {
            type Circuit = $circuit;
            const ENTRY: Entry = Entry {
                id: $id,
                task: Intersect::NAME,
                variants: $choices,
                map_and_compare: Some(styles::CIRCUIT_OPENED),
                deviations: &joined::<_, { <$circuit as Protocol>::ENTRY.deviations.len() + 1 }>(
                    &[OPENED],
                    <$circuit as Protocol>::ENTRY.deviations,
                ),
                modes: $modes,
                ..<$circuit as Protocol>::ENTRY
            };
        }
    };
}

/// The equality test, which changes no mode here.
const EQUALITY: Choice = <psty19::Psty19 as Protocol>::ENTRY.variants[0];

/// The choice of OTs of a circuit PSI, the number of which among its choices is given, with the modes of the row that opens it.
macro_rules! ots {
    ($circuit:ty, $choice:literal, $rounds:expr) => {{
        const OTS: Choice = <$circuit as Protocol>::ENTRY.variants[$choice];
        const SOFTSPOKEN: &[Mode] = &[opened_by(OTS.values[1], $rounds)];
        const IKNP: &[Mode] = &[opened_by(OTS.values[2], $rounds)];
        const FERRET: &[Mode] = &[opened_by(OTS.values[3], $rounds)];
        Choice {
            values: &[
                OTS.values[0],
                with_modes(OTS.values[1], SOFTSPOKEN),
                with_modes(OTS.values[2], IKNP),
                with_modes(OTS.values[3], FERRET),
            ],
            ..OTS
        }
    }};
}

/// The mode of a circuit PSI, with what opening adds to its rounds.
const fn opened<P: Protocol>(rounds: Rounds) -> Mode {
    Mode { rounds, ..P::ENTRY.modes[0] }
}

/// The same for a value of a choice that has modes of its own.
const fn opened_by(value: ChoiceValue, rounds: Rounds) -> Mode {
    match value.modes {
        Some(modes) => Mode { rounds, ..modes[0] },
        None => unreachable!(),
    }
}

const PSTY19_ROUNDS: Rounds = Rounds::between(15, 25);
const CGS22_ROUNDS: Rounds = Rounds::between(17, 29);
const RS21_ROUNDS: Rounds = Rounds::between(13, 25);

opened_row!(
    /// `psty19-psi`.
    Psty19, psty19::Psty19, "psty19-psi",
    &[EQUALITY, ots!(psty19::Psty19, 1, PSTY19_ROUNDS), base_ot::CHOICE],
    &[opened::<psty19::Psty19>(PSTY19_ROUNDS)]
);
opened_row!(
    /// `cgs22-psi`.
    Cgs22, cgs22::Cgs22, "cgs22-psi",
    &[ots!(cgs22::Cgs22, 0, CGS22_ROUNDS), base_ot::CHOICE], &[opened::<cgs22::Cgs22>(CGS22_ROUNDS)]
);
opened_row!(
    /// `rs21-circuit-psi`.
    Rs21, vole::Rs21Circuit, "rs21-circuit-psi",
    &[EQUALITY, ots!(vole::Rs21Circuit, 1, RS21_ROUNDS), base_ot::CHOICE],
    &[opened::<vole::Rs21Circuit>(RS21_ROUNDS)]
);
