//! Cuckoo tables of items that are stored in part: permutation-based hashing (Arbitman, Naor, Segev,
//! "Backyard cuckoo hashing", FOCS 2010), several tables side by side, and two to four hash functions.
//!
//! An item is split into a left part, as wide as a bin's number, and a right part. Function `j` places
//! it in bin `left + f_j(right)` (bitwise), so that bin, right part *and `j`* determine the item: a
//! bin need hold no more. **Without `j`, they do not**: the right part alone, which papers store,
//! also stands for the items that other functions bring to the bin
//! ([`false_matches`](PermutedShape::false_matches) says how many).
//!
//! # When a table exists
//!
//! [`most_items`](PermutedShape::most_items) is by [`independent_bound`], which takes all positions to be
//! independent. Those of two items are if their right parts differ. Items of one right part are moved by
//! the same `f_j(right)`; so the bound is for items that are spread like random ones, in which few
//! pairs share a right part. Random items of only some bits more than a bin's number has share their
//! right parts in large groups; docs/parameters/simple-and-cuckoo-hashing.md has an experiment of ours
//! with such tables.

use std::fmt;

use super::cuckoo::{CuckooTable, independent_bound};
use super::{HashFailure, max_load};
use crate::facts::Unsupported;
use crate::prf::DigestPrf;

/// The bins of several tables, and what an item's number is split into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermutedShape {
    /// Width of an item, in bits.
    pub item_bits: u32,
    /// `log2` of the bins of one table: the width of a left part.
    pub bin_bits: u32,
    /// Tables; an item belongs to one of them.
    pub tables: usize,
    /// Hash functions, 2 to 4.
    pub functions: usize,
}

/// Tables of `2^SMALL_BITS` bins and fewer have a capacity by the bound itself.
const SMALL_BITS: u32 = 12;

/// Hundredths of larger tables that items may fill, for 3 functions and for 4: where the bound is
/// flat. One more, and it says nothing (from `2^15` bins on, for 3 functions).
const LOADS: [usize; 2] = [76, 88];

impl PermutedShape {
    /// Most tables of a shape.
    pub const MOST_TABLES: usize = 16;
    /// Widest bin's number.
    pub const MOST_BIN_BITS: u32 = 26;

    /// Checks a shape.
    ///
    /// # Errors
    /// If a number is outside of its range, or an item has no right part.
    pub fn new(item_bits: u32, bin_bits: u32, tables: usize, functions: usize) -> Result<Self, Unsupported> {
        let is_served = item_bits <= u128::BITS
            && (1..=Self::MOST_BIN_BITS).contains(&bin_bits)
            && bin_bits < item_bits
            && (1..=Self::MOST_TABLES).contains(&tables)
            && (2..=4).contains(&functions);
        if !is_served {
            return Err(Unsupported::new(
                format_args!(
                    "{tables} tables of 2^{bin_bits} bins for items of {item_bits} bits, {functions} functions"
                ),
                format_args!(
                    "take 1 to {} tables of 2 to 2^{} bins, items wider than a bin's number, 2 to 4 functions",
                    Self::MOST_TABLES,
                    Self::MOST_BIN_BITS
                ),
            ));
        }
        Ok(Self { item_bits, bin_bits, tables, functions })
    }

    /// Bins of one table.
    pub fn bins(&self) -> usize {
        1 << self.bin_bits
    }

    /// Width of a right part, in bits.
    pub fn right_bits(&self) -> u32 {
        self.item_bits - self.bin_bits
    }

    /// Most items of one table such that there is none with probability at most `2^-failure_bits`, by
    /// [`independent_bound`]; none may do for two functions, where the probability falls with the
    /// number of bins only.
    ///
    /// # Errors
    /// Beyond `2^-43`, for more than [`MOST_BIN_BITS`](Self::MOST_BIN_BITS), or with two functions in tables
    /// of more than `2^12` bins: for these nothing was computed.
    pub fn most_in_a_table(&self, failure_bits: u32) -> Result<usize, Unsupported> {
        let bins = self.bins();
        if self.bin_bits <= SMALL_BITS {
            let fits = |items: &usize| independent_bound(*items, bins, self.functions) <= -f64::from(failure_bits);
            // The bound grows with the number of items.
            let (mut fitting, mut too_many) = (1, bins + 1);
            while too_many - fitting > 1 {
                let middle = fitting.midpoint(too_many);
                if fits(&middle) { fitting = middle } else { too_many = middle }
            }
            return Ok(fitting);
        }
        if failure_bits > 43 || self.functions == 2 || (self.functions == 3 && self.bin_bits < 14) {
            return Err(Unsupported::new(
                format_args!(
                    "a table of 2^{} bins and {} functions that fails with probability 2^-{failure_bits}",
                    self.bin_bits, self.functions
                ),
                "take four functions, or three and 2^14 bins or more, and 43 bits or fewer",
            ));
        }
        Ok(bins * LOADS[self.functions - 3] / 100)
    }

