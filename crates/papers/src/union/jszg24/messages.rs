//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "jszg24" =>
    /// Arrow 1: a bit for each bin, eight a byte from the lowest.
    pub(super) stream Flips[u8] = 1, Receiver, "flips of OTs";
    /// Arrow 2, the records. Without pads where the receiver has no items.
    pub(super) stream Records[u8] = 2, Sender, "the records, each under a pad";
    /// Arrow 3, the zeros behind the records, packed.
    pub(super) stream Tags[u8] = 3, Sender, "the ends of the pads";
}
