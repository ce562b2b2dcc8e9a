//! Private set intersection: the receiver learns which of its items the sender has.
//!
//! One folder a paper, and two pieces that all of them share: `payload` (labelled PSI) and `both_learn` (proofs of matches).

mod both_learn;
pub mod hfh99;
pub mod ltsxq26;
mod payload;
pub mod vole;
