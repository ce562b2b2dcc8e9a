//! Payload columns: the sender's values for a key, which travel as a record of fixed width, and the
//! receiver's way back from records to values (`decode`). `keys` are the keys of a union, which travel
//! as records too.
//!
//! A record is a presence bit for each field (little-endian bits, 1 = not null), then the present
//! values: booleans one byte, what has a fixed width as Arrow stores it (little-endian), text and
//! binary behind their length as LEB128. Zeros pad every record to the width of the longest one, so
//! that no length shows but that maximum.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod decode;
mod keys;
mod kind;

pub use decode::ReceivedPayload;
pub(crate) use decode::Value;
pub use keys::{KeyKind, UnionKeys, UnionSpec, key_schema};
pub use kind::{PayloadKind, PayloadUnit};

use std::fmt;

use arrow_schema::Schema;

/// The widest record: each match costs its width, and each key of the sender on the wire too.
pub const MAX_PAYLOAD_WIDTH: usize = 1 << 16;

/// The most columns of a payload.
pub(crate) const MOST_COLUMNS: usize = 1 << 10;

/// The longest name of a payload column, in bytes.
pub(crate) const LONGEST_NAME: usize = 1 << 10;

/// What the sender does with rows that share a key and differ in payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// An error, before anything is sent.
    Refuse,
    /// The first row's payload counts.
    First,
}

/// Which columns the sender gives along with its matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadSpec {
    /// Names in the sender's table, in the order of the receiver's output.
    pub columns: Vec<String>,
    /// Rows that share a key.
    pub duplicates: Duplicates,
}

/// One field of the records.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PayloadField {
    /// Column name in the sender's table.
    pub name: String,
    /// Its type.
    pub kind: PayloadKind,
}

/// The fields of the records and their common width: what the handshake agrees on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PayloadSchema {
    /// In output order.
    pub fields: Vec<PayloadField>,
    /// Bytes a record takes, padding included.
    pub width: usize,
}

impl PayloadSchema {
    /// Bytes of presence bits.
    pub(crate) fn presence_bytes(&self) -> usize {
        self.fields.len().div_ceil(8)
    }

    /// Names for the columns that collide neither with those of the table nor with each other.
    pub(crate) fn names_beside(&self, table: &Schema) -> Vec<String> {
        let mut taken: Vec<String> = table.fields().iter().map(|field| field.name().clone()).collect();
        let own = taken.len();
        for field in &self.fields {
            let mut name = field.name.clone();
            while taken.contains(&name) {
                name.insert_str(0, "partner_");
            }
            taken.push(name);
        }
        taken.split_off(own)
    }

    /// A record whose fields are all null.
    pub(crate) fn null_record(&self) -> Vec<u8> {
        vec![0; self.width]
    }
}

/// One record a distinct key of the sender.
#[derive(PartialEq, Eq)]
pub struct PayloadTable {
    /// Fields and width.
    pub schema: PayloadSchema,
    /// `schema.width` bytes a key, in the order of the digests.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for PayloadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PayloadTable").field("schema", &self.schema).finish_non_exhaustive()
    }
}
