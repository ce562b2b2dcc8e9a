//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

/// Arrow 6: the cells of the table, block after block of their width.
pub(super) enum Hint {}

impl Stream for Hint {
    const STEP: Step = Step { protocol: "cgs22", number: 6, from: Role::Sender, carries: "the hint" };
    type Element = u8;
}

/// Arrow 9: nonces and cells of the tables of four; see [`super::quads`].
pub(super) enum Quads {}

impl Stream for Quads {
    const STEP: Step = Step { protocol: "cgs22", number: 9, from: Role::Receiver, carries: "the candidates' hints" };
    type Element = u8;
}
