//! Circuit PSI: shares of what matched, and what is computed on them.

pub mod ltsxq26;
pub mod vole;
