//! The local halves of the pseudo-random function `x -> G(a H(x))`.

use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use vesica_party::{Abort, Channel};
use vesica_structures::secret::Secret;

use crate::ecdh::{self, Point};
use crate::psi::finish;

/// Domain of the hash to the group.
pub(super) const DOMAIN: &[u8] = b"vesica-v1-ecdh-hfh99-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
/// Domain of `G`.
const OUTPUT_CONTEXT: &str = "vesica v1 ecdh-hfh99 2026 output of the pseudo-random function";

/// Appends `exponent H(item)` of many items to `blinded`, and looks at the channel meanwhile.
pub(super) fn blind_many(
    items: &[u128],
    exponent: &Secret<Scalar>,
    blinded: &mut Secret<Vec<Point>>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    ecdh::blind_many(DOMAIN, items, exponent, blinded, ch)
}

/// The outputs of `G` for one item.
struct Output {
    /// The tag `m`, 128 bits of which arrow 3 carries some.
    tag: u128,
    /// The proof of a match, `p`.
    proof: u128,
    keystream: blake3::OutputReader,
}

impl Output {
    /// `G(point)` under `session`.
    fn of(session: &[u8; 32], point: &Point) -> Self {
        let mut keystream = blake3::Hasher::new_derive_key(OUTPUT_CONTEXT).update(session).update(point).finalize_xof();
        let mut halves = [0; 32];
        keystream.fill(&mut halves);
        let [tag, proof]: [u128; 2] = bytemuck::cast(halves);
        Self { tag, proof, keystream }
    }
}

/// `a H(x)` of a party's items, which all outputs follow from.
pub(super) struct Outputs {
    /// The session's identifier.
    pub(super) session: [u8; 32],
    /// The points, by item.
    pub(super) points: Secret<Vec<Point>>,
}

impl Outputs {
    /// The words whose low bits are the tags.
    pub(super) fn tags(&self) -> Vec<u128> {
        self.points.par_iter().map(|point| Output::of(&self.session, point).tag).collect()
    }
}

impl finish::Outputs for Outputs {
    fn proofs(&mut self) -> Secret<Vec<u128>> {
        Secret::new(self.points.par_iter().map(|point| Output::of(&self.session, point).proof).collect())
    }

    fn into_keystream(self) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static {
        let Self { session, points } = self;
        move |number, _item, out| Output::of(&session, &points[number]).keystream.fill(out)
    }
}
