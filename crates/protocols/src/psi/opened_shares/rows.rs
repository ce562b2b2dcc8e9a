//! The rows: one for each circuit PSI that PsiBench runs as a PSI, and PSTY19, which they come from.

use vesica_party::{Choice, Entry, Mode, Protocol, Rounds, Task, assumptions};

use super::Opened;
use crate::circuit_psi::{self, vole};
use crate::styles;
use crate::tasks::Intersect;

/// The deviation of all of them.
const OPENED: &str = "The paper's result are the shares. Here the sender opens its own to the receiver, bin by bin, as \
                      PsiBench does to compare circuit PSI with PSI. Both do not learn: which bins matched would say \
                      where the receiver put its items.";

/// A row that opens a circuit PSI: its name, the circuit PSI, its id, the choices that it has, and the
/// modes.
macro_rules! opened_row {
    ($(#[$doc:meta])* $name:ident, $circuit:ty, $id:literal, $modes:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Opened for $name {
            type Circuit = $circuit;
            const ENTRY: Entry = Entry {
                id: $id,
                task: Intersect::NAME,
                variants: choices(<$circuit as Protocol>::ENTRY.variants),
                map_and_compare: Some(styles::CIRCUIT_OPENED),
                // A union of lists of texts, which the macro for assumptions makes of any.
                deviations: assumptions![&[OPENED], <$circuit as Protocol>::ENTRY.deviations],
                modes: $modes,
                ..<$circuit as Protocol>::ENTRY
            };
        }
    };
}

/// The choices of a circuit PSI: none, or the equality test, which changes no mode here.
const fn choices(of_circuit: &[Choice]) -> &'static [Choice] {
    if of_circuit.is_empty() { &[] } else { <circuit_psi::psty19::Psty19 as Protocol>::ENTRY.variants }
}

/// The mode of a circuit PSI, with what opening adds to its rounds.
const fn opened(mode: Mode, rounds: Rounds) -> Mode {
    Mode { rounds, ..mode }
}

/// The one mode of a circuit PSI.
const fn mode<P: Protocol>() -> Mode {
    P::ENTRY.modes[0]
}

opened_row!(
    /// `psty19-psi`.
    Psty19, circuit_psi::psty19::Psty19, "psty19-psi",
    &[opened(mode::<circuit_psi::psty19::Psty19>(), Rounds::between(15, 25))]
);
opened_row!(
    /// `psty19-psi:equality=cubic`.
    Psty19Cubic, circuit_psi::psty19::Psty19Cubic, "psty19-psi:equality=cubic",
    &[opened(mode::<circuit_psi::psty19::Psty19Cubic>(), Rounds::between(15, 25))]
);
opened_row!(
    /// `cgs22-psi`.
    Cgs22, circuit_psi::cgs22::Cgs22, "cgs22-psi",
    &[opened(mode::<circuit_psi::cgs22::Cgs22>(), Rounds::between(17, 29))]
);
opened_row!(
    /// `rs21-circuit-psi`.
    Rs21, vole::Rs21Circuit, "rs21-circuit-psi",
    &[opened(mode::<vole::Rs21Circuit>(), Rounds::between(13, 25))]
);
opened_row!(
    /// `rs21-circuit-psi:equality=cubic`.
    Rs21Cubic, vole::Rs21CircuitCubic, "rs21-circuit-psi:equality=cubic",
    &[opened(mode::<vole::Rs21CircuitCubic>(), Rounds::between(13, 25))]
);
