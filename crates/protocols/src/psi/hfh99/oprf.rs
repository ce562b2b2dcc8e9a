//! The local halves of the pseudo-random function `x -> G(a H(x))`: points under a mask, in batches over all threads.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rayon::prelude::*;
use vesica_mpc::group::hash_to_group;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// Points of one batched compression: large enough to share the inversion, small enough to spread a chunk over threads.
const BATCH: usize = 64;

/// Domain of the hash to the group.
const DOMAIN: &[u8] = b"vesica-v1-ecdh-hfh99-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
/// Domain of `G`.
const OUTPUT_CONTEXT: &str = "vesica v1 ecdh-hfh99 2026 output of the pseudo-random function";

/// A compressed point.
pub(super) type Point = [u8; 32];

/// A party's secret mask, uniform and not zero.
pub(super) fn random_exponent(rng: &mut SecretRng) -> Secret<Scalar> {
    loop {
        let exponent = Secret::new(Scalar::random(rng));
        if *exponent != Scalar::ZERO {
            return exponent;
        }
    }
}

/// The exponent that takes a mask off again.
pub(super) fn inverse(exponent: &Secret<Scalar>) -> Secret<Scalar> {
    Secret::new(exponent.invert())
}

/// `exponent H(item)` for each item, hashed under `session`.
pub(super) fn mask_items(session: &[u8; 32], items: &[u128], exponent: &Secret<Scalar>) -> Vec<Point> {
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
                    hash_to_group(DOMAIN, &message) * *half
                })
                .collect();
            compress(&points)
        })
        .collect()
}

/// `exponent P` for each point of the peer, or nothing if one is no valid encoding or is the neutral element.
pub(super) fn mask_points(points: &[Point], exponent: &Secret<Scalar>) -> Option<Vec<Point>> {
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

/// What `G` gives for one item.
pub(super) struct Output {
    /// The mask `m`, 128 bits of which arrow 3 carries some.
    pub(super) mask: u128,
    /// The proof of a match, `p`.
    pub(super) proof: u128,
    keystream: blake3::OutputReader,
}

impl Output {
    /// `G(point)` under `session`.
    pub(super) fn of(session: &[u8; 32], point: &Point) -> Self {
        let mut keystream = blake3::Hasher::new_derive_key(OUTPUT_CONTEXT).update(session).update(point).finalize_xof();
        let mut halves = [0; 32];
        keystream.fill(&mut halves);
        let [mask, proof]: [u128; 2] = bytemuck::cast(halves);
        Self { mask, proof, keystream }
    }

    /// Fills `out` with the payload's keystream `k`.
    pub(super) fn fill_keystream(mut self, out: &mut [u8]) {
        self.keystream.fill(out);
    }
}

/// What the masks of points are the low bits of.
pub(super) fn masks_of(session: &[u8; 32], points: &[Point]) -> Vec<u128> {
    points.par_iter().map(|point| Output::of(session, point).mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_commute_and_come_off_again() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let (a, b) = (random_exponent(&mut rng), random_exponent(&mut rng));
        let items: Vec<u128> = (0..BATCH as u128 + 3).collect();
        let session = [7; 32];
        let under_a = mask_items(&session, &items, &a);
        let under_b = mask_items(&session, &items, &b);
        let both = mask_points(&under_b, &a).unwrap();
        assert_eq!(both, mask_points(&under_a, &b).unwrap());
        assert_eq!(mask_points(&both, &inverse(&b)).unwrap(), under_a);
        assert_ne!(mask_items(&[8; 32], &items, &a), under_a);
    }

    #[test]
    fn invalid_and_neutral_points_are_refused() {
        let exponent = random_exponent(&mut SecretRng::insecure_from_seed(2));
        assert!(mask_points(&[[0; 32]], &exponent).is_none(), "the neutral element");
        assert!(mask_points(&[[0xff; 32]], &exponent).is_none(), "no encoding");
        assert!(mask_points(&[], &exponent).unwrap().is_empty());
    }
}
