//! Made-up inputs by which tasks are measured and tested: items, and what goes with them as a
//! function of the item, so that either side can check what it got.

use rand_core::Rng;
use vesica_party::{Abort, Channel, Role};
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;

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

/// The sizes of made-up sets.
#[derive(Clone, Copy, Debug)]
pub struct MadeUp {
    /// Items of the sender.
    pub sender_items: usize,
    /// Items of the receiver.
    pub receiver_items: usize,
    /// Items that both have.
    pub common: usize,
    /// Bytes of an item.
    pub item_bytes: usize,
}

impl MadeUp {
    /// The items of `role` in a round of this number, with payloads of so many bytes: the first `common` come from a
    /// generator that both share, and the order is random. Two processes make the same.
    pub fn sample(&self, role: Role, payload_bytes: usize, round: u64) -> Sample {
        let (items, salt) = match role {
            Role::Sender => (self.sender_items, 1),
            Role::Receiver => (self.receiver_items, 2),
        };
        let mut shared = SecretRng::insecure_from_seed(round << 2);
        let mut own = SecretRng::insecure_from_seed((round << 2) | salt);
        let order = random_order(items, &mut own);
        let width = self.item_bytes;
        let mut bytes = vec![0; items * width];
        for (number, &place) in order.iter().enumerate() {
            let rng = if number < self.common { &mut shared } else { &mut own };
            if let Some(item) = bytes.get_mut(place as usize * width..).and_then(|rest| rest.get_mut(..width)) {
                rng.fill_bytes(item);
            }
        }
        let mut common: Vec<u32> = order.iter().copied().take(self.common).collect();
        common.sort_unstable();
        let payloads =
            bytes.chunks_exact(width.max(1)).flat_map(|item| Sample::payload(role, item, payload_bytes)).collect();
        Sample { role, bytes, item_bytes: width, payloads, common }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlap_is_the_plain_intersection() {
        let sets = MadeUp { sender_items: 300, receiver_items: 200, common: 70, item_bytes: 16 };
        let (sent, asked) = (sets.sample(Role::Sender, 0, 3), sets.sample(Role::Receiver, 0, 3));
        let theirs: std::collections::HashSet<u128> = sent.digests().into_iter().collect();
        let places = asked.digests().into_iter().zip(0..).filter(|(digest, _)| theirs.contains(digest));
        let plain: Vec<u32> = places.map(|(_, place)| place).collect();
        assert_eq!((plain.len(), plain), (70, asked.common));
    }
}
