//! How a protocol for sets is built, in the terms of Liang et al., "PsiBench: Pragmatic Benchmark of
//! Two-party Private Set Intersection", sections 3 to 5: both sets are *mapped* to values that tell
//! nothing beyond what is common, and these are *compared*.

use std::fmt;

/// How both sets are mapped (PsiBench, Table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Map {
    /// Each item under a key of either side, in whichever order.
    CommutativeWeakPrf,
    /// A pseudo-random function whose key the sender has before it meets the receiver.
    FixedKeyOprf,
    /// A function for each bin, which the receiver gets at one item.
    SinglePointOprf,
    /// One function, which the receiver gets at all of its items.
    MultiPointOprf,
    /// Shares of what matched, by circuits.
    Circuits,
    /// A reverse membership test: one side learns which places of the other's set match, and not which items
    /// lie there.
    MembershipTest,
    /// The receiver's items, or the sender's, under homomorphic encryption. Not in the paper's table.
    HomomorphicEncryption,
}

impl Map {
    /// All of them, in the order of documents.
    pub const ALL: [Self; 7] = [
        Self::CommutativeWeakPrf,
        Self::FixedKeyOprf,
        Self::SinglePointOprf,
        Self::MultiPointOprf,
        Self::Circuits,
        Self::MembershipTest,
        Self::HomomorphicEncryption,
    ];
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommutativeWeakPrf => "commutative weak PRF",
            Self::FixedKeyOprf => "fixed-key OPRF",
            Self::SinglePointOprf => "single-point OPRF",
            Self::MultiPointOprf => "multi-point OPRF",
            Self::Circuits => "shares from circuits",
            Self::MembershipTest => "shares from membership tests",
            Self::HomomorphicEncryption => "homomorphic encryption",
        })
    }
}

/// How what was mapped is compared (PsiBench, Table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compare {
    /// The receiver's values come back in its own order, the sender's follow as a set: neither can be made
    /// before the run.
    List,
    /// The sender's values as a set.
    Set,
    /// Several values of each of the sender's items, as a set for each function or all together.
    Sets,
    /// The sender opens its shares, of each bin or of the result.
    ShareRecovery,
    /// Transfers whose choices are what matched.
    ObliviousTransfer,
    /// The receiver decrypts the answers. Not in the paper's table.
    Decryption,
    /// The receiver fetches records of the sender's values by private look-ups. Not in the paper's table.
    LookUp,
    /// Nothing is compared: the shares are the result.
    Nothing,
}

impl Compare {
    /// All of them, in the order of documents.
    pub const ALL: [Self; 8] = [
        Self::List,
        Self::Set,
        Self::Sets,
        Self::ShareRecovery,
        Self::ObliviousTransfer,
        Self::Decryption,
        Self::LookUp,
        Self::Nothing,
    ];
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::Set => "set",
            Self::Sets => "sets",
            Self::ShareRecovery => "share recovery",
            Self::ObliviousTransfer => "oblivious transfer",
            Self::Decryption => "decryption",
            Self::LookUp => "private look-up",
            Self::Nothing => "nothing: the result is shared",
        })
    }
}

/// The work of both sides together: the terms that grow with the sets, `n_s` items of the sender and
/// `n_r` of the receiver, in words. What does not grow with them (base OTs, seeds) is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Multiplications of group elements by scalars.
    pub group_operations: &'static str,
    /// Ciphers, hashes and encryptions.
    pub symmetric_operations: &'static str,
}

impl Work {
    /// Work of both kinds.
    pub const fn new(group_operations: &'static str, symmetric_operations: &'static str) -> Self {
        Self { group_operations, symmetric_operations }
    }

    /// Work without operations in a group.
    pub const fn symmetric(symmetric_operations: &'static str) -> Self {
        Self { group_operations: "none", symmetric_operations }
    }
}

/// The row of a protocol in the overview by Map-and-Compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapAndCompare {
    /// How sets are mapped.
    pub map: Map,
    /// How what was mapped is compared.
    pub compare: Compare,
    /// What both take.
    pub work: Work,
}

impl MapAndCompare {
    /// A row of the overview.
    pub const fn new(map: Map, compare: Compare, work: Work) -> Self {
        Self { map, compare, work }
    }
}
