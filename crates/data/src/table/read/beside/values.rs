//! Gathers one value a distinct key and column, and the group of each key, while the table is read.

use std::collections::{HashMap, HashSet};

use crate::table::TableError;
use crate::table::extension::Extension;
use crate::table::formats::arrow::columns::number_type;
use crate::table::read::beside::KeyedRow;
use crate::table::read::faults::OnFault;
use crate::table::read::named_columns::NamedColumns;
use crate::table::source::{Cell, CellForm, Wanted, WrongForm};
use crate::table::values::decimal::{self, Unfit};
use crate::table::values::{MAX_GROUPS, ValueDuplicates, ValueSpec, ValueTable};

pub(crate) struct ValueCollector {
    spec: ValueSpec,
    values: Vec<i64>,
    groups: Vec<u32>,
    categories: HashMap<Option<String>, u32>,
    /// Keys with a made-up value or group, where faults are counted.
    faulty: HashSet<usize>,
}

/// What consecutive rows say.
pub(crate) struct ValueRows {
    /// The scale of each column of values.
    scales: Vec<u8>,
    /// As many values a row as there are columns, row by row.
    values: Vec<Result<i64, Unfit>>,
    /// One group a row.
    groups: Vec<Option<String>>,
}

impl ValueCollector {
    /// For these columns, which are appended to the wanted ones; refuses columns that hold no exact
    /// numbers, and groups without a canonical form.
    pub fn new(spec: &ValueSpec, columns: &NamedColumns<'_>, wanted: &mut Vec<Wanted>) -> Result<Self, TableError> {
        for value in &spec.columns {
            let (column, found) = columns.find(&value.name)?;
            if Extension::of(found).is_some() || number_type(found.data_type()).is_none() {
                let mend = "choose integers, decimals of up to 128 bits or text; cast floats to decimals, which says \
                            how they are rounded";
                return Err(columns.refused(&value.name, found, "computed with", mend));
            }
            wanted.push(Wanted { column, form: CellForm::Number });
        }
        if let Some(name) = &spec.group_by {
            wanted.push(columns.key(name, "a group")?.0);
        }
        Ok(Self::of(spec))
    }

    fn of(spec: &ValueSpec) -> Self {
        Self {
            spec: spec.clone(),
            values: Vec::new(),
            groups: Vec::new(),
            categories: HashMap::new(),
            faulty: HashSet::new(),
        }
    }

    /// One for the same columns that has taken nothing.
    pub fn anew(&self) -> Self {
        Self::of(&self.spec)
    }

    /// How many columns of values.
    pub fn columns(&self) -> usize {
        self.spec.columns.len()
    }

    /// No rows.
    pub fn rows(&self) -> ValueRows {
        let scales = self.spec.columns.iter().map(|column| column.scale).collect();
        ValueRows { scales, values: Vec::new(), groups: Vec::new() }
    }

    /// Keeps what a row says of its key, or joins it to what earlier rows said.
    pub fn take(
        &mut self,
        rows: &ValueRows,
        place: usize,
        at: KeyedRow<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        let KeyedRow { key, row, .. } = at;
        if !at.new && self.spec.duplicates == ValueDuplicates::First {
            return Ok(());
        }
        let path = || at.source.to_owned();
        let columns = self.spec.columns.len();
        let differs = || TableError::ConflictingValues { path: path(), row };
        // A row is told once, however many of its values differ.
        let mut is_told = false;
        for (index, column) in self.spec.columns.iter().enumerate() {
            let unfit = |unfit: Unfit| TableError::UnfitNumber {
                path: path(),
                row,
                column: column.name.clone(),
                what: unfit.what(column.scale),
                mend: unfit.mend(),
            };
            let value = match rows.values.get(place * columns + index).copied().unwrap_or(Err(Unfit::Missing)) {
                Ok(value) => value,
                Err(found) => {
                    on_fault.see(unfit(found))?;
                    self.faulty.insert(key);
                    0
                }
            };
            match self.values.get_mut(key * columns + index) {
                None => self.values.push(value),
                Some(sum) if self.spec.duplicates == ValueDuplicates::Sum => match sum.checked_add(value) {
                    Some(total) => *sum = total,
                    None => on_fault.see(unfit(Unfit::TooLarge))?,
                },
                Some(kept) if *kept != value && !is_told && !self.faulty.contains(&key) => {
                    on_fault.see(differs())?;
                    is_told = true;
                }
                Some(_) => {}
            }
        }
        let Some(group_by) = &self.spec.group_by else { return Ok(()) };
        let next = self.categories.len();
        let name = rows.groups.get(place).cloned().flatten();
        let group = if next < MAX_GROUPS || self.categories.contains_key(&name) {
            *self.categories.entry(name).or_insert(next as u32)
        } else {
            on_fault.see(TableError::TooManyGroups { path: path(), column: group_by.clone(), limit: MAX_GROUPS })?;
            self.faulty.insert(key);
            0
        };
        match self.groups.get(key) {
            None => self.groups.push(group),
            Some(&kept) if kept != group && !is_told && !self.faulty.contains(&key) => on_fault.see(differs())?,
            Some(_) => {}
        }
        Ok(())
    }

