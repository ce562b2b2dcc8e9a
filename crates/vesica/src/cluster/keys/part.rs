//! Rows to keys: what a task keeps of the rows that it reads.

use serde::{Deserialize, Serialize};

use super::groups::{Categories, PartGroups};
use super::{Beside, share_of, write_digest};
use crate::failure::{Failure, code};
use crate::key::KeySpec;
use crate::table::{
    BesideKeys, Duplicates, KeyStats, NO_KEY, PayloadKind, PayloadSchema, PayloadSpec, PayloadTable, Source, UnionSpec,
    ValueColumn, ValueDuplicates, ValueSpec, ValueTable, collect_part,
};

/// Bytes that say how long a key in whole is, in a record of it and its payload.
pub(super) const KEY_LENGTH_BYTES: usize = 4;

/// In a part: nothing stands beside this row's key, since an earlier row of it has said all.
pub(super) const SAID_BEFORE: u32 = u32::MAX;

/// The keys of the rows that one task reads.
pub struct KeyPart {
    key: KeySpec,
    payload: Option<PayloadSpec>,
    union: Option<UnionSpec>,
    values: Option<ValueSpec>,
    groups: PartGroups,
    /// A section for each share: of each key its digest, the row's number, the alternative, and what stands beside it
    /// behind its length.
    sections: Vec<Vec<u8>>,
    rows: u32,
    counts: Vec<String>,
    records: Records,
}

/// What records beside keys are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// The payload's columns, and the longest record of them.
    pub payload: Option<PayloadSchema>,
    /// The keys, where they travel in whole.
    pub keys: Option<KeyRecords>,
}

/// Keys that travel in whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRecords {
    /// Bytes of the longest key.
    pub width: usize,
    /// Of each key column, the types that hold all its keys: see [`KeyKind`](crate::table::KeyKind).
    pub reads_as: Vec<Vec<PayloadKind>>,
}

impl KeyPart {
    /// For the rows of one file, of which none has come.
    pub fn new(key: KeySpec, beside: &Beside, shares: u32) -> Self {
        let payload = (!beside.payload.is_empty())
            .then(|| PayloadSpec { columns: beside.payload.clone(), duplicates: Duplicates::Refuse });
        let values = beside.is_computed().then(|| ValueSpec {
            // A range is for a key's value in all.
            columns: beside.values.iter().map(|column| ValueColumn { clamp: None, ..column.clone() }).collect(),
            group_by: beside.group_by.clone(),
            duplicates: if beside.adds_up { ValueDuplicates::Sum } else { ValueDuplicates::Refuse },
        });
        let sections = vec![Vec::new(); shares as usize];
        let groups = PartGroups::default();
        let union = beside.most_record_bytes.map(|most_bytes| UnionSpec { payload: payload.clone(), most_bytes });
        Self { key, payload, union, values, groups, sections, rows: 0, counts: Vec::new(), records: Records::default() }
    }

    /// Takes the rows that follow those taken before.
    ///
    /// # Errors
    /// If a row has a fault, or the file has more rows than have numbers.
    pub fn add(&mut self, rows: &dyn Source) -> Result<(), Failure> {
        let beside = match (&self.union, &self.payload, &self.values) {
            (Some(union), ..) => BesideKeys::Union(Some(union)),
            (None, Some(payload), _) => BesideKeys::Payload(payload),
            (None, None, Some(values)) => BesideKeys::Values(values),
            (None, None, None) => BesideKeys::Nothing,
        };
        let keys = collect_part(rows, &self.key, beside)?;
        let per_row = keys.keys_per_row();
        let columns = self.values.as_ref().map_or(0, |values| values.columns.len());
        let values = keys.values.as_ref().map_or(&[][..], |values| &values.values);
        let groups = self.groups_of(keys.values.as_ref())?;
        let whole_keys = keys.union.as_ref().and_then(|union| union.records.as_ref());
        let is_computed = columns > 0 || groups.is_some();
        let is_beside = is_computed || keys.payload.is_some() || whole_keys.is_some();
        let shares = self.sections.len();
        // Keys are numbered as they first come.
        let mut next = 0;
        for (row, of_row) in (self.rows..).zip(keys.row_key.chunks_exact(per_row)) {
            for (alternative, &key) in of_row.iter().enumerate().filter(|(_, key)| **key != NO_KEY) {
                let place = key as usize;
                let Some(digest) = keys.digests.get(place) else { continue };
                let Some(section) = self.sections.get_mut(share_of(digest, shares)) else { continue };
                write_digest(section, digest);
                section.extend_from_slice(&row.to_le_bytes());
                section.push(alternative as u8);
                let is_first = place == next;
                next += usize::from(is_first);
                if !is_beside {
                    continue;
                }
                if !is_first {
                    section.extend_from_slice(&SAID_BEFORE.to_le_bytes());
                    continue;
                }
                if is_computed {
                    let group = groups.as_ref().and_then(|groups| groups.get(place)).map(|group| group.to_le_bytes());
                    let length = 8 * columns + group.map_or(0, |group| group.len());
                    section.extend_from_slice(&(length as u32).to_le_bytes());
                    let of_key = values.iter().skip(place * columns).take(columns);
                    of_key.for_each(|value| section.extend_from_slice(&value.to_le_bytes()));
                    section.extend(group.into_iter().flatten());
                    continue;
                }
                let record = record_of(keys.payload.as_ref(), place);
                let Some(whole_keys) = whole_keys else {
                    section.extend_from_slice(&(record.len() as u32).to_le_bytes());
                    section.extend_from_slice(record);
                    continue;
                };
                let key = record_of(Some(whole_keys), place);
                for length in [KEY_LENGTH_BYTES + key.len() + record.len(), key.len()] {
                    section.extend_from_slice(&(length as u32).to_le_bytes());
                }
                section.extend_from_slice(key);
                section.extend_from_slice(record);
            }
        }
        let total = u64::from(self.rows) + keys.stats.rows;
        self.rows = u32::try_from(total).ok().filter(|&rows| rows < NO_KEY).ok_or_else(|| {
            let fault = "one task reads more rows than have numbers";
            Failure::new(code::INPUT, fault, "divide the table into more partitions (repartition)")
        })?;
        self.counts.push(keys.stats.to_part());
        let of_keys = keys.union.and_then(|union| {
            let reads_as = union.kinds.into_iter().map(|kind| kind.reads_as).collect();
            Some(KeyRecords { width: union.records?.schema.width, reads_as })
        });
        let records = Records { payload: keys.payload.map(|payload| payload.schema), keys: of_keys };
        let before = std::mem::take(&mut self.records);
        let all = if self.counts.len() > 1 { vec![before, records] } else { vec![records] };
        let unlike = || Failure::new(code::INTERNAL, "records of one file", "please report this");
        self.records = records_of_parts(&all).ok_or_else(unlike)?;
        Ok(())
    }

