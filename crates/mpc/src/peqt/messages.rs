//! The arrows of the equality test. All carry planes: words that hold a bit of 64 tests each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "peqt" =>
    /// Arrow 1: the masked inputs of the first layer's chooser.
    pub counted FirstMasked[u64] = 1, Receiver, "masked inputs of the first layer";
    /// Arrow 2: corrections of a layer that the sender owns, then its masked inputs of the next one, if there is one.
    pub counted FromSender[u64] = 2, Sender, "corrections of a layer, masked inputs of the next";
    /// Arrow 3: the same for a layer that the receiver owns.
    pub counted FromReceiver[u64] = 3, Receiver, "corrections of a layer, masked inputs of the next";
}

vesica_party::messages![FirstMasked, FromSender, FromReceiver];
