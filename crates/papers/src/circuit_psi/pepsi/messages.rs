//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "pepsi", number, from, carries }
}

/// Arrow 4: the seed of the receiver's keys, and the first halves of its public key and of its key for
/// products.
pub(super) enum Keys {}

impl Stream for Keys {
    const STEP: Step = step(4, Role::Receiver, "the receiver's keys");
    type Element = u8;
}

/// Arrow 5: the seed of the encrypted codewords, and for each batch and bit the first half.
pub(super) enum Question {}

impl Stream for Question {
    const STEP: Step = step(5, Role::Receiver, "encrypted codewords");
    type Element = u8;
}

/// Arrow 7: for each batch, the masked matches, and then the limbs of the payloads.
pub(super) enum Answers {}

impl Stream for Answers {
    const STEP: Step = step(7, Role::Sender, "masked matches and payloads");
    type Element = u8;
}

/// Arrow 8: the sender's side of each equality test, masked by the random value of the test.
pub(super) enum Corrections {}

impl Stream for Corrections {
    const STEP: Step = step(8, Role::Sender, "masked values of the equality tests");
    type Element = u8;
}
