//! The channel: typed messages over a connection, on forks that share it.
//!
//! A channel is used by one thread at a time; two threads of its own read and write the connection, so that sending never waits for
//! the peer (streams apart) and a fork that is not read blocks no other.

use std::fmt;
use std::net;
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::Duration;

use crate::transport::Connection;
use crate::{Abort, Message, Phase, Reader, Role, Step, Stream, Writer};

mod fork;
mod frame;
mod link;
mod reader;
mod tally;
mod writer;

pub use tally::{Count, PhaseGuard, Tally};

use fork::Frame;
use frame::{BODY_LIMIT, HEADER_BYTES, Header, Kind};
use link::{CHUNK_BYTES, Link, State};
use tally::Clock;

/// The frame format, for tools that look at a connection from outside.
#[doc(hidden)]
pub mod wire {
    pub use super::frame::{BODY_LIMIT, HEADER_BYTES, Header, Kind};
}

/// Unsent bytes of a fork above which streaming blocks.
const UNSENT_LIMIT: usize = 8 << 20;
/// Pieces of a stream up to this length are appended to the last unsent chunk.
const SMALL_PIECE: usize = 32 << 10;

/// How a channel behaves.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// Bound on the whole run, from opening the channel: after it every call fails.
    pub deadline: Option<Duration>,
    /// A sign of life is sent when nothing else was for this long.
    pub ping_every: Duration,
    /// The link counts as dead when nothing came for this long. That the peer computes is no silence: its threads ping.
    pub dead_after: Duration,
    /// How long a side that sees a fork or the link end waits for the peer's report of why.
    pub reason_wait: Duration,
    /// How long a side that failed or finished waits for the peer to close.
    pub drain_for: Duration,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        Self {
            deadline: None,
            ping_every: Duration::from_secs(5),
            dead_after: Duration::from_secs(30),
            reason_wait: Duration::from_secs(1),
            drain_for: Duration::from_secs(5),
        }
    }
}

/// One party's end of a conversation, or of a fork of it.
pub struct Channel {
    link: Arc<Link>,
    /// Which fork of the link this is; 0 is the root.
    slot: usize,
    role: Role,
    /// Forks made so far.
    children: u16,
    /// The chunk that `recv_stream` has taken in part, and how much of it.
    partial: Option<(Frame, usize)>,
    clock: Arc<Clock>,
    /// Closed by `finish` or `abort`.
    closed: bool,
}

impl Channel {
    /// Starts the reader and writer threads over a connection.
    ///
    /// # Errors
    /// If the operating system gives no threads.
    pub fn open(connection: Connection, role: Role, options: ChannelOptions) -> Result<Self, Abort> {
        let link = Link::new(&connection, role, options);
        let Connection { reader, writer, .. } = connection;
        let (for_reader, for_writer) = (link.clone(), link.clone());
        thread::Builder::new().name("vesica-reader".into()).spawn(move || reader::run(for_reader, reader))?;
        thread::Builder::new().name("vesica-writer".into()).spawn(move || writer::run(for_writer, writer))?;
        let clock = Clock::start(link.clone(), false, Phase::Other);
        Ok(Self { link, slot: 0, role, children: 0, partial: None, clock, closed: false })
    }

    /// The role this side plays at present.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The session that every hash is bound to; zero until bound.
    pub fn session(&self) -> [u8; 32] {
        self.link.lock().session
    }

    /// Binds this channel and its forks to a session that both sides agreed on.
    pub fn bind_session(&mut self, session: [u8; 32]) {
        self.link.lock().session = session;
    }

    /// 32 bytes that only the two ends of this TLS session know; `None` on other transports.
    pub fn exporter(&self) -> Option<[u8; 32]> {
        self.link.exporter
    }

    /// The authenticated public key of the peer, as its transport gives it; `None` on other transports.
    pub fn peer_key(&self) -> Option<&[u8]> {
        self.link.peer_key.as_deref()
    }

