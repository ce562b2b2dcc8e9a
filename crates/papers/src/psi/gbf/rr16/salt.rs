//! The salt of a run, tossed by both sides: neither can search for one under which positions suit it, but for the
//! sender by a failed run for each try.

use vesica_party::{Abort, Channel};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::{SaltCommitment, SaltOpening, SaltShare};
use crate::psi::gbf::filter::Filter;
use vesica_protocols::psi::toss::{self, Share, bound};

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

/// The sender's side of arrows 1 to 3.
pub(super) fn toss_as_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Filter, Abort> {
    let shares = toss::as_sender::<Arrows>(ch, rng)?;
    Ok(derive(params, ch, &shares))
}

/// The receiver's side of arrows 1 to 3.
pub(super) fn toss_as_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Filter, Abort> {
    let shares = toss::as_receiver::<Arrows>(ch, rng)?;
    Ok(derive(params, ch, &shares))
}

/// The commitment to a share.
pub(super) fn commit(ch: &Channel, share: &Share) -> Share {
    *bound("vesica v1 rr16 2026 commitment to the salt", ch).update(share).finalize().as_bytes()
}

/// The functions of items under the salt of both shares, the sender's first.
fn derive(params: &Params, ch: &Channel, shares: &[Share; 2]) -> Filter {
    let mut hasher = bound("vesica v1 rr16 2026 salt to keys", ch);
    hasher.update(&params.fingerprint());
    for share in shares {
        hasher.update(share);
    }
    Filter::derive(params.numbers.shape, &hasher, b"RR16    payloads")
}
