//! Table files: one that is opened, and several that are one table.

pub(crate) mod input;
mod managed;
mod part_names;
mod partitions;
mod parts;
mod source_file;

pub use input::{Input, InputOptions};
pub use parts::Parts;
pub use source_file::{SourceFile, TableFile};
