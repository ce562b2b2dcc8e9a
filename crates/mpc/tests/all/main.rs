//! All integration tests of the crate, in one binary.

mod base_ot;
mod cheating;
mod code_oprf;
mod conformance;
mod dealt;
mod examples;
mod faults;
mod gmw;
mod golden;
mod iknp03;
mod inner_product;

mod peqt;
mod permute_bits;
mod permute_share;
mod randomness;
mod share_conversion;
