//! What the protocols on Diffie-Hellman share: commuting masks on Ristretto255, in batches over all threads.

pub(crate) mod digests;
pub(crate) mod exchange;

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rayon::prelude::*;
use vesica_mpc::group::hash_to_group;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

/// Bytes of a compressed point.
pub(crate) const POINT_BYTES: usize = 32;
/// Points that are masked, sent and answered at a time.
pub(crate) const CHUNK: usize = 512;
/// Chunks that the receiver sends before it waits for the first answer.
pub(crate) const WINDOW: usize = 3;

/// Points of one batched compression: large enough to share the inversion, small enough to spread a chunk over threads.
const BATCH: usize = 64;

/// What a point is that is refused.
pub(crate) const BAD_POINT: &str = "a point that is no element of the group, or the neutral one";

/// A compressed point.
pub(crate) type Point = [u8; POINT_BYTES];

/// A party's secret mask, uniform and not zero.
pub(crate) fn random_exponent(rng: &mut SecretRng) -> Secret<Scalar> {
    loop {
        let exponent = Secret::new(Scalar::random(rng));
        if *exponent != Scalar::ZERO {
            return exponent;
        }
    }
}

/// A random order, and the items in it.
pub(crate) fn shuffled(items: &[u128], rng: &mut SecretRng) -> (Secret<Vec<u32>>, Secret<Vec<u128>>) {
    let order = random_order(items.len(), rng);
    let items = Secret::new(order.iter().map(|&item| items[item as usize]).collect());
    (order, items)
}

/// The exponent that takes a mask off again.
pub(crate) fn inverse(exponent: &Secret<Scalar>) -> Secret<Scalar> {
    Secret::new(exponent.invert())
}

/// `exponent H(item)` for each item; `H` hashes under `domain` and `session`.
pub(crate) fn mask_items(domain: &[u8], session: &[u8; 32], items: &[u128], exponent: &Secret<Scalar>) -> Vec<Point> {
    let half = halved(exponent);
    items
        .par_chunks(BATCH)
        .flat_map_iter(|items| {
            let points: Vec<RistrettoPoint> = items
                .iter()
                .map(|item| {
                    let mut message = [0; 48];
                    message[..32].copy_from_slice(session);
                    message[32..].copy_from_slice(&item.to_le_bytes());
                    hash_to_group(domain, &message) * *half
                })
                .collect();
            compress(&points)
        })
        .collect()
}

/// `exponent P` for each point of the peer, or nothing if one is no valid encoding or is the neutral element.
pub(crate) fn mask_points(points: &[Point], exponent: &Secret<Scalar>) -> Option<Vec<Point>> {
    let half = halved(exponent);
    let batches: Option<Vec<Vec<Point>>> = points
        .par_chunks(BATCH)
        .map(|points| {
            let masked: Option<Vec<RistrettoPoint>> = points
                .iter()
                .map(|bytes| {
                    let point = CompressedRistretto(*bytes).decompress().filter(|point| !point.is_identity())?;
                    Some(point * *half)
                })
                .collect();
            Some(compress(&masked?).collect())
        })
        .collect();
    Some(batches?.concat())
}

/// Half of an exponent: the batched compression doubles what it is given.
fn halved(exponent: &Secret<Scalar>) -> Secret<Scalar> {
    Secret::new(**exponent * Scalar::from(2u8).invert())
}

/// The compressed doubles of `halves`.
fn compress(halves: &[RistrettoPoint]) -> impl Iterator<Item = Point> + use<> {
    RistrettoPoint::double_and_compress_batch(halves).into_iter().map(|point| point.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &[u8] = b"test";

    #[test]
    fn masks_commute_and_come_off_again() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let (a, b) = (random_exponent(&mut rng), random_exponent(&mut rng));
        let items: Vec<u128> = (0..BATCH as u128 + 3).collect();
        let session = [7; 32];
        let under_a = mask_items(DOMAIN, &session, &items, &a);
        let under_b = mask_items(DOMAIN, &session, &items, &b);
        let both = mask_points(&under_b, &a).unwrap();
        assert_eq!(both, mask_points(&under_a, &b).unwrap());
        assert_eq!(mask_points(&both, &inverse(&b)).unwrap(), under_a);
        assert_ne!(mask_items(DOMAIN, &[8; 32], &items, &a), under_a);
        assert_ne!(mask_items(b"another", &session, &items, &a), under_a);
    }

    #[test]
    fn invalid_and_neutral_points_are_refused() {
        let exponent = random_exponent(&mut SecretRng::insecure_from_seed(2));
        assert!(mask_points(&[[0; 32]], &exponent).is_none(), "the neutral element");
        assert!(mask_points(&[[0xff; 32]], &exponent).is_none(), "no encoding");
        assert!(mask_points(&[], &exponent).unwrap().is_empty());
    }
}
