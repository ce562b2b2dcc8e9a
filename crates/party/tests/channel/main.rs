//! The channel and its transports, one concern a file.

mod failures;
mod forks;
mod links;
mod messages;
mod support;
mod transcripts;
