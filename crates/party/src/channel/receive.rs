//! Receiving: each frame is checked against the arrow that is due.

use std::sync::MutexGuard;

use super::fork::Frame;
use super::frame::{HEADER_BYTES, Header, Kind};
use super::state::State;
use super::{Channel, internal};
use crate::{Abort, Message, Reader, Step, Stream};

impl Channel {
    /// Waits for a message of the given shape.
    ///
    /// # Errors
    /// If the link failed, time ran out, the peer aborted, or the peer sent something else.
    pub fn recv<M: Message>(&mut self, shape: M::Shape) -> Result<M, Abort> {
        let message = self.take_message(shape);
        self.note(message)
    }

    /// Receives exactly `out.len()` elements of a streamed message; may be called many times with
    /// any part sizes.
    ///
    /// # Errors
    /// The same errors as `recv`.
    pub fn recv_stream<S: Stream>(&mut self, out: &mut [S::Element]) -> Result<(), Abort> {
        let filled = self.take_elements::<S>(out);
        self.note(filled)
    }

    fn take_message<M: Message>(&mut self, shape: M::Shape) -> Result<M, Abort> {
        self.check_theirs(&M::STEP)?;
        let frame = self.next_frame(&M::STEP, Kind::Message)?;
        if !M::len(&shape).contains(&frame.header.length) {
            return Err(Abort::PeerMisbehaved(M::STEP, "a message of another length than was agreed"));
        }
        self.note_received(&M::STEP, &frame.body);
        let mut bytes = Reader::new(&frame.body);
        let message = M::read(&mut bytes, shape).map_err(|fault| Abort::PeerMisbehaved(M::STEP, fault.0))?;
        if bytes.remaining() != 0 {
            return Err(Abort::PeerMisbehaved(M::STEP, "a message with bytes left over"));
        }
        Ok(message)
    }

    fn take_elements<S: Stream>(&mut self, out: &mut [S::Element]) -> Result<(), Abort> {
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
            let rest = frame.body.get(start..).unwrap_or_default();
            let count = out.len().min(rest.len());
            let (head, tail) = out.split_at_mut(count);
            head.copy_from_slice(rest.split_at(count).0);
            self.note_received_part(&S::STEP, head);
            out = tail;
            if start + count < frame.body.len() {
                self.partial = Some((frame, start + count));
            } else {
                self.shared.lock().recycle(frame.body);
            }
        }
        Ok(())
    }

    /// Takes the next frame on this fork, which must belong to `step`.
    fn next_frame(&mut self, step: &Step, kind: Kind) -> Result<Frame, Abort> {
        if let Some((frame, _)) = &self.partial {
            return Err(out_of_step(*step, &frame.header));
        }
        let shared = &self.shared;
        let mut state = shared.lock();
        shared.check(&state)?;
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
            shared.work.notify_one();
        }
        drop(state);
        self.check_frame(&frame.header, step, kind)?;
        let phase = self.clock.phase();
        shared.count(|tally| {
            let count = tally.of(phase);
            count.received_payload += frame.header.length as u64;
            count.received_framing += HEADER_BYTES as u64;
        });
        Ok(frame)
    }

    /// The peer has ended the fork before `step`. Often it has failed, and its report is on the
    /// way.
    fn fork_ended<T>(&self, state: MutexGuard<'_, State>, step: &Step) -> Result<T, Abort> {
        drop(state);
        self.shared.wait_ended(self.shared.options.reason_wait, |state| state.failure.is_some());
        self.shared.check(&self.shared.lock())?;
        Err(Abort::PeerMisbehaved(*step, "it closed the fork without sending it"))
    }

    /// Waits for a frame, unless that would be for ever.
    fn wait_for_frame<'a>(&'a self, state: MutexGuard<'a, State>, step: &Step) -> Result<MutexGuard<'a, State>, Abort> {
        let fork = &state.forks[self.slot];
        let wake = fork.wake.clone();
        if let Some(direct) = &self.shared.direct {
            drop(state);
            direct.exchange(&self.shared)?;
            return Ok(self.shared.lock());
        }
        let Some(rendezvous) = &self.shared.rendezvous else { return self.shared.wait(state, &wake) };
        let path = fork.path.clone();
        if rendezvous.wait(&path, fork.taken) {
            return Err(Abort::PeerMisbehaved(*step, "both sides wait for each other's message"));
        }
        let result = self.shared.wait(state, &wake);
        rendezvous.resume(&path);
        result
    }

    fn check_frame(&self, header: &Header, step: &Step, kind: Kind) -> Result<(), Abort> {
        if (header.tag, header.step) != (step.tag(), step.number) {
            return Err(out_of_step(*step, header));
        }
        if header.kind != kind {
            return Err(Abort::PeerMisbehaved(
                *step,
                "a stream instead of a message, or a message instead of a stream",
            ));
        }
        Ok(())
    }

    fn check_theirs(&self, step: &Step) -> Result<(), Abort> {
        if step.from != self.role { Ok(()) } else { Err(internal(format!("the {} receives at {step}", self.role))) }
    }
}

fn out_of_step(expected: Step, got: &Header) -> Abort {
    Abort::OutOfStep { expected, got_tag: got.tag, got_step: got.step }
}
