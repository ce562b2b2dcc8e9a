//! The sender's share of the result: for each match the receiver returns the second half of the
//! pseudo-random function's output, which it can know for items of the sender only where it holds
//! the item too. No fairness (the receiver knows first, and may stop) and no completeness (it may
//! keep matches back).

use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;

use super::{Arrows, Outputs, Params};
use crate::tasks::IntersectSenderOutput;

/// What a party takes step 3 with: the proof of each of its items, if the sender learns its matches.
pub struct OwnProofs {
    most_matches: usize,
    of_items: Option<Secret<Vec<u128>>>,
}

impl OwnProofs {
    /// The proofs of `items`, whichever of them match.
    pub fn new(params: &Params, outputs: &mut impl Outputs, items: &[u128], ch: &mut Channel) -> Self {
        let _phase = ch.phase(Phase::Match);
        let of_items = params.both_learn.then(|| outputs.proofs(items));
        Self { most_matches: params.most_matches(), of_items }
    }

    /// Whether step 3 is due.
    pub fn are_due(&self) -> bool {
        self.of_items.is_some()
    }

    /// Step 3 of the sender, if it is due.
    pub fn learn<A: Arrows>(&self, ch: &mut Channel) -> Result<IntersectSenderOutput, Abort> {
        let Some(expected) = &self.of_items else { return Ok(IntersectSenderOutput { matches: None }) };
        let _phase = ch.phase(Phase::Match);
        let matches = receive::<A::Proofs>(self.most_matches, expected, ch)?;
        Ok(IntersectSenderOutput { matches: Some(matches) })
    }

    /// Step 3 of the receiver, if it is due; `matches` are the numbers of its matches.
    pub fn tell<A: Arrows>(&self, matches: &[u32], ch: &mut Channel) -> Result<(), Abort> {
        let Some(proofs) = &self.of_items else { return Ok(()) };
        let _phase = ch.phase(Phase::Match);
        send::<A::Proofs>(self.most_matches, matches.iter().map(|&item| proofs[item as usize]).collect(), ch)
    }
}

/// Bytes of the arrow: a count and up to `min(n_s, n_r)` proofs of 128 bits; nothing where either
/// set is empty.
pub fn predicted_bytes(sender_items: usize, receiver_items: usize) -> RangeInclusive<u64> {
    match sender_items.min(receiver_items) as u64 {
        0 => 0..=0,
        most => 16..=16 + 16 * most,
    }
}

/// Sends the matches' proofs, sorted, so that their order says nothing of the receiver's.
pub fn send<S: Stream<Element = u128>>(most: usize, mut proofs: Vec<u128>, ch: &mut Channel) -> Result<(), Abort> {
    if most == 0 {
        return Ok(());
    }
    proofs.sort_unstable();
    ch.send_stream::<S>(&[proofs.len() as u128])?;
    ch.send_stream::<S>(&proofs)
}

/// Receives at most `most` proofs and returns the indices of the items they prove, ascending.
/// `expected[i]` is the proof of item `i`, pseudo-random.
pub fn receive<S: Stream<Element = u128>>(most: usize, expected: &[u128], ch: &mut Channel) -> Result<Vec<u32>, Abort> {
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
    if !proofs.is_sorted_by(|one, next| one < next) {
        return Err(Abort::PeerMisbehaved(S::STEP, "the proofs of matches do not ascend"));
    }
    let mut finder = TagFinder::new(expected.len(), u128::BITS, false);
    finder.add(expected, 0..);
    finder.find(&proofs);
    let matches = finder.found().list();
    if matches.len() != proofs.len() {
        return Err(Abort::PeerMisbehaved(S::STEP, "a proof of a match that belongs to no item"));
    }
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use vesica_testkit::try_two_party;

    use super::*;

    vesica_party::arrows! { "test" =>
        stream Proofs[u128] = 1, Receiver, "proofs";
    }

    fn told(proofs: &'static [u128]) -> Result<Vec<u32>, Abort> {
        let (sender, _) = try_two_party(
            |ch, _| receive::<Proofs>(3, &[10, 11, 12, 13], ch),
            |ch, _| ch.send_stream::<Proofs>(&[&[proofs.len() as u128], proofs].concat()),
        );
        sender.result
    }

    #[test]
    fn proofs_name_their_items_and_others_are_caught() {
        assert_eq!(told(&[10, 13]).unwrap(), [0, 3]);
        assert_eq!(told(&[]).unwrap(), Vec::<u32>::new());
        for cheat in [&[9][..], &[10, 10], &[13, 10], &[10, 11, 12, 13]] {
            assert!(matches!(told(cheat), Err(Abort::PeerMisbehaved(Proofs::STEP, _))), "{cheat:?}");
        }
    }
}
