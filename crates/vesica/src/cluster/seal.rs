//! Encryption of what a worker leaves in files of its cluster.

use crate::failure::{Failure, code};
use crate::spill::Seal;

/// The seal of a part of what an attempt leaves, under a key that is derived from the attempt's.
///
/// The context names what is left. A context and a part seal once under the key of an attempt.
pub(super) fn seal_of(context: &str, key: &[u8; 32], part: &[u8]) -> Result<Seal, Failure> {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    let key = *hasher.update(key).update(part).finalize().as_bytes();
    Seal::once(&key).map_err(|error| Failure::new(code::INTERNAL, error, "please report this"))
}
