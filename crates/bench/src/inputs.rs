//! Random sets with a known overlap, the same in both processes.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_party::Role;

use crate::Settings;

/// One party's items and, for the receiver, where the matches are.
pub struct Inputs {
    /// Items of `item_bytes` bytes each, one after the other.
    pub bytes: Vec<u8>,
    /// Payloads of the side's width.
    pub payloads: Vec<u8>,
    /// Ascending indices of the items that both have.
    pub common: Vec<u32>,
}

/// The inputs of `role` in repeat `round`: the first `overlap` items come from a generator that both share; the order is random.
pub fn make(settings: &Settings, role: Role, round: u64) -> Inputs {
    let (items, salt) = match role {
        Role::Sender => (settings.sender_items, 1),
        Role::Receiver => (settings.receiver_items, 2),
    };
    let overlap = settings.overlap();
    let mut shared = ChaCha20Rng::seed_from_u64(round << 2);
    let mut own = ChaCha20Rng::seed_from_u64((round << 2) | salt);
    let mut order: Vec<u32> = (0..items as u32).collect();
    order.shuffle(&mut own);

    let width = settings.item_bytes;
    let mut bytes = vec![0; items * width];
    let (common, rest) = order.split_at(overlap);
    for &i in common {
        shared.fill_bytes(&mut bytes[i as usize * width..][..width]);
    }
    for &i in rest {
        own.fill_bytes(&mut bytes[i as usize * width..][..width]);
    }
    let mut common = common.to_vec();
    common.sort_unstable();
    let payload_bytes = match role {
        Role::Sender => settings.payload_bytes,
        Role::Receiver => settings.receiver_payload_bytes,
    };
    let payloads = bytes.chunks_exact(width).flat_map(|item| payload(role, item, payload_bytes)).collect();
    Inputs { bytes, payloads, common }
}

/// The payload of an item on one side: what a hash of it expands to, so that the receiver can check it.
pub fn payload(role: Role, item: &[u8], width: usize) -> Vec<u8> {
    let mut bytes = vec![0; width];
    if width > 0 {
        blake3::Hasher::new().update(&[role as u8]).update(item).finalize_xof().fill(&mut bytes);
    }
    bytes
}

/// The values of items on one side, `columns` each, over all of `Z_2^64`: what their payloads would be.
pub fn values(role: Role, items: &[u8], width: usize, columns: usize) -> Vec<u64> {
    let bytes: Vec<u8> = items.chunks_exact(width).flat_map(|item| payload(role, item, 8 * columns)).collect();
    bytes.chunks_exact(8).map(|eight| eight.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))).collect()
}

/// The groups of the receiver's items, by their first byte; none where there is one.
pub fn groups(items: &[u8], width: usize, groups: usize) -> Vec<u32> {
    let of = |item: &[u8]| item.first().map_or(0, |&byte| u32::from(byte) % groups as u32);
    if groups > 1 { items.chunks_exact(width).map(of).collect() } else { Vec::new() }
}

/// Digests of the items: 16 random bytes are their own, others are hashed.
pub fn digests(bytes: &[u8], width: usize) -> Vec<u128> {
    let digest = |item: &[u8]| match <[u8; 16]>::try_from(item) {
        Ok(own) => u128::from_le_bytes(own),
        Err(_) => {
            let mut half = [0; 16];
            half.copy_from_slice(&blake3::hash(item).as_bytes()[..16]);
            u128::from_le_bytes(half)
        }
    };
    bytes.chunks_exact(width).map(digest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlap_is_the_plain_intersection() {
        let settings = Settings { overlap: Some(70), ..Settings::new("intersect", "any", vesica_party::Security::SemiHonest, 300, 200) };
        let (sent, asked) = (make(&settings, Role::Sender, 3), make(&settings, Role::Receiver, 3));
        let theirs: std::collections::HashSet<u128> = digests(&sent.bytes, 16).into_iter().collect();
        let plain: Vec<u32> =
            digests(&asked.bytes, 16).iter().enumerate().filter(|(_, d)| theirs.contains(d)).map(|(i, _)| i as u32).collect();
        assert_eq!(plain, asked.common);
        assert_eq!(plain.len(), 70);
    }
}
