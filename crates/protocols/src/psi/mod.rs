//! Private set intersection: the receiver learns which of its items the sender has.
//!
//! One folder a paper. What all papers share after their pseudo-random function is in `finish`:
//! tags, payloads, proofs of matches.

pub mod cm20;
pub mod cuckoo;
pub mod finish;
pub mod gbf;
pub mod hfh99;
pub mod ltsxq26;
pub mod opened_shares;
pub mod prty19;
pub mod prty20;
mod row_outputs;
pub mod rr17;
pub mod rt21;
mod toss;
pub mod vole;