    /// Encodes and queues a message; never waits for the peer.
    ///
    /// # Errors
    /// If the channel has failed, or if the message is longer than a frame (16 MiB) or not this role's to send, which are local faults.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), Abort> {
        self.check_mine(&M::STEP)?;
        let mut frame = Writer::after_header(HEADER_BYTES);
        message.write(&mut frame);
        let mut frame = frame.into_bytes();
        let length = frame.len() - HEADER_BYTES;
        if length > BODY_LIMIT {
            return Err(internal(format!("a message of {length} bytes at {} does not fit a frame", M::STEP)));
        }
        frame[..HEADER_BYTES].copy_from_slice(&header(Kind::Message, &M::STEP, length).to_bytes());
        let mut state = self.link.lock();
        self.link.check(&state)?;
        self.push(&mut state, frame);
        drop(state);
        self.count_sent(length, HEADER_BYTES);
        Ok(())
    }

    /// Waits for a message of the given shape.
    ///
    /// # Errors
    /// If the link failed, time ran out, the peer aborted, or what came is not that message.
    pub fn recv<M: Message>(&mut self, shape: M::Shape) -> Result<M, Abort> {
        self.check_theirs(&M::STEP)?;
        let frame = self.next_frame(&M::STEP, Kind::Message)?;
        if !M::len(&shape).contains(&frame.header.length) {
            return Err(Abort::PeerMisbehaved(M::STEP, "a message of another length than was agreed"));
        }
        let mut bytes = Reader::new(&frame.body);
        let message = M::read(&mut bytes, shape).map_err(|fault| Abort::PeerMisbehaved(M::STEP, fault.0))?;
        if bytes.remaining() != 0 {
            return Err(Abort::PeerMisbehaved(M::STEP, "a message with bytes left over"));
        }
        Ok(message)
    }

    /// Sends a part of a streamed message; may be called many times, blocks above 8 MiB unsent.
    ///
    /// # Errors
    /// As `send` and, since it may block, if time runs out.
    pub fn send_stream<S: Stream>(&mut self, elements: &[S::Element]) -> Result<(), Abort> {
        self.check_mine(&S::STEP)?;
        for piece in bytemuck::cast_slice::<_, u8>(elements).chunks(CHUNK_BYTES) {
            let header = header(Kind::Chunk, &S::STEP, piece.len());
            let mut state = self.link.lock();
            self.link.check(&state)?;
            while state.forks[self.slot].unsent > UNSENT_LIMIT {
                let wake = state.forks[self.slot].wake.clone();
                state = self.link.wait(state, &wake)?;
            }
            if piece.len() <= SMALL_PIECE && extend_chunk(&mut state.forks[self.slot], &header, piece) {
                drop(state);
                self.count_sent(piece.len(), 0);
                continue;
            }
            let mut frame = state.buffer(HEADER_BYTES + piece.len());
            drop(state);
            let (head, body) = frame.split_at_mut(HEADER_BYTES);
            head.copy_from_slice(&header.to_bytes());
            body.copy_from_slice(piece);
            self.push(&mut self.link.lock(), frame);
            self.count_sent(piece.len(), HEADER_BYTES);
        }
        Ok(())
    }

    /// Receives exactly `out.len()` elements of a streamed message; may be called many times with any part sizes.
    ///
    /// # Errors
    /// As `recv`.
    pub fn recv_stream<S: Stream>(&mut self, out: &mut [S::Element]) -> Result<(), Abort> {
        self.check_theirs(&S::STEP)?;
        let mut out = bytemuck::cast_slice_mut::<_, u8>(out);
        while !out.is_empty() {
            let (frame, start) = match self.partial.take() {
                Some((frame, start)) => {
                    self.check_frame(&frame.header, &S::STEP, Kind::Chunk)?;
                    (frame, start)
                }
                None => (self.next_frame(&S::STEP, Kind::Chunk)?, 0),
            };
            let count = out.len().min(frame.body.len() - start);
            let (head, tail) = out.split_at_mut(count);
            head.copy_from_slice(&frame.body[start..start + count]);
            out = tail;
            if start + count < frame.body.len() {
                self.partial = Some((frame, start + count));
            } else {
                self.link.lock().recycle(frame.body);
            }
        }
        Ok(())
    }

    /// From now until the guard drops, time and bytes count for `phase` (phases nest: the innermost counts).
    pub fn phase(&mut self, phase: Phase) -> PhaseGuard {
        self.clock.enter(phase)
    }

    /// A further channel over the same connection, for another thread or for a stream in the other direction. Both sides fork in the
    /// same program order; labels are compared. It ends when it is dropped.
    ///
    /// # Errors
    /// If the channel has failed, or the peer's fork has another label.
    pub fn fork(&mut self, label: &'static str) -> Result<Channel, Abort> {
        let index = self.children;
        self.children = index.checked_add(1).ok_or_else(|| internal("more than 65535 forks of one channel".into()))?;
        let label = frame::label_hash(label);
        let mut state = self.link.lock();
        self.link.check(&state)?;
        let slot = state.child(self.slot, index);
        let fork = &mut state.forks[slot];
        fork.opened = true;
        if *fork.label.get_or_insert(label) != label {
            return Err(self.link.misbehaved(reader::OTHER_FORK));
        }
        state.retry_unannounced();
        drop(state);
        self.link.work.notify_all();
        let clock = Clock::start(self.link.clone(), true, self.clock.phase());
        Ok(Self { link: self.link.clone(), slot, role: self.role, children: 0, partial: None, clock, closed: false })
    }

    /// Runs `body` with the roles swapped (for a sub-protocol in the other direction).
    pub fn reversed<T>(&mut self, body: impl FnOnce(&mut Channel) -> T) -> T {
        self.role = self.role.peer();
        let result = body(self);
        self.role = self.role.peer();
        result
    }

    /// Bytes and time so far, forks included.
    pub fn tally(&self) -> Tally {
        self.clock.book();
        self.link.count(|tally| tally.clone())
    }

    /// A handle with which another thread ends the run.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.link.clone())
    }

    /// Closes cleanly: waits until all is sent and the peer has finished too. On a fork it just ends the fork.
    ///
    /// # Errors
    /// If the channel fails before, or the peer has sent what nobody took. The peer is then told.
    pub fn finish(mut self) -> Result<Tally, Abort> {
        if self.slot == 0 {
            if let Err(failure) = self.exchange_finish() {
                self.close(&failure);
                return Err(failure);
            }
            self.link.wait_ended(self.link.options.drain_for, |state| state.reader_done);
            // Both sides have all; how the transport closes matters no more.
            let _ = self.link.shutdown.close(net::Shutdown::Both);
            self.closed = true;
        }
        Ok(self.tally())
    }

    /// Tells the peer of a failure and closes the connection, waiting some seconds at most for the peer to hear it. On a fork, only tells.
    pub fn abort(mut self, failure: &Abort) {
        self.close(failure);
    }

    fn close(&mut self, failure: &Abort) {
        self.closed = true;
        self.link.tell(failure);
        if self.slot != 0 {
            return;
        }
        self.link.lock().closing = true;
        self.link.work.notify_all();
        self.link.wait_ended(self.link.options.drain_for, |state| state.writer_done && state.reader_done);
        // The failure that led here is what counts.
        let _ = self.link.shutdown.close(net::Shutdown::Both);
    }

    fn exchange_finish(&mut self) -> Result<(), Abort> {
        let link = &self.link;
        let mut state = link.lock();
        state.finishing = true;
        link.work.notify_all();
        loop {
            if self.partial.is_some() || state.leftover() {
                return Err(link.misbehaved("more than this side has use for"));
            }
            if state.finish_sent && state.peer_finished && state.writer_done {
                return Ok(());
            }
            state = link.wait(state, &link.ended)?;
        }
    }

    /// Tells the peer that nothing more comes on this fork.
    fn end_fork(&self) {
        let mut state = self.link.lock();
        state.forks[self.slot].closing = true;
        state.make_ready(self.slot);
        self.link.work.notify_one();
    }

    /// Queues a frame on this fork.
    fn push(&self, state: &mut State, frame: Vec<u8>) {
        let fork = &mut state.forks[self.slot];
        fork.unsent += frame.len();
        fork.sent += 1;
        fork.out.push_back(frame);
        state.make_ready(self.slot);
        self.link.work.notify_one();
    }

    /// Takes the next frame on this fork, which must belong to `step`.
    fn next_frame(&mut self, step: &Step, kind: Kind) -> Result<Frame, Abort> {
        if let Some((frame, _)) = &self.partial {
            return Err(out_of_step(*step, &frame.header));
        }
        let link = &self.link;
        let mut state = link.lock();
        link.check(&state)?;
        let frame = loop {
            let fork = &mut state.forks[self.slot];
            if let Some(frame) = fork.inbox.pop_front() {
                fork.taken += 1;
                break frame;
            }
            let fork_ended = fork.their_end;
            if state.peer_finished {
                return Err(Abort::PeerMisbehaved(*step, "it finished without sending it"));
            }
            if fork_ended {
                return self.fork_ended(state, step);
            }
            state = self.wait_for_frame(state, step)?;
        };
        if state.grant(self.slot, &frame) {
            link.work.notify_one();
        }
        drop(state);
        self.check_frame(&frame.header, step, kind)?;
        let phase = self.clock.phase();
        link.count(|tally| {
            let count = tally.of(phase);
            count.received_payload += frame.header.length as u64;
            count.received_framing += HEADER_BYTES as u64;
        });
        Ok(frame)
    }

    /// The peer has ended the fork before `step`. Often it has failed, and its report is on the way.
    fn fork_ended<T>(&self, state: MutexGuard<'_, State>, step: &Step) -> Result<T, Abort> {
        drop(state);
        self.link.wait_ended(self.link.options.reason_wait, |state| state.failure.is_some());
        self.link.check(&self.link.lock())?;
        Err(Abort::PeerMisbehaved(*step, "it closed the fork without sending it"))
    }

    /// Waits for a frame, unless the peer does too.
    fn wait_for_frame<'a>(&self, state: MutexGuard<'a, State>, step: &Step) -> Result<MutexGuard<'a, State>, Abort> {
        let fork = &state.forks[self.slot];
        let wake = fork.wake.clone();
        let Some(rendezvous) = &self.link.rendezvous else { return self.link.wait(state, &wake) };
        let path = fork.path.clone();
        if rendezvous.wait(&path, fork.sent, fork.taken) {
            return Err(Abort::PeerMisbehaved(*step, "both sides wait for each other's message"));
        }
        let result = self.link.wait(state, &wake);
        rendezvous.resume(&path);
        result
    }

    fn check_frame(&self, header: &Header, step: &Step, kind: Kind) -> Result<(), Abort> {
        if (header.tag, header.step) != (step.tag(), step.number) {
            return Err(out_of_step(*step, header));
        }
        if header.kind != kind {
            return Err(Abort::PeerMisbehaved(*step, "a stream in place of a message, or a message in place of a stream"));
        }
        Ok(())
    }

    fn check_mine(&self, step: &Step) -> Result<(), Abort> {
        if step.from == self.role { Ok(()) } else { Err(internal(format!("the {} sends at {step}", self.role))) }
    }

    fn check_theirs(&self, step: &Step) -> Result<(), Abort> {
        if step.from != self.role { Ok(()) } else { Err(internal(format!("the {} receives at {step}", self.role))) }
    }

    fn count_sent(&self, payload: usize, framing: usize) {
        let phase = self.clock.phase();
        self.link.count(|tally| {
            let count = tally.of(phase);
            count.sent_payload += payload as u64;
            count.sent_framing += framing as u64;
        });
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.clock.book();
        if self.closed {
            return;
        }
        if self.slot != 0 && !thread::panicking() {
            self.end_fork();
            return;
        }
        self.close(&Abort::Local {
            code: 70,
            fault: "it stopped before the end of the run".into(),
            mend: "look at what that side printed".into(),
        });
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("role", &self.role).field("fork", &self.slot).finish_non_exhaustive()
    }
}

