//! Cardinality of the intersection: the receiver learns how many items are common.

pub mod hfh99;
