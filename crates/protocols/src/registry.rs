//! The registries: every protocol of every task, in the order in which documents list them.

use vesica_mpc::permute_share::bits::circuit::SwitchCircuit;
use vesica_mpc::permute_share::bits::opv::PuncturedVectors;
use vesica_mpc::permute_share::bits::prf::WeakPrf;
use vesica_party::fuzzing::AnyMessage;
use vesica_party::service::OneShot;
use vesica_party::variants::resolve;
use vesica_party::{Entry, Registered, Row, registries};

use crate::cardinality::cgt12::EcdhCaCgt12;
use crate::cardinality::hfh99::EcdhCaHfh99;
use crate::circuit_psi;
use crate::circuit_psi::cgs22::{Cgs22, Cgs22SoftSpoken};
use crate::circuit_psi::pepsi::Pepsi;
use crate::circuit_psi::psty19::{Psty19, Psty19Cubic, Psty19SoftSpoken};
use crate::circuit_psi::vole::{
    Rr22Circuit, Rr22CircuitCubic, Rs21Circuit, Rs21CircuitCubic, Rs21CircuitSoftSpoken, VesicaCardinality,
    VesicaCircuit, VesicaCircuitClustered, VesicaJoinAndCompute, VesicaSum, VesicaUnionCardinality, VesicaUnionSum,
};
use crate::membership::Membership;
use crate::membership::czz24::Czz24;
use crate::membership::gmr21::Gmr21;
use crate::membership::zcl23_pk::{Garbled, NarrowBand, Zcl23Pk};
use crate::membership::zcl23_sk::Zcl23Sk;
use crate::passes::InPasses;
use crate::psi::cm20::{self, Cm20};
use crate::psi::cuckoo::{CuckooPsi, Kkrt16, Oos17, Pssz15, Psz14};
use crate::psi::finish::compare;
use crate::psi::gbf::dcw13::{self, Dcw13};
use crate::psi::gbf::rr16::{self, Rr16};
use crate::psi::hfh99::{self, Hfh99};
use crate::psi::ltsxq26::{self, Ltsxq26};
use crate::psi::opened_shares::{self, OpenedShares};
use crate::psi::prty19::{Prty19, SpotFast, SpotLow, SpotLowClustered};
use crate::psi::prty20::{self, Prty20};
use crate::psi::rr17::{self, DualExecution, EncodeCommit};
use crate::psi::rt21::{self, Rt21};
use crate::psi::vole::{
    Rr22, Rr22Band, Rr22BandSorted, Rr22Bloom, Rr22Fuse, Rr22Sorted, Rr22TwoHashes, Rr22Vacuum, Rs21, Rs21Band,
    Rs21BandSorted, Rs21Bloom, Rs21Fuse, Rs21Sorted, Rs21TwoHashes, Rs21Vacuum, VoleFast, VoleFastShuffled, VoleLean,
    VoleLeanShuffled, VolePsi,
};
use crate::recurrent::cm25::{self, Cm25};
use crate::recurrent::cm25_select::Cm25Select;
use crate::recurrent::oprf_buckets::OprfBuckets;
use crate::recurrent::oprf_pir::OprfPir;
use crate::recurrent::ra17::Ra17;
use crate::recurrent::rfc9497::OprfRfc9497;
use crate::sum::ikn20::Ikn20;
use crate::tasks::{Cardinality, Intersect, JoinAndCompute, Shares, Sum, Union, UnionCardinality, UnionSum};
use crate::unbalanced::clr17::Clr17;
use crate::unbalanced::cmdg21::Cmdg21;
use crate::unbalanced::tcl23::Tcl23;
use crate::union::cssw25::Cssw25;
use crate::union::jsz22_r::Jsz22R;
use crate::union::jsz22_s::Jsz22S;
use crate::union::jszg24::Jszg24;
use crate::union::krtw19::{self, Krtw19};
use crate::union::pt26::{self, Pt26};
use crate::union::vesica_union::VesicaUnion;
use crate::union::vesica_union_both::VesicaUnionBoth;

