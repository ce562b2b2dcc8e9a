//! The groups of a table whose rows many machines have: each part numbers its own, and the driver puts them together.

use std::collections::{BTreeSet, HashMap};

use crate::failure::Failure;
use crate::table::{MAX_GROUPS, TableError};

/// The names of groups, null among them, by their numbers.
pub type Categories = Vec<Option<String>>;

/// The groups of a part, numbered as they come.
#[derive(Default)]
pub(super) struct PartGroups {
    numbers: HashMap<Option<String>, u32>,
    names: Categories,
}

impl PartGroups {
    /// The number of each of these groups of `column`.
    pub fn numbers_of(&mut self, names: &Categories, column: &str) -> Result<Vec<u32>, Failure> {
        names.iter().map(|name| self.number_of(name, column)).collect()
    }

    fn number_of(&mut self, name: &Option<String>, column: &str) -> Result<u32, Failure> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        let number = self.names.len();
        if number == MAX_GROUPS {
            return Err(too_many(column));
        }
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number as u32);
        Ok(number as u32)
    }

    /// Their names, by their numbers.
    pub fn names(&self) -> &Categories {
        &self.names
    }
}

/// All groups of `column`, in the order of one machine: null first. And for each part, the place among them of each of
/// its groups.
///
/// # Errors
/// If there are more than a run takes.
pub fn agree_on_groups(column: &str, parts: &[Categories]) -> Result<(Categories, Vec<Vec<u32>>), Failure> {
    let mut all: BTreeSet<&Option<String>> = BTreeSet::new();
    for name in parts.iter().flatten() {
        all.insert(name);
        if all.len() > MAX_GROUPS {
            return Err(too_many(column));
        }
    }
    let places: HashMap<&Option<String>, u32> = all.iter().copied().zip(0..).collect();
    let of_part = |names: &Categories| names.iter().filter_map(|name| places.get(name).copied()).collect();
    Ok((all.iter().copied().cloned().collect(), parts.iter().map(of_part).collect()))
}

fn too_many(column: &str) -> Failure {
    TableError::TooManyGroups { path: "the DataFrame".into(), column: column.into(), limit: MAX_GROUPS }.into()
}
