//! Arrows 1 to 3: the salt of the bins and keys of items, from a coin toss.
//!
//! Neither side can choose the salt: it could search for one under which a guessed set of the other side
//! overflows a bin, or under which many of its own items share a key. An opening that does not come counts as
//! a failed run.

use vesica_party::{Abort, Channel};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::{SaltCommitment, SaltOpening, SaltShare};
use vesica_protocols::psi::toss::{self, Share, bound};

/// The public keys of a run's functions, all derived from the salt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// Of the function from items to bins and keys.
    pub(super) places: [u8; 32],
    /// Of the commitments to items.
    pub(super) commitments: [u8; 32],
}

impl Keys {
    fn derive(ch: &Channel, params: &Params, shares: &[Share; 2]) -> Self {
        let mut hasher = bound("vesica v1 rr17 2026 salt to keys", ch);
        hasher.update(&params.fingerprint());
        for share in shares {
            hasher.update(share);
        }
        let mut keys = [[0; 32]; 2];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [places, commitments] = keys;
        Self { places, commitments }
    }
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

/// The sender's side.
pub(super) fn toss_as_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys, Abort> {
    let shares = toss::as_sender::<Arrows>(ch, rng)?;
    Ok(Keys::derive(ch, params, &shares))
}

/// The receiver's side.
pub(super) fn toss_as_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys, Abort> {
    let shares = toss::as_receiver::<Arrows>(ch, rng)?;
    Ok(Keys::derive(ch, params, &shares))
}

/// The commitment to a share.
pub(super) fn commit(ch: &Channel, share: &Share) -> Share {
    *bound("vesica v1 rr17 2026 commitment to the salt", ch).update(share).finalize().as_bytes()
}
