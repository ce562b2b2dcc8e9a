//! Two-party building blocks that know nothing of sets: oblivious transfer, silent VOLE.
#![forbid(unsafe_code)]

pub mod group;
