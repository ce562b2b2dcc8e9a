//! The registries: every protocol of every task, in the order in which documents list them.

use vesica_party::{Entry, Protocol, Registered, Row, Security};
use vesica_structures::facts::Unsupported;

use crate::psi::hfh99::EcdhHfh99;
use crate::psi::vole::{Rr22, Rs21, VoleFast, VoleLean, VolePsi};
use crate::tasks::Intersect;

static INTERSECT: &[&dyn Registered<Intersect>] = &[
    &Row::<EcdhHfh99>::new(),
    &Row::<VolePsi<Rs21>>::new(),
    &Row::<VolePsi<Rr22>>::new(),
    &Row::<VolePsi<VoleFast>>::new(),
    &Row::<VolePsi<VoleLean>>::new(),
];

/// Protocols for [`Intersect`].
pub fn intersect() -> &'static [&'static dyn Registered<Intersect>] {
    INTERSECT
}

/// The protocol for [`Intersect`] of this id or alias.
pub fn find_intersect(name: &str) -> Option<&'static dyn Registered<Intersect>> {
    INTERSECT.iter().copied().find(|row| answers_to(row.entry(), name))
}

/// The descriptions of all protocols of all tasks, building blocks included.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let sets = INTERSECT.iter().map(|row| row.entry());
    sets.chain(vesica_mpc::registry::entries())
}

/// The description of this id or alias, of whatever task.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| answers_to(entry, name))
}

fn answers_to(entry: &Entry, name: &str) -> bool {
    entry.id == name || entry.aliases.contains(&name)
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
