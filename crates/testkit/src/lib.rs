//! Test harness for two-party code: pairs of channels, faulty and shaped links, golden transcripts.
#![forbid(unsafe_code)]
