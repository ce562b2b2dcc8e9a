//! One type an arrow of the figures: those of Protocol 2 are the same for all four rows.

use vesica_party::{Role, Step, Stream};

macro_rules! arrows {
    ($protocol:literal: $($(#[$doc:meta])* $name:ident: $number:literal, $from:ident, $carries:literal;)+) => {$(
        $(#[$doc])*
        pub(super) enum $name {}

        impl Stream for $name {
            const STEP: Step = Step { protocol: $protocol, number: $number, from: Role::$from, carries: $carries };
            type Element = u8;
        }
    )+};
}

arrows! { "cm25":
    /// Arrow 1: the keys of compression and of the hash functions, and the seed of the server's ciphertexts.
    Seeds: 1, Sender, "the server's seeds";
    /// Arrow 2: the first halves of the server's key for products, and of its public key.
    ServerKeys: 2, Sender, "the server's keys";
    /// Arrow 3: the first halves of the ciphertexts of the tables.
    Table: 3, Sender, "the encrypted tables";
    /// Arrow 4: the seed of the client's keys, and their first halves.
    ClientKeys: 4, Receiver, "the client's keys";
    /// Arrow 5: for each item, partition and limb, `D`.
    Sums: 5, Receiver, "the masked products";
    /// Arrow 6: for each item, the seed of the encrypted masks, and their first halves.
    Masks: 6, Receiver, "the encrypted masks";
    /// Arrow 7: for each item, partition and limb, `E`.
    Results: 7, Sender, "the results";
}

arrows! { "cm25-basic":
    /// Arrow 1: the seed of the sender's ciphertexts, and the first halves of its key for products.
    BasicKey: 1, Sender, "the sender's key for products";
    /// Arrow 2: the first halves of the encrypted items.
    BasicSet: 2, Sender, "the encrypted items";
    /// Arrow 3: for each item, `d` under the sender's key.
    BasicSums: 3, Receiver, "the masked products";
    /// Arrow 4: for each item, a seed and the first half of the encrypted mask.
    BasicMasks: 4, Receiver, "the encrypted masks";
    /// Arrow 5: for each item, `e` under the receiver's key.
    BasicResults: 5, Sender, "the results";
}
