//! The keys of a table whose rows many machines have, in files that all of them read and write.
//!
//! | what | who makes it | what is in it |
//! |---|---|---|
//! | a *part* | each task that reads rows | for each row with a key the key's digest, the row's number in its file of rows, and what stands beside the key, with groups by numbers of the part; in sections, one for each share |
//! | a *share* of the keys | a task, from its section of each part | the distinct keys, ascending, and the rows of each |
//! | the share's *buckets* | a task | its keys, in sections, one for each bucket |
//! | what *matched* in a bucket | the worker of the bucket | in sections, one for each share: which keys matched, and the partner's columns for them |
//! | what was *found* in a share | a task | the rows that match, in sections, one for each file of rows |
//!
//! So no step takes more memory than a share or a bucket, whatever the size of the table, and a row stays in the file in
//! which the task that read it put it.

mod found;
mod groups;
mod part;
mod share;

use serde::{Deserialize, Serialize};
use vesica_party::{Malformed, Reader};

pub use found::{FoundRows, find, open_matched};
pub(super) use found::{matched_in_shares, seal_of};
pub use groups::{Categories, agree_on_groups};
pub use part::{KeyPart, KeyRecords, Records, records_of_parts};
pub use share::{Share, ShareCounts, Widths, divide, merge};

use crate::failure::{Failure, code};
use crate::key::{Digest, Digests};
use crate::table::ValueColumn;

/// What is read beside the keys of a table, and of which keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Columns that the partner gets.
    pub payload: Vec<String>,
    /// Columns that are computed with; none where there is a payload.
    pub values: Vec<ValueColumn>,
    /// The column whose values are the groups; none where there is a payload.
    pub group_by: Option<String>,
    /// Whether the values of rows that share a key are added up; else they must be the same.
    pub adds_up: bool,
    /// Where keys travel in whole, as in a union: the most bytes of a record of a key and its payload.
    pub most_record_bytes: Option<usize>,
}

impl Beside {
    /// Whether anything is read beside keys.
    fn is_any(&self) -> bool {
        self.has_record() || self.is_computed()
    }

    /// Whether a record is: a payload, a key in whole, or both.
    fn has_record(&self) -> bool {
        !self.payload.is_empty() || self.most_record_bytes.is_some()
    }

    /// Whether values or a group are.
    fn is_computed(&self) -> bool {
        !self.values.is_empty() || self.group_by.is_some()
    }

    /// Bytes of the values and the group of a key.
    fn computed_bytes(&self) -> usize {
        8 * self.values.len() + if self.group_by.is_some() { GROUP_BYTES } else { 0 }
    }
}

/// Bytes of a group's number.
pub(super) const GROUP_BYTES: usize = 4;

/// The share of a digest.
fn share_of([low, _]: Digest, shares: usize) -> usize {
    // The highest bits, which are uniform: a share's digests are a range.
    ((low >> 96) as usize * shares) >> 32
}

fn write_digest(to: &mut Vec<u8>, [low, high]: Digest) {
    to.extend_from_slice(&low.to_le_bytes());
    to.extend_from_slice(&high.to_le_bytes());
}

fn read_digest(bytes: &mut Reader<'_>) -> Result<Digest, Malformed> {
    Ok([u128::from_le_bytes(bytes.array()?), u128::from_le_bytes(bytes.array()?)])
}

/// The keys of a bucket, from the bucket's section of each share in their order, and what stands beside each of them: a
/// record of `width` bytes.
pub(super) struct BucketKeys {
    pub digests: Digests,
    pub records: Vec<u8>,
    /// How many keys come from each share.
    pub of_shares: Vec<usize>,
}

impl BucketKeys {
    pub fn read(sections: &[impl AsRef<[u8]>], width: usize) -> Result<Self, Failure> {
        let (mut all, mut records, mut of_shares) = (Vec::new(), Vec::new(), Vec::new());
        for section in sections {
            let mut bytes = Reader::new(section.as_ref());
            let before = all.len();
            while bytes.remaining() > 0 {
                all.push(read_digest(&mut bytes).map_err(unreadable)?);
                records.extend_from_slice(bytes.bytes(width).map_err(unreadable)?);
            }
            of_shares.push(all.len() - before);
        }
        Ok(Self { digests: all.into_iter().collect(), records, of_shares })
    }
}

/// The refusal of a file that no machine of this release has written.
fn unreadable(Malformed(what): Malformed) -> Failure {
    Failure::new(
        code::INTERNAL,
        format_args!("a file of the run cannot be read: {what}"),
        "see that nothing removes or changes files in the work folder, and that all machines have the same release",
    )
}

#[cfg(test)]
mod tests;
