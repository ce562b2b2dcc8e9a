//! The two arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

/// The row's id, which names its messages and its hashes.
pub(super) const ID: &str = "ot-np01";

vesica_party::arrows! { ID =>
    /// Arrow 1: `R` and `C`, encoded.
    #[derive(Debug)]
    pub fixed SenderPoints {
        /// `R`.
        pub power: [u8; 32],
        /// `C`.
        pub constant: [u8; 32],
    } = 1, Sender, "the sender's points";
    /// Arrow 2: `PK[0]` of each transfer, encoded.
    pub stream ReceiverPoints[[u8; 32]] = 2, Receiver, "a point a transfer";
}

vesica_party::messages![SenderPoints];
