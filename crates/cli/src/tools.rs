//! What commands need that a program adds.

pub use crate::args::{Brief, ProgressName, TaskArgs, count, items, shorten};
pub use crate::calibration::processor;
pub use crate::outcome::{Outcome, print};
pub use crate::program::Shown;
pub use crate::progress::Counter;
pub use crate::signals::end_after;
pub use crate::stderr::{note, warning};

/// The program of this process, to start it again.
///
/// # Errors
/// If the system does not say which it is.
pub fn program() -> std::io::Result<std::path::PathBuf> {
    crate::program()
}
