//! Intersection, cardinality and sum from a reverse membership test: the receiver learns which of the sender's shuffled items are common, but not what they are.

pub mod czz24;
