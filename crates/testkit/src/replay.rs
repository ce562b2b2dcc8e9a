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
pub struct Script(Arc<Mutex<Spoken>>);

#[derive(Default)]
struct Spoken {
    frames: Vec<Frame>,
    /// For each frame that gives credit: the bytes of messages that the receiver had sent by then. Of others 0.
    after: Vec<usize>,
    /// Bytes of messages that the receiver has sent.
    heard: usize,
}

/// Has what the sender sends kept (of a pair of connections its end comes first).
pub fn keep_script((sender, receiver): (Connection, Connection)) -> ((Connection, Connection), Script) {
    let script = Script::default();
    let keeper = |of_sender| Keeper { of_sender, script: script.clone() };
    ((tap(sender, keeper(true)), tap(receiver, keeper(false))), script)
}

struct Keeper {
    of_sender: bool,
    script: Script,
}

impl Hook for Keeper {
    fn pass(&mut self, frame: Frame) -> Passed {
        let bytes = frame.to_bytes();
        let mut spoken = lock(&self.script.0);
        if self.of_sender {
            let after = if frame.header.kind == Kind::Credit { spoken.heard } else { 0 };
            spoken.after.push(after);
            spoken.frames.push(frame);
        } else {
            spoken.heard += message_bytes(&frame);
        }
        Passed::Bytes(bytes)
    }
}

fn message_bytes(frame: &Frame) -> usize {
    if is_message(frame.header.kind) { frame.body.len() } else { 0 }
}

impl Script {
    /// Gives a receiver what was sent, of which it gets the last `held` steps only when it waits for them. The receiver must
    /// do as it did when the script was made: its random numbers are to come from the same seed. `clocks` tells the time.
    pub fn replay<const CLOCKS: usize>(
        &self,
        held: usize,
        clocks: fn() -> [f64; CLOCKS],
    ) -> (Connection, Replay<CLOCKS>) {
        let spoken = lock(&self.0);
        let replay = Replay { state: Arc::default(), clocks };
        let reader = Reading {
            frames: spoken.frames.iter().map(Frame::to_bytes).zip(spoken.after.iter().copied()).collect(),
            next: 0,
            read: 0,
            first_held: first_of_last_steps(&spoken.frames, held),
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
    /// Bytes of the receiver's messages so far, and of those before the release.
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
        state.sent += message_bytes(&frame);
        if frame.header.kind == Kind::Finish {
            state.goodbye = Some(now);
            state.is_over = true;
        }
        self.state.1.notify_all();
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
    /// Frames, and how many bytes of messages the receiver must have sent before it gets each.
    frames: Vec<(Vec<u8>, usize)>,
    /// The frame that is read next, and how much of it has been read.
    next: usize,
    read: usize,
    first_held: usize,
    replay: Replay<CLOCKS>,
}

impl<const CLOCKS: usize> Reading<CLOCKS> {
    /// Waits until the receiver has sent so much, or is through.
    fn wait_for(&self, sent: usize) {
        let (state, changed) = &*self.replay.state;
        let waited = changed.wait_while(lock(state), |state| !state.is_over && state.sent < sent);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl<const CLOCKS: usize> Read for Reading<CLOCKS> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some((frame, after)) = self.frames.get(self.next) else {
            // The sender keeps the connection until the receiver has said goodbye.
            self.wait_for(usize::MAX);
            return Ok(0);
        };
        if self.read == 0 {
            self.wait_for(*after);
            if self.next == self.first_held {
                wait_until_idle()?;
                let mut state = self.replay.state();
                state.sent_before = state.sent;
                state.released = Some((self.replay.clocks)());
            }
        }
        let rest = frame.get(self.read..).unwrap_or_default();
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        if self.read == frame.len() {
            (self.next, self.read) = (self.next + 1, 0);
        }
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
