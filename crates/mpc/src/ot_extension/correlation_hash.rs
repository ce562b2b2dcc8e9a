//! From correlated blocks to independent ones.

use vesica_kernels::aes::Aes128;
use vesica_structures::secret::Secret;

use crate::binding::Binding;
use crate::tasks::OtPairs;

/// The hash that turns correlated blocks into independent ones (TMMO, the index as tweak). A key serves
/// 16 indices: who knows outputs can test a candidate for all indices of a key at once, tweak or not. A
/// binding is for one hash and one call: another would repeat keys and tweaks.
#[derive(Debug)]
pub struct CorrelationHash(Binding);

/// Indices that one key hashes; a search for `delta` then takes 2^124 calls of the cipher, as one
/// for the hidden leaves does.
const INDICES_PER_KEY: usize = 16;

impl CorrelationHash {
    /// Keyed for the run.
    pub fn new(binding: Binding) -> Self {
        Self(binding)
    }

    /// Both blocks of each OT, from the sender's rows, which are changed.
    pub fn pairs(&self, rows: &mut [u128], delta: u128) -> OtPairs {
        let zeros = Secret::new(self.hash(rows));
        rows.iter_mut().for_each(|row| *row ^= delta);
        let ones = Secret::new(self.hash(rows));
        OtPairs { pairs: zeros.iter().zip(ones.iter()).map(|(&zero, &one)| [zero, one]).collect() }
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
