//! The phases over which time and bytes are tallied.

/// A part of a run, the same names in every protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// Whatever no other phase covers.
    Other,
    /// Agreement on the configuration.
    Handshake,
    /// Waiting until the own table is read.
    Read,
    /// The one-time work of a service ([`crate::service`]) before its first query: preparing the
    /// server's set and enrolling the client.
    Precompute,
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
    /// All phases, in the order of reports.
    pub const ALL: [Self; 16] = [
        Self::Other,
        Self::Handshake,
        Self::Read,
        Self::Precompute,
        Self::BaseOt,
        Self::OtExtension,
        Self::Expand,
        Self::Check,
        Self::HashItems,
        Self::Encode,
        Self::Decode,
        Self::Masks,
        Self::Match,
        Self::Permute,
        Self::Equality,
        Self::Payload,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Handshake => "handshake",
            Self::Read => "read",
            Self::Precompute => "precompute",
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

#[cfg(test)]
mod tests {
    use super::Phase;

    /// Recorded benchmark runs and reports of users hold these names: a name may be added, but none
    /// may change.
    #[test]
    fn names_and_their_order_stay() {
        let names = "other handshake read precompute base-ot ot-extension expand check hash-items encode decode masks \
                     match permute equality payload";
        assert_eq!(Phase::ALL.map(Phase::name).join(" "), names);
        assert!(Phase::ALL.is_sorted());
    }
}
