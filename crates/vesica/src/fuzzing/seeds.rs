//! Well-formed inputs for fuzzers and tests to damage.

pub use vesica_data::fuzzing::seeds::{arrow_files, arrow_streams, parquet};

/// A receipt with both signatures, as JSON.
pub fn receipt() -> Option<Vec<u8>> {
    serde_json::to_vec_pretty(&crate::receipt::Receipt::example()?).ok()
}
