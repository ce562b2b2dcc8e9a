//! Arrow IPC, as a file (Feather version 2) and as a stream: checking lengths before the reader trusts them
//! (`check`), reading (`read`), writing (`write`).

pub(crate) mod check;
mod read;
mod write;

pub(crate) use read::{ArrowFile, ArrowStream};
pub(crate) use write::ArrowWriter;
