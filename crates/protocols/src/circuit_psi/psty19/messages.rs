//! The arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

/// Arrow 6: for each mega-bin, for each block of the values, a polynomial's coefficients, the
/// lowest one first.
pub(super) enum Hint {}

impl Stream for Hint {
    const STEP: Step = Step { protocol: "psty19", number: 6, from: Role::Sender, carries: "the polynomials" };
    type Element = u128;
}
