//! The choice of an OKVS, by which rows name it.

use vesica_party::Entry;
use vesica_structures::okvs::Kind;

/// The name of the choice.
pub const NAME: &str = "okvs";

/// The OKVS of a row or variant of this description; `otherwise` where it has no such choice.
pub fn chosen_okvs(entry: &Entry, otherwise: Kind) -> Kind {
    Kind::named(entry.chosen(NAME)).unwrap_or(otherwise)
}
