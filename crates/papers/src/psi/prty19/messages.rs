//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Fixed, Role, Step, Stream};

use vesica_protocols::psi::finish;

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "spot-light", number, from, carries }
}

/// Arrow 1: the salt of all functions of items.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Salt(pub(super) [u8; 32]);

impl Fixed for Salt {
    const STEP: Step = step(1, Role::Sender, "the salt");
}

/// Arrow 2: the receiver's polynomials, coefficient by coefficient.
pub(super) enum Polynomials {}

impl Stream for Polynomials {
    const STEP: Step = step(2, Role::Receiver, "the receiver's polynomials");
    type Element = u64;
}

/// Arrow 2, where a table stands instead of the polynomials: cell by cell.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(2, Role::Receiver, "the receiver's table");
    type Element = u8;
}

/// Arrow 3: the sender's tags.
pub(super) enum Tags {}

impl Stream for Tags {
    const STEP: Step = step(3, Role::Sender, "the sender's sorted tags");
    type Element = u8;
}

/// Arrow 4: the sender's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(4, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 5: proofs of the matches.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(5, Role::Receiver, "the proofs of matches");
    type Element = u128;
}

/// Arrows 3 to 5.
pub(super) enum FinishArrows {}

impl finish::Arrows for FinishArrows {
    type Tags = Tags;
    type Payloads = Payloads;
    type Proofs = Proofs;
}

vesica_party::messages![Salt];
