//! The error of an argument that cannot be used.

use std::fmt;

/// An argument of the user that is not understood, or that contradicts another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}; {mend}")]
pub struct UsageError {
    /// What is wrong with the argument.
    pub fault: String,
    /// What the user can do about it.
    pub mend: String,
}

impl UsageError {
    pub(crate) fn new(fault: impl fmt::Display, mend: impl fmt::Display) -> Self {
        Self { fault: fault.to_string(), mend: mend.to_string() }
    }
}
