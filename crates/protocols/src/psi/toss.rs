//! The coin toss by which both sides make a salt: the sender commits to its share, the receiver sends its own,
//! the sender opens. Neither side can choose the salt. Only the sender can search for one, by a failed run for each
//! try: it knows the salt first, and may keep its opening back.

use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Fixed};
use vesica_structures::rng::SecretRng;

/// A share of the salt, or a commitment to one.
pub type Share = [u8; 32];

/// The arrows of a protocol's toss, of 32 bytes each.
pub trait Arrows {
    /// The first arrow.
    type Commitment: Fixed;
    /// The second arrow.
    type Share: Fixed;
    /// The third arrow.
    type Opening: Fixed;

    /// Checked where the program is compiled.
    const ARE_SHARES: () = assert!(
        size_of::<Self::Commitment>() == size_of::<Share>()
            && size_of::<Self::Share>() == size_of::<Share>()
            && size_of::<Self::Opening>() == size_of::<Share>()
    );

    /// The commitment to a share: a hash with a domain of its own, which hides a value of 256 bits of entropy.
    fn commit(ch: &Channel, share: &Share) -> Share;
}

/// The sender's side. Gives the sender's share, and the receiver's.
pub fn as_sender<A: Arrows>(ch: &mut Channel, rng: &mut SecretRng) -> Result<[Share; 2], Abort> {
    let () = A::ARE_SHARES;
    let share = random_share(rng);
    ch.send(&bytemuck::cast::<Share, A::Commitment>(A::commit(ch, &share)))?;
    let theirs: A::Share = ch.recv(())?;
    ch.send(&bytemuck::cast::<Share, A::Opening>(share))?;
    Ok([share, bytemuck::cast(theirs)])
}

/// The receiver's side. Gives the sender's share, and the receiver's.
///
/// # Errors
/// If the sender opens another share than it committed to.
pub fn as_receiver<A: Arrows>(ch: &mut Channel, rng: &mut SecretRng) -> Result<[Share; 2], Abort> {
    let () = A::ARE_SHARES;
    let commitment: A::Commitment = ch.recv(())?;
    let share = random_share(rng);
    ch.send(&bytemuck::cast::<Share, A::Share>(share))?;
    let opening: A::Opening = ch.recv(())?;
    let theirs = bytemuck::cast(opening);
    if !bool::from(A::commit(ch, &theirs).ct_eq(&bytemuck::cast::<A::Commitment, Share>(commitment))) {
        let fault = "the share of the salt is not the one committed to";
        return Err(Abort::PeerMisbehaved(<A::Opening as Fixed>::STEP, fault));
    }
    Ok([theirs, share])
}

/// 256 uniform bits.
pub fn random_share(rng: &mut SecretRng) -> Share {
    let mut share = [0; 32];
    rand_core::Rng::fill_bytes(rng, &mut share);
    share
}

/// A hash that is bound to the session and to the place in its conversation.
pub fn bound(label: &str, ch: &Channel) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key(label);
    let (path, reversed) = ch.place();
    hasher.update(&ch.session()).update(&[u8::from(reversed)]).update(&(path.len() as u64).to_le_bytes());
    for index in path {
        hasher.update(&index.to_le_bytes());
    }
    hasher
}