/// Ends a run from another thread, for example on a signal.
#[derive(Clone)]
pub struct Canceller(Arc<Link>);

impl Canceller {
    /// Makes every call on the channel and its forks fail with `reason`, and tells the peer. Does not block.
    pub fn cancel(&self, reason: &Abort) {
        self.0.tell(reason);
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canceller(..)")
    }
}

/// Appends to the last unsent chunk of the same stream, if there is room. The count of frames stays.
fn extend_chunk(fork: &mut fork::Fork, header: &Header, piece: &[u8]) -> bool {
    let Some(last) = fork.out.back_mut() else { return false };
    let Some(Ok(before)) = last.first_chunk().map(Header::parse) else { return false };
    let length = before.length + piece.len();
    if (before.kind, before.tag, before.step) != (Kind::Chunk, header.tag, header.step) || length > CHUNK_BYTES {
        return false;
    }
    last.extend_from_slice(piece);
    last[..HEADER_BYTES].copy_from_slice(&Header { length, ..before }.to_bytes());
    fork.unsent += piece.len();
    true
}

/// The header of a frame of `step`; the writer fills the fork's number in.
fn header(kind: Kind, step: &Step, length: usize) -> Header {
    Header { kind, step: step.number, fork: 0, tag: step.tag(), length }
}

fn out_of_step(expected: Step, got: &Header) -> Abort {
    Abort::OutOfStep { expected, got_tag: got.tag, got_step: got.step }
}

/// A mistake in this program.
fn internal(fault: String) -> Abort {
    Abort::Local { code: 70, fault, mend: "this is a mistake in the program: report it".into() }
}
