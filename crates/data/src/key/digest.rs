//! The digest of a key: length-framed components under domain-separated BLAKE3, and what a session
//! makes of it.
//!
//! A table is read before the partner is there, so its digests are the same in every session.
//! Protocols take items of 128 bits, and two keys with equal items match. Would 128 bits of the
//! hash be the item, somebody who gets records into both tables could look for two keys with
//! equal items once, with 2^64 work, and have them match in every session. So a digest has 256
//! bits, two of which are equal only after 2^128 work, and the session folds it under a salt that
//! nobody but a side itself knows while that side's table is still being read: two different
//! digests fold to one item for one salt of 2^128.

use std::fmt;
use std::sync::LazyLock;

use vesica_kernels::blake3::keyed_digests_256;
use vesica_kernels::clmul::gf128_scale_add;

/// Name and version of the digest and of the canonical forms under it; both parties must agree on
/// it.
pub const DIGEST_VERSION: &str = "vesica-key@2";

/// Derived once from the version string: a new version gives unrelated digests.
static DOMAIN: LazyLock<[u8; 32]> =
    LazyLock::new(|| blake3::derive_key("vesica 2026-11-22 vesica-key@2 local key digest", &[]));

/// 256 bits that stand for a key: the first and the second half of the hash.
pub type Digest = [u128; 2];

/// Digests, half by half. Never printed: they invite guessing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Digests {
    low: Vec<u128>,
    high: Vec<u128>,
}

impl Digests {
    /// None, with room for `count`.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { low: Vec::with_capacity(count), high: Vec::with_capacity(count) }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// Digest number `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Digest> {
        Some([*self.low.get(index)?, *self.high.get(index)?])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Digest> {
        self.low.iter().zip(&self.high).map(|(&low, &high)| [low, high])
    }

    /// The first halves.
    pub(crate) fn low(&self) -> &[u128] {
        &self.low
    }

    /// Appends one.
    #[inline]
    pub(crate) fn push(&mut self, [low, high]: Digest) {
        self.low.push(low);
        self.high.push(high);
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
    }

    /// The items of a session: `low + salt high` in GF(2^128). Two different digests give one item
    /// for at most one salt.
    pub fn fold(self, salt: u128) -> Vec<u128> {
        let Self { mut low, high } = self;
        gf128_scale_add(&mut low, salt, &high);
        low
    }
}

impl FromIterator<Digest> for Digests {
    fn from_iter<I: IntoIterator<Item = Digest>>(digests: I) -> Self {
        let mut all = Self::default();
        digests.into_iter().for_each(|digest| all.push(digest));
        all
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digests").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Bytes of one key while its components are appended: a component count, then each component
/// behind its length.
///
/// Framing instead of a separator keeps `("a,b", "c")` and `("a", "b,c")` apart. Keys of an
/// alternative behind the first have a zero, which is no component count, and the alternative's
/// number in front: equal components of two alternatives are different keys. All numbers are 32-bit
/// little-endian.
#[derive(Default)]
pub struct KeyFrame {
    bytes: Vec<u8>,
}

impl KeyFrame {
    /// Forgets the last key and starts one of `components` components, at least one.
    pub fn begin(&mut self, components: u32) {
        self.begin_alternative(0, components);
    }

    /// [`Self::begin`] for a key of this alternative, counted from 0.
    pub fn begin_alternative(&mut self, alternative: u32, components: u32) {
        self.bytes.clear();
        if alternative > 0 {
            self.bytes.extend_from_slice(&0u32.to_le_bytes());
            self.bytes.extend_from_slice(&alternative.to_le_bytes());
        }
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

    /// The digest of the key.
    pub fn digest(&self) -> Digest {
        hash(&self.bytes)
    }
}

fn hash(bytes: &[u8]) -> Digest {
    let hash = blake3::keyed_hash(&DOMAIN, bytes);
    let mut digest = [0; 2];
    for (half, bytes) in digest.iter_mut().zip(hash.as_bytes().as_chunks().0) {
        *half = u128::from_le_bytes(*bytes);
    }
    digest
}

/// Framed keys that are hashed together, which for short ones is several times as fast as one by
/// one.
#[derive(Default)]
pub(crate) struct KeyBatch {
    /// Frames that fit a block of BLAKE3, zeros behind them; a longer one leaves an empty block and
    /// is in `long`.
    blocks: Vec<[u8; 64]>,
    lengths: Vec<u8>,
    /// Digests of longer frames with their place.
    long: Vec<(usize, Digest)>,
}

impl KeyBatch {
    /// Keys that are hashed together. Their blocks stay in the first-level cache.
    const KEYS_PER_BATCH: usize = 128;

    /// The fewest keys that are hashed together. Fewer would leave the vectors almost empty.
    const MIN_KEYS_TOGETHER: usize = 4;

    /// Appends a key. `digests` gets those of all keys appended, in order, whenever enough are
    /// there.
    pub fn push(&mut self, frame: &KeyFrame, digests: &mut Digests) {
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
        if self.blocks.len() == Self::KEYS_PER_BATCH {
            self.finish(digests);
        }
    }

    /// Forgets the keys that are left.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.lengths.clear();
        self.long.clear();
    }

    /// Appends to `digests` those of the keys that are left.
    #[expect(
        clippy::indexing_slicing,
        reason = "blocks have room for their lengths; both halves of `digests` have the new places"
    )]
    pub fn finish(&mut self, digests: &mut Digests) {
        let from = digests.len();
        if self.blocks.len() < Self::MIN_KEYS_TOGETHER {
            for (block, &length) in self.blocks.iter().zip(&self.lengths) {
                digests.push(hash(&block[..length.into()]));
            }
        } else {
            let Digests { low, high } = &mut *digests;
            low.resize(from + self.blocks.len(), 0);
            high.resize(from + self.blocks.len(), 0);
            keyed_digests_256(&DOMAIN, &self.blocks, &self.lengths, &mut low[from..], &mut high[from..]);
        }
        for (place, [low, high]) in self.long.drain(..) {
            digests.low[from + place] = low;
            digests.high[from + place] = high;
        }
        self.blocks.clear();
        self.lengths.clear();
    }
}

