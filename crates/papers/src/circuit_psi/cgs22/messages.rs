//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "cgs22" =>
    /// Arrow 6: the cells of the table, block after block of their width.
    pub(super) stream Hint[u8] = 6, Sender, "the hint";
    /// Arrow 9: nonces and cells of the tables of four; see [`super::quads`].
    pub(super) stream Quads[u8] = 9, Receiver, "the candidates' hints";
    /// Arrow 11: the sender's shares of what is carried, bin after bin.
    pub(super) stream Carried[u8] = 11, Sender, "its shares of what is carried";
}