    /// The group of each distinct key, by the part's numbers; `None` where no groups were asked for.
    fn groups_of(&mut self, values: Option<&ValueTable>) -> Result<Option<Vec<u32>>, Failure> {
        let column = self.values.as_ref().and_then(|values| values.group_by.as_ref());
        let (Some(column), Some(values)) = (column, values) else { return Ok(None) };
        let numbers = self.groups.numbers_of(&values.categories, column)?;
        let number = |&group: &u32| numbers.get(group as usize).copied().unwrap_or_default();
        Ok(Some(values.groups.iter().map(number).collect()))
    }

    /// The names of the part's groups, by their numbers.
    pub fn categories(&self) -> &Categories {
        self.groups.names()
    }

    /// Bytes of all sections.
    pub fn bytes(&self) -> usize {
        self.sections.iter().map(Vec::len).sum()
    }

    /// The sections so far, which are empty from here on.
    pub fn take_sections(&mut self) -> Vec<Vec<u8>> {
        self.sections.iter_mut().map(std::mem::take).collect()
    }

    /// How many rows have come.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The counts of all rows that have come, as [`KeyStats::of_parts`] takes them; and what the records are.
    ///
    /// # Errors
    /// Never for counts of this process.
    pub fn counts(&self) -> Result<(String, Records), Failure> {
        let nothing = vec![0; self.key.alternatives().count()];
        let together = KeyStats::of_parts(&self.key, self.counts.iter().map(String::as_str), &nothing);
        let together = together.ok_or_else(|| Failure::new(code::INTERNAL, "counts of rows", "please report this"))?;
        Ok((together.to_part(), self.records.clone()))
    }
}

/// A record without the zeros behind it. Those that belong to its last value come back with the padding: a record says
/// by itself where it ends.
fn without_padding(record: &[u8]) -> &[u8] {
    let end = record.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    record.get(..end).unwrap_or_default()
}

/// The record of the key at this place, without padding.
fn record_of(table: Option<&PayloadTable>, place: usize) -> &[u8] {
    let Some(table) = table else { return &[] };
    let width = table.schema.width;
    without_padding(table.bytes.get(place * width..(place + 1) * width).unwrap_or_default())
}

/// What the records of a table are, from what its parts say; `None` if these do not go together.
pub fn records_of_parts(parts: &[Records]) -> Option<Records> {
    let all = |has_it: &dyn Fn(&Records) -> bool| parts.iter().all(has_it) || !parts.iter().any(has_it);
    if !all(&|part| part.payload.is_some()) || !all(&|part| part.keys.is_some()) {
        return None;
    }
    let payloads: Vec<PayloadSchema> = parts.iter().filter_map(|part| part.payload.clone()).collect();
    let payload = if payloads.is_empty() { None } else { Some(payload_of_parts(&payloads)?) };
    let mut of_keys = parts.iter().filter_map(|part| part.keys.as_ref());
    let mut keys = of_keys.next().cloned();
    if let Some(keys) = &mut keys {
        for part in of_keys {
            if part.reads_as.len() != keys.reads_as.len() {
                return None;
            }
            keys.width = keys.width.max(part.width);
            let columns = keys.reads_as.iter_mut().zip(&part.reads_as);
            columns.for_each(|(all, of_part)| all.retain(|kind| of_part.contains(kind)));
        }
    }
    Some(Records { payload, keys })
}

/// The payload of a table from what its parts say; `None` if these do not go together. A part in which a column has no
/// value may not know its type: its records have nothing but a bit for it.
pub(super) fn payload_of_parts(parts: &[PayloadSchema]) -> Option<PayloadSchema> {
    let mut all = parts.first()?.clone();
    for part in parts {
        all.width = all.width.max(part.width);
        if part.fields.len() != all.fields.len() {
            return None;
        }
        for (field, other) in all.fields.iter_mut().zip(&part.fields) {
            if field.kind == PayloadKind::Null {
                field.kind = other.kind.clone();
            }
            if field.name != other.name || other.kind != field.kind && other.kind != PayloadKind::Null {
                return None;
            }
        }
    }
    Some(all)
}
