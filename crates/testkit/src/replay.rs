//! The last work of a receiver, alone: what a sender sent is given to it once more, without the sender, and the end of it only
//! when the receiver waits for that and does nothing else.

use std::fs;
use std::io::{self, Read, Write};
use std::net;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use vesica_party::transport::{Connection, Shutdown};
use vesica_party::wire::Kind;

use crate::tap::{Frame, Hook, Passed, tap};

/// How often all threads must have been seen waiting, and how long between two looks.
const LOOKS: usize = 3;
const LOOK_EVERY: Duration = Duration::from_micros(50);

/// What the sender sent in a conversation.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<Vec<Frame>>>);

/// Has what the sender sends kept (of a pair of connections its end comes first).
pub fn keep_script((sender, receiver): (Connection, Connection)) -> ((Connection, Connection), Script) {
    let script = Script::default();
    ((tap(sender, Keeper(script.clone())), receiver), script)
}

struct Keeper(Script);

impl Hook for Keeper {
    fn pass(&mut self, frame: Frame) -> Passed {
        let bytes = frame.to_bytes();
        lock(&self.0.0).push(frame);
        Passed::Bytes(bytes)
    }
}

impl Script {
    /// Gives a receiver what was sent, of which it gets the last `held` steps only when it waits for them. The receiver must
    /// do as it did when the script was made: its random numbers are to come from the same seed. `clocks` tells the time.
    pub fn replay<const CLOCKS: usize>(
        &self,
        held: usize,
        clocks: fn() -> [f64; CLOCKS],
    ) -> (Connection, Replay<CLOCKS>) {
        let frames = lock(&self.0);
        let first_held = first_of_last_steps(&frames, held);
        let before = frames.iter().take(first_held).map(|frame| frame.to_bytes().len()).sum();
        let replay = Replay { state: Arc::default(), clocks };
        let reader = Reading {
            bytes: frames.iter().flat_map(Frame::to_bytes).collect(),
            read: 0,
            before,
            replay: replay.clone(),
        };
        let connection = Connection::new(reader, Nowhere, replay.clone());
        (tap(connection, replay.clone()), replay)
    }
}

/// Where the last steps begin: frames in a row that belong to one arrow are a step.
fn first_of_last_steps(frames: &[Frame], steps: usize) -> usize {
    let arrow = |frame: &Frame| (frame.header.fork, frame.header.tag, frame.header.step);
    let (mut left, mut last) = (steps, None);
    let mut first = frames.len();
    for (number, frame) in frames.iter().enumerate().rev() {
        if !is_message(frame.header.kind) {
            continue;
        }
        if last != Some(arrow(frame)) {
            if left == 0 {
                break;
            }
            left -= 1;
            last = Some(arrow(frame));
        }
        first = number;
    }
    first
}

fn is_message(kind: Kind) -> bool {
    matches!(kind, Kind::Message | Kind::Chunk)
}

/// When a receiver got the end of a script, and when it said goodbye.
pub struct Replay<const CLOCKS: usize> {
    state: Arc<(Mutex<State<CLOCKS>>, Condvar)>,
    clocks: fn() -> [f64; CLOCKS],
}

impl<const CLOCKS: usize> Clone for Replay<CLOCKS> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), clocks: self.clocks }
    }
}

#[derive(Clone, Copy)]
struct State<const CLOCKS: usize> {
    released: Option<[f64; CLOCKS]>,
    /// Messages of the receiver so far, and those before the release.
    sent: usize,
    sent_before: usize,
    goodbye: Option<[f64; CLOCKS]>,
    is_over: bool,
}

impl<const CLOCKS: usize> Default for State<CLOCKS> {
    fn default() -> Self {
        Self { released: None, sent: 0, sent_before: 0, goodbye: None, is_over: false }
    }
}

impl<const CLOCKS: usize> Replay<CLOCKS> {
    fn state(&self) -> MutexGuard<'_, State<CLOCKS>> {
        lock(&self.state.0)
    }

    /// The time from the end of the script to the receiver's goodbye; none if there was no goodbye.
    pub fn last_work(&self) -> Option<[f64; CLOCKS]> {
        let state = self.state();
        state.released.zip(state.goodbye).map(|(from, to)| std::array::from_fn(|clock| to[clock] - from[clock]))
    }

    /// Whether the receiver had sent all its messages before it got the end of the script.
    pub fn had_sent_all(&self) -> bool {
        let state = self.state();
        state.sent == state.sent_before
    }
}

