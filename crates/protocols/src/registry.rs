//! The registries: the product's protocols of every task, in the order in which documents list them.
//!
//! **The rule for a product row.** `auto` can choose it; or a service offers it; or it is, for its task and mode, the
//! row that does not rest on this project's own code for silent VOLE (where there is such a row): `prty20` for
//! malicious intersections, `psty19:ot=softspoken` for shares, `czz24` for unions and totals. `pt26` alone is left
//! out although `auto` took it (for `--both-learn` below 10 Mbit/s): its parameters rest on an abstract and on
//! experiments. Every other row is in the crate `vesica-papers`, which has lists like these. A row moves from one to the
//! other with its folder and its line.

use vesica_party::fuzzing::AnyMessage;
use vesica_party::service::OneShot;
use vesica_party::variants::resolve;
use vesica_party::{Entry, Registered, Row, Task, registries};

use crate::cardinality::cgt12::EcdhCaCgt12;
use crate::circuit_psi;
use crate::circuit_psi::psty19::Psty19;
use crate::circuit_psi::vole::{
    VesicaCardinality, VesicaCircuit, VesicaJoinAndCompute, VesicaSum, VesicaUnionCardinality, VesicaUnionSum,
};
use crate::membership::Membership;
use crate::membership::czz24::Czz24;
use crate::passes::InPasses;
use crate::psi::hfh99::{self, Hfh99};
use crate::psi::prty20::{self, Prty20};
use crate::psi::vole::{self, VoleFast, VoleLean, VolePsi};
use crate::recurrent::cm25_select::Cm25Select;
use crate::recurrent::oprf_buckets::OprfBuckets;
use crate::recurrent::oprf_pir::OprfPir;
use crate::recurrent::rfc9497::OprfRfc9497;
use crate::tasks::{Cardinality, Intersect, JoinAndCompute, Shares, Sum, Union, UnionCardinality, UnionSum};
use crate::unbalanced::cmdg21::Cmdg21;
use crate::union::oprf;
use crate::union::vesica_union::VesicaUnion;
use crate::union::vesica_union_both::VesicaUnionBoth;

/// Rows of one crate, by task.
#[derive(Clone, Copy)]
pub struct Rows {
    /// For [`Intersect`].
    pub intersect: &'static [&'static dyn Registered<Intersect>],
    /// For [`Union`].
    pub union: &'static [&'static dyn Registered<Union>],
    /// For [`Shares`].
    pub shares: &'static [&'static dyn Registered<Shares>],
    /// For [`Cardinality`].
    pub cardinality: &'static [&'static dyn Registered<Cardinality>],
    /// For [`UnionCardinality`].
    pub union_cardinality: &'static [&'static dyn Registered<UnionCardinality>],
    /// For [`Sum`].
    pub sum: &'static [&'static dyn Registered<Sum>],
    /// For [`UnionSum`].
    pub union_sum: &'static [&'static dyn Registered<UnionSum>],
    /// For [`JoinAndCompute`].
    pub join_and_compute: &'static [&'static dyn Registered<JoinAndCompute>],
    /// Those for [`Intersect`] that run in passes.
    pub intersect_in_passes: &'static [&'static dyn InPasses<Intersect>],
    /// The descriptions of building blocks.
    pub blocks: fn() -> Vec<&'static Entry>,
}

impl Rows {
    /// The descriptions of all protocols for sets.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        fn of<T: Task>(rows: &'static [&'static dyn Registered<T>]) -> impl Iterator<Item = &'static Entry> {
            rows.iter().map(|row| row.entry())
        }

        // Without a rest, so that a new task is not forgotten.
        let Self {
            intersect,
            union,
            shares,
            cardinality,
            union_cardinality,
            sum,
            union_sum,
            join_and_compute,
            intersect_in_passes: _,
            blocks: _,
        } = self;
        let rows_or_shares = of(intersect).chain(of(union)).chain(of(shares));
        let over_intersections = of(cardinality).chain(of(sum)).chain(of(join_and_compute));
        rows_or_shares.chain(over_intersections).chain(of(union_cardinality)).chain(of(union_sum))
    }
}

registries! {
    /// Protocols for [`Intersect`].
    intersect: Intersect = [
        Hfh99<hfh99::Ristretto>,
        OneShot<OprfRfc9497>,
        OneShot<OprfPir>,
        OneShot<OprfBuckets>,
        OneShot<Cm25Select>,
        OneShot<Cmdg21>,
        Prty20,
        VolePsi<VoleFast>,
        VolePsi<VoleLean>,
    ];
    /// Protocols for [`Union`].
    union: Union = [
        VesicaUnion,
        VesicaUnionBoth,
        Membership<Czz24, Union>,
    ];
    /// Protocols for [`Shares`].
    shares: Shares = [
        Psty19,
        VesicaCircuit,
    ];
    /// Protocols for [`Cardinality`].
    // The first recommended row that serves is what `auto` takes where nothing was measured: the fastest one.
    cardinality: Cardinality = [
        VesicaCardinality,
        Membership<Czz24, Cardinality>,
        EcdhCaCgt12,
    ];
    /// Protocols for [`UnionCardinality`].
    union_cardinality: UnionCardinality = [
        VesicaUnionCardinality,
        Membership<Czz24, UnionCardinality>,
    ];
    /// Protocols for [`Sum`].
    sum: Sum = [
        VesicaSum,
        Membership<Czz24, Sum>,
    ];
    /// Protocols for [`UnionSum`].
    union_sum: UnionSum = [
        VesicaUnionSum,
        Membership<Czz24, UnionSum>,
    ];
    /// Protocols for [`JoinAndCompute`].
    join_and_compute: JoinAndCompute = [
        VesicaJoinAndCompute,
    ];
}

/// The protocols for [`Intersect`] that run in passes: those that serve several runs in the malicious mode.
pub fn intersect_in_passes() -> &'static [&'static dyn InPasses<Intersect>] {
    static ROWS: &[&dyn InPasses<Intersect>] = &[&Row::<VolePsi<VoleFast>>::new(), &Row::<VolePsi<VoleLean>>::new()];
    ROWS
}

/// All lists.
pub fn rows() -> Rows {
    Rows {
        intersect: intersect(),
        union: union(),
        shares: shares(),
        cardinality: cardinality(),
        union_cardinality: union_cardinality(),
        sum: sum(),
        union_sum: union_sum(),
        join_and_compute: join_and_compute(),
        intersect_in_passes: intersect_in_passes(),
        blocks: || blocks().collect(),
    }
}

/// The protocol for [`Intersect`] of this name: a row's id or alias, and choices behind a colon for
/// a variant.
pub fn find_intersect(name: &str) -> Option<&'static dyn Registered<Intersect>> {
    resolve(intersect().iter().copied(), name).ok().flatten()
}

/// The descriptions of all protocols of all tasks, building blocks included.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    own_entries().chain(blocks())
}

/// The descriptions of building blocks.
pub fn blocks() -> impl Iterator<Item = &'static Entry> {
    vesica_mpc::registry::entries()
}

/// The description of this id or alias, of whatever task.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.answers_to(name))
}

/// The messages of this crate's protocols that are read from a frame; streams have nothing to read.
/// A test holds the list against the source.
pub fn messages() -> impl Iterator<Item = &'static AnyMessage> {
    let files = [
        circuit_psi::messages::MESSAGES,
        circuit_psi::aggregate::messages::MESSAGES,
        prty20::MESSAGES,
        vole::messages::MESSAGES,
        oprf::messages::MESSAGES,
    ];
    files.into_iter().flatten()
}
