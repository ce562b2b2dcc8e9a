//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "permute-share" =>
    /// Arrow 1: a bit for each switch, eight a byte from the lowest.
    pub(super) stream Flips[u8] = 1, Receiver, "differences of settings and random choices";
    /// Arrow 2, packed.
    pub(super) stream Corrections[u8] = 2, Sender, "a correction for each switch";
    /// Arrow 3, packed.
    pub(super) stream Masked[u8] = 3, Sender, "what turns the sender's shares into the chosen ones";
}