registries! {
    /// Protocols for [`Intersect`].
    intersect: Intersect = [
        Hfh99<hfh99::Ristretto> => [
            Hfh99<hfh99::Ristretto<compare::Vacuum>>,
            Hfh99<hfh99::Ristretto<compare::Fuse>>,
        ],
        Hfh99<hfh99::Montgomery>,
        Hfh99<hfh99::Koblitz>,
        OneShot<OprfRfc9497>,
        OneShot<Ra17>,
        OneShot<OprfPir>,
        OneShot<OprfBuckets>,
        OneShot<Cm25Select>,
        OneShot<Clr17>,
        OneShot<Cmdg21>,
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
        Prty20<prty20::Paxos> => [
            Prty20<prty20::Clustered>,
            Prty20<prty20::Band>,
            Prty20<prty20::Paxos<compare::Vacuum>>,
            Prty20<prty20::Paxos<compare::Fuse>>,
        ],
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
        VolePsi<VoleFast> => [VolePsi<VoleFastShuffled>],
        VolePsi<VoleLean> => [VolePsi<VoleLeanShuffled>],
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
        VesicaUnion,
        VesicaUnionBoth,
        Pt26,
        Membership<Czz24, Union>,
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
        Psty19 => [Psty19Cubic, Psty19SoftSpoken],
        Cgs22 => [Cgs22SoftSpoken],
        Pepsi,
        Rs21Circuit => [Rs21CircuitCubic, Rs21CircuitSoftSpoken],
        Rr22Circuit => [Rr22CircuitCubic],
        VesicaCircuit => [VesicaCircuitClustered],
        circuit_psi::ltsxq26::Circuit,
    ];
    /// Protocols for [`Cardinality`].
    // The first recommended row that serves is what `auto` takes where nothing was measured: the fastest one.
    cardinality: Cardinality = [
        VesicaCardinality,
        Membership<Czz24, Cardinality>,
        Membership<Gmr21, Cardinality>,
        EcdhCaCgt12,
        EcdhCaHfh99,
    ];
    /// Protocols for [`UnionCardinality`].
    union_cardinality: UnionCardinality = [
        VesicaUnionCardinality,
        Membership<Czz24, UnionCardinality>,
        Membership<Gmr21, UnionCardinality>,
    ];
    /// Protocols for [`Sum`].
    sum: Sum = [
        VesicaSum,
        Membership<Czz24, Sum>,
        Membership<Gmr21, Sum>,
        Ikn20,
    ];
    /// Protocols for [`UnionSum`].
    union_sum: UnionSum = [
        VesicaUnionSum,
        Membership<Czz24, UnionSum>,
        Membership<Gmr21, UnionSum>,
    ];
    /// Protocols for [`JoinAndCompute`].
    join_and_compute: JoinAndCompute = [
        VesicaJoinAndCompute,
    ];
}

/// The protocol for [`Intersect`] of this name: a row's id or alias, and choices behind a colon for
/// a variant.
pub fn find_intersect(name: &str) -> Option<&'static dyn Registered<Intersect>> {
    resolve(intersect().iter().copied(), name).ok().flatten()
}

/// The protocols for [`Intersect`] that run in passes, and their variants: those that serve several runs in the
/// malicious mode.
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
        VoleFast,
        VoleFastShuffled,
        VoleLean,
        VoleLeanShuffled,
    ]
}

/// The descriptions of all protocols of all tasks, building blocks included.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    own_entries().chain(vesica_mpc::registry::entries())
}

/// The description of this id or alias, of whatever task.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.answers_to(name))
}

/// The messages of this crate's protocols that are read from a frame; streams have nothing to read.
/// A test holds the list against the source.
pub fn messages() -> impl Iterator<Item = &'static AnyMessage> {
    let files = [
        crate::circuit_psi::messages::MESSAGES,
        crate::circuit_psi::vole::aggregate::messages::MESSAGES,
        crate::membership::gmr21::messages::MESSAGES,
        crate::membership::zcl23_pk::messages::MESSAGES,
        crate::membership::zcl23_sk::messages::MESSAGES,
        cm20::messages::MESSAGES,
        crate::psi::cuckoo::MESSAGES,
        dcw13::MESSAGES,
        rr16::MESSAGES,
        crate::psi::ltsxq26::messages::MESSAGES,
        crate::psi::prty19::messages::MESSAGES,
        crate::psi::prty20::MESSAGES,
        rr17::MESSAGES,
        rt21::MESSAGES,
        crate::psi::vole::messages::MESSAGES,
        krtw19::messages::MESSAGES,
        pt26::MESSAGES,
        crate::union::oprf::messages::MESSAGES,
    ];
    files.into_iter().flatten()
}