/// The digest of a key given as canonical components, or `None` when one is 4 GiB or longer.
pub fn digest(components: &[&[u8]]) -> Option<Digest> {
    let mut frame = KeyFrame::default();
    frame.begin(u32::try_from(components.len()).ok()?);
    components.iter().all(|component| frame.push(component)).then(|| frame.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same components are other keys in each alternative, and those of the first are the keys
    /// of tables without alternatives. No key of several components is one of an alternative.
    #[test]
    fn alternatives_have_keys_of_their_own() {
        let of = |alternative: u32, components: &[&[u8]]| {
            let mut frame = KeyFrame::default();
            frame.begin_alternative(alternative, components.len() as u32);
            assert!(components.iter().all(|component| frame.push(component)));
            frame.digest()
        };
        assert_eq!(Some(of(0, &[b"a"])), digest(&[b"a"]));
        let keys = [of(0, &[b"a"]), of(1, &[b"a"]), of(2, &[b"a"]), of(0, &[b"a", b"a"]), of(1, &[b"a", b"a"])];
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[..place].contains(key), "{place}");
        }
    }

    /// `low + salt high`, against the field's definition on single elements, and that no half is
    /// left out.
    #[test]
    fn an_item_is_the_low_half_and_the_high_half_times_the_salt() {
        let digests: Vec<Digest> = (0..70u8).map(|i| digest(&[&[i]]).expect("short")).collect();
        let mut all = Digests::default();
        digests.iter().for_each(|&digest| all.push(digest));
        assert_eq!(all.clone().fold(0), all.low(), "no salt leaves the low half");
        let salt = digests[0][1];
        let product = |high| vesica_kernels::clmul::gf128_mul(salt, high);
        assert!(all.clone().fold(salt).into_iter().eq(digests.iter().map(|[low, high]| low ^ product(*high))));
    }

    /// Two keys with equal first halves, which 2^64 work finds, have different items; so have two
    /// with equal second halves.
    #[test]
    fn digests_that_differ_in_one_half_have_different_items() {
        let salt = digest(&[b"salt"]).expect("short")[0];
        for others in [[[5, 1], [5, 2]], [[1, 5], [2, 5]]] {
            let mut all = Digests::default();
            others.into_iter().for_each(|digest| all.push(digest));
            let items = all.fold(salt);
            assert_ne!(items[0], items[1]);
        }
    }
}
