//! The registries: every protocol of every task, in the order in which documents list them.

use vesica_party::variants::resolve;
use vesica_party::{Entry, Protocol, Registered, Row, Security};
use vesica_structures::facts::Unsupported;

use crate::cardinality::cgt12::EcdhCaCgt12;
use crate::cardinality::hfh99::EcdhCaHfh99;
use crate::circuit_psi;
use crate::circuit_psi::cgs22::Cgs22;
use crate::circuit_psi::psty19::{Psty19, Psty19Cubic};
use crate::circuit_psi::vole::{
    Rr22Circuit, Rr22CircuitCubic, Rs21Circuit, Rs21CircuitCubic, VesicaCardinality, VesicaCircuit, VesicaCircuitClustered,
    VesicaJoinAndCompute, VesicaSum,
};
use crate::membership::Membership;
use crate::membership::czz24::Czz24;
use crate::membership::gmr21::Gmr21;
use crate::psi::hfh99::EcdhHfh99;
use crate::psi::ltsxq26::{self, Ltsxq26};
use crate::psi::prty19::{Prty19, SpotFast, SpotLow};
use crate::psi::vole::{
    Rr22, Rr22Band, Rr22BandSorted, Rr22Sorted, Rs21, Rs21Band, Rs21BandSorted, Rs21Sorted, VoleFast, VoleFastShuffled, VoleLean,
    VoleLeanShuffled, VolePsi,
};
use crate::sum::ikn20::Ikn20;
use crate::tasks::{Cardinality, Intersect, JoinAndCompute, Shares, Sum};

static INTERSECT: &[&dyn Registered<Intersect>] = &[
    &Row::<EcdhHfh99>::new(),
    &Row::<Membership<Czz24, Intersect>>::new(),
    &Row::<Membership<Gmr21, Intersect>>::new(),
    &Row::<Prty19<SpotLow>>::new(),
    &Row::<Prty19<SpotFast>>::new(),
    &Row::<VolePsi<Rs21>>::with(&[
        &Row::<VolePsi<Rs21Band>>::new(),
        &Row::<VolePsi<Rs21Sorted>>::new(),
        &Row::<VolePsi<Rs21BandSorted>>::new(),
    ]),
    &Row::<VolePsi<Rr22>>::with(&[
        &Row::<VolePsi<Rr22Band>>::new(),
        &Row::<VolePsi<Rr22Sorted>>::new(),
        &Row::<VolePsi<Rr22BandSorted>>::new(),
    ]),
    &Row::<VolePsi<VoleFast>>::with(&[&Row::<VolePsi<VoleFastShuffled>>::new()]),
    &Row::<VolePsi<VoleLean>>::with(&[&Row::<VolePsi<VoleLeanShuffled>>::new()]),
    &Row::<Ltsxq26<ltsxq26::Wide>>::new(),
    &Row::<Ltsxq26<ltsxq26::Sha>>::new(),
    &Row::<Ltsxq26<ltsxq26::ShaBand>>::new(),
    &Row::<Ltsxq26<ltsxq26::Aes>>::new(),
    &Row::<Ltsxq26<ltsxq26::AesBand>>::new(),
];

static SHARES: &[&dyn Registered<Shares>] = &[
    &Row::<Psty19>::with(&[&Row::<Psty19Cubic>::new()]),
    &Row::<Cgs22>::new(),
    &Row::<Rs21Circuit>::with(&[&Row::<Rs21CircuitCubic>::new()]),
    &Row::<Rr22Circuit>::with(&[&Row::<Rr22CircuitCubic>::new()]),
    &Row::<VesicaCircuit>::with(&[&Row::<VesicaCircuitClustered>::new()]),
    &Row::<circuit_psi::ltsxq26::Circuit>::new(),
];
// The first recommended row that serves is what `auto` takes where nothing was measured: the fastest one.
static CARDINALITY: &[&dyn Registered<Cardinality>] = &[
    &Row::<VesicaCardinality>::new(),
    &Row::<Membership<Czz24, Cardinality>>::new(),
    &Row::<Membership<Gmr21, Cardinality>>::new(),
    &Row::<EcdhCaCgt12>::new(),
    &Row::<EcdhCaHfh99>::new(),
];
static SUM: &[&dyn Registered<Sum>] =
    &[&Row::<VesicaSum>::new(), &Row::<Membership<Czz24, Sum>>::new(), &Row::<Membership<Gmr21, Sum>>::new(), &Row::<Ikn20>::new()];
static JOIN_AND_COMPUTE: &[&dyn Registered<JoinAndCompute>] = &[&Row::<VesicaJoinAndCompute>::new()];

/// Protocols for [`Intersect`].
pub fn intersect() -> &'static [&'static dyn Registered<Intersect>] {
    INTERSECT
}

/// Protocols for [`Shares`].
pub fn shares() -> &'static [&'static dyn Registered<Shares>] {
    SHARES
}

/// Protocols for [`Cardinality`].
pub fn cardinality() -> &'static [&'static dyn Registered<Cardinality>] {
    CARDINALITY
}

/// Protocols for [`Sum`].
pub fn sum() -> &'static [&'static dyn Registered<Sum>] {
    SUM
}

/// Protocols for [`JoinAndCompute`].
pub fn join_and_compute() -> &'static [&'static dyn Registered<JoinAndCompute>] {
    JOIN_AND_COMPUTE
}

/// The protocol for [`Intersect`] of this name: a row's id or alias, and choices behind a colon for
/// a variant.
pub fn find_intersect(name: &str) -> Option<&'static dyn Registered<Intersect>> {
    resolve(INTERSECT.iter().copied(), name).ok().flatten()
}

/// The descriptions of all protocols of all tasks, building blocks included.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let intersect = INTERSECT.iter().map(|row| row.entry());
    let shares = SHARES.iter().map(|row| row.entry());
    let cardinality = CARDINALITY.iter().map(|row| row.entry());
    let sum = SUM.iter().map(|row| row.entry());
    let join_and_compute = JOIN_AND_COMPUTE.iter().map(|row| row.entry());
    let sets = intersect.chain(shares).chain(cardinality).chain(sum).chain(join_and_compute);
    sets.chain(vesica_mpc::registry::entries())
}

/// The description of this id or alias, of whatever task.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.answers_to(name))
}

/// Refuses a security that `P` does not offer, naming those that it does.
pub(crate) fn require_mode<P: Protocol>(security: Security) -> Result<(), Unsupported> {
    if P::ENTRY.mode(security).is_some() {
        return Ok(());
    }
    let offered: Vec<String> = P::ENTRY.modes.iter().map(|mode| mode.security.to_string()).collect();
    Err(Unsupported::new(
        format_args!("protocol {} has no {security} mode", P::ENTRY.id),
        format_args!("choose another protocol, or allow --security {}", offered.join(" or ")),
    ))
}
