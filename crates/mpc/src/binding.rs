//! Domain separation: what every hash of one run is bound to.

use vesica_party::Channel;

/// Version, session, protocol and, once [`extend`](Binding::extend)ed, public messages of the run. Both parties hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding([u8; 32]);

impl Binding {
    /// Binds to this version, the channel's session and a protocol.
    pub fn new(ch: &Channel, protocol: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica mpc 2026 v1: binding of a run");
        hasher.update(&ch.session()).update(protocol.as_bytes());
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
        let digest = self.digest(label, parts);
        let (low, _) = digest.split_first_chunk().expect("32 bytes have a first 16");
        u128::from_le_bytes(*low)
    }
}
