//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "pepsi" =>
    /// Arrow 4: the seed of the receiver's keys, and the first halves of its public key and of its key for
    /// products.
    pub(super) stream Keys[u8] = 4, Receiver, "the receiver's keys";
    /// Arrow 5: the seed of the encrypted codewords, and for each batch and bit the first half.
    pub(super) stream Question[u8] = 5, Receiver, "encrypted codewords";
    /// Arrow 7: for each batch, the masked matches, and then the limbs of the payloads.
    pub(super) stream Answers[u8] = 7, Sender, "masked matches and payloads";
    /// Arrow 8: the sender's side of each equality test, masked by the random value of the test.
    pub(super) stream Corrections[u8] = 8, Sender, "masked values of the equality tests";
}
