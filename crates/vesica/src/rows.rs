//! The protocols that the engine walks over: those of the product, and those that a program adds to them.
//!
//! A program that has more protocols than the product, such as `vesica-lab`, [adds](add) them once, before it does
//! anything else. From then on session, plan, benchmark, receipts and documents take them as they take any other. No
//! product crate knows which they are. The lists are part of the program, like its code: they are given once or never,
//! and never change, so that no run can see other ones than the run before it.

use std::fmt;
use std::sync::OnceLock;

use vesica_party::{Entry, Task, variants};
use vesica_protocols::passes::InPasses;
use vesica_protocols::registry::{self, Rows};

/// Protocols beside those of the product, with what planning knows of them.
pub struct Added {
    /// The rows.
    pub rows: Rows,
    /// What they cost, in the lines of `plan/costs.txt`.
    pub costs: &'static str,
    /// The memory that they take, in the lines of `plan/footprints.txt`.
    pub footprints: &'static str,
}

impl fmt::Debug for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Added").finish_non_exhaustive()
    }
}

static ADDED: OnceLock<Option<Added>> = OnceLock::new();

/// Adds protocols to those of the product, for the rest of this process.
///
/// # Errors
/// If protocols have been added already, or somebody has already asked for some: the argument comes back.
pub fn add(added: Added) -> Result<(), Box<Added>> {
    ADDED.set(Some(added)).map_err(|refused| Box::new(refused.unwrap_or_else(|| unreachable!("what was given"))))
}

/// What was added. From the first call on nothing can be.
pub(crate) fn added() -> Option<&'static Added> {
    ADDED.get_or_init(|| None).as_ref()
}

/// The lists of the product, and those that were added.
pub(crate) fn lists() -> impl Iterator<Item = Rows> {
    [registry::rows()].into_iter().chain(added().map(|added| added.rows))
}

/// The protocol `entry` as one that runs in passes, if it is in the lists that `of` names.
pub(crate) fn in_passes<T: Task>(
    of: impl Fn(&Rows) -> &'static [&'static dyn InPasses<T>],
    entry: &'static Entry,
) -> Option<&'static dyn InPasses<T>> {
    let row = lists().flat_map(|lists| of(&lists)).copied().find(|row| row.entry().id == entry.row_id())?;
    Some(if entry.is_variant() { row.variant_in_passes(entry) } else { row })
}

/// Names of protocols of papers, which are not in the product. A test of `vesica-lab` holds them against what it has.
pub const IN_LAB: &[&str] = &[
    "blazing-fast-psi",
    "bpsy23-union",
    "cgs22",
    "cgs22-psi",
    "clr17",
    "cm20",
    "cm25-fast-intersection",
    "cm25-fast-intersection-count",
    "cm25-fast-intersection-count-repaired",
    "cm25-fast-intersection-repaired",
    "cm25-fast-setup",
    "cm25-fast-setup-repaired",
    "cssw25",
    "czz22",
    "czz24",
    "dcw13",
    "ecdh-ca-hfh99",
    "gbf",
    "gmr21",
    "gmr21-cardinality",
    "gmr21-sum",
    "gmr21-union",
    "gmr21-union-cardinality",
    "gmr21-union-sum",
    "hfh99-ca",
    "hfh99-secp256k1",
    "hfh99-x25519",
    "ikn20",
    "intersection-sum",
    "jsz22-r",
    "jsz22-s",
    "jszg24",
    "kkrt16",
    "krtw19",
    "ltsxq26",
    "ltsxq26-aes",
    "ltsxq26-aes-band",
    "ltsxq26-band",
    "ltsxq26-cardinality",
    "ltsxq26-circuit",
    "ltsxq26-join-and-compute",
    "ltsxq26-sum",
    "ltsxq26-wide",
    "mqrpmt",
    "oos17",
    "ot-ferret",
    "ot-ferret-1-of-n",
    "pepsi",
    "pepsi-cardinality",
    "pepsi-sum",
    "pssz15",
    "psty19-cardinality",
    "psty19-psi",
    "psty19-sum",
    "psz14",
    "pt26",
    "ra17",
    "resende-aranha",
    "rr16",
    "rr17-de",
    "rr17-ec",
    "rr22",
    "rr22-circuit",
    "rs21",
    "rs21-circuit",
    "rs21-circuit-psi",
    "rt21",
    "spot-fast",
    "spot-light",
    "spot-low",
    "tcl23",
    "vole-psi",
    "zcl23-pk",
    "zcl23-sk",
];

/// Whether this names a protocol of a paper that only `vesica-lab` has.
pub fn is_in_lab_alone(name: &str) -> bool {
    let row = variants::split(name).0;
    IN_LAB.contains(&row) && find(row).is_none()
}

/// What to do about a name that names a protocol of `vesica-lab` and none of this program; else `otherwise`.
pub fn mend(name: &str, otherwise: impl fmt::Display) -> String {
    if is_in_lab_alone(name) {
        let row = variants::split(name).0;
        return format!(
            "it is kept for comparison, by the program of researchers: start vesica-lab in place of vesica on both sides, \
             for example `vesica-lab protocols {row}`; or {otherwise}"
        );
    }
    otherwise.to_string()
}

/// The descriptions of all protocols for sets.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    lists().flat_map(Rows::entries)
}

/// The descriptions of all building blocks.
pub(crate) fn blocks() -> impl Iterator<Item = &'static Entry> {
    lists().flat_map(|rows| (rows.blocks)())
}

/// The description of this id or alias, of whatever task; of a variant that of its row.
pub fn find(name: &str) -> Option<&'static Entry> {
    let row = variants::split(name).0;
    all().chain(blocks()).find(|entry| entry.answers_to(row))
}
