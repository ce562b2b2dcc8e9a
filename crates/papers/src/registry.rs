//! The registries: every row of this crate, by task, in the order in which documents list them.

use vesica_mpc::tables_of_ots::TablesOf;
use vesica_mpc::tasks::{RandomOneOfNOt, RandomOt};
use vesica_party::fuzzing::AnyMessage;
use vesica_party::service::OneShot;
use vesica_party::{Entry, Row, registries};
use vesica_protocols::membership::Membership;
use vesica_protocols::membership::czz24::Czz24;
use vesica_protocols::passes::InPasses;
use vesica_protocols::psi::hfh99::Hfh99;
use vesica_protocols::psi::vole::VolePsi;
use vesica_protocols::registry::Rows;
use vesica_protocols::tasks::{Cardinality, Intersect, JoinAndCompute, Shares, Sum, Union, UnionCardinality, UnionSum};

use crate::cardinality::hfh99::EcdhCaHfh99;
use crate::circuit_psi::aggregates::{PepsiCardinality, PepsiSum, Psty19Cardinality, Psty19Sum};
use crate::circuit_psi::cgs22::Cgs22;
use crate::circuit_psi::ltsxq26::{Circuit, Ltsxq26Cardinality, Ltsxq26JoinAndCompute, Ltsxq26Sum};
use crate::circuit_psi::pepsi::Pepsi;
use crate::circuit_psi::vole::{Rr22Circuit, Rs21Circuit};
use crate::membership::gmr21::{self, Gmr21};
use crate::membership::zcl23_pk::{self, Garbled, NarrowBand, Zcl23Pk};
use crate::membership::zcl23_sk::{self, Zcl23Sk};
use crate::ot::ferret::{self, Ferret};
use crate::psi::cm20::{self, Cm20};
use crate::psi::cuckoo::{self, CuckooPsi, Kkrt16, Oos17, Pssz15, Psz14};
use crate::psi::gbf::dcw13::{self, Dcw13};
use crate::psi::gbf::rr16::{self, Rr16};
use crate::psi::hfh99::{Koblitz, Montgomery};
use crate::psi::ltsxq26::{self, Ltsxq26};
use crate::psi::opened_shares::{self, OpenedShares};
use crate::psi::prty19::{self, Prty19, SpotFast, SpotLow};
use crate::psi::rr17::{self, DualExecution, EncodeCommit};
use crate::psi::rt21::{self, Rt21};
use crate::psi::vole::{Rr22, Rs21};
use crate::recurrent::cm25::counted::rows::{Counted, FastIntersectionCount, FastIntersectionCountRepaired};
use crate::recurrent::cm25::{self, Cm25};
use crate::recurrent::ra17::Ra17;
use crate::sum::ikn20::Ikn20;
use crate::unbalanced::clr17::Clr17;
use crate::unbalanced::tcl23::Tcl23;
use crate::union::cssw25::Cssw25;
use crate::union::jsz22_r::Jsz22R;
use crate::union::jsz22_s::Jsz22S;
use crate::union::jszg24::Jszg24;
use crate::union::krtw19::{self, Krtw19};
use crate::union::pt26::{self, Pt26};

