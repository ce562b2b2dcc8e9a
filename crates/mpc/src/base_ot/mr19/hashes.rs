//! The hashes of the figure.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::CompressedRistretto;

use crate::binding::Binding;

/// Domain separation tag for hashing to the group.
const GROUP_DST: &[u8] = b"vesica-v1-endemic-ot-with-ristretto255_XMD:SHA-512_R255MAP_RO_";

/// `H(index, slot, other)`.
pub(super) fn slot_hash(binding: Binding, index: usize, slot: u8, other: &CompressedRistretto) -> RistrettoPoint {
    let message = binding.digest("slot", &[&(index as u64).to_le_bytes(), &[slot], other.as_bytes()]);
    crate::group::hash_to_group(GROUP_DST, &message)
}

pub(super) fn bind_messages(
    binding: Binding,
    sender: &CompressedRistretto,
    receiver: &[[CompressedRistretto; 2]],
) -> Binding {
    let points = receiver.as_flattened().iter().flat_map(|point| *point.as_bytes());
    binding.extend("messages", &sender.as_bytes().iter().copied().chain(points).collect::<Vec<u8>>())
}
