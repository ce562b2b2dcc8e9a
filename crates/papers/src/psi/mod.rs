//! Private set intersection: the receiver learns which of its items the sender has.
//!
//! One folder a paper; `vole` and `hfh99` have the rows and variants of papers whose steps the product shares.

pub mod cm20;
pub mod cuckoo;
pub mod gbf;
pub mod hfh99;
pub mod ltsxq26;
pub mod opened_shares;
pub mod prty19;
pub mod rr17;
pub mod rt21;
pub mod vole;
