//! All integration tests of the engine, in one binary.

mod tables;
