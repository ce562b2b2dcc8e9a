//! Channels without threads, for a server with many connections of which few are busy: whoever calls
//! the channel reads and writes the connection, whose socket does not block.
//!
//! A call that waits for a frame first sends what is queued. A call that sends may wait until the
//! peer takes more, and takes in meanwhile what the peer sends, so that two sides that send at the
//! same time do not wait for each other. There are no forks. Signs of life are sent by whoever keeps
//! the channel ([`Canceller::keep_alive`]).

use std::io;
use std::net::{self, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::clock::Clock;
use super::forks::Slot;
use super::frame::{Kind, control};
use super::input::Input;
use super::shared::Shared;
use super::socket::{Direct, Output, lock};
use super::writer::{BATCH_BYTES, is_control};
use super::{Canceller, Channel, ChannelOptions, internal};
use crate::transport::Connection;
use crate::{Abort, Phase, Role};

/// Longest time after which a call that waits looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// How often a call that closes a connection reads and forgets what has arrived.
const DISCARDS_AT_A_TIME: usize = 64;

impl Direct {
    /// Sends all that is queued; waits while the peer takes nothing or has given no credit for more.
    pub(super) fn send_all(&self, shared: &Shared) -> Result<(), Abort> {
        let mut frames = Vec::new();
        loop {
            let mut output = lock(&self.output);
            let waits_for_credit = {
                let mut state = shared.lock();
                shared.check(&state)?;
                frames.drain(..).for_each(|frame| state.recycle(frame));
                state.take_frames(BATCH_BYTES, &mut frames);
                frames.is_empty() && !state.forks[Slot::ROOT].out.is_empty()
            };
            if frames.is_empty() && !waits_for_credit {
                return Ok(());
            }
            shared.count_control(frames.iter().filter(|frame| is_control(frame)).map(Vec::len).sum(), 0);
            frames.iter().for_each(|frame| output.bytes.extend_from_slice(frame));
            while !output.push().map_err(|fault| self.write_failed(shared, fault))? {
                self.wait(shared, PollFlags::IN | PollFlags::OUT)?;
                // A peer that sends faster than frames are taken in must not outlast what limits the conversation.
                while self.take_frame(shared)? {
                    shared.check(&shared.lock())?;
                }
            }
            output.last = Instant::now();
            // Signs of life go out meanwhile.
            drop(output);
            // The credit may have come while the socket took no more.
            if waits_for_credit && shared.lock().ready.is_empty() {
                self.wait_for_frame(shared)?;
            }
        }
    }

    /// Sends all that is queued, and takes in at least one frame, unless sending has taken in what can be
    /// read.
    pub(super) fn exchange(&self, shared: &Shared) -> Result<(), Abort> {
        self.send_all(shared)?;
        let has_arrived = {
            let state = shared.lock();
            state.leftover() || state.peer_finished
        };
        if has_arrived { Ok(()) } else { self.wait_for_frame(shared) }
    }

    fn wait_for_frame(&self, shared: &Shared) -> Result<(), Abort> {
        while !self.take_frame(shared)? {
            self.wait(shared, PollFlags::IN)?;
        }
        Ok(())
    }

    /// Takes in a frame; false if no whole one is there.
    fn take_frame(&self, shared: &Shared) -> Result<bool, Abort> {
        lock(&self.input).one_frame(shared)
    }

    /// Waits a moment for the socket, but not beyond what limits the conversation.
    fn wait(&self, shared: &Shared, events: PollFlags) -> Result<(), Abort> {
        let left = {
            let state = shared.lock();
            shared.check(&state)?;
            shared.time_left(&state)?
        };
        self.poll(events, left.min(LOOK)).map_err(Abort::Link)
    }

    /// Why nothing can be written: the peer may have said so.
    fn write_failed(&self, shared: &Shared, fault: io::Error) -> Abort {
        loop {
            match self.take_frame(shared) {
                Ok(true) => {}
                Err(said @ Abort::PeerAborted(_)) => return said,
                _ => return Abort::Link(fault),
            }
        }
    }

    /// Writes what little a side says at last, as far as that takes no waiting.
    fn say_goodbye(&self, shared: &Shared, frame: &[u8]) {
        let mut output = lock(&self.output);
        shared.count_control(frame.len(), 0);
        output.bytes.extend_from_slice(frame);
        // There may be nobody to tell any more.
        let _ = output.push();
    }
}

impl Channel {
    /// A channel without threads over a connection that has a socket.
    pub(crate) fn open_direct(mut connection: Connection, role: Role, options: ChannelOptions) -> Result<Self, Abort> {
        let socket = connection.socket.clone().ok_or_else(|| internal("a connection without a socket".into()))?;
        socket.set_nonblocking(true)?;
        let reader = std::mem::replace(&mut connection.reader, Box::new(io::empty()));
        let writer = std::mem::replace(&mut connection.writer, Box::new(io::sink()));
        let output = Output { writer, bytes: Vec::new(), taken: 0, last: Instant::now() };
        let direct = Direct { socket, input: Mutex::new(Input::new(reader)), output: Mutex::new(output) };
        let shared = Arc::new(Shared::over(&connection, role, options, Some(direct)));
        let clock = Clock::start(shared.clone(), false, Phase::Other);
        Ok(Self::over(shared, Slot::ROOT, role, clock))
    }

    /// The socket, if the channel has no threads.
    pub(crate) fn socket(&self) -> Option<&Arc<TcpStream>> {
        self.shared.direct.as_ref().map(|direct| &direct.socket)
    }

    /// Sends what is queued. A channel with threads has sent it by itself.
    pub(crate) fn send_all(&mut self) -> Result<(), Abort> {
        let sent = self.shared.direct.as_ref().map_or(Ok(()), |direct| direct.send_all(&self.shared));
        self.note(sent)
    }

    /// Whether a message is there, or a part of a stream: takes in what has arrived, and does not wait.
    /// On a channel without threads.
    pub(crate) fn has_message(&mut self) -> Result<bool, Abort> {
        let found = self.take_arrived();
        self.note(found)
    }

    fn take_arrived(&self) -> Result<bool, Abort> {
        let Some(direct) = &self.shared.direct else { return Ok(true) };
        loop {
            {
                let state = self.shared.lock();
                self.shared.check(&state)?;
                if self.partial.is_some() || state.leftover() || state.peer_finished {
                    return Ok(true);
                }
            }
            if !direct.take_frame(&self.shared)? {
                return Ok(false);
            }
        }
    }

    /// Gives back memory that a channel without threads does not need while nothing is under way.
    pub(crate) fn rest(&mut self) {
        let Some(direct) = &self.shared.direct else { return };
        self.shared.lock().forget_spare();
        lock(&direct.input).shrink();
    }

    /// Says that nothing more comes from this side. Then [`has_finished`](Self::has_finished) takes in
    /// what the peer says to that. On a channel without threads.
    pub(crate) fn begin_finish(&mut self) -> Result<(), Abort> {
        {
            let mut state = self.shared.lock();
            state.finishing = true;
            state.finish_sent = true;
            // Behind all messages.
            let frame = control(Kind::Finish, 0, &[]);
            let fork = &mut state.forks[Slot::ROOT];
            fork.unsent += frame.len();
            fork.out.push_back(frame);
            state.make_ready(Slot::ROOT);
        }
        let sent = self.send_all();
        if self.shared.is_over() { Ok(()) } else { sent }
    }

    /// Whether the peer has finished, too. Does not wait.
    pub(crate) fn has_finished(&mut self) -> Result<bool, Abort> {
        if self.shared.is_over() {
            return Ok(true);
        }
        let found = self.take_arrived();
        // How the transport closes after that matters no more.
        if self.shared.is_over() {
            return Ok(true);
        }
        match self.note(found)? {
            true => self.note(Err(self.shared.misbehaved("more than this side has use for"))),
            false => Ok(false),
        }
    }

    /// Ends what this side sends, with a report of `failure` if there is one. Does not wait.
    pub(crate) fn end_output(&mut self, failure: Option<&Abort>) {
        self.closed = true;
        if let Some(failure) = failure {
            self.shared.tell(failure);
        }
        let goodbye = self.shared.lock().goodbye.take();
        if let (Some(direct), Some(frame)) = (&self.shared.direct, goodbye) {
            direct.say_goodbye(&self.shared, &frame);
        }
        // The peer may be gone already.
        let _ = self.shared.shutdown.close(net::Shutdown::Write);
    }

    /// Forgets what still comes, so that the peer's writes end and no reset destroys a report on its
    /// way; true once the peer has closed its side, or at `until`. Does not wait.
    pub(crate) fn is_drained(&mut self, until: Instant) -> bool {
        let Some(direct) = &self.shared.direct else { return true };
        let mut input = lock(&direct.input);
        // A peer that never stops sending is not heard for longer, and keeps nobody busy meanwhile.
        for _ in 0..DISCARDS_AT_A_TIME {
            if Instant::now() >= until {
                return true;
            }
            match input.discard(&self.shared) {
                Ok(()) => {}
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => return false,
                Err(_) => return true,
            }
        }
        Instant::now() >= until
    }

    /// Closes the connection, of which nothing more is wanted.
    pub(crate) fn cut(mut self) {
        self.closed = true;
        self.canceller().cut();
    }

    /// Finishes, and waits until the peer has finished, too.
    pub(super) fn finish_direct(&mut self) -> Result<(), Abort> {
        self.begin_finish()?;
        while !self.has_finished()? {
            let waited = self.shared.direct.as_ref().map_or(Ok(()), |direct| direct.wait(&self.shared, PollFlags::IN));
            self.note(waited)?;
        }
        Ok(())
    }

    /// Ends what this side sends, and waits until the peer has closed, but not for long.
    pub(super) fn close_direct(&mut self, failure: Option<&Abort>) {
        self.end_output(failure);
        let end = Instant::now() + self.shared.options.drain_for;
        while !self.is_drained(end) {
            let Some(direct) = &self.shared.direct else { return };
            if direct.poll(PollFlags::IN, LOOK).is_err() {
                return;
            }
        }
    }
}

impl Canceller {
    /// Closes the connection, of which nothing more is wanted. Whoever waits for its end waits no longer.
    pub(crate) fn cut(&self) {
        // It may be closed already.
        let _ = self.shared().shutdown.close(net::Shutdown::Both);
    }

    /// Whether the conversation still stands.
    pub(crate) fn check(&self) -> Result<(), Abort> {
        self.shared().check(&self.shared().lock())
    }

    /// Notes as a sign of life what has arrived and waits to be read: whoever is to read a channel
    /// without threads may be computing.
    pub(crate) fn hear_unread(&self) {
        let shared = self.shared();
        let Some(direct) = &shared.direct else { return };
        let mut socket = [PollFd::new(&*direct.socket, PollFlags::IN)];
        if poll(&mut socket, Some(&Timespec::default())).is_ok_and(|ready| ready > 0) {
            shared.hear();
        }
    }

    /// Sends a sign of life on a channel without threads, if nothing was sent for a while and nothing
    /// is being sent.
    pub(crate) fn keep_alive(&self) {
        let shared = self.shared();
        let Some(Ok(mut output)) = shared.direct.as_ref().map(|direct| direct.output.try_lock()) else { return };
        if output.last.elapsed() < shared.options.ping_every || shared.lock().failure.is_some() {
            return;
        }
        output.last = Instant::now();
        let ping = control(Kind::Ping, 0, &[]);
        shared.count_control(ping.len(), 0);
        // Behind what the peer has not taken, one ping is as good as several.
        if output.bytes.is_empty() {
            output.bytes.extend_from_slice(&ping);
        }
        // A failure shows in the next call.
        let _ = output.push();
    }
}
