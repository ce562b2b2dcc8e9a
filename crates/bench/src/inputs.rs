//! Random sets with a known overlap, the same in both processes.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica::task::Sample;
use vesica_party::Role;

use crate::Settings;

/// The inputs of `role` in repeat `round`: the first `overlap` items come from a generator that
/// both share; the order is random.
pub fn make(settings: &Settings, role: Role, round: u64) -> Sample {
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
    let payloads = bytes.chunks_exact(width).flat_map(|item| Sample::payload(role, item, payload_bytes)).collect();
    Sample { role, bytes, item_bytes: width, payloads, common }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlap_is_the_plain_intersection() {
        let settings = Settings {
            overlap: Some(70),
            ..Settings::new("intersect", "any", vesica_party::Security::SemiHonest, 300, 200)
        };
        let (sent, asked) = (make(&settings, Role::Sender, 3), make(&settings, Role::Receiver, 3));
        let theirs: std::collections::HashSet<u128> = sent.digests().into_iter().collect();
        let plain: Vec<u32> =
            asked.digests().iter().enumerate().filter(|(_, d)| theirs.contains(d)).map(|(i, _)| i as u32).collect();
        assert_eq!(plain, asked.common);
        assert_eq!(plain.len(), 70);
    }
}
