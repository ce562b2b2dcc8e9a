//! All integration tests of the crate, in one binary.

mod cheating;
mod conformance;
mod faults;
mod inner_product;
mod randomness;
mod share_conversion;
