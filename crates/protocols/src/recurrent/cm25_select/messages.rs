//! One type an arrow of the figure.

vesica_party::arrows! { "cm25-select" =>
    /// Arrow 1: the seeds of the server's hash functions and of its ciphertexts.
    pub(super) stream Seeds[u8] = 1, Sender, "the server's seeds";
    /// Arrow 2: the first half of the server's public key.
    pub(super) stream ServerKey[u8] = 2, Sender, "the server's public key";
    /// Arrow 3: the first halves of the ciphertexts of the table.
    pub(super) stream Table[u8] = 3, Sender, "the encrypted table";
    /// Arrow 4: the seed of the client's keys, and their first halves.
    pub(super) stream ClientKeys[u8] = 4, Receiver, "the client's keys";
    /// Arrow 5: the seed of the encrypted masks.
    pub(super) stream MaskSeed[u8] = 5, Receiver, "the seed of the encrypted masks";
    /// Arrow 6: for each item and limb, `D`.
    pub(super) stream Differences[u8] = 6, Receiver, "the masked differences";
    /// Arrow 7: for each item and limb, the first half of the encrypted mask.
    pub(super) stream Masks[u8] = 7, Receiver, "the encrypted masks";
    /// Arrow 8: for each item and limb, `E`.
    pub(super) stream Answers[u8] = 8, Sender, "the answers";
}
