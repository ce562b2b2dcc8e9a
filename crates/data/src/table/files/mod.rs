//! Table files: opening one, whatever its format, and several that are one table.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod input;
mod managed;
mod part_names;
mod partitions;
mod parts;
mod recognise;
mod source_file;
mod spool;

pub use input::Input;
pub use parts::Parts;
pub use recognise::InputOptions;
pub use source_file::{SourceFile, TableFile};
