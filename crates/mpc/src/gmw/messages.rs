//! The arrows of an evaluation. All carry planes: words that hold a bit of 64 instances each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "gmw" =>
    /// Arrow 1: the receiver's shares of both inputs of some AND gates, masked.
    pub counted Masked[u64] = 1, Receiver, "masked inputs of AND gates";
    /// Arrow 2: corrections of the sender's polynomials for the same gates.
    pub counted Corrections[u64] = 2, Sender, "corrections of AND gates";
    /// Shares that the other side is to know.
    pub stream Opened[u64] = 3, Sender, "shares that are opened";
}

vesica_party::messages![Masked, Corrections];
