//! One module a subcommand.

pub mod check;
pub mod clients;
pub mod completions;
pub mod config;
pub mod demo;
pub mod dry_run;
pub mod identity;
pub mod init;
pub mod log;
pub mod man;
pub mod plan;
pub mod policy;
pub mod protocols;
pub mod query;
pub mod receipt;
pub mod relay;
pub mod selftest;
pub mod serve;
pub mod sides;
pub mod way_out;
