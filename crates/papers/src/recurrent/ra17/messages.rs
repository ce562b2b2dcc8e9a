//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_protocols::ecdh::Point;

vesica_party::arrows! { "ra17" =>
    /// Arrow 1: the tags of the server's set.
    pub(super) stream Tags[u8] = 1, Sender, "the server's sorted tags";
    /// Arrow 2: the server's payloads, encrypted.
    pub(super) stream Payloads[u8] = 2, Sender, "the encrypted payloads";
    /// Arrow 3: the client's items under its blinding.
    pub(super) stream Blinded[Point] = 3, Receiver, "the client's blinded items";
    /// Arrow 4: the same under both blindings.
    pub(super) stream DoublyBlinded[Point] = 4, Sender, "the client's items under both blindings";
}
