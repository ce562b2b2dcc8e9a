//! Arrow IPC, as a file (Feather version 2) and as a stream: checking lengths before the reader trusts them
//! (`check`), reading (`read`).

pub(crate) mod check;
mod read;

pub(crate) use read::{ArrowFile, ArrowStream};
