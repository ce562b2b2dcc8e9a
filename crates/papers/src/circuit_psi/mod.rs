//! Circuit PSI: both sides get shares of which items are common. The figure is that of
//! [`vesica_protocols::circuit_psi`].

pub mod aggregates;
pub mod cgs22;
pub mod ltsxq26;
pub mod ots;
pub mod pepsi;
pub mod psty19;
pub mod vole;

use vesica_party::Choice;
use vesica_protocols::circuit_psi::vole::entries::{BAND, CLUSTERED};
use vesica_protocols::okvs_choice;

/// Which OKVS holds keys and hint, for rows on the clustered table.
const OKVS: Choice =
    Choice { name: okvs_choice::NAME, what: "The table of the OPRF and of the hint.", values: &[CLUSTERED, BAND] };
