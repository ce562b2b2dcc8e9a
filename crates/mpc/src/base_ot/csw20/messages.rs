//! The three arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

/// The row's id, which names its messages and its hashes.
pub(super) const ID: &str = "ot-csw20";

vesica_party::arrows! { ID =>
    /// Arrow 1: the seed of `T`.
    #[derive(Debug)]
    pub fixed Seed([u8; 32]) = 1, Receiver, "the seed of a point";
    /// Arrow 1: `B_i` of each transfer, encoded.
    pub stream ReceiverPoints[[u8; 32]] = 1, Receiver, "a point a transfer";
    /// Arrow 2: `A`, encoded.
    #[derive(Debug)]
    pub fixed SenderPoint([u8; 32]) = 2, Sender, "the sender's point";
    /// Arrow 2: `r_i[0] + r_i[1]` of each transfer.
    pub stream Challenges[[u8; 32]] = 2, Sender, "a challenge a transfer";
    /// Arrow 2: `D'` of the answer that the sender expects.
    #[derive(Debug)]
    pub fixed Proof([u8; 32]) = 2, Sender, "the proof that the sender knows the answer";
    /// Arrow 3: `D` of the receiver's responses.
    #[derive(Debug)]
    pub fixed Answer([u8; 32]) = 3, Receiver, "the answer to the challenges";
}

vesica_party::messages![Seed, SenderPoint, Proof, Answer];
