//! Arrows 1 to 4, and the functions of items that follow from them.

use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{EdwardsPoint, MontgomeryPoint};
use rayon::prelude::*;
use vesica_party::{Abort, Channel, Fixed};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Bits256;
use vesica_structures::okvs::Band;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::Params;
use super::messages::{PublicKey, SaltCommitment, SaltOpening, SaltShare};
use super::params::ENCODING_BITS;
use super::permutation::Permutation;
use crate::ecdh::x25519::{X25519, is_canonical};
use vesica_protocols::ecdh::Exponent;
use vesica_protocols::psi::finish::StoredOutputs;
use vesica_protocols::psi::toss::{self, Share, bound};

/// Separates the keystreams of payloads from those of other protocols.
pub(super) const PAYLOADS: &[u8; 16] = b"RT21    payloads";

/// Items that a thread takes at a time.
pub(super) const BATCH: usize = 32;

/// Items that are worked on without a look at the channel.
pub(super) const ITEMS_BETWEEN_CHANNEL_CHECKS: usize = 1 << 12;

/// The reason for which a public key is refused.
const BAD_KEY: &str = "a public key that is no point of prime order of the curve";

/// The public functions of a run. Both sides know them, and nobody else need.
pub(super) struct Keys {
    okvs_seed: u128,
    /// Of `H_3`, from items to masks of table values.
    masks: [u8; 32],
    /// Of `H_2`.
    outputs: [u8; 32],
    pub(super) permutation: Permutation,
}

/// Arrows 1 to 3.
enum Arrows {}

impl toss::Arrows for Arrows {
    type Commitment = SaltCommitment;
    type Share = SaltShare;
    type Opening = SaltOpening;

    fn commit(ch: &Channel, share: &Share) -> Share {
        commit(ch, share)
    }
}

/// The sender's side of arrows 1 to 4, with its exponent.
pub(super) fn begin_as_sender(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(Keys, Secret<X25519>), Abort> {
    let exponent = X25519::random(rng);
    let key = public_key(&exponent);
    let shares = toss::as_sender::<Arrows>(ch, rng)?;
    ch.send(&PublicKey(key))?;
    Ok((Keys::derive(params, ch, &shares, &key), exponent))
}

/// The receiver's side, with the sender's checked key.
pub(super) fn begin_as_receiver(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(Keys, EdwardsPoint), Abort> {
    let shares = toss::as_receiver::<Arrows>(ch, rng)?;
    let PublicKey(key) = ch.recv(())?;
    let point = checked(&key).ok_or(Abort::PeerMisbehaved(<PublicKey as Fixed>::STEP, BAD_KEY))?;
    Ok((Keys::derive(params, ch, &shares, &key), point))
}

/// The u-coordinate of the base point times the exponent.
pub(super) fn public_key(exponent: &X25519) -> [u8; 32] {
    exponent.times(&curve25519_dalek::constants::X25519_BASEPOINT)
}

/// A point of this u-coordinate, if it is on the curve and has prime order. Which of both points says
/// nothing: keys are u-coordinates, too.
pub(super) fn checked(key: &[u8; 32]) -> Option<EdwardsPoint> {
    if !is_canonical(key) {
        return None;
    }
    // Nothing for a coordinate of the twist.
    let point = MontgomeryPoint(*key).to_edwards(0)?;
    (point.is_torsion_free() && !point.is_identity()).then_some(point)
}

/// The commitment to a share.
pub(super) fn commit(ch: &Channel, share: &Share) -> Share {
    *bound("vesica v1 rt21 2026 commitment to the salt", ch).update(share).finalize().as_bytes()
}

impl Keys {
    pub(super) fn derive(params: &Params, ch: &Channel, shares: &[Share; 2], public_key: &[u8; 32]) -> Self {
        let salted = |label| {
            let mut hasher = bound(label, ch);
            hasher.update(&params.fingerprint()).update(shares.as_flattened());
            hasher
        };
        // Without the public key: the sender knows the salt before it sends that, and could try keys until a set that
        // it guesses cannot be encoded.
        let mut seed = [0; 16];
        salted("vesica v1 rt21 2026 salt to the table").finalize_xof().fill(&mut seed);
        let mut others = [[0; 32]; 3];
        let mut keys = salted("vesica v1 rt21 2026 salt to keys").update(public_key).finalize_xof();
        keys.fill(others.as_flattened_mut());
        let [masks, outputs, permutation] = others;
        let permutation = Permutation::new(permutation);
        Self { okvs_seed: u128::from_le_bytes(seed), masks, outputs, permutation }
    }

    /// The table of a run.
    pub(super) fn okvs(&self, params: &Params) -> Result<Band, Unsupported> {
        Band::new(params.finish.receiver_items, ENCODING_BITS, self.okvs_seed)
    }

    /// `H_3(item)`.
    pub(super) fn mask(&self, item: u128) -> Bits256 {
        Bits256(bytemuck::cast(*blake3::keyed_hash(&self.masks, &item.to_le_bytes()).as_bytes()))
    }

    /// `H_2(item, shared)`: tag, proof, payload key.
    pub(super) fn output(&self, item: u128, shared: &[u8; 32]) -> [u128; 3] {
        let mut hasher = blake3::Hasher::new_keyed(&self.outputs);
        let mut blocks = [[0; 16]; 3];
        let mut output = hasher.update(&item.to_le_bytes()).update(shared).finalize_xof();
        output.fill(blocks.as_flattened_mut());
        let values = blocks.map(u128::from_le_bytes);
        hasher.zeroize();
        output.zeroize();
        blocks.zeroize();
        values
    }

    /// Outputs of some items: hands tags to `add`, with the items' numbers, and stores the others.
    /// `shared` gives the shared key of the item at a place of `items`.
    pub(super) fn collect(
        &self,
        params: &Params,
        (items, numbers): (&[u128], &[u32]),
        shared: impl Fn(usize) -> Secret<[u8; 32]> + Sync,
        stored: &mut StoredOutputs,
        add: impl FnOnce(&[u128], &[u32]),
    ) {
        let mut outputs = Secret::new(vec![[0; 3]; items.len()]);
        outputs.par_iter_mut().zip(items).enumerate().with_min_len(BATCH).for_each(|(place, (output, &item))| {
            *output = self.output(item, &shared(place));
        });
        let column = |at: usize, wanted: bool| {
            let of = if wanted { &outputs[..] } else { &[] };
            Secret::new(of.iter().map(|output| output[at]).collect::<Vec<u128>>())
        };
        add(&column(0, true), numbers);
        let (proofs, payload_keys) = (column(1, params.finish.both_learn), column(2, params.finish.payload_bytes > 0));
        stored.put(&proofs, &payload_keys, numbers.iter().copied());
    }
}
