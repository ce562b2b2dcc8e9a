//! Cardinality of the intersection: the receiver learns how many items are common.
//!
//! Here are the protocols in which the receiver counts equal blindings that it cannot tell apart;
//! those on circuit PSI open a sum of shares.

pub mod cgt12;
