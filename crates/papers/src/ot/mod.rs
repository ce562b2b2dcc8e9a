//! Oblivious transfer of papers, from which rows of the lab take their random OTs.

pub mod ferret;
