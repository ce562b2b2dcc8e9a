//! The arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use super::{COLUMNS, NAME};

vesica_party::arrows! { NAME =>
    /// Arrow 1: `d_i`, row after row; bit `j` of a row is that of column `j`.
    pub stream Corrections[u128] = 1, Receiver, "corrections to one vector of bits";
    /// Arrow 2: the point of the universal hash.
    #[derive(Debug)]
    pub fixed Challenge(u128) = 2, Sender, "the challenge of the consistency check";
    /// Arrow 3: the hashes of the choices and of the columns of `t`.
    #[derive(Debug)]
    pub fixed Answer {
        /// `R(r)`.
        pub choices: u128,
        /// `R` of each column of `t`.
        pub columns: [u128; COLUMNS],
    } = 3, Receiver, "the answer to the consistency check";
}

vesica_party::messages![Challenge, Answer];
