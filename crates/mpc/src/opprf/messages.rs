//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "opprf" =>
    /// Arrow 1: the salt that keys all public functions of the run.
    pub(super) fixed Salt([u8; 32]) = 1, Sender, "the salt";
    /// Arrow 2: the receiver's table under the VOLE's mask.
    pub(super) stream Table[u8] = 2, Receiver, "the masked table";
    /// Arrow 3: the hint.
    pub(super) stream Hint[u8] = 3, Sender, "the hint";
}

vesica_party::messages![Salt];
