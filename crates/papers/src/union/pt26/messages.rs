//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "pt26" =>
    /// Arrow 1: what keys the names and the bins.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 2: a bit for each test, eight a byte from the lowest.
    pub(super) stream Flips[u8] = 2, Sender, "flips of OTs";
    /// Arrow 3, packed: the names, each under a pad of its OT.
    pub(super) stream ReceiverNames[u8] = 3, Receiver, "what its bins hold, each under a pad";
    /// Arrow 3, packed: the receiver's points, each under an element of the VOLE.
    pub(super) stream Points[u8] = 4, Receiver, "masked points of the equality tests";
    /// Arrow 4, packed: the names, each under the OPRF's value at zero.
    pub(super) stream SenderNames[u8] = 5, Sender, "what its bins hold, each under a pad";
    /// Arrow 4, packed: the OPRF's values at the sender's points.
    pub(super) stream Values[u8] = 6, Sender, "values of the equality tests";
    /// Arrow 5: a bit for each test, eight a byte from the lowest.
    pub(super) stream Results[u8] = 7, Receiver, "which bins hold one item or none";
    /// Arrow 5: of the names in open bins, so that sides that disagree stop instead of waiting for each
    /// other.
    #[derive(PartialEq, Eq)]
    pub(super) fixed Digest([u8; 16]) = 8, Receiver, "a digest of the names in open bins";
    /// Arrow 6.
    pub(super) stream ReceiverRecords[u8] = 9, Receiver, "records, each under a pad";
    /// Arrow 7.
    pub(super) stream SenderRecords[u8] = 10, Sender, "records, each under a pad";
}

vesica_party::messages![Salt, Digest];
