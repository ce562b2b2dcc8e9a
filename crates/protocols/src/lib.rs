//! Private set protocols, one folder a paper, and their registries.
#![forbid(unsafe_code)]
