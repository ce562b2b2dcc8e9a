//! The distinct keys of a share of a table, and their buckets.

use serde::{Deserialize, Serialize};
use vesica_party::{Malformed, Reader};

use super::part::{KEY_LENGTH_BYTES, SAID_BEFORE};
use super::{Beside, read_digest, unreadable, write_digest};
use crate::cluster::Division;
use crate::failure::Failure;
use crate::key::Digest;

/// The distinct keys of a share.
pub struct Share {
    /// Of each key, ascending, the digest and what stands beside it behind its length.
    pub keys: Vec<u8>,
    /// Of each key, in the same order, how many rows it has, and of each of them the file and the number in it.
    pub rows: Vec<u8>,
    /// Counts.
    pub counts: ShareCounts,
}

/// Counts of a share, which are added up to those of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareCounts {
    /// Distinct keys by the alternative in which they first occur; one number without alternatives.
    pub distinct: Vec<u64>,
    /// Keys whose value in this column was outside of its range.
    pub clamped: Vec<u64>,
    /// Keys that have no value in this column: rows differ, or add up to more than 64 bits hold.
    pub without_value: Vec<u64>,
    /// The sums of each column of values, within their ranges and modulo `2^64`.
    pub totals: Vec<i64>,
    /// Keys whose rows differ in payload.
    pub differing: u64,
    /// Keys whose rows are in several groups.
    pub in_several_groups: u64,
}

impl ShareCounts {
    /// Counts of nothing, for so many alternatives.
    pub fn none(alternatives: usize, beside: &Beside) -> Self {
        let columns = beside.values.len();
        let (clamped, without_value, totals) = (vec![0; columns], vec![0; columns], vec![0; columns]);
        Self { distinct: vec![0; alternatives], clamped, without_value, totals, differing: 0, in_several_groups: 0 }
    }

    /// Adds those of another share.
    pub fn add(&mut self, more: &Self) {
        let lists = [
            (&mut self.distinct, &more.distinct),
            (&mut self.clamped, &more.clamped),
            (&mut self.without_value, &more.without_value),
        ];
        for (all, more) in lists {
            all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
        self.totals.iter_mut().zip(&more.totals).for_each(|(all, more)| *all = all.wrapping_add(*more));
        self.differing += more.differing;
        self.in_several_groups += more.in_several_groups;
    }
}

/// A row's key in a part.
struct Entry<'a> {
    digest: Digest,
    file: u32,
    row: u32,
    alternative: u8,
    beside: Option<&'a [u8]>,
}

/// Puts a share's sections of all parts together, each with the number of its file of rows. `places` are those of
/// [`agree_on_groups`](super::agree_on_groups), by files; empty without groups.
///
/// # Errors
/// If a section cannot be read.
pub fn merge(
    beside: &Beside,
    alternatives: usize,
    places: &[Vec<u32>],
    sections: &[(u32, impl AsRef<[u8]>)],
) -> Result<Share, Failure> {
    let mut entries = Vec::new();
    for (file, section) in sections {
        let mut bytes = Reader::new(section.as_ref());
        while bytes.remaining() > 0 {
            entries.push(entry(*file, beside.is_any(), &mut bytes).map_err(unreadable)?);
        }
    }
    // The same order whichever machine does it.
    entries.sort_unstable_by_key(|entry| (entry.digest, entry.file, entry.row, entry.alternative));
    let mut share = Share { keys: Vec::new(), rows: Vec::new(), counts: ShareCounts::none(alternatives, beside) };
    for of_key in entries.chunk_by(|one, next| one.digest == next.digest) {
        let Some(first) = of_key.first() else { continue };
        write_digest(&mut share.keys, first.digest);
        if let Some(distinct) = share.counts.distinct.get_mut(usize::from(first.alternative)) {
            *distinct += 1;
        }
        share.rows.extend_from_slice(&(of_key.len() as u32).to_le_bytes());
        for entry in of_key {
            share.rows.extend_from_slice(&entry.file.to_le_bytes());
            share.rows.extend_from_slice(&entry.row.to_le_bytes());
        }
        let mut said = of_key.iter().filter_map(|entry| entry.beside);
        if beside.is_computed() {
            let values = values(beside, said, &mut share.counts).map_err(unreadable)?;
            share.keys.extend(values.into_iter().flat_map(i64::to_le_bytes));
            if beside.group_by.is_some() {
                let group = group(beside, of_key, places, &mut share.counts).map_err(unreadable)?;
                share.keys.extend(group.to_le_bytes());
            }
        } else if beside.has_record() {
            let record = said.next().unwrap_or_default();
            let payload = |record| key_and_payload(beside, record).map(|(_, payload)| payload).map_err(unreadable);
            let first = payload(record)?;
            let others = said.map(payload).collect::<Result<Vec<_>, _>>()?;
            share.counts.differing += u64::from(others.into_iter().any(|other| other != first));
            share.keys.extend_from_slice(&(record.len() as u32).to_le_bytes());
            share.keys.extend_from_slice(record);
        }
    }
    Ok(share)
}

fn entry<'a>(file: u32, is_beside: bool, bytes: &mut Reader<'a>) -> Result<Entry<'a>, Malformed> {
    let (digest, row, [alternative]) = (read_digest(bytes)?, bytes.u32()?, bytes.array()?);
    let beside = match is_beside {
        true => Some(bytes.u32()?).filter(|&length| length != SAID_BEFORE),
        false => None,
    };
    let beside = beside.map(|length| bytes.bytes(length as usize)).transpose()?;
    Ok(Entry { digest, file, row, alternative, beside })
}

