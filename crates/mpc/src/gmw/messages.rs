//! The arrows of an evaluation. All carry planes: words that hold a bit of 64 instances each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Role, Step, Stream};

use crate::planes::planes;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "gmw", number, from, carries }
}

planes! {
    /// Arrow 1: the receiver's shares of both inputs of some AND gates, masked.
    Masked, step(1, Role::Receiver, "masked inputs of AND gates")
}
planes! {
    /// Arrow 2: corrections of the sender's polynomials for the same gates.
    Corrections, step(2, Role::Sender, "corrections of AND gates")
}

/// Shares that the other side is to know.
#[derive(Debug)]
pub struct Opened;

impl Stream for Opened {
    const STEP: Step = step(3, Role::Sender, "shares that are opened");
    type Element = u64;
}

vesica_party::messages![Masked, Corrections];
