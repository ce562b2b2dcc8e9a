//! Domain separation: the labels and places to which every hash of a run is bound.

use vesica_kernels::blake3::keyed_digests_256;
use vesica_party::Channel;
use vesica_structures::secret::Secret;

/// Version, session, place in the conversation, protocol and, once [`extend`](Binding::extend)ed,
/// public messages of the run. Both parties hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding([u8; 32]);

impl Binding {
    /// Binds to this version, the channel's session, its fork and who is the sender there, and a
    /// protocol.
    pub fn new(ch: &Channel, protocol: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica mpc 2026 v1: binding of a run");
        let (path, reversed) = ch.place();
        hasher.update(&ch.session()).update(&[u8::from(reversed)]).update(&(path.len() as u64).to_le_bytes());
        path.iter().for_each(|index| {
            hasher.update(&index.to_le_bytes());
        });
        hasher.update(protocol.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// Binds to public bytes as well.
    pub fn extend(self, label: &str, bytes: &[u8]) -> Self {
        Self(self.digest(label, &[bytes]))
    }

    /// A 256-bit hash of `parts`, each framed by its length.
    pub fn digest(&self, label: &str, parts: &[&[u8]]) -> [u8; 32] {
        *self.hasher(label, parts).finalize().as_bytes()
    }

    /// [`digest`](Self::digest) of each block alone, in lanes: the first halves of the digests go to `low`, the others
    /// to `high`.
    ///
    /// # Panics
    /// If the slices differ in length, or the label has more than 32 bytes.
    pub fn digests(&self, label: &str, blocks: &[u128], low: &mut [u128], high: &mut [u128]) {
        const LANES: usize = 64;
        let framed = label.len() + 32;
        let mut frame = [0u8; 64];
        frame[..8].copy_from_slice(&(label.len() as u64).to_le_bytes());
        frame[8..][..label.len()].copy_from_slice(label.as_bytes());
        frame[8 + label.len()..][..8].copy_from_slice(&16u64.to_le_bytes());
        let mut messages = Secret::new(vec![frame; LANES]);
        let parts = blocks.chunks(LANES).zip(low.chunks_mut(LANES)).zip(high.chunks_mut(LANES));
        for ((blocks, low), high) in parts {
            for (message, block) in messages.iter_mut().zip(blocks) {
                message[framed - 16..framed].copy_from_slice(&block.to_le_bytes());
            }
            let lengths = [framed as u8; LANES];
            keyed_digests_256(&self.0, &messages[..blocks.len()], &lengths[..blocks.len()], low, high);
        }
    }

    /// Public pseudo-random bytes without end.
    pub fn stream(&self, label: &str) -> blake3::OutputReader {
        self.hasher(label, &[]).finalize_xof()
    }

    fn hasher(&self, label: &str, parts: &[&[u8]]) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in std::iter::once(label.as_bytes()).chain(parts.iter().copied()) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher
    }

    /// A 128-bit key or seed for one use.
    pub fn key(&self, label: &str, parts: &[&[u8]]) -> u128 {
        let digest: [[u8; 16]; 2] = bytemuck::cast(self.digest(label, parts));
        u128::from_le_bytes(digest[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_party::Abort;
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::two_party;

    #[test]
    fn digests_in_lanes_are_those_one_by_one() {
        let binding = Binding([7; 32]).extend("run", b"messages");
        for count in [0, 1, 63, 64, 65, 200] {
            let blocks: Vec<u128> = (0..count).map(|i| (1 << 127) + 77 * i).collect();
            let (mut low, mut high) = (vec![0; blocks.len()], vec![0; blocks.len()]);
            for label in ["", "leaf tag", "a label of thirty-two bytes here"] {
                binding.digests(label, &blocks, &mut low, &mut high);
                for (block, halves) in blocks.iter().zip(low.iter().zip(&high)) {
                    let one: [u128; 2] = bytemuck::cast(binding.digest(label, &[&block.to_le_bytes()]));
                    assert_eq!([*halves.0, *halves.1], one, "{label}");
                }
            }
        }
    }

    #[test]
    fn both_sides_bind_alike_and_each_place_differently() {
        let places = |ch: &mut Channel, _: &mut SecretRng| -> Result<Vec<Binding>, Abort> {
            let root = [Binding::new(ch, "a"), Binding::new(ch, "b"), ch.reversed(|ch| Binding::new(ch, "a"))];
            let forks = [ch.fork("first")?, ch.fork("second")?];
            Ok(root.into_iter().chain(forks.iter().map(|fork| Binding::new(fork, "a"))).collect())
        };
        let (sender, receiver) = two_party(places, places);
        assert_eq!(sender, receiver);
        for (i, binding) in sender.iter().enumerate() {
            assert!(!sender[..i].contains(binding), "place {i}");
        }
    }
}
