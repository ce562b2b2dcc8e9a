//! The parts of `ENTRY`s that several rows share.

use vesica_mpc::kkrt16::Kkrt16;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_party::{Mode, Protocol, Resistance, Rounds, Security, assumptions};

use crate::tasks::SIZES;

/// The deviation of the tables of items.
pub(super) const BINS: &str = "1.30 n_r bins (more below 2^14 items) with three distinct positions an item, by a bound and not from evidence; sigma has a share of the failure budget.";

/// The deviation of circuits of AND gates.
pub(super) const AND_TREES: &str =
    "Trees of ANDs whose random inputs come from 1-of-4 OTs of silent VOLE, instead of GMW with multiplication triples.";

/// The one mode that there is.
pub(super) const fn mode(rounds: Rounds, assumptions: &'static [&'static str]) -> Mode {
    Mode {
        security: Security::SemiHonest,
        corrupt_sender: Resistance::SemiHonest,
        corrupt_receiver: Resistance::SemiHonest,
        rounds,
        assumptions,
        leakage: &[SIZES],
    }
}

/// The assumptions of OPRFs from OT extension and of equality tests.
pub(super) const OT_AND_TESTS: &[&str] = assumptions![semi_honest::<Kkrt16>(), EQUALITY_TESTS];

/// The assumptions of equality tests and multiplexers, which all stand on random tables.
pub(super) const EQUALITY_TESTS: &[&str] = semi_honest::<OneOfN>();

/// What the semi-honest mode of a building block rests on, its first.
pub(super) const fn semi_honest<P: Protocol>() -> &'static [&'static str] {
    P::ENTRY.modes[0].assumptions
}