    /// Most items of all tables together: each table gets more than it may hold with probability at most
    /// `2^-failure_bits`, and then all tables exist but for `2^-failure_bits`.
    ///
    /// # Errors
    /// As [`most_in_a_table`](Self::most_in_a_table).
    pub fn most_items(&self, failure_bits: u32) -> Result<usize, Unsupported> {
        let a_table = self.most_in_a_table(failure_bits + self.tables.next_power_of_two().ilog2())?;
        Ok(most_spread(a_table, self.tables, failure_bits))
    }

    /// How many items of the full tables an item outside of the set seems to be on average, where bins
    /// hold right parts alone: it meets `functions` bins, which are filled at `load`, mostly under
    /// another function.
    pub fn false_matches(&self, load: f64) -> f64 {
        let functions = self.functions as f64;
        functions * load * ((functions - 1.0) / functions) * (-f64::from(self.right_bits())).exp2()
    }
}

/// Most items that come to `tables` tables at random such that one gets more than `a_table` with
/// probability at most `2^-failure_bits`.
pub(super) fn most_spread(a_table: usize, tables: usize, failure_bits: u32) -> usize {
    let (mut fitting, mut too_many) = (0, a_table * tables + 1);
    while too_many - fitting > 1 {
        let middle = fitting.midpoint(too_many);
        if max_load(middle, 1, tables, failure_bits) <= a_table { fitting = middle } else { too_many = middle }
    }
    fitting
}

/// Where an item belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The one table of the item.
    pub table: u32,
    /// Its bin under each function; as many as the shape has functions count.
    pub bins: [u32; 4],
    /// Its right part.
    pub right: u128,
}

/// The functions from items to places, under a public key.
pub struct PermutedHash {
    shape: PermutedShape,
    prf: DigestPrf,
}

impl PermutedHash {
    /// The functions of this key.
    pub fn new(key: u128, shape: PermutedShape) -> Self {
        Self { shape, prf: DigestPrf::new(key) }
    }

    /// The tables and bins that places are in.
    pub fn shape(&self) -> &PermutedShape {
        &self.shape
    }

    /// Where an item belongs, of which the lowest `item_bits` count.
    pub fn place(&self, item: u128) -> Place {
        let PermutedShape { item_bits, bin_bits, tables, functions } = self.shape;
        let item = item & (u128::MAX >> (u128::BITS - item_bits));
        let (left, right) = ((item >> self.shape.right_bits()) as u32, item & !(u128::MAX << self.shape.right_bits()));
        // Functions 0 to 3 of the right part, and `g` of the item.
        let mut values = [0; 5];
        self.prf.eval_tweaked(&[right, right, right, right, item], &[0, 1, 2, 3, 4], &mut values);
        let mut bins = [0; 4];
        for (bin, value) in bins.iter_mut().zip(&values[..functions]) {
            *bin = left ^ (*value as u32 & ((1 << bin_bits) - 1));
        }
        let table = ((u128::from(values[4] as u64) * tables as u128) >> 64) as u32;
        Place { table, bins, right }
    }
}

impl fmt::Debug for PermutedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PermutedHash of {:?}", self.shape)
    }
}

/// What a bin holds of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The item's right part.
    pub right: u128,
    /// The function under which the item is in this bin.
    pub function: u8,
    /// Its number among the items of the set.
    pub item: u32,
}

/// The tables of a set.
#[derive(Clone, Debug)]
pub struct PermutedTables {
    tables: Vec<CuckooTable>,
    /// The items of each table, by its number in the table.
    items: Vec<Vec<(u32, u128)>>,
}

impl PermutedTables {
    /// Places distinct items. Time depends on the items.
    ///
    /// # Errors
    /// If a table does not exist. Not to be tried again with another key for the same set, which would say
    /// something of it.
    ///
    /// # Panics
    /// If there are `2^30` items or more.
    pub fn build_vartime(hash: &PermutedHash, items: &[u128]) -> Result<Self, HashFailure> {
        let shape = &hash.shape;
        let mut of_tables = vec![Vec::new(); shape.tables];
        let mut positions = vec![Vec::new(); shape.tables];
        for (number, &item) in (0..).zip(items) {
            let Place { table, bins, right } = hash.place(item);
            of_tables[table as usize].push((number, right));
            positions[table as usize].push(bins);
        }
        let build = |positions: &Vec<[u32; 4]>| match shape.functions {
            2 => CuckooTable::build_vartime(&first::<2>(positions), shape.bins()),
            3 => CuckooTable::build_vartime(&first::<3>(positions), shape.bins()),
            _ => CuckooTable::build_vartime(positions, shape.bins()),
        };
        Ok(Self { tables: positions.iter().map(build).collect::<Result<_, _>>()?, items: of_tables })
    }

    /// What a bin of a table holds; nothing if it is empty.
    pub fn cell(&self, table: usize, bin: usize) -> Option<Cell> {
        let entry = self.tables[table].bin(bin)?;
        let (item, right) = self.items[table][entry.item as usize];
        Some(Cell { right, function: entry.choice, item })
    }
}

/// The first `H` bins of each item.
fn first<const H: usize>(positions: &[[u32; 4]]) -> Vec<[u32; H]> {
    positions.iter().map(|bins| std::array::from_fn(|function| bins[function])).collect()
}

#[cfg(test)]
mod tests;