impl<const CLOCKS: usize> Hook for Replay<CLOCKS> {
    fn pass(&mut self, frame: Frame) -> Passed {
        let now = (self.clocks)();
        let mut state = self.state();
        state.sent += usize::from(is_message(frame.header.kind));
        if frame.header.kind == Kind::Finish {
            state.goodbye = Some(now);
            state.is_over = true;
            self.state.1.notify_all();
        }
        Passed::Bytes(Vec::new())
    }
}

impl<const CLOCKS: usize> Shutdown for Replay<CLOCKS> {
    fn close(&self, how: net::Shutdown) -> io::Result<()> {
        if how == net::Shutdown::Both {
            self.state().is_over = true;
            self.state.1.notify_all();
        }
        Ok(())
    }
}

struct Reading<const CLOCKS: usize> {
    bytes: Vec<u8>,
    read: usize,
    /// Bytes before those that are held.
    before: usize,
    replay: Replay<CLOCKS>,
}

impl<const CLOCKS: usize> Read for Reading<CLOCKS> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.read == self.before && self.replay.state().released.is_none() {
            wait_until_idle()?;
            let mut state = self.replay.state();
            state.sent_before = state.sent;
            state.released = Some((self.replay.clocks)());
        }
        let end = if self.read < self.before { self.before } else { self.bytes.len() };
        let rest = self.bytes.get(self.read..end).unwrap_or_default();
        if rest.is_empty() {
            // The sender keeps the connection until the receiver has said goodbye.
            let (state, changed) = &*self.replay.state;
            let over = changed.wait_while(lock(state), |state| !state.is_over);
            drop(over.unwrap_or_else(PoisonError::into_inner));
            return Ok(0);
        }
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

/// Takes everything.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until no other thread of this process runs or is about to, by what Linux says of each.
fn wait_until_idle() -> io::Result<()> {
    let own = fs::read_link("/proc/thread-self")?;
    let mut seen = 0;
    while seen < LOOKS {
        thread::sleep(LOOK_EVERY);
        let mut is_idle = true;
        for task in fs::read_dir("/proc/self/task")? {
            let task = task?;
            if own.file_name() == Some(&task.file_name()) {
                continue;
            }
            // A thread that has ended meanwhile says nothing.
            let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            is_idle &= !stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('R'));
        }
        seen = if is_idle { seen + 1 } else { 0 };
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Instant, SystemTime};

    use vesica_party::transport::memory;
    use vesica_party::{Abort, Channel, Role};

    use super::*;
    use crate::pair::{options, side, two_party_over};

    vesica_party::arrows! { "scripted" =>
        /// Arrow 1: what is answered.
        fixed Question(u64) = 1, Sender, "a question";
        /// Arrow 2: the answer.
        fixed Reply(u64) = 2, Receiver, "a reply";
        /// Arrow 3: what ends it.
        fixed Last(u64) = 3, Sender, "the last word";
    }

    fn receiver(ch: &mut Channel, pause: Duration) -> Result<u64, Abort> {
        ch.recv::<Question>(())?;
        ch.send(&Reply(7))?;
        let word = ch.recv::<Last>(())?.0;
        thread::sleep(pause);
        Ok(word)
    }

    fn now() -> [f64; 1] {
        [SystemTime::UNIX_EPOCH.elapsed().expect("a date").as_secs_f64()]
    }

    #[test]
    fn a_replay_times_what_the_receiver_does_at_its_end_alone() {
        let (ends, script) = keep_script(memory::pair());
        let (sent, received) = two_party_over(
            ends,
            options(),
            |ch, _| {
                ch.send(&Question(1))?;
                thread::sleep(Duration::from_millis(100));
                ch.recv::<Reply>(())?;
                ch.send(&Last(5))
            },
            |ch, _| receiver(ch, Duration::ZERO),
        );
        assert_eq!((sent.result.is_ok(), received.result.ok()), (true, Some(5)));
        for (held, pause, had_sent_all) in [(1, 0, true), (1, 300, true), (2, 300, false)] {
            let (connection, replay) = script.replay(held, now);
            let (pause, began) = (Duration::from_millis(pause), Instant::now());
            let played = side(connection, Role::Receiver, options(), |ch, _| receiver(ch, pause));
            let whole = began.elapsed();
            assert_eq!(played.result.ok(), Some(5));
            let [last] = replay.last_work().expect("a goodbye");
            assert!(Duration::from_secs_f64(last) < whole && last > 0.99 * pause.as_secs_f64(), "{last} of {whole:?}");
            assert_eq!(replay.had_sent_all(), had_sent_all, "{held}");
        }
    }
}
