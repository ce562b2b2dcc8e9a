//! The sender's share of the result: for each match the receiver returns the second half of the pseudo-random function's output, which
//! it can know for items of the sender only where it holds the item too. No fairness (the receiver knows first, and may stop) and no
//! completeness (it may keep matches back).

use std::collections::HashMap;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Stream};

/// Bytes of the arrow: a count and up to `min(n_s, n_r)` proofs of 128 bits; nothing where either set is empty.
pub(crate) fn predicted_bytes(sender_items: usize, receiver_items: usize) -> RangeInclusive<u64> {
    match sender_items.min(receiver_items) as u64 {
        0 => 0..=0,
        most => 16..=16 + 16 * most,
    }
}

/// Sends the matches' proofs, sorted, so that their order says nothing of the receiver's.
pub(crate) fn send<S: Stream<Element = u128>>(most: usize, mut proofs: Vec<u128>, ch: &mut Channel) -> Result<(), Abort> {
    if most == 0 {
        return Ok(());
    }
    proofs.sort_unstable();
    ch.send_stream::<S>(&[proofs.len() as u128])?;
    ch.send_stream::<S>(&proofs)
}

/// Receives at most `most` proofs and returns the indices of the items they prove, ascending. `expected[i]` is the proof of item `i`.
pub(crate) fn receive<S: Stream<Element = u128>>(most: usize, expected: &[u128], ch: &mut Channel) -> Result<Vec<u32>, Abort> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let mut count = [0];
    ch.recv_stream::<S>(&mut count)?;
    if count[0] > most as u128 {
        return Err(Abort::PeerMisbehaved(S::STEP, "more proofs of matches than items"));
    }
    let mut proofs = vec![0; count[0] as usize];
    ch.recv_stream::<S>(&mut proofs)?;
    let mut items: HashMap<u128, u32> = expected.iter().enumerate().map(|(item, &proof)| (proof, item as u32)).collect();
    let mut matches = proofs
        .iter()
        .map(|proof| items.remove(proof).ok_or(Abort::PeerMisbehaved(S::STEP, "a proof that belongs to no item, or comes twice")))
        .collect::<Result<Vec<u32>, Abort>>()?;
    matches.sort_unstable();
    Ok(matches)
}
