//! The hashes of the figure.

use vesica_structures::secret::Secret;

use super::messages::{Ciphertexts, PublicKeys};
use super::vector::{self, Vector, uniform};
use crate::binding::Binding;

/// `H(index, slot, rho, other)`.
pub(super) fn slot_hash(
    session: Binding,
    index: usize,
    slot: u8,
    rho: &[u8; 32],
    other: &[u8; vector::BYTES],
) -> Vector {
    // Wiped: the receiver calls this for the slot that it chose.
    let input = Secret::new([&(index as u64).to_le_bytes()[..], &[slot], rho, other].concat());
    let mut stream = session.extend("slot", &input).stream("vector");
    uniform(|bytes| stream.fill(bytes))
}

pub(super) fn bind_messages(session: Binding, keys: &[PublicKeys], ciphertexts: &[Ciphertexts]) -> Binding {
    session.extend("public keys", bytemuck::cast_slice(keys)).extend("ciphertexts", bytemuck::cast_slice(ciphertexts))
}

#[cfg(test)]
mod tests {
    use vesica_party::{Abort, Channel};
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::two_party;

    use super::*;
    use crate::base_ot::ml_kem::messages::{CIPHERTEXT_BYTES, ID};

    /// If one of these did not count, a receiver could choose both public keys.
    #[test]
    fn masks_depend_on_all_that_they_are_bound_to() {
        let binding = |ch: &mut Channel, _: &mut SecretRng| Ok::<_, Abort>(Binding::new(ch, ID));
        let (session, _) = two_party(binding, binding);
        let (rho, other) = ([1; 32], [0; vector::BYTES]);
        let masks = [
            slot_hash(session, 0, 0, &rho, &other),
            slot_hash(session.extend("other", &[]), 0, 0, &rho, &other),
            slot_hash(session, 1, 0, &rho, &other),
            slot_hash(session, 0, 1, &rho, &other),
            slot_hash(session, 0, 0, &[2; 32], &other),
            slot_hash(session, 0, 0, &rho, &[1; vector::BYTES]),
        ];
        for (i, one) in masks.iter().enumerate() {
            assert!(!masks[..i].contains(one), "mask {i}");
        }
    }

    /// Keys are bound to what this returns: each part of each message counts.
    #[test]
    fn keys_are_bound_to_all_bytes_of_both_messages() {
        let binding = |ch: &mut Channel, _: &mut SecretRng| Ok::<_, Abort>(Binding::new(ch, ID));
        let (session, _) = two_party(binding, binding);
        let keys = [PublicKeys { rho: [0; 32], vectors: [[0; vector::BYTES]; 2] }; 2];
        let ciphertexts = [Ciphertexts([[0; CIPHERTEXT_BYTES]; 2]); 2];
        let honest = bind_messages(session, &keys, &ciphertexts);
        for place in [0, 31, 32, size_of::<PublicKeys>(), size_of_val(&keys) - 1] {
            let mut changed = keys;
            bytemuck::cast_slice_mut::<_, u8>(&mut changed)[place] = 1;
            assert!(bind_messages(session, &changed, &ciphertexts) != honest, "byte {place} of the public keys");
        }
        for place in [0, CIPHERTEXT_BYTES, size_of_val(&ciphertexts) - 1] {
            let mut changed = ciphertexts;
            bytemuck::cast_slice_mut::<_, u8>(&mut changed)[place] = 1;
            assert!(bind_messages(session, &keys, &changed) != honest, "byte {place} of the ciphertexts");
        }
    }
}
