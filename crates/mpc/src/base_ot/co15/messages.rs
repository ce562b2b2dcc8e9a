//! The two arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

/// The row's id, which names its messages and its hashes.
pub(super) const ID: &str = "ot-co15";

vesica_party::arrows! { ID =>
    /// Arrow 1: `A`, encoded.
    #[derive(Debug)]
    pub fixed SenderPoint([u8; 32]) = 1, Sender, "the sender's point";
    /// Arrow 2: `B_i` of each transfer, encoded.
    pub stream ReceiverPoints[[u8; 32]] = 2, Receiver, "a point a transfer";
}

vesica_party::messages![SenderPoint];
