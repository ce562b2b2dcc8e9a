//! The arrow that Figure 14 does not have.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "ltsxq26-circuit" =>
    /// Step 6: the hint.
    pub(super) stream Hint[u8] = 6, Sender, "the hint";
}
