//! What a party can time: for each message of its partner, how long it came after the party's own last one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use vesica_party::Role;
use vesica_party::transport::Connection;
use vesica_party::wire::Kind;

use crate::tap::{Frame, Hook, Passed, tap};

/// A message that follows one of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// One that belongs to a step, of which the same step has had so many answers before.
    Message {
        /// The tag of the protocol ([`vesica_party::Step::tag`]).
        tag: u16,
        /// The number of the arrow.
        step: u8,
        /// Earlier answers of this step.
        earlier: u16,
    },
    /// The goodbye: a side's last frame.
    Goodbye,
}

/// Nanoseconds between a side's message and the other side's last message before it, by who answered. Of messages in a row
/// the first one is the answer.
pub type Gaps = BTreeMap<(Role, Answer), f64>;

/// When each frame of a conversation was written.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Vec<Seen>>>);

#[derive(Clone, Copy)]
struct Seen {
    from: Role,
    kind: Kind,
    tag: u16,
    step: u8,
    at: Instant,
}

/// Has the times of all frames noted that are sent over a pair of connections (the sender's end first).
pub fn watch((sender, receiver): (Connection, Connection)) -> ((Connection, Connection), Watch) {
    let watch = Watch::default();
    let watcher = |from| Watcher { from, watch: watch.clone() };
    ((tap(sender, watcher(Role::Sender)), tap(receiver, watcher(Role::Receiver))), watch)
}

struct Watcher {
    from: Role,
    watch: Watch,
}

impl Hook for Watcher {
    fn pass(&mut self, frame: Frame) -> Passed {
        let (header, bytes) = (frame.header, frame.to_bytes());
        if matches!(header.kind, Kind::Message | Kind::Chunk | Kind::Finish) {
            let mut seen = self.watch.0.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(Seen {
                from: self.from,
                kind: header.kind,
                tag: header.tag,
                step: header.step,
                at: Instant::now(),
            });
        }
        Passed::Bytes(bytes)
    }
}

impl Watch {
    /// The gaps of a conversation that is over. A goodbye is no message that a side answers: of two, each follows the other
    /// side's last message.
    pub fn gaps(&self) -> Gaps {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gaps = Gaps::new();
        let mut last: [Option<Instant>; 2] = [None; 2];
        let mut before = None;
        for seen in seen.iter() {
            let theirs = last[seen.from.peer() as usize];
            let gap = theirs.map(|theirs| seen.at.duration_since(theirs).as_nanos() as f64);
            if seen.kind == Kind::Finish {
                gaps.extend(gap.map(|gap| ((seen.from, Answer::Goodbye), gap)));
                continue;
            }
            if let (Some(gap), true) = (gap, before != Some(seen.from)) {
                let answer = |earlier| (seen.from, Answer::Message { tag: seen.tag, step: seen.step, earlier });
                let earlier = (0..=u16::MAX).find(|&earlier| !gaps.contains_key(&answer(earlier))).unwrap_or(u16::MAX);
                gaps.insert(answer(earlier), gap);
            }
            last[seen.from as usize] = Some(seen.at);
            before = Some(seen.from);
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use vesica_party::transport::memory;

    use super::*;
    use crate::pair::{options, two_party_over};

    vesica_party::arrows! { "watched" =>
        /// Arrow 1: what is answered.
        fixed Question(u64) = 1, Sender, "a question";
        /// Arrow 2: the answer.
        fixed Reply(u64) = 2, Receiver, "a reply";
    }

    /// Longer than a busy machine keeps a thread waiting.
    const PAUSE: Duration = Duration::from_millis(200);

    #[test]
    fn a_pause_before_an_answer_or_the_goodbye_is_in_its_gap() {
        let (ends, watch) = watch(memory::pair());
        let (sent, received) = two_party_over(
            ends,
            options(),
            |ch, _| {
                ch.send(&Question(1))?;
                ch.recv::<Reply>(())?;
                ch.recv::<Reply>(())?;
                ch.send(&Question(2))?;
                ch.recv::<Reply>(())
            },
            |ch, _| {
                ch.recv::<Question>(())?;
                ch.send(&Reply(1))?;
                ch.send(&Reply(2))?;
                ch.recv::<Question>(())?;
                thread::sleep(PAUSE);
                ch.send(&Reply(3))?;
                thread::sleep(PAUSE);
                Ok(())
            },
        );
        assert!(sent.result.is_ok() && received.result.is_ok());
        let gaps = watch.gaps();
        let step = |message: vesica_party::Step, earlier| Answer::Message {
            tag: message.tag(),
            step: message.number,
            earlier,
        };
        let [question, reply] = [<Question as vesica_party::Fixed>::STEP, <Reply as vesica_party::Fixed>::STEP];
        // The second reply comes in a row with the first one, and answers nothing.
        let answers = [
            (Role::Sender, step(question, 0)),
            (Role::Sender, Answer::Goodbye),
            (Role::Receiver, step(reply, 0)),
            (Role::Receiver, step(reply, 1)),
            (Role::Receiver, Answer::Goodbye),
        ];
        assert_eq!(gaps.keys().copied().collect::<Vec<_>>(), answers);
        let paused = PAUSE.as_nanos() as f64;
        let late = |answer: usize, pauses: f64| gaps[&answers[answer]] > pauses * paused * 0.99;
        assert!(late(3, 1.0) && late(4, 2.0), "{gaps:?}");
        assert!([0, 2].iter().all(|&prompt| !late(prompt, 1.0)), "{gaps:?}");
    }
}
