//! The protocols of this crate, as rows for listings, documents and tests.

use vesica_party::{Entry, Registered, Row};
use vesica_structures::fields::{Gf64, Gf128};

use crate::base_ot::BaseOt;
use crate::one_of_n::OneOfN;
use crate::ot_extension::OtExtension;
use crate::silent::SilentVole;
use crate::silent_ot::SilentOt;
use crate::tasks::{RandomOt, RandomTables, SubfieldVole};
use crate::vole::SmallFieldVole;

/// Protocols for random OT.
pub fn random_ot() -> &'static [&'static dyn Registered<RandomOt>] {
    const { &[&Row::<BaseOt>::new(), &Row::<OtExtension>::new(), &Row::<SilentOt>::new()] }
}

/// Protocols for random 1-of-2^k OT of bits.
pub fn random_tables() -> &'static [&'static dyn Registered<RandomTables>] {
    const { &[&Row::<OneOfN>::new()] }
}

/// Protocols for subfield VOLE over GF(2^64).
pub fn vole_64() -> &'static [&'static dyn Registered<SubfieldVole<Gf64>>] {
    const { &[&Row::<SilentVole<Gf64>>::new(), &Row::<SmallFieldVole<Gf64>>::new()] }
}

/// Protocols for subfield VOLE over GF(2^128).
pub fn vole_128() -> &'static [&'static dyn Registered<SubfieldVole<Gf128>>] {
    const { &[&Row::<SilentVole<Gf128>>::new(), &Row::<SmallFieldVole<Gf128>>::new()] }
}

/// The descriptions of all of them.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let ots = random_ot().iter().map(|row| row.entry()).chain(random_tables().iter().map(|row| row.entry()));
    ots.chain(vole_64().iter().map(|row| row.entry())).chain(vole_128().iter().map(|row| row.entry()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_mode_meets_what_it_is_called() {
        let mut names = HashSet::new();
        for entry in entries() {
            assert!(std::iter::once(&entry.id).chain(entry.aliases).all(|name| names.insert(*name)), "{}", entry.id);
            assert!(entry.modes.iter().all(|mode| mode.meets(mode.security)), "{}", entry.id);
        }
    }
}
