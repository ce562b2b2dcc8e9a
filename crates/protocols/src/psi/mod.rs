//! Private set intersection: the receiver learns which of its items the sender has.
//!
//! One folder a paper. What all papers share after their pseudo-random function is in `finish`:
//! tags, payloads, proofs of matches.

pub mod finish;
pub mod hfh99;
pub mod prty20;
pub mod row_outputs;
pub mod toss;
pub mod vole;

use vesica_party::{Assumption, Attack, Effort};

const COLLISION: Attack = Attack {
    falls: "that no two of a side's own items count as one",
    takes: Effort::Steps { tenths: 640, of: "hash queries" },
    source: "docs/parameters/digests-and-items.md",
};

/// What keeps a malicious party to one item a digest, and a malicious sender to one a tag.
pub const OWN_COLLISIONS: Assumption = Assumption::new(
    "no party finds two items of its own with one digest of 128 bits, and no corrupt sender two with one tag of as many",
)
.attacked(COLLISION);

/// The same where tags have no part in it.
pub const OWN_DIGESTS: Assumption =
    Assumption::new("no party finds two items of its own with one digest of 128 bits").attacked(COLLISION);
