//! The hashes of the figure.

use curve25519_dalek::RistrettoPoint;

use crate::binding::Binding;
use crate::group::Encoded;

/// Domain separation tag for hashing to the group.
const GROUP_DST: &[u8] = b"vesica-v1-csw20-ot-with-ristretto255_XMD:SHA-512_R255MAP_RO_";

/// A hash of 256 bits.
pub(super) type Digest = [u8; 32];

/// `T`.
pub(super) fn shift_of(session: Binding, seed: &[u8; 32]) -> RistrettoPoint {
    crate::group::hash_to_group(GROUP_DST, &session.digest("shift", &[seed]))
}

/// `F(index, slot, point)` of an encoded point.
pub(super) fn response(run: Binding, index: usize, slot: u8, point: &Encoded) -> Digest {
    run.digest("response", &[&(index as u64).to_le_bytes(), &[slot], point])
}

/// `D` of all responses for slot 0.
pub(super) fn answer(run: Binding, responses: &[Digest]) -> Digest {
    run.digest("answer", &[responses.as_flattened()])
}

/// `D'`.
pub(super) fn proof(run: Binding, answer: &Digest) -> Digest {
    run.digest("proof", &[answer])
}

pub(super) fn sum(one: &Digest, other: &Digest) -> Digest {
    std::array::from_fn(|i| one[i] ^ other[i])
}
