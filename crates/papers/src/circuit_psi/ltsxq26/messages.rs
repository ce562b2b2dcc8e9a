//! The arrow that Figure 14 does not have.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

/// Step 6: the hint.
pub(super) enum Hint {}

impl Stream for Hint {
    const STEP: Step = Step { protocol: "ltsxq26-circuit", number: 6, from: Role::Sender, carries: "the hint" };
    type Element = u8;
}
