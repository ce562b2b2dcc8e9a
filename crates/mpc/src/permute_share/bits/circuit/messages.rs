//! The arrow of the figure that does not belong to [`crate::gmw`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

/// Arrow 1: a bit for each value that comes out, eight a byte from the lowest.
pub(super) enum Masked {}

impl Stream for Masked {
    const STEP: Step = Step {
        protocol: "permute-share-1-circuit",
        number: 1,
        from: Role::Sender,
        carries: "what turns the sender's shares into the chosen ones",
    };
    type Element = u8;
}
