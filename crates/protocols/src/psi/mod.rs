//! Private set intersection: the receiver learns which of its items the sender has.
//!
//! One folder a paper, and three pieces that all of them share: `masks` (the sender's sorted masks), `payload` (labelled PSI) and
//! `both_learn` (proofs of matches).

mod both_learn;
pub mod hfh99;
mod masks;
mod payload;
pub mod vole;
