//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "permute-share-1-prf" =>
    /// Arrow 1: for each batch and key bit a byte for each lane of a stripe, with the trits of this
    /// lane in all stripes.
    pub(super) stream Inputs[u8] = 1, Receiver, "masked bits of inputs modulo 3, five a byte";
    /// Arrow 2: for each batch, row and word of lanes two words.
    pub(super) stream Turns[u64] = 2, Receiver, "differences of trits and random choices";
    /// Arrow 3: for each batch, row and word of lanes two words.
    pub(super) stream Answers[u64] = 3, Sender, "parities of sums for two of three trits, masked";
    /// Arrow 4, eight bits a byte from the lowest.
    pub(super) stream Masked[u8] = 4, Sender, "bits under the function, and sums of both of the sender's shares";
}
