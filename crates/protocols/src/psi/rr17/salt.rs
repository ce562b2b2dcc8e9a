//! Arrows 1 to 3: the salt of the bins and keys of items, from a coin toss.
//!
//! Neither side can choose the salt: it could search for one under which a guessed set of the other side
//! overflows a bin, or under which many of its own items share a key. An opening that does not come counts as
//! a failed run.

use rand_core::Rng;
use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Message};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::{SaltCommitment, SaltOpening, SaltShare};

/// The public keys of a run's functions, all derived from the salt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// Of the function from items to bins and keys.
    pub(super) places: [u8; 32],
    /// Of the commitments to items.
    pub(super) commitments: [u8; 32],
}

impl Keys {
    fn derive(ch: &Channel, params: &Params, shares: [&[u8; 32]; 2]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rr17 2026 salt to keys");
        hasher.update(&ch.session()).update(&params.fingerprint());
        for share in shares {
            hasher.update(share);
        }
        let mut keys = [[0; 32]; 2];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [places, commitments] = keys;
        Self { places, commitments }
    }
}

/// The sender's side.
pub(super) fn toss_as_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys, Abort> {
    let share = random_bytes(rng);
    ch.send(&SaltCommitment(commit(ch, &share)))?;
    let SaltShare(theirs) = ch.recv(())?;
    ch.send(&SaltOpening(share))?;
    Ok(Keys::derive(ch, params, [&share, &theirs]))
}

/// The receiver's side.
pub(super) fn toss_as_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys, Abort> {
    let SaltCommitment(commitment) = ch.recv(())?;
    let share = random_bytes(rng);
    ch.send(&SaltShare(share))?;
    let SaltOpening(theirs) = ch.recv(())?;
    if !bool::from(commit(ch, &theirs).ct_eq(&commitment)) {
        return Err(Abort::PeerMisbehaved(SaltOpening::STEP, "the share of the salt is not the one committed to"));
    }
    Ok(Keys::derive(ch, params, [&theirs, &share]))
}

/// Hash commitment, hiding for values with 256 bits of entropy.
pub(super) fn commit(ch: &Channel, share: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rr17 2026 commitment to the salt");
    *hasher.update(&ch.session()).update(share).finalize().as_bytes()
}

fn random_bytes(rng: &mut SecretRng) -> [u8; 32] {
    let mut bytes = [0; 32];
    rng.fill_bytes(&mut bytes);
    bytes
}
