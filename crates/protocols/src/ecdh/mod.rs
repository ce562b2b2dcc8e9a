//! Parts that the protocols on Diffie-Hellman share: commuting blindings, in batches over all
//! threads. They are on Ristretto255, or on the group that the type of an [`Exponent`] names.

pub mod arrived;
pub mod ask;
pub mod digests;
pub mod exchange;
pub mod exponent;
pub mod ristretto;

pub use ask::{answer, ask, evaluate};
use bytemuck::Zeroable;
pub use exponent::Exponent;
use exponent::Message;
use rayon::prelude::*;
/// A party's secret blinding, uniform and not zero.
pub use vesica_mpc::group::random_scalar as random_exponent;
use vesica_mpc::group::{self, BATCH};
use vesica_party::{Abort, Assumption, Channel, assume, assumptions};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

/// Bytes of an encoded point.
pub const POINT_BYTES: usize = group::ENCODED_BYTES;
/// Points that are blinded, sent and answered at a time, and kept together.
pub const POINTS_PER_CHUNK: usize = 512;
/// Chunks that the receiver sends before it waits for the first answer: half a MiB, and as much
/// time as the longest round trips take.
pub const CHUNKS_IN_FLIGHT: usize = 32;

/// Items that are blinded without a look at the channel.
const ITEMS_BETWEEN_CHANNEL_CHECKS: usize = 1 << 13;

/// The reason for which a point is refused.
pub const BAD_POINT: &str = "a point that is no element of the group, or the neutral one";

/// What two blindings rest on.
pub const ASSUMPTIONS: &[Assumption] =
    assume![(discrete_logarithm "DDH on Ristretto255"), "hash-to-group is a random oracle"];
/// The same where digests or keys are derived from points.
pub const DIGEST_ASSUMPTIONS: &[Assumption] =
    assumptions![ASSUMPTIONS, assume!["BLAKE3 is a pseudo-random generator on group elements"]];

/// An encoded point.
pub type Point = group::Encoded;

/// A random order, and the items in it.
pub fn shuffled(items: &[u128], rng: &mut SecretRng) -> (Secret<Vec<u32>>, Secret<Vec<u128>>) {
    let order = Secret::new(random_order(items.len(), rng));
    let items = Secret::new(order.iter().map(|&item| items[item as usize]).collect());
    (order, items)
}

/// `exponent H(item)` for each item; `H` hashes under `domain` and `session`.
pub fn blind_items<E: Exponent>(
    domain: &[u8],
    session: &[u8; 32],
    items: &[u128],
    exponent: &Secret<E>,
) -> Secret<Vec<E::Point>> {
    let mut blinded = Secret::new(vec![E::Point::zeroed(); items.len()]);
    blinded.par_chunks_mut(BATCH).zip(items.par_chunks(BATCH)).for_each(|(blinded, items)| {
        let message = |item: &u128| {
            let mut message = [0; size_of::<Message>()];
            message[..32].copy_from_slice(session);
            message[32..].copy_from_slice(&item.to_le_bytes());
            message
        };
        let messages: Secret<Vec<Message>> = Secret::new(items.iter().map(message).collect());
        exponent.hash_and_multiply(domain, &messages, blinded);
    });
    blinded
}

/// Appends [`blind_items`] of many items to `blinded`, and looks at the channel now and then: a run
/// that is over goes on for less than a second.
pub fn blind_many<E: Exponent>(
    domain: &[u8],
    items: &[u128],
    exponent: &Secret<E>,
    blinded: &mut Secret<Vec<E::Point>>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let session = ch.session();
    for items in items.chunks(ITEMS_BETWEEN_CHANNEL_CHECKS) {
        ch.check()?;
        blinded.extend_from_slice(&blind_items(domain, &session, items, exponent));
    }
    Ok(())
}

/// `exponent P` for each point of the peer, or nothing if one is no valid encoding or is the
/// neutral element.
pub fn blind_points<E: Exponent>(points: Vec<E::Point>, exponent: &Secret<E>) -> Option<Secret<Vec<E::Point>>> {
    let mut points = Secret::new(points);
    // Handing a few of them to another thread takes longer than the work.
    let valid = if points.len() <= BATCH {
        exponent.multiply(&mut points)
    } else {
        points.par_chunks_mut(BATCH).all(|points| exponent.multiply(points))
    };
    valid.then_some(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &[u8] = b"test";

    fn blindings_commute<E: Exponent>() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let (a, b) = (E::random(&mut rng), E::random(&mut rng));
        let items: Vec<u128> = (0..BATCH as u128 + 3).collect();
        let session = [7; 32];
        let under_a = blind_items(DOMAIN, &session, &items, &a).to_vec();
        let under_b = blind_items(DOMAIN, &session, &items, &b).to_vec();
        let both = blind_points(under_b, &a).unwrap().to_vec();
        assert!(both == *blind_points(under_a.clone(), &b).unwrap());
        assert!(*blind_points(both, &b.inverse()).unwrap() == under_a);
        assert!(*blind_items(DOMAIN, &[8; 32], &items, &a) != under_a);
        assert!(*blind_items(b"another", &session, &items, &a) != under_a);
        // Each item has a point of its own.
        assert!((1..items.len()).all(|i| under_a[0] != under_a[i]));
    }

    #[test]
    fn blindings_commute_and_come_off_again() {
        blindings_commute::<curve25519_dalek::Scalar>();
    }

    #[test]
    fn invalid_and_neutral_points_are_refused_wherever_they_are() {
        let exponent = random_exponent(&mut SecretRng::insecure_from_seed(2));
        let good = blind_items(DOMAIN, &[7; 32], &(0..2 * BATCH as u128 + 3).collect::<Vec<_>>(), &exponent);
        assert!(blind_points(good.to_vec(), &exponent).is_some());
        for at in [0, BATCH, BATCH + 7, 2 * BATCH - 1, good.len() - 1] {
            for bad in [[0; 32], [0xff; 32]] {
                let mut points = good.to_vec();
                points[at] = bad;
                assert!(blind_points(points, &exponent).is_none(), "{bad:x?} at {at}");
            }
        }
        assert!(blind_points(Vec::new(), &exponent).unwrap().is_empty());
    }
}
