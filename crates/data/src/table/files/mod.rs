//! Table files: opening one (`input`) in the format that it has (`recognise`), or a copy of what can be read only once
//! (`spool`); and several files as one table (`parts`), found by a folder or a pattern (`part_names`), with columns in
//! the names of folders (`partitions`).
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
pub use part_names::matches as name_matches;
pub use parts::Parts;
pub use recognise::InputOptions;
pub use source_file::{SourceFile, TableFile};
