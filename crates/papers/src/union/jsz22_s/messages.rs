//! One type an arrow of the figure. Arrows 1 and 2 are those of the OPRF.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "jsz22-s" =>
    /// Arrow 3, packed.
    pub(super) stream Values[u8] = 3, Receiver, "values of the OPRF for each bin";
    /// Arrow 4.
    pub(super) stream Shares[u128] = 4, Sender, "shares of the keys of bins without a common item";
    /// Arrow 5, the records. Without pads where the receiver has no items.
    pub(super) stream Records[u8] = 5, Sender, "the records, each under a pad";
    /// Arrow 5, what tells a record's key, packed.
    pub(super) stream Tags[u8] = 6, Sender, "the tags of the records' keys";
}
