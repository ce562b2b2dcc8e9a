//! The protocols of this crate, as rows for listings, documents and tests.

use vesica_party::fuzzing::AnyMessage;
use vesica_party::{Entry, registries};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::okvs::{Band, Clustered};

use crate::base_ot::{BaseOt, BaseOts, Co15, Csw20, MlKem, Np01};
use crate::code_oprf::{Kk13, Kkrt16, Oos17};
use crate::iknp03::{Iknp03, Kos15};
use crate::inner_product;
use crate::opprf::Opprf;
use crate::ot_extension::OtExtension;
use crate::peqt::{AndTreeEquality, CubicEquality};
use crate::permute_share::SwitchingNetwork;
use crate::permute_share::bits::circuit::SwitchCircuit;
use crate::permute_share::bits::opv::PuncturedVectors;
use crate::permute_share::bits::prf::WeakPrf;
use crate::permute_share::bits::{Benes, BitNetwork};
use crate::random_one_of_n_ot::OneOfN;
use crate::share_conversion::{self, Multiplexer};
use crate::silent::SilentVole;
use crate::silent_ot::SilentOt;
use crate::small_field_vole::SmallFieldVole;
use crate::softspoken_one_of_n_ot::SoftSpokenOneOfN;
use crate::tables_of_ots::TablesOf;
use crate::tasks::{
    BatchPrf, BitsToRing, Equality, InnerProduct, Multiplex, OneOfNOt, PermuteShare, PermuteShareBits, ProgrammedPrf,
    RandomOneOfNOt, RandomOt, SubfieldVole,
};

registries! {
    /// Protocols for random OT.
    random_ot: RandomOt = [
        BaseOt,
        BaseOts<Csw20>,
        BaseOts<MlKem>,
        BaseOts<Np01>,
        BaseOts<Co15>,
        OtExtension,
        Kos15,
        Iknp03,
        SilentOt,
    ];
    /// Protocols for random 1-of-2^k OT of bits.
    random_tables: RandomOneOfNOt = [OneOfN, SoftSpokenOneOfN, TablesOf<Iknp03>];
    /// Protocols for subfield VOLE over GF(2^64).
    vole_64: SubfieldVole<Gf64> = [SilentVole<Gf64>, SmallFieldVole<Gf64>];
    /// Protocols for subfield VOLE over GF(2^128).
    vole_128: SubfieldVole<Gf128> = [SilentVole<Gf128>, SmallFieldVole<Gf128>];
    /// Protocols for batched OPRF.
    batch_prf: BatchPrf = [Kkrt16];
    /// Protocols for 1-of-N OT of random blocks.
    one_of_n_ot: OneOfNOt = [Kk13, Oos17];
    /// Protocols for OPPRF.
    opprf: ProgrammedPrf = [Opprf<Band>, Opprf<Clustered>];
    /// Protocols for equality tests with shared output.
    equality: Equality = [CubicEquality, AndTreeEquality];
    /// Protocols for additive shares of bits.
    bits_to_ring: BitsToRing = [share_conversion::BitsToRing];
    /// Protocols for products of shared bits and additively shared rows.
    multiplex_ring: Multiplex<u64> = [Multiplexer<u64>];
    /// Protocols for products of shared bits and rows of bytes shared by exclusive or.
    multiplex_bytes: Multiplex<u8> = [Multiplexer<u8>];
    /// Protocols for inner products modulo 2^64.
    inner_product: InnerProduct = [inner_product::InnerProduct];
    /// Protocols for permuting and sharing single bits.
    permute_share_1: PermuteShareBits = [
        BitNetwork,
        BitNetwork<Benes>,
        PuncturedVectors,
        SwitchCircuit,
        SwitchCircuit<Benes>,
        WeakPrf,
    ];
    /// Protocols for permuting and sharing values of up to 64 bits.
    permute_share_64: PermuteShare<Gf64> = [SwitchingNetwork<Gf64>];
    /// Protocols for permuting and sharing values of up to 128 bits.
    permute_share_128: PermuteShare<Gf128> = [SwitchingNetwork<Gf128>];
}

/// The descriptions of all of them.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    own_entries()
}

/// The messages of this crate's protocols that are read from a frame; streams have nothing to read.
/// A test holds the list against the source.
pub fn messages() -> impl Iterator<Item = &'static AnyMessage> {
    let files = [
        crate::base_ot::co15::messages::MESSAGES,
        crate::base_ot::csw20::messages::MESSAGES,
        crate::base_ot::mr19::messages::MESSAGES,
        crate::base_ot::np01::messages::MESSAGES,
        crate::code_oprf::messages::MESSAGES,
        crate::gmw::messages::MESSAGES,
        crate::iknp03::messages::MESSAGES,
        crate::inner_product::messages::MESSAGES,
        crate::opprf::messages::MESSAGES,
        crate::ot_extension::messages::MESSAGES,
        crate::peqt::messages::MESSAGES,
        crate::share_conversion::messages::MESSAGES,
        crate::silent::messages::MESSAGES,
    ];
    files.into_iter().flatten()
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
