//! Arrow IPC, files and streams.

pub(crate) mod check;
