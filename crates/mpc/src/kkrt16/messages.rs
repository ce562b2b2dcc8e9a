//! The arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

/// Arrow 1: `d_i = t_i + u_i + C(y_i)`, row after row.
pub(super) enum Corrections {}

impl Stream for Corrections {
    const STEP: Step =
        Step { protocol: "oprf-kkrt16", number: 1, from: Role::Receiver, carries: "corrections to code words" };
    type Element = u8;
}
