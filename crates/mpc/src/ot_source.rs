//! Where circuits take their random tables and random OTs from: a choice of rows, which other crates may add to.

use std::fmt;

use vesica_party::{Registered, Row};

use crate::iknp03::Iknp03;
use crate::ot_extension::OtExtension;
use crate::random_one_of_n_ot::OneOfN;
use crate::silent_ot::SilentOt;
use crate::softspoken_one_of_n_ot::SoftSpokenOneOfN;
use crate::tables_of_ots::TablesOf;
use crate::tasks::{RandomOneOfNOt, RandomOt};

/// Where random tables and random OTs come from.
#[derive(Clone, Copy)]
pub struct OtSource {
    tables: &'static dyn Registered<RandomOneOfNOt>,
    ots: &'static dyn Registered<RandomOt>,
}

impl OtSource {
    /// Silent VOLE: little traffic, from LPN.
    pub const SILENT: Self = Self::new(&Row::<OneOfN>::new(), &Row::<SilentOt>::new());
    /// VOLE over small fields: about 1.9 bytes for each bit of a choice, and no LPN.
    pub const SOFT_SPOKEN: Self = Self::new(&Row::<SoftSpokenOneOfN>::new(), &Row::<OtExtension>::new());
    /// OT extension by columns: 16 bytes for each bit of a choice.
    pub const IKNP: Self = Self::new(&Row::<TablesOf<Iknp03>>::new(), &Row::<Iknp03>::new());

    /// Tables from one row, and OTs of blocks from another.
    pub const fn new(tables: &'static dyn Registered<RandomOneOfNOt>, ots: &'static dyn Registered<RandomOt>) -> Self {
        Self { tables, ots }
    }

    pub(crate) fn tables(self) -> &'static dyn Registered<RandomOneOfNOt> {
        self.tables
    }

    /// The protocol for random OTs of blocks.
    pub(crate) fn ots(self) -> &'static dyn Registered<RandomOt> {
        self.ots
    }

    /// The names of both rows.
    fn ids(&self) -> [&'static str; 2] {
        [self.tables.entry().id, self.ots.entry().id]
    }
}

impl PartialEq for OtSource {
    fn eq(&self, other: &Self) -> bool {
        self.ids() == other.ids()
    }
}

impl Eq for OtSource {}

impl fmt::Debug for OtSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OtSource").field(&self.ids()).finish()
    }
}
