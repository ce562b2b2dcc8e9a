//! What both sides compute of a cell, a bin and one of its parts: digests of what its slots hold, and
//! from the shares of the cells those of the bins.

use vesica_mpc::bits::Bits;
use vesica_party::Channel;
use vesica_structures::fields::Gf128;
use vesica_structures::secret::Secret;

use super::Params;
use super::params::SALT_BYTES;
use vesica_protocols::unbalanced::Shape;
use vesica_protocols::unbalanced::ring::PLAIN;

/// Bits of what a slot holds.
pub(super) const SLOT_BITS: u32 = PLAIN.next_power_of_two().ilog2();

/// The functions of a run.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    shape: Shape,
    /// Of positions and of limbs.
    hashes: [u128; 2],
    digests: Gf128,
    /// Ones, as many as a digest has bits.
    pub(super) low: u64,
}

impl Functions {
    /// Those of a session, a salt and the sizes.
    pub(super) fn new(ch: &Channel, params: &Params, salt: &[u8; SALT_BYTES]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 tcl23 2026 salt to functions");
        hasher.update(&ch.session()).update(salt);
        for size in [params.sender_items, params.receiver_items] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let mut keys = [[0u8; 16]; 3];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [positions, limbs, digests] = keys.map(u128::from_le_bytes);
        let low = u64::MAX >> (u64::BITS - params.digest_bits);
        Self { shape: params.shape, hashes: [positions, limbs], digests: Gf128(digests), low }
    }

    /// The positions and the limbs of items.
    pub(super) fn hash(&self, items: &[u128]) -> (Vec<[u32; 3]>, Secret<Vec<u64>>) {
        self.shape.hash(self.hashes, items)
    }

    /// The digest of each cell of a part whose slots hold this: the lowest bits of a product in
    /// `GF(2^128)`. Those of two different cells are equal for one key in `2^bits`.
    pub(super) fn digests(&self, slots: &[u64]) -> impl Iterator<Item = u64> {
        let joined = |cell: &[u64]| cell.iter().fold(0, |joined, &slot| joined << SLOT_BITS | u128::from(slot));
        slots.chunks_exact(self.shape.limbs).map(move |cell| (Gf128(joined(cell)) * self.digests).0 as u64 & self.low)
    }
}

/// The share of each bin, whose item lies in one part at most: the sum of those of its cells, which
/// come group after group, and part after part within one.
pub(super) fn of_bins(shape: &Shape, cells: &Bits) -> Bits {
    let (bins, parts) = (shape.bins_per_group(), shape.parts);
    let of_bin = |bin: usize| {
        let (group, bin) = (bin / bins, bin % bins);
        (0..parts).fold(false, |sum, part| sum ^ cells.get((group * parts + part) * bins + bin))
    };
    (0..shape.bins()).map(of_bin).collect()
}
