//! The arrows of the equality test. All carry planes: words that hold a bit of 64 tests each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step};

use crate::planes::planes;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "peqt", number, from, carries }
}

planes! {
    /// Arrow 1: the masked inputs of the first layer's chooser.
    FirstMasked, step(1, Role::Receiver, "masked inputs of the first layer")
}
planes! {
    /// Arrow 2: corrections of a layer that the sender owns, then its masked inputs of the next one, if there is one.
    FromSender, step(2, Role::Sender, "corrections of a layer, masked inputs of the next")
}
planes! {
    /// Arrow 3: the same for a layer that the receiver owns.
    FromReceiver, step(3, Role::Receiver, "corrections of a layer, masked inputs of the next")
}

vesica_party::messages![FirstMasked, FromSender, FromReceiver];
