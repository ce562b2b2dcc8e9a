//! Nothing: this package has benches and tests alone.
#![forbid(unsafe_code)]
