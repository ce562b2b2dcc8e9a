//! Recurrent protocols that serve no tables: a server prepares a large set once, and clients ask about small sets.
//! One folder a paper; what they share is in [`vesica_protocols::recurrent`].

pub mod cm25;
pub mod ra17;

#[cfg(test)]
#[path = "../../../protocols/src/recurrent/testing.rs"]
pub(crate) mod testing;
