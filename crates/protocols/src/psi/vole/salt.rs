//! The session's salt and the offset `w`: coin toss, commitments, and the keys that follow from the
//! salt.
//!
//! The sender's share blocks a receiver that overfits a table off-line; the receiver's share leaves
//! a sender that grinds a salt under which a guessed set does not encode one try a run: it may keep its opening
//! back, which counts as a failed run.

use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Message, Security};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{OffsetCommitment, OffsetOpening, OffsetShare, SaltCommitment, SaltOpening, SaltShare};
use super::params::Params;
use crate::psi::toss::{self, Share, random_share};

/// The domain of the salt's commitment.
pub(super) const SALT_COMMITMENT: &str = "vesica v1 vole-psi 2026 commitment to the salt";

/// The domain of the offset's commitment.
const OFFSET_COMMITMENT: &str = "vesica v1 vole-psi 2026 commitment to the offset";

/// The public keys of a run's functions on digests, all derived from the salt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// The key of the OKVS' rows.
    pub(super) rows: u128,
    /// The key of `H_B`.
    pub(super) values: u128,
    /// The keys of the outputs: tag, proof, payload key.
    pub(super) outputs: [u128; 3],
}

impl Keys {
    fn derive(ch: &Channel, params: &Params, shares: &[Share]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 vole-psi 2026 salt to keys");
        hasher.update(&ch.session()).update(&params.fingerprint());
        for share in shares {
            hasher.update(share);
        }
        let mut keys = [[0u8; 16]; 5];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [rows, values, outputs @ ..] = keys.map(u128::from_le_bytes);
        Self { rows, values, outputs }
    }
}

/// Arrows 1 to 3 of the malicious mode.
enum Arrows {}

impl toss::Arrows for Arrows {
    type Commitment = SaltCommitment;
    type Share = SaltShare;
    type Opening = SaltOpening;

    fn commit(ch: &Channel, share: &Share) -> Share {
        commit(ch, SALT_COMMITMENT, share)
    }
}

/// The sender's side of the salt, arrows 1 to 3.
pub(super) fn toss_as_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys, Abort> {
    if params.security == Security::SemiHonest {
        let share = random_share(rng);
        ch.send(&SaltOpening(share))?;
        return Ok(Keys::derive(ch, params, &[share]));
    }
    let shares = toss::as_sender::<Arrows>(ch, rng)?;
    Ok(Keys::derive(ch, params, &shares))
}

/// The receiver's side of the salt, arrows 1 to 3.
pub(super) fn toss_as_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys, Abort> {
    if params.security == Security::SemiHonest {
        let SaltOpening(theirs) = ch.recv(())?;
        return Ok(Keys::derive(ch, params, &[theirs]));
    }
    let shares = toss::as_receiver::<Arrows>(ch, rng)?;
    Ok(Keys::derive(ch, params, &shares))
}

/// The sender's offset `w_s` with its opening, committed to before the VOLE.
#[derive(Debug)]
pub(super) struct CommittedOffset(Secret<[u8; 48]>);

impl CommittedOffset {
    /// Draws `w_s` and sends arrow 4.
    pub(super) fn send(ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut opening = Secret::new([0; 48]);
        let (offset, hiding) = opening.split_at_mut(16);
        offset.copy_from_slice(&rng.block().to_le_bytes());
        hiding.copy_from_slice(&random_share(rng));
        ch.send(&OffsetCommitment(commit(ch, OFFSET_COMMITMENT, &opening[..])))?;
        Ok(Self(opening))
    }

    /// Once the whole table has come: arrows 6 and 7. Returns `w = w_s + w_r`.
    pub(super) fn open(self, ch: &mut Channel) -> Result<u128, Abort> {
        let OffsetShare(theirs) = ch.recv(())?;
        ch.send(&OffsetOpening(*self.0))?;
        Ok(offset_of(&self.0) ^ u128::from_le_bytes(theirs))
    }
}

/// The sender's commitment to its offset, as the receiver holds it.
#[derive(Debug)]
pub(super) struct AwaitedOffset([u8; 32]);

impl AwaitedOffset {
    /// Receives arrow 4.
    pub(super) fn receive(ch: &mut Channel) -> Result<Self, Abort> {
        let OffsetCommitment(commitment) = ch.recv(())?;
        Ok(Self(commitment))
    }

    /// Behind the whole table: arrow 6 with a fresh `w_r`.
    pub(super) fn send_share(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<u128, Abort> {
        let share = rng.block();
        ch.send(&OffsetShare(share.to_le_bytes()))?;
        Ok(share)
    }

    /// Arrow 7, checked. Returns `w`.
    pub(super) fn check_opening(self, share: u128, ch: &mut Channel) -> Result<u128, Abort> {
        let OffsetOpening(opening) = ch.recv(())?;
        let expected = commit(ch, OFFSET_COMMITMENT, &opening);
        if !bool::from(expected.ct_eq(&self.0)) {
            return Err(Abort::PeerMisbehaved(OffsetOpening::STEP, "the offset is not the one committed to"));
        }
        Ok(offset_of(&opening) ^ share)
    }
}

fn offset_of(opening: &[u8; 48]) -> u128 {
    opening.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// Hash commitment, hiding for values with 256 bits of entropy.
pub(super) fn commit(ch: &Channel, context: &'static str, value: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new_derive_key(context).update(&ch.session()).update(value).finalize().as_bytes()
}
