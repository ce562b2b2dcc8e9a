//! Made-up inputs by which tasks are measured and tested: items, and what goes with them as a
//! function of the item, so that either side can check what it got.

use vesica_party::{Abort, Channel, Role};
use vesica_structures::rng::SecretRng;

/// One party's made-up items.
#[derive(Debug)]
pub struct Sample {
    /// The role of the party that has the items.
    pub role: Role,
    /// Items of `item_bytes` bytes each, one after the other.
    pub bytes: Vec<u8>,
    /// Bytes of an item.
    pub item_bytes: usize,
    /// Payloads of the side's width, made by [`Sample::payload`].
    pub payloads: Vec<u8>,
    /// Ascending places of the items that both sides have.
    pub common: Vec<u32>,
}

/// A party that is set up, to be run on its sample.
pub type SampleRun = Box<dyn FnOnce(&Sample, &mut Channel, &mut SecretRng) -> Result<SampleOutput, Abort> + Send>;

/// A party's output: tells whether all of it is right. The two parties may have to speak once more
/// for that.
pub type SampleOutput = Box<dyn FnOnce(&Sample, &mut Channel) -> Result<bool, Abort> + Send>;

impl Sample {
    /// The payload of an item on one side: what a hash of it expands to.
    pub fn payload(role: Role, item: &[u8], width: usize) -> Vec<u8> {
        let mut bytes = vec![0; width];
        if width > 0 {
            blake3::Hasher::new().update(&[role as u8]).update(item).finalize_xof().fill(&mut bytes);
        }
        bytes
    }

    /// The items.
    pub fn items(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.item_bytes)
    }

    /// The item at this place.
    pub fn item(&self, place: u32) -> &[u8] {
        let start = place as usize * self.item_bytes;
        self.bytes.get(start..start + self.item_bytes).unwrap_or_default()
    }

    /// Digests of the items: 16 random bytes are their own, others are hashed.
    pub fn digests(&self) -> Vec<u128> {
        let digest = |item: &[u8]| match <[u8; 16]>::try_from(item) {
            Ok(own) => u128::from_le_bytes(own),
            Err(_) => {
                let mut half = [0; 16];
                blake3::Hasher::new().update(item).finalize_xof().fill(&mut half);
                u128::from_le_bytes(half)
            }
        };
        self.items().map(digest).collect()
    }

    /// The values of an item on one side, over all of `Z_2^64`: what its payload would be.
    pub fn values_of(role: Role, item: &[u8], columns: usize) -> Vec<u64> {
        let bytes = Self::payload(role, item, 8 * columns);
        bytes
            .chunks_exact(8)
            .map(|eight| eight.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            .collect()
    }

    /// The values of all items, `columns` each.
    pub fn values(&self, columns: usize) -> Vec<u64> {
        let mut values = Vec::with_capacity(self.bytes.len() / self.item_bytes.max(1) * columns);
        if columns > 0 {
            values.extend(self.items().flat_map(|item| Self::values_of(self.role, item, columns)));
        }
        values
    }

    /// The group of an item, by its first byte.
    pub fn group_of(item: &[u8], groups: usize) -> u32 {
        item.first().map_or(0, |&byte| u32::from(byte) % groups.max(1) as u32)
    }

    /// The groups of all items; none where there is one group.
    pub fn groups(&self, groups: usize) -> Vec<u32> {
        if groups > 1 { self.items().map(|item| Self::group_of(item, groups)).collect() } else { Vec::new() }
    }
}
