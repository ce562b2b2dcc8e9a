//! From correlated blocks to independent ones.

use vesica_kernels::aes::Aes128;

use crate::binding::Binding;

/// The hash that turns correlated blocks into independent ones (TMMO, the index as tweak). A key
/// serves [`INDICES_PER_KEY`] indices: who knows outputs can test a candidate for all indices of a
/// key at once, tweak or not.
pub(crate) struct CorrelationHash(Binding);

/// Indices that one key hashes; a search for `delta` then takes 2^124 calls of the cipher, as one
/// for the hidden leaves does.
const INDICES_PER_KEY: usize = 16;

impl CorrelationHash {
    /// Keyed for the run.
    pub fn new(binding: Binding) -> Self {
        Self(binding)
    }

    /// `out[i] = H(x[i], i)`.
    pub fn hash(&self, x: &[u128]) -> Vec<u128> {
        let mut keys = self.0.stream("correlation hash");
        let mut out = vec![0; x.len()];
        for (number, (x, out)) in x.chunks(INDICES_PER_KEY).zip(out.chunks_mut(INDICES_PER_KEY)).enumerate() {
            let mut key = [0; 16];
            keys.fill(&mut key);
            let tweaks: [u128; INDICES_PER_KEY] = std::array::from_fn(|i| (number * INDICES_PER_KEY + i) as u128);
            Aes128::new(u128::from_le_bytes(key)).tmmo(x, &tweaks[..x.len()], out);
        }
        out
    }
}
