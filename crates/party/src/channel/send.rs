//! Sending: a message is queued whole, a stream in chunks.

use super::fork::Fork;
use super::frame::{BODY_LIMIT, HEADER_BYTES, Header, Kind};

use super::state::{CHUNK_BYTES, State};
use super::{Channel, internal};
use crate::{Abort, Message, Step, Stream, Writer};

/// Unsent bytes of a fork above which streaming blocks.
const UNSENT_LIMIT: usize = 8 << 20;
/// Unsent bytes that a channel without threads gathers before it sends them.
const DIRECT_UNSENT_LIMIT: usize = 16 << 10;
/// Pieces of a stream up to this length are appended to the last unsent chunk.
const SMALL_PIECE: usize = 32 << 10;

impl Channel {
    /// Encodes and queues a message; never waits for the peer.
    ///
    /// # Errors
    /// If the channel has failed, or if the message is longer than a frame (16 MiB) or not this
    /// role's to send, which are local faults.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), Abort> {
        let queued = self.put_message(message);
        self.note(queued)
    }

    /// Sends a part of a streamed message; may be called many times, blocks above 8 MiB unsent.
    ///
    /// # Errors
    /// The same errors as `send`; and, since this may block, if time runs out.
    pub fn send_stream<S: Stream>(&mut self, elements: &[S::Element]) -> Result<(), Abort> {
        let queued = self.put_elements::<S>(elements);
        self.note(queued)
    }

    fn put_message<M: Message>(&mut self, message: &M) -> Result<(), Abort> {
        self.check_mine(&M::STEP)?;
        let mut frame = Writer::after_header(HEADER_BYTES);
        message.write(&mut frame);
        let mut frame = frame.into_bytes();
        let length = frame.len() - HEADER_BYTES;
        if length > BODY_LIMIT {
            return Err(internal(format!("a message of {length} bytes at {} does not fit a frame", M::STEP)));
        }
        let (head, body) = frame.split_at_mut(HEADER_BYTES);
        head.copy_from_slice(&header(Kind::Message, &M::STEP, length).to_bytes());
        self.note_sent(&M::STEP, body);
        let mut state = self.shared.lock();
        self.shared.check(&state)?;
        self.push(&mut state, frame);
        drop(state);
        self.count_sent(length, HEADER_BYTES);
        self.send_much()
    }

    fn put_elements<S: Stream>(&mut self, elements: &[S::Element]) -> Result<(), Abort> {
        self.check_mine(&S::STEP)?;
        for piece in bytemuck::cast_slice::<_, u8>(elements).chunks(CHUNK_BYTES) {
            self.note_sent_part(&S::STEP, piece);
            let header = header(Kind::Chunk, &S::STEP, piece.len());
            let mut state = self.shared.lock();
            self.shared.check(&state)?;
            while state.forks[self.slot].unsent > UNSENT_LIMIT && self.shared.direct.is_none() {
                let wake = state.forks[self.slot].wake.clone();
                state = self.shared.wait(state, &wake)?;
            }
            if piece.len() <= SMALL_PIECE && extend_chunk(&mut state.forks[self.slot], &header, piece) {
                drop(state);
                self.count_sent(piece.len(), 0);
                self.send_much()?;
                continue;
            }
            let mut frame = state.buffer(HEADER_BYTES + piece.len());
            drop(state);
            let (head, body) = frame.split_at_mut(HEADER_BYTES);
            head.copy_from_slice(&header.to_bytes());
            body.copy_from_slice(piece);
            self.push(&mut self.shared.lock(), frame);
            self.count_sent(piece.len(), HEADER_BYTES);
            self.send_much()?;
        }
        Ok(())
    }

    /// Without threads: sends what is queued if it has become much.
    fn send_much(&self) -> Result<(), Abort> {
        match &self.shared.direct {
            Some(direct) if self.shared.lock().forks[self.slot].unsent > DIRECT_UNSENT_LIMIT => {
                direct.send_all(&self.shared)
            }
            _ => Ok(()),
        }
    }

    /// Queues a frame on this fork.
    fn push(&self, state: &mut State, frame: Vec<u8>) {
        let fork = &mut state.forks[self.slot];
        fork.unsent += frame.len();
        fork.sent += 1;
        if let Some(rendezvous) = &self.shared.rendezvous {
            rendezvous.send(&fork.path, fork.sent);
        }
        fork.out.push_back(frame);
        state.make_ready(self.slot);
        self.shared.work.notify_one();
    }

    fn count_sent(&self, payload: usize, framing: usize) {
        let phase = self.clock.phase();
        self.shared.count(|tally| {
            let count = tally.of(phase);
            count.sent_payload += payload as u64;
            count.sent_framing += framing as u64;
        });
    }

    fn check_mine(&self, step: &Step) -> Result<(), Abort> {
        if step.from == self.role { Ok(()) } else { Err(internal(format!("the {} sends at {step}", self.role))) }
    }
}

/// Appends to the last unsent chunk of the same stream, if there is room. The count of frames
/// stays.
fn extend_chunk(fork: &mut Fork, header: &Header, piece: &[u8]) -> bool {
    let Some(last) = fork.out.back_mut() else { return false };
    let Some(Ok(before)) = last.first_chunk().map(Header::parse) else { return false };
    let length = before.length + piece.len();
    if (before.kind, before.tag, before.step) != (Kind::Chunk, header.tag, header.step) || length > CHUNK_BYTES {
        return false;
    }
    last.extend_from_slice(piece);
    if let Some(head) = last.first_chunk_mut() {
        *head = Header { length, ..before }.to_bytes();
    }
    fork.unsent += piece.len();
    true
}

/// The header of a frame of `step`; the writer fills the fork's number in.
fn header(kind: Kind, step: &Step, length: usize) -> Header {
    Header { kind, step: step.number, fork: 0, tag: step.tag(), length }
}
