//! What follows from a party's OPRF besides its tags.

use vesica_structures::secret::Secret;

use super::Params;

/// Proofs and payload keys of a party, by the numbers that its tags have. Neither is asked for
/// unless the request wants it. `items` are the party's, as it brought them.
pub trait Outputs: Sized {
    /// The proof of each number. Asked for once at most, and before the keystream.
    fn proofs(&mut self, items: &[u128]) -> Secret<Vec<u128>>;

    /// A function that fills its last argument with the keystream of a number, given the item of
    /// that number. Two numbers of different items have independent keystreams.
    fn into_keystream(self, items: &[u128]) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static;
}

/// Outputs that were stored as they came, for protocols that do not make them from something
/// smaller when they are asked for.
pub struct StoredOutputs {
    domain: &'static [u8; 16],
    proofs: Secret<Vec<u128>>,
    payload_keys: Secret<Vec<u128>>,
}

impl StoredOutputs {
    /// Space for `count` numbers, as far as the request wants outputs. `domain` separates this
    /// protocol's keystreams from others'.
    pub fn new(params: &Params, count: usize, domain: &'static [u8; 16]) -> Self {
        let space = |wanted| Secret::new(vec![0; if wanted { count } else { 0 }]);
        Self { domain, proofs: space(params.both_learn), payload_keys: space(params.payload_bytes > 0) }
    }

    /// Stores proofs and payload keys of these numbers; either list is empty where the request does
    /// not want it.
    pub fn put(&mut self, proofs: &[u128], payload_keys: &[u128], numbers: impl Iterator<Item = u32> + Clone) {
        for (stored, outputs) in [(&mut self.proofs, proofs), (&mut self.payload_keys, payload_keys)] {
            for (&output, number) in outputs.iter().zip(numbers.clone()) {
                stored[number as usize] = output;
            }
        }
    }
}

impl Outputs for StoredOutputs {
    fn proofs(&mut self, _items: &[u128]) -> Secret<Vec<u128>> {
        std::mem::replace(&mut self.proofs, Secret::new(Vec::new()))
    }

    fn into_keystream(self, _items: &[u128]) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static {
        let Self { domain, payload_keys, .. } = self;
        move |number, item, out| fill_keystream(domain, payload_keys[number], item, out)
    }
}

/// Fills `out` with the keystream of a payload under its key: BLAKE3's extended output for the
/// item, keyed by the 128 bits of the key and 128 fixed ones. The item is in it so that a guess at
/// a key tests one payload only.
///
/// What this leaves on the stack is below the frame of its caller, who wipes it at the end of a task
/// ([`WipedStack`](vesica_structures::secret::WipedStack)).
#[inline(never)]
pub fn fill_keystream(domain: &[u8; 16], key: u128, item: u128, out: &mut [u8]) {
    let mut keyed = Secret::new([0; 32]);
    keyed[..16].copy_from_slice(&key.to_le_bytes());
    keyed[16..].copy_from_slice(domain);
    blake3::Hasher::new_keyed(&keyed).update(&item.to_le_bytes()).finalize_xof().fill(out);
}
