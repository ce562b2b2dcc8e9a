//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "opened-shares" =>
    /// Arrow 1: a bit for each bin, 64 a word.
    pub(super) stream Membership[u64] = 1, Sender, "the sender's shares of membership";
    /// Arrow 2: a payload for each bin.
    pub(super) stream Payloads[u8] = 2, Sender, "the sender's shares of payloads";
}
