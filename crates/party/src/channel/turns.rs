//! The order in which a side sent and received, from which the rounds of a run are counted.

use std::collections::BTreeMap;

/// What one side sent and received, in its program's order; see
/// [`ChannelOptions::turns`](super::ChannelOptions::turns).
///
/// Consecutive parts of one fork in one direction are one turn. A side whose forks are used by
/// several threads at once has no single order, and gets that of the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    turns: Vec<Turn>,
    /// The number of turns before the [`one_message`](super::Channel::one_message) that this side is in.
    one_message: Option<usize>,
    /// Where each fork stands in each direction (`true`: sent).
    positions: BTreeMap<(Vec<u16>, bool), u64>,
}

/// Up to which position of a fork's direction this side sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    fork: Vec<u16>,
    sent: bool,
    position: u64,
    /// Of turns that count as one message: the number of those before them.
    one_message: Option<usize>,
}

/// Up to which position of a fork a side has sent, and in which round.
type Sent = (u64, usize);

impl Turns {
    /// From now on, turns count as one message.
    pub(super) fn begin_one_message(&mut self) {
        self.one_message = Some(self.turns.len());
    }

    /// From now on, each turn counts for itself.
    pub(super) fn end_one_message(&mut self) {
        self.one_message = None;
    }

    /// Adds `length` bytes of a fork. A message counts one more, so that an empty one has a
    /// position of its own.
    pub(super) fn note(&mut self, fork: Vec<u16>, sent: bool, length: usize) {
        let position = self.positions.entry((fork.clone(), sent)).or_default();
        *position += length as u64;
        let position = *position;
        match self.turns.last_mut() {
            Some(last) if last.sent == sent && last.fork == fork && last.one_message == self.one_message => {
                last.position = position;
            }
            _ => self.turns.push(Turn { fork, sent, position, one_message: self.one_message }),
        }
    }

    /// The number of rounds of a run: the length of the longest chain of messages each of which was
    /// sent after the one before had arrived. Messages that cross each other are of one round.
    /// `None` if one side received what the other did not send.
    #[expect(clippy::indexing_slicing, reason = "a side is 0 or 1, and the turns are this process's own record")]
    pub fn rounds(ours: &Self, theirs: &Self) -> Option<usize> {
        let sides = [ours, theirs];
        // For each side: turns replayed, rounds that its next message waits for, the same for the message
        // of several turns that it is sending, and the round of all that it sent.
        let mut next = [0; 2];
        let mut arrived = [0; 2];
        let mut began = [(None, 0); 2];
        let mut sent: [BTreeMap<&[u16], Vec<Sent>>; 2] = Default::default();
        loop {
            let mut moved = false;
            for side in [0, 1] {
                while let Some(turn) = sides[side].turns.get(next[side]) {
                    if turn.one_message.is_none() || turn.one_message != began[side].0 {
                        began[side] = (turn.one_message, arrived[side]);
                    }
                    if turn.sent {
                        sent[side].entry(&turn.fork).or_default().push((turn.position, began[side].1 + 1));
                    } else {
                        let round = sent[1 - side]
                            .get(turn.fork.as_slice())
                            .and_then(|sent| sent.iter().find(|(end, _)| *end >= turn.position));
                        let Some((_, round)) = round else { break };
                        arrived[side] = arrived[side].max(*round);
                    }
                    next[side] += 1;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let ended = (0..2).all(|side| next[side] == sides[side].turns.len());
        ended.then(|| sent.iter().flat_map(BTreeMap::values).flatten().map(|(_, round)| *round).max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(turns: &[(u16, bool, usize)]) -> Turns {
        let mut all = Turns::default();
        turns.iter().for_each(|&(fork, sent, length)| all.note(vec![fork; usize::from(fork)], sent, length));
        all
    }

    #[test]
    fn questions_that_wait_for_answers_to_earlier_ones_are_one_message() {
        // Two questions, of which the second waits for the first answer, twice.
        let mut ours = Turns::default();
        for one_message in [Some(0), Some(4)] {
            ours.one_message = one_message;
            for (sent, length) in [(true, 5), (false, 7)].repeat(2) {
                ours.note(vec![], sent, length);
            }
        }
        let theirs = turns(&[(0, false, 5), (0, true, 7)].repeat(4));
        assert_eq!(Turns::rounds(&ours, &theirs), Some(4));
        ours.turns.iter_mut().for_each(|turn| turn.one_message = None);
        assert_eq!(Turns::rounds(&ours, &theirs), Some(8));
    }

    #[test]
    fn rounds_are_chains_of_messages_and_not_changes_of_direction() {
        // A question, its answer, and a reply to that.
        let ours = turns(&[(0, true, 5), (0, false, 7), (0, true, 1)]);
        let theirs = turns(&[(0, false, 5), (0, true, 7), (0, false, 1)]);
        assert_eq!(Turns::rounds(&ours, &theirs), Some(3));
        // Two messages that cross, and a third one.
        let ours = turns(&[(0, true, 5), (0, false, 7), (0, true, 1)]);
        let theirs = turns(&[(0, true, 7), (0, false, 5), (0, false, 1)]);
        assert_eq!(Turns::rounds(&ours, &theirs), Some(2));
        // A part that was sent before the answer came is of the first round, however it is cut.
        let ours = turns(&[(0, true, 5), (0, true, 5), (0, false, 7)]);
        let theirs = turns(&[(0, false, 1), (0, true, 7), (0, false, 9)]);
        assert_eq!(Turns::rounds(&ours, &theirs), Some(2));
        // A fork's message waits for what its side received before, on whatever fork.
        let ours = turns(&[(0, true, 5), (1, false, 7)]);
        let theirs = turns(&[(0, false, 5), (1, true, 7)]);
        assert_eq!(Turns::rounds(&ours, &theirs), Some(2));
        assert_eq!(Turns::rounds(&Turns::default(), &Turns::default()), Some(0));
        assert_eq!(Turns::rounds(&ours, &Turns::default()), None);
    }
}
