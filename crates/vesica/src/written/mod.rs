//! Files in which people write down settings: a job that two sides share ([`Job`]), and the partners
//! that one side knows ([`Peers`]).
//!
//! A setting has the name of a flag, and this module does not know the flags: it reads which setting
//! says what, and in which line. The command compares that with its flags, so that a setting means
//! the same in a file as on the command line.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod job;
mod peers;
mod setting;

pub use job::Job;
pub use peers::{Partner, Peers, Rules, is_name, settings};
pub use setting::{Setting, Value};
