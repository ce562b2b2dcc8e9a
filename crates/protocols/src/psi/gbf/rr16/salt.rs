//! The salt of a run, tossed by both sides: neither can search for one under which positions suit it.

use rand_core::Rng;
use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Message};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::{SaltCommitment, SaltOpening, SaltShare};
use crate::psi::gbf::filter::Filter;

/// The sender's side of arrows 1 to 3.
pub(super) fn toss_as_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Filter, Abort> {
    let share = random_share(rng);
    ch.send(&SaltCommitment(commit(ch, &share)))?;
    let SaltShare(theirs) = ch.recv(())?;
    ch.send(&SaltOpening(share))?;
    Ok(derive(params, ch, [&share, &theirs]))
}

/// The receiver's side of arrows 1 to 3.
pub(super) fn toss_as_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Filter, Abort> {
    let SaltCommitment(commitment) = ch.recv(())?;
    let share = random_share(rng);
    ch.send(&SaltShare(share))?;
    let SaltOpening(theirs) = ch.recv(())?;
    if !bool::from(commit(ch, &theirs).ct_eq(&commitment)) {
        return Err(Abort::PeerMisbehaved(SaltOpening::STEP, "the share of the salt is not the one committed to"));
    }
    Ok(derive(params, ch, [&theirs, &share]))
}

/// Hash commitment to a share of 256 bits.
pub(super) fn commit(ch: &Channel, share: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rr16 2026 commitment to the salt");
    *hasher.update(&ch.session()).update(share).finalize().as_bytes()
}

/// The functions of items under the salt of both shares, the sender's first.
fn derive(params: &Params, ch: &Channel, shares: [&[u8; 32]; 2]) -> Filter {
    let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rr16 2026 salt to keys");
    hasher.update(&ch.session()).update(&params.fingerprint());
    for share in shares {
        hasher.update(share);
    }
    Filter::derive(params.numbers.shape, &hasher, b"RR16    payloads")
}

fn random_share(rng: &mut SecretRng) -> [u8; 32] {
    let mut share = [0; 32];
    rng.fill_bytes(&mut share);
    share
}
