//! Rows to keys: what a task keeps of the rows that it reads.

use super::groups::{Categories, PartGroups};
use super::{Beside, share_of, write_digest};
use crate::failure::{Failure, code};
use crate::key::KeySpec;
use crate::table::{
    BesideKeys, Duplicates, KeyStats, NO_KEY, PayloadKind, PayloadSchema, PayloadSpec, Source, ValueColumn,
    ValueDuplicates, ValueSpec, ValueTable, collect_part,
};

/// In a part: nothing stands beside this row's key, since an earlier row of it has said all.
pub(super) const SAID_BEFORE: u32 = u32::MAX;

/// The keys of the rows that one task reads.
pub struct KeyPart {
    key: KeySpec,
    payload: Option<PayloadSpec>,
    values: Option<ValueSpec>,
    groups: PartGroups,
    /// A section for each share: of each key its digest, the row's number, the alternative, and what stands beside it
    /// behind its length.
    sections: Vec<Vec<u8>>,
    rows: u32,
    counts: Vec<String>,
    /// The payload's columns, and the longest record.
    records: Option<PayloadSchema>,
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
        Self { key, payload, values, groups, sections, rows: 0, counts: Vec::new(), records: None }
    }

    /// Takes the rows that follow those taken before.
    ///
    /// # Errors
    /// If a row has a fault, or the file has more rows than have numbers.
    pub fn add(&mut self, rows: &dyn Source) -> Result<(), Failure> {
        let beside = match (&self.payload, &self.values) {
            (Some(payload), _) => BesideKeys::Payload(payload),
            (None, Some(values)) => BesideKeys::Values(values),
            (None, None) => BesideKeys::Nothing,
        };
        let keys = collect_part(rows, &self.key, beside)?;
        let per_row = keys.keys_per_row();
        let columns = self.values.as_ref().map_or(0, |values| values.columns.len());
        let values = keys.values.as_ref().map_or(&[][..], |values| &values.values);
        let groups = self.groups_of(keys.values.as_ref())?;
        let width = keys.payload.as_ref().map_or(0, |payload| payload.schema.width);
        let records = keys.payload.as_ref().map_or(&[][..], |payload| &payload.bytes);
        let is_computed = columns > 0 || groups.is_some();
        let is_beside = is_computed || width > 0;
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
                } else {
                    let record = without_padding(records.get(place * width..(place + 1) * width).unwrap_or_default());
                    section.extend_from_slice(&(record.len() as u32).to_le_bytes());
                    section.extend_from_slice(record);
                }
            }
        }
        let total = u64::from(self.rows) + keys.stats.rows;
        self.rows = u32::try_from(total).ok().filter(|&rows| rows < NO_KEY).ok_or_else(|| {
            let fault = "one task reads more rows than have numbers";
            Failure::new(code::INPUT, fault, "divide the table into more partitions (repartition)")
        })?;
        self.counts.push(keys.stats.to_part());
        if let Some(payload) = keys.payload {
            let width = self.records.as_ref().map_or(0, |records| records.width);
            self.records = Some(PayloadSchema { width: width.max(payload.schema.width), ..payload.schema });
        }
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

    /// The counts of all rows that have come, as [`KeyStats::of_parts`] takes them; and what the payload is.
    ///
    /// # Errors
    /// Never for counts of this process.
    pub fn counts(&self) -> Result<(String, Option<PayloadSchema>), Failure> {
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

/// The payload of a table from what its parts say; `None` if these do not go together. A part in which a column has no
/// value may not know its type: its records have nothing but a bit for it.
pub fn payload_of_parts(parts: &[PayloadSchema]) -> Option<PayloadSchema> {
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
