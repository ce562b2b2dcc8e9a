//! The engine: read tables, normalise keys, choose a protocol, run it, write results.
#![forbid(unsafe_code)]
