//! Domain separation: the labels and places to which every hash of a run is bound.

use vesica_party::Channel;

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
