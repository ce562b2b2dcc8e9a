//! The salt under which a session folds digests of keys to items: a coin toss that costs no message
//! of its own.
//!
//! Each side commits to a share in its configuration and opens it beside its sizes, once its table
//! has been read. So neither side chooses the salt, and nobody knows it before an honest side's
//! keys are fixed. The commitment names the role, so that a partner that sends ours back cannot
//! open it. Whoever opens last sees the salt first, and may break off.

use vesica_party::Role;

/// What a side adds to the salt: 256 bits, so that its commitment hides it.
pub(crate) type Share = [u8; 32];

/// The commitment of `role` to its share.
pub(crate) fn commit(role: Role, share: &Share) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-22 commitment to a share of the session's salt v1");
    *hasher.update(role.to_string().as_bytes()).update(share).finalize().as_bytes()
}

/// The salt, from both sides' shares.
pub(crate) fn salt(sender: &Share, receiver: &Share) -> u128 {
    let mut salt = [0; 16];
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-22 salt of the session's items v1");
    hasher.update(sender).update(receiver).finalize_xof().fill(&mut salt);
    u128::from_le_bytes(salt)
}
