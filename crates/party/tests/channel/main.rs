//! The channel and its transports, one concern a file.

mod failures;
mod forks;
mod links;
mod messages;
mod state_files;
mod support;
mod time_limits;
mod transcripts;
