//! The message that opens the results.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "circuit-psi" =>
    /// Arrow 9: the sender's shares of the results.
    pub(super) counted Opened[u64] = 9, Sender, "its shares of the results";
}

vesica_party::messages![Opened];
