//! Keys that travel: the sender of a union gives whole keys, and the receiver writes them to its
//! own key columns. Where both sides learn the union, the receiver's keys travel to the sender, too.
//!
//! A key travels as a record of its own, before the record of its payload: one field a key column,
//! which holds what the column's normalisers made of the value ([`crate::key`] says what that is
//! without any). The receiver turns this text back into a value of its own column.

use serde::{Deserialize, Serialize};

use crate::table::payload::{PayloadField, PayloadKind, PayloadSchema, PayloadSpec, PayloadTable};

/// What a side of a union whose keys travel reads beside their digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnionSpec {
    /// Columns that go along with new keys.
    pub payload: Option<PayloadSpec>,
    /// The widest record of a key and its payload that may travel, in bytes.
    pub most_bytes: usize,
}

/// What a side says of one of its key columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyKind {
    /// The column's type; text where normalisers write it.
    pub kind: PayloadKind,
    /// Types of [`KeyKind::READINGS`] that hold every key of the side, so that a column of such a
    /// type can take them. Keys that do not travel have none.
    pub reads_as: Vec<PayloadKind>,
}

/// The keys of a union's side.
#[derive(Debug, PartialEq, Eq)]
pub struct UnionKeys {
    /// One for each key column.
    pub kinds: Vec<KeyKind>,
    /// The keys in the order of the digests, where they travel.
    pub records: Option<PayloadTable>,
}

impl KeyKind {
    /// The types that keys of another type may be read as.
    pub const READINGS: [PayloadKind; 7] = [
        PayloadKind::Int { bits: 32 },
        PayloadKind::Int { bits: 64 },
        PayloadKind::UInt { bits: 32 },
        PayloadKind::UInt { bits: 64 },
        PayloadKind::Date { bits: 32 },
        PayloadKind::Boolean,
        PayloadKind::Uuid,
    ];

    /// Whether an honest side says it.
    pub fn is_sound(&self) -> bool {
        self.kind.data_type().is_some() && self.reads_as.iter().all(|kind| Self::READINGS.contains(kind))
    }

    /// Whether a column of the type `own` takes every key of this column.
    pub fn fits(&self, own: &PayloadKind) -> bool {
        use PayloadKind as K;
        match own {
            K::Text | K::LargeText | K::TextView => !self.is_binary(),
            K::Binary | K::LargeBinary | K::BinaryView => true,
            own => *own == self.kind || self.reads_as.contains(own),
        }
    }

    /// Whether the column's values need not be text.
    pub fn is_binary(&self) -> bool {
        use PayloadKind as K;
        matches!(self.kind, K::Binary | K::LargeBinary | K::BinaryView | K::FixedBinary { .. })
    }

    /// The type in which the keys travel.
    fn travels_as(&self) -> PayloadKind {
        if self.is_binary() { PayloadKind::LargeBinary } else { PayloadKind::LargeText }
    }
}

/// The records of keys of these kinds. Their fields have no names: the receiver has its own.
pub fn key_schema(kinds: &[KeyKind], width: usize) -> PayloadSchema {
    let field = |kind: &KeyKind| PayloadField { name: String::new(), kind: kind.travels_as() };
    PayloadSchema { fields: kinds.iter().map(field).collect(), width }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_takes_keys_of_its_own_type_and_what_they_read_as() {
        use PayloadKind as K;
        let of = |kind: K, reads_as: &[K]| KeyKind { kind, reads_as: reads_as.to_vec() };
        let text = of(K::Text, &[]);
        assert!(text.fits(&K::Text) && text.fits(&K::TextView) && text.fits(&K::Binary));
        assert!(!text.fits(&K::Int { bits: 64 }) && !text.fits(&K::Date { bits: 32 }));
        let numbers = of(K::Text, &[K::Int { bits: 64 }]);
        assert!(numbers.fits(&K::Int { bits: 64 }) && !numbers.fits(&K::Int { bits: 32 }) && numbers.fits(&K::Text));
        let binary = of(K::Binary, &[]);
        assert!(binary.fits(&K::LargeBinary) && !binary.fits(&K::Text));
        let small = of(K::Int { bits: 8 }, &[]);
        assert!(small.fits(&K::Int { bits: 8 }) && !small.fits(&K::Int { bits: 16 }));
        assert!(small.is_sound() && !of(K::Text, &[K::Text]).is_sound());
        assert!(!of(K::Int { bits: 7 }, &[]).is_sound());
    }
}
