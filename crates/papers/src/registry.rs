//! The registries: every row and variant of this crate, by task, in the order in which documents list them.
//!
//! A variant of a product row is in a list by itself. Programs show it behind its row.

use vesica_mpc::permute_share::bits::circuit::SwitchCircuit;
use vesica_mpc::permute_share::bits::opv::PuncturedVectors;
use vesica_mpc::permute_share::bits::prf::WeakPrf;
use vesica_party::fuzzing::AnyMessage;
use vesica_party::service::OneShot;
use vesica_party::{Entry, Row, registries};
use vesica_protocols::membership::Membership;
use vesica_protocols::membership::czz24::Czz24;
use vesica_protocols::passes::InPasses;
use vesica_protocols::psi::finish::compare;
use vesica_protocols::psi::hfh99::{Hfh99, Ristretto};
use vesica_protocols::psi::prty20::{Paxos, Prty20};
use vesica_protocols::psi::vole::VolePsi;
use vesica_protocols::registry::Rows;
use vesica_protocols::tasks::{Cardinality, Intersect, Shares, Sum, Union, UnionCardinality, UnionSum};

use crate::cardinality::hfh99::EcdhCaHfh99;
use crate::circuit_psi;
use crate::circuit_psi::cgs22::{Cgs22, Cgs22SoftSpoken};
use crate::circuit_psi::pepsi::Pepsi;
use crate::circuit_psi::vole::{
    Rr22Circuit, Rr22CircuitCubic, Rs21Circuit, Rs21CircuitCubic, Rs21CircuitSoftSpoken, VesicaCircuitClustered,
};
use crate::membership::gmr21::{self, Gmr21};
use crate::membership::zcl23_pk::{self, Garbled, NarrowBand, Zcl23Pk};
use crate::membership::zcl23_sk::{self, Zcl23Sk};
use crate::psi::cm20::{self, Cm20};
use crate::psi::cuckoo::{self, CuckooPsi, Kkrt16, Oos17, Pssz15, Psz14};
use crate::psi::gbf::dcw13::{self, Dcw13};
use crate::psi::gbf::rr16::{self, Rr16};
use crate::psi::hfh99::{Koblitz, Montgomery};
use crate::psi::ltsxq26::{self, Ltsxq26};
use crate::psi::opened_shares::{self, OpenedShares};
use crate::psi::prty19::{self, Prty19, SpotFast, SpotLow, SpotLowClustered};
use crate::psi::prty20;
use crate::psi::rr17::{self, DualExecution, EncodeCommit};
use crate::psi::rt21::{self, Rt21};
use crate::psi::vole::{
    Rr22, Rr22Band, Rr22BandSorted, Rr22Bloom, Rr22Fuse, Rr22Sorted, Rr22TwoHashes, Rr22Vacuum, Rs21, Rs21Band,
    Rs21BandSorted, Rs21Bloom, Rs21Fuse, Rs21Sorted, Rs21TwoHashes, Rs21Vacuum, VoleFastShuffled, VoleLeanShuffled,
};
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
        Hfh99<Ristretto<compare::Vacuum>>,
        Hfh99<Ristretto<compare::Fuse>>,
        Hfh99<Montgomery>,
        Hfh99<Koblitz>,
        OneShot<Ra17>,
        OneShot<Clr17>,
        OneShot<Cm25<cm25::FastSetupRepaired>>,
        OneShot<Cm25<cm25::FastIntersectionRepaired>>,
        OneShot<Cm25<cm25::FastSetup>>,
        OneShot<Cm25<cm25::FastIntersection>>,
        Membership<Czz24, Intersect>,
        Membership<Gmr21, Intersect>,
        CuckooPsi<Psz14> => [CuckooPsi<Psz14<compare::Vacuum>>, CuckooPsi<Psz14<compare::Fuse>>],
        CuckooPsi<Pssz15> => [CuckooPsi<Pssz15<compare::Vacuum>>, CuckooPsi<Pssz15<compare::Fuse>>],
        CuckooPsi<Kkrt16> => [
            CuckooPsi<Kkrt16<compare::Vacuum>>,
            CuckooPsi<Kkrt16<compare::Fuse>>,
            CuckooPsi<Kkrt16<compare::Bloom>>,
            CuckooPsi<Kkrt16<compare::Cuckoo>>,
        ],
        CuckooPsi<Oos17> => [CuckooPsi<Oos17<compare::Vacuum>>, CuckooPsi<Oos17<compare::Fuse>>],
        Dcw13,
        Rr16,
        Cm20 => [
            Cm20<compare::Vacuum>,
            Cm20<compare::Fuse>,
            Cm20<compare::Bloom>,
            Cm20<compare::Cuckoo>,
        ],
        Prty19<SpotLow> => [
            Prty19<SpotLowClustered>,
            Prty19<SpotLow<compare::Vacuum>>,
            Prty19<SpotLow<compare::Fuse>>,
        ],
        Prty19<SpotFast> => [Prty19<SpotFast<compare::Vacuum>>, Prty19<SpotFast<compare::Fuse>>],
        DualExecution<rr17::De> => [DualExecution<rr17::DeQuarter>],
        EncodeCommit<rr17::Ec> => [EncodeCommit<rr17::EcTenth>],
        Rt21,
        Prty20<prty20::Clustered>,
        Prty20<prty20::Band>,
        Prty20<Paxos<compare::Vacuum>>,
        Prty20<Paxos<compare::Fuse>>,
        VolePsi<Rs21> => [
            VolePsi<Rs21Band>,
            VolePsi<Rs21Sorted>,
            VolePsi<Rs21BandSorted>,
            VolePsi<Rs21TwoHashes>,
            VolePsi<Rs21Bloom>,
            VolePsi<Rs21Vacuum>,
            VolePsi<Rs21Fuse>,
        ],
        VolePsi<Rr22> => [
            VolePsi<Rr22Band>,
            VolePsi<Rr22Sorted>,
            VolePsi<Rr22BandSorted>,
            VolePsi<Rr22TwoHashes>,
            VolePsi<Rr22Bloom>,
            VolePsi<Rr22Vacuum>,
            VolePsi<Rr22Fuse>,
        ],
        VolePsi<VoleFastShuffled>,
        VolePsi<VoleLeanShuffled>,
        Ltsxq26<ltsxq26::Wide>,
        Ltsxq26<ltsxq26::Sha>,
        Ltsxq26<ltsxq26::ShaBand>,
        Ltsxq26<ltsxq26::Aes>,
        Ltsxq26<ltsxq26::AesBand>,
        OpenedShares<opened_shares::Psty19> => [
            OpenedShares<opened_shares::Psty19Cubic>,
            OpenedShares<opened_shares::Psty19SoftSpoken>,
        ],
        OpenedShares<opened_shares::Cgs22> => [OpenedShares<opened_shares::Cgs22SoftSpoken>],
        OpenedShares<opened_shares::Rs21> => [
            OpenedShares<opened_shares::Rs21Cubic>,
            OpenedShares<opened_shares::Rs21SoftSpoken>,
        ],
    ];
    /// Protocols for [`Union`].
    union: Union = [
        Pt26,
        Membership<Gmr21, Union>,
        Membership<Cssw25, Union> => [
            Membership<Cssw25<PuncturedVectors>, Union>,
            Membership<Cssw25<SwitchCircuit>, Union>,
            Membership<Cssw25<WeakPrf>, Union>,
        ],
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
        Cgs22 => [Cgs22SoftSpoken],
        Pepsi,
        Rs21Circuit => [Rs21CircuitCubic, Rs21CircuitSoftSpoken],
        Rr22Circuit => [Rr22CircuitCubic],
        VesicaCircuitClustered,
        circuit_psi::ltsxq26::Circuit,
    ];
    /// Protocols for [`Cardinality`].
    cardinality: Cardinality = [Membership<Gmr21, Cardinality>, EcdhCaHfh99];
    /// Protocols for [`UnionCardinality`].
    union_cardinality: UnionCardinality = [Membership<Gmr21, UnionCardinality>];
    /// Protocols for [`Sum`].
    sum: Sum = [Membership<Gmr21, Sum>, Ikn20];
    /// Protocols for [`UnionSum`].
    union_sum: UnionSum = [Membership<Gmr21, UnionSum>];
}

/// The protocols for [`Intersect`] that run in passes, and their variants.
pub fn intersect_in_passes() -> &'static [&'static dyn InPasses<Intersect>] {
    macro_rules! rows {
        ($($row:ty),+ $(,)?) => {{
            static ROWS: &[&dyn InPasses<Intersect>] = &[$(&Row::<VolePsi<$row>>::new()),+];
            ROWS
        }};
    }
    rows![
        Rs21,
        Rs21Band,
        Rs21Sorted,
        Rs21BandSorted,
        Rs21TwoHashes,
        Rr22,
        Rr22Band,
        Rr22Sorted,
        Rr22BandSorted,
        Rr22TwoHashes,
        VoleFastShuffled,
        VoleLeanShuffled,
    ]
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
        join_and_compute: &[],
        intersect_in_passes: intersect_in_passes(),
    }
}

/// The descriptions of all protocols: those of the product, then those of this crate, then building blocks.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let of_papers = own_entries().filter(|entry| !entry.is_variant());
    vesica_protocols::registry::own_entries().chain(of_papers).chain(vesica_mpc::registry::entries())
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
