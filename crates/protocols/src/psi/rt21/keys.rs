//! Arrows 1 to 4, and the functions of items that follow from them.

use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{EdwardsPoint, MontgomeryPoint};
use rand_core::Rng;
use rayon::prelude::*;
use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Fixed, Message};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Bits256;
use vesica_structures::okvs::{Band, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::messages::{PublicKey, SaltCommitment, SaltOpening, SaltShare};
use super::params::ENCODING_BITS;
use super::permutation::Permutation;
use crate::ecdh::Exponent;
use crate::ecdh::x25519::{X25519, is_canonical};
use crate::psi::finish::StoredOutputs;

/// Separates the keystreams of payloads from those of other protocols.
pub(super) const PAYLOADS: &[u8; 16] = b"RT21    payloads";

/// Items that a thread takes at a time.
pub(super) const BATCH: usize = 32;

/// Items that are worked on without a look at the channel.
pub(super) const ITEMS_BETWEEN_CHANNEL_CHECKS: usize = 1 << 12;

/// The reason for which a public key is refused.
const BAD_KEY: &str = "a public key that is no point of prime order of the curve";

/// The public functions of a run.
#[derive(Debug)]
pub(super) struct Keys {
    okvs_seed: u128,
    /// Of `H_3`, from items to masks of table values.
    masks: [u8; 32],
    /// Of `H_2`.
    outputs: [u8; 32],
    pub(super) permutation: Permutation,
}

/// The sender's side of arrows 1 to 4, with its exponent.
pub(super) fn begin_as_sender(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(Keys, Secret<X25519>), Abort> {
    let exponent = X25519::random(rng);
    let key = public_key(&exponent);
    let share = random_share(rng);
    ch.send(&SaltCommitment(commit(ch, &share)))?;
    let SaltShare(theirs) = ch.recv(())?;
    ch.send(&SaltOpening(share))?;
    ch.send(&PublicKey(key))?;
    Ok((Keys::derive(params, ch, [&share, &theirs], &key), exponent))
}

/// The receiver's side, with the sender's checked key.
pub(super) fn begin_as_receiver(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(Keys, EdwardsPoint), Abort> {
    let SaltCommitment(commitment) = ch.recv(())?;
    let share = random_share(rng);
    ch.send(&SaltShare(share))?;
    let SaltOpening(theirs) = ch.recv(())?;
    if !bool::from(commit(ch, &theirs).ct_eq(&commitment)) {
        return Err(Abort::PeerMisbehaved(
            <SaltOpening as Message>::STEP,
            "the share of the salt is not the one committed to",
        ));
    }
    let PublicKey(key) = ch.recv(())?;
    let point = checked(&key).ok_or(Abort::PeerMisbehaved(<PublicKey as Fixed>::STEP, BAD_KEY))?;
    Ok((Keys::derive(params, ch, [&theirs, &share], &key), point))
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

/// Hash commitment to a share of 256 bits.
pub(super) fn commit(ch: &Channel, share: &[u8; 32]) -> [u8; 32] {
    *bound("vesica v1 rt21 2026 commitment to the salt", ch).update(share).finalize().as_bytes()
}

/// A hash that is bound to the session and to the place in its conversation.
fn bound(label: &str, ch: &Channel) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key(label);
    let (path, reversed) = ch.place();
    hasher.update(&ch.session()).update(&[u8::from(reversed)]).update(&(path.len() as u64).to_le_bytes());
    for index in path {
        hasher.update(&index.to_le_bytes());
    }
    hasher
}

fn random_share(rng: &mut SecretRng) -> [u8; 32] {
    let mut share = [0; 32];
    rng.fill_bytes(&mut share);
    share
}

impl Keys {
    fn derive(params: &Params, ch: &Channel, shares: [&[u8; 32]; 2], public_key: &[u8; 32]) -> Self {
        let mut hasher = bound("vesica v1 rt21 2026 salt to keys", ch);
        hasher.update(&params.fingerprint()).update(shares[0]).update(shares[1]).update(public_key);
        let mut keys = hasher.finalize_xof();
        let mut seed = [0; 16];
        keys.fill(&mut seed);
        let mut others = [[0; 32]; 3];
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
        hasher.update(&item.to_le_bytes()).update(shared).finalize_xof().fill(blocks.as_flattened_mut());
        blocks.map(u128::from_le_bytes)
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
