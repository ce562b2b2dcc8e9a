//! One type an arrow of the figure, those of the OPRF apart.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "vesica-union" =>
    /// Arrow 3: a bit for each place, eight a byte from the lowest.
    pub(super) stream Flips[u8] = 3, Receiver, "flips of OTs";
    /// Arrow 4, the records. Without pads where the receiver has no items.
    pub(super) stream Records[u8] = 4, Sender, "the records, each under a pad";
    /// Arrow 4, the zeros behind the records, packed.
    pub(super) stream Tags[u8] = 5, Sender, "the ends of the pads";
}
