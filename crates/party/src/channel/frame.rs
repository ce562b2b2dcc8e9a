//! Frames: what is on the wire. A fixed header of ten bytes, then the body.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | kind |
//! | 1 | step number (messages and chunks) |
//! | 2..4 | fork, in the numbering of the side that sends on it |
//! | 4..6 | protocol tag (messages and chunks) |
//! | 6..10 | length of the body |
//!
//! Numbers are little-endian.

use crate::{Malformed, PeerFault, Reader, Role, Writer};

/// Length of a frame's header.
pub const HEADER_BYTES: usize = 10;
/// Greatest length of a frame's body. Longer messages are streamed.
pub const BODY_LIMIT: usize = 16 << 20;
/// Greatest length of each text in an abort frame.
const TEXT_LIMIT: usize = 1 << 10;
const OPEN_BYTES: usize = 12;
const CREDIT_BYTES: usize = 4;
const ABORT_LIMIT: usize = 2 + 2 * (4 + TEXT_LIMIT);

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole message.
    Message,
    /// A part of a streamed message.
    Chunk,
    /// Announcement of a fork, whose frames follow.
    Open,
    /// End of what its sender sends on a fork.
    Close,
    /// Credit for a fork: the receiver has taken data, so that as many bytes more may follow.
    Credit,
    /// Sign of life.
    Ping,
    /// Report of a failure; nothing follows.
    Abort,
    /// End of all that its sender sends; only pings and an abort may follow.
    Finish,
}

impl Kind {
    const ALL: [Self; 8] =
        [Self::Message, Self::Chunk, Self::Open, Self::Close, Self::Credit, Self::Ping, Self::Abort, Self::Finish];

    fn byte(self) -> u8 {
        self as u8 + 1
    }
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The frame's kind.
    pub kind: Kind,
    /// The number of the message's arrow in its figure.
    pub step: u8,
    /// The fork to which the frame belongs, in the numbering of its sender.
    pub fork: u16,
    /// The tag of the message's protocol, see [`Step::tag`](crate::Step::tag).
    pub tag: u16,
    /// The body's length in bytes.
    pub length: usize,
}

impl Header {
    /// The header of a frame that carries no step.
    pub(crate) fn control(kind: Kind, fork: u16, length: usize) -> Self {
        Self { kind, step: 0, fork, tag: 0, length }
    }

    /// Parses a header. Total: any bytes give a header or an error. The length of a parsed header
    /// lies within what its kind allows.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let [kind, step, fork0, fork1, tag0, tag1, length @ ..] = *bytes;
        let kind =
            Kind::ALL.into_iter().find(|known| known.byte() == kind).ok_or(Malformed("a frame of an unknown kind"))?;
        let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| Malformed("a frame that is too long"))?;
        let allowed = match kind {
            Kind::Message => 0..=BODY_LIMIT,
            Kind::Chunk => 1..=BODY_LIMIT,
            Kind::Open => OPEN_BYTES..=OPEN_BYTES,
            Kind::Credit => CREDIT_BYTES..=CREDIT_BYTES,
            Kind::Close | Kind::Ping | Kind::Finish => 0..=0,
            Kind::Abort => 0..=ABORT_LIMIT,
        };
        if !allowed.contains(&length) {
            return Err(Malformed("a frame of a length that its kind does not have"));
        }
        let header = Self {
            kind,
            step,
            fork: u16::from_le_bytes([fork0, fork1]),
            tag: u16::from_le_bytes([tag0, tag1]),
            length,
        };
        if !matches!(kind, Kind::Message | Kind::Chunk) && (step != 0 || header.tag != 0) {
            return Err(Malformed("a frame with a step that its kind does not have"));
        }
        Ok(header)
    }

    /// The header's encoding.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind.byte();
        bytes[1] = self.step;
        bytes[2..4].copy_from_slice(&self.fork.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.tag.to_le_bytes());
        // No body is longer than BODY_LIMIT.
        bytes[6..].copy_from_slice(&(self.length as u32).to_le_bytes());
        bytes
    }
}

/// Fills in the number of the fork that a frame is sent on.
pub(crate) fn set_fork(frame: &mut [u8], id: u16) {
    if let Some([_, _, low, high, ..]) = frame.first_chunk_mut::<HEADER_BYTES>() {
        [*low, *high] = id.to_le_bytes();
    }
}

/// Writes a complete frame without a step.
pub(crate) fn control(kind: Kind, fork: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = Header::control(kind, fork, body.len()).to_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

/// Body of an open frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// The fork from which the new one branches, in the sender's numbering.
    pub parent: u16,
    /// The number of forks that its parent had before.
    pub index: u16,
    /// Hash of the new fork's label.
    pub label: u64,
}

impl Open {
    pub(crate) fn to_frame(self, fork: u16) -> Vec<u8> {
        let mut body = Writer::with_capacity(OPEN_BYTES);
        body.bytes(&self.parent.to_le_bytes());
        body.bytes(&self.index.to_le_bytes());
        body.u64(self.label);
        control(Kind::Open, fork, &body.into_bytes())
    }

    pub(crate) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let mut body = Reader::new(body);
        Ok(Self {
            parent: u16::from_le_bytes(body.array()?),
            index: u16::from_le_bytes(body.array()?),
            label: body.u64()?,
        })
    }
}

/// 64 bits of FNV-1a over a fork's label.
pub(crate) fn label_hash(label: &str) -> u64 {
    label.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

pub(crate) fn abort_frame(fault: &PeerFault) -> Vec<u8> {
    let mut body = Writer::default();
    let from = match fault.from {
        Some(Role::Sender) => 1,
        Some(Role::Receiver) => 2,
        None => 0,
    };
    body.bytes(&[fault.code, from]);
    for text in [&fault.fault, &fault.mend] {
        let text = clean(text);
        body.u32(text.len() as u32);
        body.bytes(text.as_bytes());
    }
    control(Kind::Abort, 0, &body.into_bytes())
}

/// Parses an abort frame's body; what cannot be parsed is left empty, for the peer has failed in
/// any case.
pub(crate) fn parse_abort(body: &[u8]) -> PeerFault {
    let mut body = Reader::new(body);
    let [code, from] = body.array().unwrap_or([0, 0]);
    let mut text = || {
        let length = body.u32().unwrap_or(0);
        clean(&String::from_utf8_lossy(
            usize::try_from(length).ok().and_then(|length| body.bytes(length).ok()).unwrap_or_default(),
        ))
    };
    let (fault, mend) = (text(), text());
    let from = match from {
        1 => Some(Role::Sender),
        2 => Some(Role::Receiver),
        _ => None,
    };
    PeerFault { from, code, fault, mend }
}

/// Bounds a text and strips what could steer a terminal: control characters and bidirectional
/// overrides.
fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    for character in text.chars() {
        let steers = character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if steers {
            continue;
        }
        if cleaned.len() + character.len_utf8() > TEXT_LIMIT {
            break;
        }
        cleaned.push(character);
    }
    cleaned
}
