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

use super::frame::{Header, Kind};
use crate::{Role, Step};

const DIRECTION: &str = "vesica 2026-11-20 transcript of one direction of a fork v1";
/// Domain of the hash of all forks.
pub(super) const WHOLE: &str = "vesica 2026-11-20 transcript of a channel v1";

/// Hashes of the two directions of a fork that has ended: from the connection's sender first.
pub(super) type Digests = [[u8; 32]; 2];

/// Forks that have ended, by the indices that lead to them.
pub(super) type Ended = BTreeMap<Vec<u16>, Digests>;

/// Both directions of one fork, as far as they have come.
pub(super) struct Transcript {
    pub(super) sent: Direction,
    pub(super) received: Direction,
}

impl Transcript {
    pub(super) fn new() -> Self {
        Self { sent: Direction::new(), received: Direction::new() }
    }

    /// The digests in the order on which both sides agree: `role` is this side's at the opening of
    /// the connection.
    pub(super) fn digests(&self, role: Role) -> Digests {
        let (sent, received) = (self.sent.digest(), self.received.digest());
        match role {
            Role::Sender => [sent, received],
            Role::Receiver => [received, sent],
        }
    }
}

/// One direction of one fork.
pub(super) struct Direction {
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

    pub(super) fn message(&mut self, step: &Step, body: &[u8]) {
        if let Some(stream) = self.stream.take() {
            stream.end(&mut self.records);
        }
        self.records.update(&header(Kind::Message, step, body.len()).to_bytes());
        self.records.update(body);
    }

    /// A part of a stream, not empty.
    pub(super) fn part(&mut self, step: &Step, bytes: &[u8]) {
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
