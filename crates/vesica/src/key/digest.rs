//! The digest of a key: length-framed components under domain-separated BLAKE3.

use std::sync::LazyLock;

use vesica_kernels::blake3::keyed_digests;

/// Name and version of the digest and of the canonical forms under it; both parties must agree on it.
pub const DIGEST_VERSION: &str = "vesica-key@1";

/// Derived once from the version string: a new version gives unrelated digests.
static DOMAIN: LazyLock<[u8; 32]> = LazyLock::new(|| blake3::derive_key("vesica 2026-11-20 vesica-key@1 local key digest", &[]));

/// Bytes of one key while its components are appended: a component count, then each component behind its length.
///
/// Framing instead of a separator keeps `("a,b", "c")` and `("a", "b,c")` apart. All lengths are 32-bit little-endian.
#[derive(Default)]
pub struct KeyFrame {
    bytes: Vec<u8>,
}

impl KeyFrame {
    /// Forgets the last key and starts one of `components` components.
    pub fn begin(&mut self, components: u32) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&components.to_le_bytes());
    }

    /// Appends a component; one of 4 GiB or more has no 32-bit length, and `false` says so.
    #[must_use]
    pub fn push(&mut self, component: &[u8]) -> bool {
        let Ok(length) = u32::try_from(component.len()) else { return false };
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(component);
        true
    }

    /// The 128-bit digest of the key.
    pub fn digest(&self) -> u128 {
        hash(&self.bytes)
    }
}

fn hash(bytes: &[u8]) -> u128 {
    let hash = blake3::keyed_hash(&DOMAIN, bytes);
    let mut low = [0; 16];
    low.copy_from_slice(&hash.as_bytes()[..16]);
    u128::from_le_bytes(low)
}

/// Framed keys that are hashed together, which for short ones is several times as fast as one by one.
#[derive(Default)]
pub(crate) struct KeyBatch {
    /// Frames that fit a block of BLAKE3, zeros behind them; a longer one leaves an empty block and is in `long`.
    blocks: Vec<[u8; 64]>,
    lengths: Vec<u8>,
    /// Digests of longer frames with their place.
    long: Vec<(usize, u128)>,
}

impl KeyBatch {
    /// Keys hashed together: their blocks stay in the first-level cache.
    const SIZE: usize = 128;

    /// Fewer keys are hashed one by one: the vectors would run almost empty.
    const FEW: usize = 4;

    /// Appends a key. `digests` gets those of all keys appended, in order, whenever enough are there.
    pub fn push(&mut self, frame: &KeyFrame, digests: &mut Vec<u128>) {
        let mut block = [0; 64];
        let length = match block.get_mut(..frame.bytes.len()) {
            Some(start) => {
                start.copy_from_slice(&frame.bytes);
                frame.bytes.len() as u8
            }
            None => {
                self.long.push((self.blocks.len(), frame.digest()));
                0
            }
        };
        self.blocks.push(block);
        self.lengths.push(length);
        if self.blocks.len() == Self::SIZE {
            self.finish(digests);
        }
    }

    /// Appends to `digests` those of the keys that are left.
    pub fn finish(&mut self, digests: &mut Vec<u128>) {
        let from = digests.len();
        if self.blocks.len() < Self::FEW {
            digests.extend(self.blocks.iter().zip(&self.lengths).map(|(block, &length)| hash(&block[..length.into()])));
        } else {
            digests.resize(from + self.blocks.len(), 0);
            keyed_digests(&DOMAIN, &self.blocks, &self.lengths, &mut digests[from..]);
        }
        for (place, digest) in self.long.drain(..) {
            digests[from + place] = digest;
        }
        self.blocks.clear();
        self.lengths.clear();
    }
}

/// The digest of a key given as canonical components, or `None` when one is 4 GiB or longer.
pub fn digest(components: &[&[u8]]) -> Option<u128> {
    let mut frame = KeyFrame::default();
    frame.begin(u32::try_from(components.len()).ok()?);
    components.iter().all(|component| frame.push(component)).then(|| frame.digest())
}
