//! Table files: one that is opened, and several that are one table.

pub(crate) mod input;
mod managed;
mod part_names;
mod partitions;
mod parts;
mod source_file;

pub use input::{Format, Input, InputOptions};
pub use parts::Parts;
pub use source_file::{SinkFile, SourceFile, TableFile};
