//! One type an arrow of the figures: those of Protocol 2 are the same for all four rows.

vesica_party::arrows! { "cm25" =>
    /// Arrow 1: the keys of compression and of the hash functions, and the seed of the server's ciphertexts.
    pub(super) stream Seeds[u8] = 1, Sender, "the server's seeds";
    /// Arrow 2: the first halves of the server's key for products, and of its public key.
    pub(super) stream ServerKeys[u8] = 2, Sender, "the server's keys";
    /// Arrow 3: the first halves of the ciphertexts of the tables.
    pub(super) stream Table[u8] = 3, Sender, "the encrypted tables";
    /// Arrow 4: the seed of the client's keys, and their first halves.
    pub(super) stream ClientKeys[u8] = 4, Receiver, "the client's keys";
    /// Arrow 5: for each item, partition and limb, `D`.
    pub(super) stream Sums[u8] = 5, Receiver, "the masked products";
    /// Arrow 6: for each item, the seed of the encrypted masks, and their first halves.
    pub(super) stream Masks[u8] = 6, Receiver, "the encrypted masks";
    /// Arrow 7: for each item, partition and limb, `E`.
    pub(super) stream Results[u8] = 7, Sender, "the results";
}

vesica_party::arrows! { "cm25-count" =>
    /// Arrow 1, behind what Protocol 2 sends once: a seed and the first halves of keys that turn slots; nothing in the
    /// printed form.
    pub(super) stream CountTurns[u8] = 1, Sender, "the server's keys for turns";
    /// Arrow 2: for each item of a query, `D`.
    pub(super) stream CountSums[u8] = 2, Receiver, "the products";
    /// Arrow 3: for each item, a byte that is 1 where a slot was zero.
    pub(super) stream CountFound[u8] = 3, Sender, "which products have a zero";
}

vesica_party::arrows! { "cm25-basic" =>
    /// Arrow 1: the seed of the sender's ciphertexts, and the first halves of its key for products.
    pub(super) stream BasicKey[u8] = 1, Sender, "the sender's key for products";
    /// Arrow 2: the first halves of the encrypted items.
    pub(super) stream BasicSet[u8] = 2, Sender, "the encrypted items";
    /// Arrow 3: for each item, `d` under the sender's key.
    pub(super) stream BasicSums[u8] = 3, Receiver, "the masked products";
    /// Arrow 4: for each item, a seed and the first half of the encrypted mask.
    pub(super) stream BasicMasks[u8] = 4, Receiver, "the encrypted masks";
    /// Arrow 5: for each item, `e` under the receiver's key.
    pub(super) stream BasicResults[u8] = 5, Sender, "the results";
}