registries! {
    /// Protocols for [`Intersect`].
    intersect: Intersect = [
        Hfh99<Montgomery>,
        Hfh99<Koblitz>,
        OneShot<Ra17>,
        OneShot<Clr17>,
        OneShot<Cm25<cm25::FastSetupRepaired>>,
        OneShot<Cm25<cm25::FastIntersectionRepaired>>,
        OneShot<Cm25<cm25::FastSetup>>,
        OneShot<Cm25<cm25::FastIntersection>>,
        OneShot<Counted<FastIntersectionCountRepaired>>,
        OneShot<Counted<FastIntersectionCount>>,
        Membership<Czz24, Intersect>,
        Membership<Gmr21, Intersect>,
        CuckooPsi<Psz14>,
        CuckooPsi<Pssz15>,
        CuckooPsi<Kkrt16>,
        CuckooPsi<Oos17>,
        Dcw13,
        Rr16,
        Cm20,
        Prty19<SpotLow>,
        Prty19<SpotFast>,
        DualExecution,
        EncodeCommit,
        Rt21,
        VolePsi<Rs21>,
        VolePsi<Rr22>,
        Ltsxq26<ltsxq26::Wide>,
        Ltsxq26<ltsxq26::Sha>,
        Ltsxq26<ltsxq26::ShaBand>,
        Ltsxq26<ltsxq26::Aes>,
        Ltsxq26<ltsxq26::AesBand>,
        OpenedShares<opened_shares::Psty19>,
        OpenedShares<opened_shares::Cgs22>,
        OpenedShares<opened_shares::Rs21>,
    ];
    /// Protocols for [`Union`].
    union: Union = [
        Pt26,
        Membership<Gmr21, Union>,
        Membership<Cssw25, Union>,
        Membership<Tcl23, Union>,
        Membership<Zcl23Pk<Garbled>, Union>,
        Membership<Zcl23Sk, Union>,
        Membership<Zcl23Pk<NarrowBand>, Union>,
        Membership<Jsz22R, Union>,
        Jsz22S,
        Jszg24,
        Membership<Krtw19, Union>,
    ];
    /// Protocols for [`Shares`].
    shares: Shares = [
        Cgs22,
        Pepsi,
        Rs21Circuit,
        Rr22Circuit,
        Circuit,
    ];
    /// Protocols for [`Cardinality`].
    cardinality: Cardinality = [
        Membership<Gmr21, Cardinality>,
        EcdhCaHfh99,
        Psty19Cardinality,
        PepsiCardinality,
        Ltsxq26Cardinality,
    ];
    /// Protocols for [`UnionCardinality`].
    union_cardinality: UnionCardinality = [Membership<Gmr21, UnionCardinality>];
    /// Protocols for [`Sum`].
    sum: Sum = [
        Membership<Gmr21, Sum>,
        Ikn20,
        Psty19Sum,
        PepsiSum,
        Ltsxq26Sum,
    ];
    /// Protocols for [`UnionSum`].
    union_sum: UnionSum = [Membership<Gmr21, UnionSum>];
    /// Protocols for [`JoinAndCompute`].
    join_and_compute: JoinAndCompute = [Ltsxq26JoinAndCompute];
    /// Protocols for random OT.
    random_ot: RandomOt = [Ferret];
    /// Protocols for random 1-of-2^k OT of bits.
    random_tables: RandomOneOfNOt = [TablesOf<Ferret>];
}

/// The protocols for [`Intersect`] that run in passes.
pub fn intersect_in_passes() -> &'static [&'static dyn InPasses<Intersect>] {
    static ROWS: &[&dyn InPasses<Intersect>] = &[&Row::<VolePsi<Rs21>>::new(), &Row::<VolePsi<Rr22>>::new()];
    ROWS
}

/// All lists, for a program that installs them.
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

/// The descriptions of building blocks.
fn blocks() -> impl Iterator<Item = &'static Entry> {
    random_ot().iter().map(|row| row.entry()).chain(random_tables().iter().map(|row| row.entry()))
}

/// The descriptions of all protocols: those of the product, then those of this crate, then building blocks.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    vesica_protocols::registry::own_entries().chain(own_entries()).chain(vesica_mpc::registry::entries())
}

/// The description of this id or alias, of whatever task.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.answers_to(name))
}

/// The messages of this crate's protocols that are read from a frame; streams have nothing to read.
/// A test holds the list against the source.
pub fn messages() -> impl Iterator<Item = &'static AnyMessage> {
    let files = [
        gmr21::messages::MESSAGES,
        zcl23_pk::messages::MESSAGES,
        zcl23_sk::messages::MESSAGES,
        ferret::messages::MESSAGES,
        cm20::messages::MESSAGES,
        cuckoo::MESSAGES,
        dcw13::MESSAGES,
        rr16::MESSAGES,
        ltsxq26::messages::MESSAGES,
        prty19::messages::MESSAGES,
        rr17::MESSAGES,
        rt21::MESSAGES,
        krtw19::messages::MESSAGES,
        pt26::MESSAGES,
    ];
    files.into_iter().flatten()
}