    /// Clamps the values and puts the categories in order.
    #[expect(
        clippy::indexing_slicing,
        reason = "categories are numbered from 0 without a gap, and groups are such numbers"
    )]
    pub fn finish(mut self) -> ValueTable {
        let mut clamped = vec![0; self.spec.columns.len()];
        if !self.spec.columns.is_empty() {
            for key in self.values.chunks_mut(self.spec.columns.len()) {
                for ((value, column), clamped) in key.iter_mut().zip(&self.spec.columns).zip(&mut clamped) {
                    let Some(range) = column.clamp else { continue };
                    let within = (*value).clamp(range.least, range.most);
                    *clamped += u64::from(within != *value);
                    *value = within;
                }
            }
        }
        let mut categories: Vec<(Option<String>, u32)> = self.categories.into_iter().collect();
        categories.sort_unstable();
        let mut place = vec![0; categories.len()];
        for (new, (_, old)) in (0..).zip(&categories) {
            place[*old as usize] = new;
        }
        self.groups.iter_mut().for_each(|group| *group = place[*group as usize]);
        let categories = categories.into_iter().map(|(name, _)| name).collect();
        ValueTable { values: self.values, groups: self.groups, categories, clamped }
    }
}

/// What stands for a value in a work folder: that it is one, or why not.
const FIT: u8 = 0;
const UNFIT: [Unfit; 4] = [Unfit::Missing, Unfit::NoNumber, Unfit::TooFine, Unfit::TooLarge];

impl ValueRows {
    /// Bytes of a row of so many columns in a work folder.
    pub fn spilled_width(columns: usize) -> usize {
        9 * columns
    }

    /// Writes a row without its group for a work folder. Whether a value that is none counts is known when all rows of its
    /// key are.
    pub fn write_row(&self, place: usize, out: &mut Vec<u8>) {
        let columns = self.scales.len();
        for value in self.values.get(place * columns..(place + 1) * columns).unwrap_or_default() {
            let why = |unfit: Unfit| UNFIT.iter().position(|&one| one == unfit).map_or(1, |at| at as u8 + 1);
            out.push(value.err().map_or(FIT, why));
            out.extend_from_slice(&value.unwrap_or(0).to_le_bytes());
        }
    }

    /// Takes a row of [`Self::write_row`].
    pub fn read_row(&mut self, bytes: &[u8]) {
        self.values.extend(bytes.as_chunks::<9>().0.iter().map(
            |&[kind, ref value @ ..]| match kind.checked_sub(FIT + 1) {
                None => Ok(i64::from_le_bytes(*value)),
                Some(at) => Err(UNFIT.get(usize::from(at)).copied().unwrap_or(Unfit::NoNumber)),
            },
        ));
    }

    /// The current row's value of a column, or its group behind them.
    pub fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), WrongForm> {
        let Some(&scale) = self.scales.get(place) else {
            // A group without a canonical form is none.
            self.groups.push(match cell {
                Cell::Text(text) => Some(text.to_owned()),
                Cell::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                Cell::Null | Cell::OutOfRange => None,
                Cell::Boolean(_) | Cell::Fixed(_) | Cell::Decimal(..) => return Err(WrongForm),
            });
            return Ok(());
        };
        self.values.push(match cell {
            Cell::Text(text) => decimal::parse(text, scale),
            Cell::Decimal(number, found) => decimal::rescale(number, found, scale),
            Cell::Null | Cell::OutOfRange => Err(Unfit::Missing),
            Cell::Bytes(_) | Cell::Boolean(_) | Cell::Fixed(_) => return Err(WrongForm),
        });
        Ok(())
    }

    /// Ends the row. One without a usable key says nothing.
    pub fn end_row(&mut self, keep: bool) {
        if !keep {
            self.values.truncate(self.values.len().saturating_sub(self.scales.len()));
            self.groups.pop();
        }
    }

    pub fn clear(&mut self) {
        self.values.clear();
        self.groups.clear();
    }
}
