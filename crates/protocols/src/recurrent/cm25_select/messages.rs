//! One type an arrow of the figure.

use vesica_party::{Role, Step, Stream};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "cm25-select", number, from, carries }
}

macro_rules! arrows {
    ($($(#[$doc:meta])* $name:ident: $number:literal, $from:ident, $carries:literal;)+) => {$(
        $(#[$doc])*
        pub(super) enum $name {}

        impl Stream for $name {
            const STEP: Step = step($number, Role::$from, $carries);
            type Element = u8;
        }
    )+};
}

arrows! {
    /// Arrow 1: the seeds of the server's hash functions and of its ciphertexts.
    Seeds: 1, Sender, "the server's seeds";
    /// Arrow 2: the first half of the server's public key.
    ServerKey: 2, Sender, "the server's public key";
    /// Arrow 3: the first halves of the ciphertexts of the table.
    Table: 3, Sender, "the encrypted table";
    /// Arrow 4: the seed of the client's keys, and their first halves.
    ClientKeys: 4, Receiver, "the client's keys";
    /// Arrow 5: the seed of the encrypted masks.
    MaskSeed: 5, Receiver, "the seed of the encrypted masks";
    /// Arrow 6: for each item and limb, `D`.
    Differences: 6, Receiver, "the masked differences";
    /// Arrow 7: for each item and limb, the first half of the encrypted mask.
    Masks: 7, Receiver, "the encrypted masks";
    /// Arrow 8: for each item and limb, `E`.
    Answers: 8, Sender, "the answers";
}
