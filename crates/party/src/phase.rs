//! The phases over which time and bytes are tallied.

/// A part of a run, the same names in every protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// Whatever no other phase covers.
    Other,
    /// Agreement on the configuration.
    Handshake,
    /// Base oblivious transfers on the curve.
    BaseOt,
    /// OT extension and base VOLE.
    OtExtension,
    /// Silent expansion: trees and code.
    Expand,
    /// Consistency checks of the malicious mode.
    Check,
    /// Hashing items to rows, points or digests.
    HashItems,
    /// Encoding an OKVS.
    Encode,
    /// Sending or receiving the masked table, and decoding it.
    Decode,
    /// Making, sending or receiving the masks.
    Masks,
    /// Finding the matches.
    Match,
    /// Permuting what is shared.
    Permute,
    /// Tests of shared values for equality.
    Equality,
    /// Payload transfer, and what is computed on it.
    Payload,
}

impl Phase {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Handshake => "handshake",
            Self::BaseOt => "base-ot",
            Self::OtExtension => "ot-extension",
            Self::Expand => "expand",
            Self::Check => "check",
            Self::HashItems => "hash-items",
            Self::Encode => "encode",
            Self::Decode => "decode",
            Self::Masks => "masks",
            Self::Match => "match",
            Self::Permute => "permute",
            Self::Equality => "equality",
            Self::Payload => "payload",
        }
    }
}
