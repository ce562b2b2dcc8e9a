//! The arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "psty19" =>
    /// Arrow 6: for each mega-bin, for each block of the values, a polynomial's coefficients, the
    /// lowest one first.
    pub(super) stream Hint[u128] = 6, Sender, "the polynomials";
}
