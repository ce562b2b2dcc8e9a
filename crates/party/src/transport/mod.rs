//! Ways to reach the peer.

/// A connected byte stream, both directions.
pub struct Connection {}
