//! The two parties of a protocol, and the arrows of its figure.

use std::fmt;

/// One of the two parties of a protocol. Which of them listens for connections does not depend on
/// it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The party that holds the set that is asked; in OT the two messages, in VOLE `delta` and `b`.
    Sender,
    /// The party that learns the result; in OT it holds the choice, in VOLE `c` and `a`.
    Receiver,
}

impl Role {
    /// The other party.
    pub const fn peer(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}

/// One arrow of a protocol's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The protocol whose figure it is, for example `vole-psi`.
    pub protocol: &'static str,
    /// The arrow's number in the figure.
    pub number: u8,
    /// The party that sends the message.
    pub from: Role,
    /// What the message carries, in words for error messages.
    pub carries: &'static str,
}

impl Step {
    /// The protocol's tag in a frame: 16 bits of FNV-1a over its name.
    #[expect(clippy::indexing_slicing, reason = "the loop ends at the length; a const function has no iterators")]
    pub const fn tag(&self) -> u16 {
        let bytes = self.protocol.as_bytes();
        let mut hash = 0x811c_9dc5_u32;
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
            i += 1;
        }
        (hash ^ (hash >> 16)) as u16
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} step {} ({}, from the {})", self.protocol, self.number, self.carries, self.from)
    }
}
