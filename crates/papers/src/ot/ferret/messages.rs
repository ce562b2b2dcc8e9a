//! The arrow that is not one of [`vesica_mpc::silent::messages`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use super::NAME;

vesica_party::arrows! { NAME =>
    /// Arrow 3: the public seed of the codes of all instances.
    #[derive(Debug)]
    pub fixed CodeSeed(u128) = 3, Receiver, "the seed of the codes";
}

vesica_party::messages![CodeSeed];