/// The values of a key, within their ranges, from what its rows say.
fn values<'a>(
    beside: &Beside,
    said: impl Iterator<Item = &'a [u8]>,
    counts: &mut ShareCounts,
) -> Result<Vec<i64>, Malformed> {
    let all =
        said.map(|bytes| Reader::new(bytes).elements(beside.values.len())).collect::<Result<Vec<Vec<i64>>, _>>()?;
    let mut values = Vec::with_capacity(beside.values.len());
    for (place, column) in beside.values.iter().enumerate() {
        let mut of_column = all.iter().filter_map(|values| values.get(place)).copied().map(i128::from);
        let value = match beside.adds_up {
            // No number of rows is too large for 128 bits.
            true => i64::try_from(of_column.sum::<i128>()).ok(),
            false => {
                let first = of_column.next();
                first.filter(|first| of_column.all(|other| other == *first)).and_then(|first| i64::try_from(first).ok())
            }
        };
        if value.is_none()
            && let Some(without) = counts.without_value.get_mut(place)
        {
            *without += 1;
        }
        let value = value.unwrap_or_default();
        let within = column.clamp.map_or(value, |range| value.clamp(range.least, range.most));
        if within != value
            && let Some(clamped) = counts.clamped.get_mut(place)
        {
            *clamped += 1;
        }
        if let Some(total) = counts.totals.get_mut(place) {
            *total = total.wrapping_add(within);
        }
        values.push(within);
    }
    Ok(values)
}

/// The place of a key's group among those of the table, from what its rows say.
fn group(
    beside: &Beside,
    of_key: &[Entry<'_>],
    places: &[Vec<u32>],
    counts: &mut ShareCounts,
) -> Result<u32, Malformed> {
    let mut groups = Vec::with_capacity(1);
    for entry in of_key {
        let Some(said) = entry.beside else { continue };
        let number = said.get(8 * beside.values.len()..).ok_or(Malformed("a key without a group"))?;
        let number = Reader::new(number).u32()?;
        let place = places.get(entry.file as usize).and_then(|places| places.get(number as usize));
        let place = *place.ok_or(Malformed("a group that no part has"))?;
        if !groups.contains(&place) {
            groups.push(place);
        }
    }
    counts.in_several_groups += u64::from(groups.len() > 1);
    groups.first().copied().ok_or(Malformed("a key without a group"))
}

/// The keys of a share and what stands beside them, one after the other.
pub(super) fn keys<'a>(beside: &Beside, keys: &'a [u8]) -> impl Iterator<Item = Result<(Digest, &'a [u8]), Failure>> {
    let (computed, has_record) = (beside.computed_bytes(), beside.has_record());
    let mut bytes = Reader::new(keys);
    std::iter::from_fn(move || {
        (bytes.remaining() > 0).then(|| {
            let mut next = || {
                let digest = read_digest(&mut bytes)?;
                let length = if has_record { bytes.u32()? as usize } else { computed };
                Ok((digest, bytes.bytes(length)?))
            };
            next().map_err(unreadable)
        })
    })
}

/// What stands beside a key, in whole and payload; no key where keys do not travel in whole.
fn key_and_payload<'a>(beside: &Beside, record: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Malformed> {
    if beside.most_record_bytes.is_none() {
        return Ok((&[], record));
    }
    let (length, rest) = record.split_at_checked(KEY_LENGTH_BYTES).ok_or(Malformed("a record without a key"))?;
    let length = Reader::new(length).u32()? as usize;
    rest.split_at_checked(length).ok_or(Malformed("a record without a whole key"))
}

/// Bytes of a key in whole, or 0, and of what else stands beside each key.
pub type Widths = (usize, usize);

/// The keys of a share in sections, one for each bucket. Beside each stand the first bytes of its values and its group, or
/// its record: the key in whole, if it travels so, and the payload, each padded to its width.
///
/// # Errors
/// If the share cannot be read, or a record is longer.
pub fn divide(
    division: &Division,
    beside: &Beside,
    (key_width, width): Widths,
    share: &[u8],
) -> Result<Vec<Vec<u8>>, Failure> {
    let all = keys(beside, share).collect::<Result<Vec<_>, _>>()?;
    let numbers = division.buckets_of(all.iter().map(|(digest, _)| *digest).collect());
    let mut sections = vec![Vec::new(); division.buckets as usize];
    for ((digest, record), bucket) in all.into_iter().zip(numbers) {
        let Some(section) = sections.get_mut(usize::from(bucket)) else { continue };
        write_digest(section, digest);
        let (key, record) = key_and_payload(beside, record).map_err(unreadable)?;
        // Values that this side computes with by itself do not go to buckets, and neither does the only group.
        let record = if beside.is_computed() { record.get(..width).unwrap_or(record) } else { record };
        for (part, width) in [(key, key_width), (record, width)] {
            section.extend_from_slice(part);
            let missing = width.checked_sub(part.len()).ok_or_else(|| unreadable(Malformed("a record is too long")))?;
            section.resize(section.len() + missing, 0);
        }
    }
    Ok(sections)
}
