//! Where a session's table comes from and where its result goes, before either is opened.

use std::fmt;

use crate::table::{FileIdentity, ResultKind, Sink, Source, TableError};

/// Opens a table, on the thread that will read it.
pub trait OpenSource: fmt::Debug + Send + Sync {
    /// The name that errors show.
    fn name(&self) -> String;

    /// Opens the table.
    fn open(&self) -> Result<Box<dyn Source>, TableError>;

    /// The files that are read: no output may replace them.
    fn files(&self) -> Vec<FileIdentity> {
        Vec::new()
    }

    /// The paths of these files; none of what has no name.
    fn paths(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Opens a sink, before the protocol starts: what cannot be written is refused then.
pub trait OpenSink: fmt::Debug + Send + Sync {
    /// The name that errors show.
    fn name(&self) -> String;

    /// Makes the place of a result of this kind ready. Rows come from `source`.
    fn open(&self, kind: ResultKind, source: &dyn Source) -> Result<Box<dyn Sink>, TableError>;

    /// The file that is written, if it is one: no other file of the run may be the same.
    fn file(&self) -> Option<FileIdentity> {
        None
    }
}
