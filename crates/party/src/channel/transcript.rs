//! A running hash of all messages in both directions.
//!
//! It is taken where messages are sent and received, over what both sides know: the arrow, the
//! length and the bytes. How a stream was cut, frames without a message and the numbers of forks
//! are no part of it, so that both sides come to the same value.
//!
//! One direction of one fork is a sequence of records. A message is its header and its body; a
//! stream, which ends where another arrow begins, is its header, its length and the hash of its
//! bytes. No two sequences of records have the same encoding.

use std::collections::BTreeMap;

use blake3::Hasher;

use super::Channel;
use super::frame::{Header, Kind};
use crate::{Role, Step};

const DIRECTION: &str = "vesica 2026-11-20 transcript of one direction of a fork v1";
const WHOLE: &str = "vesica 2026-11-20 transcript of a channel v1";

/// Hashes of the two directions of a fork that has ended: from the connection's sender first.
type Digests = [[u8; 32]; 2];

/// Forks that have ended, by the indices that lead to them.
pub(super) type Ended = BTreeMap<Vec<u16>, Digests>;

/// Both directions of one fork, as far as they have come.
pub(super) struct Transcript {
    sent: Direction,
    received: Direction,
}

impl Transcript {
    pub(super) fn new() -> Self {
        Self { sent: Direction::new(), received: Direction::new() }
    }

    /// The digests in the order on which both sides agree: `role` is this side's at the opening of
    /// the connection.
    fn digests(&self, role: Role) -> Digests {
        let (sent, received) = (self.sent.digest(), self.received.digest());
        match role {
            Role::Sender => [sent, received],
            Role::Receiver => [received, sent],
        }
    }
}

struct Direction {
    records: Hasher,
    /// The stream at the end of the records, which further parts may continue.
    stream: Option<OpenStream>,
}

struct OpenStream {
    header: Header,
    bytes: Hasher,
}

impl Direction {
    fn new() -> Self {
        Self { records: Hasher::new_derive_key(DIRECTION), stream: None }
    }

    fn message(&mut self, step: &Step, body: &[u8]) {
        if let Some(stream) = self.stream.take() {
            stream.end(&mut self.records);
        }
        self.records.update(&header(Kind::Message, step, body.len()).to_bytes());
        self.records.update(body);
    }

    /// A part of a stream, not empty.
    fn part(&mut self, step: &Step, bytes: &[u8]) {
        let header = header(Kind::Chunk, step, 0);
        match &mut self.stream {
            Some(stream) if stream.header == header => {
                stream.bytes.update(bytes);
            }
            other => {
                if let Some(stream) = other.take() {
                    stream.end(&mut self.records);
                }
                let mut stream = OpenStream { header, bytes: Hasher::new() };
                stream.bytes.update(bytes);
                *other = Some(stream);
            }
        }
    }

    fn digest(&self) -> [u8; 32] {
        let mut records = self.records.clone();
        if let Some(stream) = &self.stream {
            stream.end(&mut records);
        }
        *records.finalize().as_bytes()
    }
}

impl OpenStream {
    fn end(&self, records: &mut Hasher) {
        records.update(&self.header.to_bytes());
        records.update(&self.bytes.count().to_le_bytes());
        records.update(self.bytes.finalize().as_bytes());
    }
}

/// The header of a record: that of a frame, without a fork.
fn header(kind: Kind, step: &Step, length: usize) -> Header {
    Header { kind, step: step.number, fork: 0, tag: step.tag(), length }
}

impl Channel {
    /// Hash of all messages and streams so far in both directions, on this fork and on those below
    /// it that have ended; `None` unless
    /// [`ChannelOptions::transcript`](super::ChannelOptions::transcript) asks for one.
    ///
    /// Both sides get the same value at the same point of the conversation: when each has received
    /// what the other one sent, and the forks on both sides have ended. It covers what the
    /// channel's caller said, and neither pings nor credits.
    pub fn transcript(&self) -> Option<[u8; 32]> {
        let transcript = self.transcript.as_ref()?;
        let path = self.shared.lock().forks[self.slot].path.clone();
        let mut whole = Hasher::new_derive_key(WHOLE);
        let mut add = |below: &[u16], digests: &Digests| {
            whole.update(&(below.len() as u64).to_le_bytes());
            for index in below {
                whole.update(&index.to_le_bytes());
            }
            whole.update(digests.as_flattened());
        };
        add(&[], &transcript.digests(self.shared.role));
        for (fork, digests) in &*self.shared.ended_forks() {
            if let Some(below) = fork.strip_prefix(path.as_slice()) {
                add(below, digests);
            }
        }
        Some(*whole.finalize().as_bytes())
    }

    /// Leaves an ending fork's digests for the channel that it came from.
    pub(super) fn leave_transcript(&self) {
        if let Some(transcript) = &self.transcript {
            let path = self.shared.lock().forks[self.slot].path.clone();
            self.shared.ended_forks().insert(path, transcript.digests(self.shared.role));
        }
    }

    pub(super) fn note_sent(&mut self, step: &Step, body: &[u8]) {
        self.note_turn(true, body.len() + 1);
        if let Some(transcript) = &mut self.transcript {
            transcript.sent.message(step, body);
        }
    }

    pub(super) fn note_sent_part(&mut self, step: &Step, bytes: &[u8]) {
        self.note_turn(true, bytes.len());
        if let Some(transcript) = &mut self.transcript {
            transcript.sent.part(step, bytes);
        }
    }

    pub(super) fn note_received(&mut self, step: &Step, body: &[u8]) {
        self.note_turn(false, body.len() + 1);
        if let Some(transcript) = &mut self.transcript {
            transcript.received.message(step, body);
        }
    }

    pub(super) fn note_received_part(&mut self, step: &Step, bytes: &[u8]) {
        self.note_turn(false, bytes.len());
        if let Some(transcript) = &mut self.transcript {
            transcript.received.part(step, bytes);
        }
    }
}
