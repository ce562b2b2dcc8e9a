//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "clr17" =>
    /// Arrow 1: the seeds of the hash functions.
    pub(super) stream HashSeeds[u8] = 1, Sender, "the seeds of the hash functions";
    /// Arrow 2: the seed of the client's keys, and the first halves of its public key and of its key for
    /// products.
    pub(super) stream ClientKeys[u8] = 2, Receiver, "the client's keys";
    /// Arrow 3: the seed of the encrypted powers, and for each column and exponent the first half.
    pub(super) stream Question[u8] = 3, Receiver, "encrypted powers";
    /// Arrow 4: for each group, part and limb, the scrambled values of the polynomials.
    pub(super) stream Answers[u8] = 4, Sender, "encrypted values of polynomials";
}
