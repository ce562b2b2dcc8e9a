//! The hashes of the figure.

use crate::binding::Binding;
use crate::group::{self, Encoded, Uniform};

/// Domain separation tag for hashing to the group.
const GROUP_DST: &[u8] = b"vesica-v1-endemic-ot-with-ristretto255_XMD:SHA-512_R255MAP_RO_";

/// `H(index, slot, other)`, as the bytes from which the group's map derives the element.
pub(super) fn slot_hash(binding: Binding, index: usize, slot: u8, other: &Encoded) -> Uniform {
    let message = binding.digest("slot", &[&(index as u64).to_le_bytes(), &[slot], other]);
    group::hash_to_uniform(GROUP_DST, &message)
}

pub(super) fn bind_messages(binding: Binding, sender: &Encoded, receiver: &[[Encoded; 2]]) -> Binding {
    binding.extend("messages", &[sender, receiver.as_flattened().as_flattened()].concat())
}
