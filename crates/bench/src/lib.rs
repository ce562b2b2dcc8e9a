//! The benchmark harness: two processes, medians, bytes, memory.
#![forbid(unsafe_code)]
