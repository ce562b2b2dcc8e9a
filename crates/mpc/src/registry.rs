//! The protocols of this crate, as rows for listings, documents and tests.

use vesica_party::fuzzing::AnyMessage;
use vesica_party::{Entry, Registered, Row};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::okvs::{Band, Clustered};

use crate::base_ot::BaseOt;
use crate::inner_product;
use crate::kkrt16::Kkrt16;
use crate::opprf::Opprf;
use crate::ot_extension::OtExtension;
use crate::peqt::{AndTreeEquality, CubicEquality};
use crate::permute_share::SwitchingNetwork;
use crate::random_one_of_n_ot::OneOfN;
use crate::share_conversion::{self, Multiplexer};
use crate::silent::SilentVole;
use crate::silent_ot::SilentOt;
use crate::small_field_vole::SmallFieldVole;
use crate::tasks::{
    BatchPrf, BitsToRing, Equality, InnerProduct, Multiplex, PermuteShare, ProgrammedPrf, RandomOneOfNOt, RandomOt, SubfieldVole,
};

/// Protocols for random OT.
pub fn random_ot() -> &'static [&'static dyn Registered<RandomOt>] {
    const { &[&Row::<BaseOt>::new(), &Row::<OtExtension>::new(), &Row::<SilentOt>::new()] }
}

/// Protocols for random 1-of-2^k OT of bits.
pub fn random_tables() -> &'static [&'static dyn Registered<RandomOneOfNOt>] {
    const { &[&Row::<OneOfN>::new()] }
}

/// Protocols for batched OPRF.
pub fn batch_prf() -> &'static [&'static dyn Registered<BatchPrf>] {
    const { &[&Row::<Kkrt16>::new()] }
}

/// Protocols for OPPRF.
pub fn opprf() -> &'static [&'static dyn Registered<ProgrammedPrf>] {
    const { &[&Row::<Opprf<Band>>::new(), &Row::<Opprf<Clustered>>::new()] }
}

/// Protocols for equality tests with shared output.
pub fn equality() -> &'static [&'static dyn Registered<Equality>] {
    const { &[&Row::<CubicEquality>::new(), &Row::<AndTreeEquality>::new()] }
}

/// Protocols for subfield VOLE over GF(2^64).
pub fn vole_64() -> &'static [&'static dyn Registered<SubfieldVole<Gf64>>] {
    const { &[&Row::<SilentVole<Gf64>>::new(), &Row::<SmallFieldVole<Gf64>>::new()] }
}

/// Protocols for subfield VOLE over GF(2^128).
pub fn vole_128() -> &'static [&'static dyn Registered<SubfieldVole<Gf128>>] {
    const { &[&Row::<SilentVole<Gf128>>::new(), &Row::<SmallFieldVole<Gf128>>::new()] }
}

/// Protocols for additive shares of bits.
pub fn bits_to_ring() -> &'static [&'static dyn Registered<BitsToRing>] {
    const { &[&Row::<share_conversion::BitsToRing>::new()] }
}

/// Protocols for products of shared bits and additively shared rows.
pub fn multiplex_ring() -> &'static [&'static dyn Registered<Multiplex<u64>>] {
    const { &[&Row::<Multiplexer<u64>>::new()] }
}

/// Protocols for products of shared bits and rows of bytes shared by exclusive or.
pub fn multiplex_bytes() -> &'static [&'static dyn Registered<Multiplex<u8>>] {
    const { &[&Row::<Multiplexer<u8>>::new()] }
}

/// Protocols for inner products modulo 2^64.
pub fn inner_product() -> &'static [&'static dyn Registered<InnerProduct>] {
    const { &[&Row::<inner_product::InnerProduct>::new()] }
}

/// Protocols for permuting and sharing values of up to 64 bits.
pub fn permute_share_64() -> &'static [&'static dyn Registered<PermuteShare<Gf64>>] {
    const { &[&Row::<SwitchingNetwork<Gf64>>::new()] }
}

/// Protocols for permuting and sharing values of up to 128 bits.
pub fn permute_share_128() -> &'static [&'static dyn Registered<PermuteShare<Gf128>>] {
    const { &[&Row::<SwitchingNetwork<Gf128>>::new()] }
}

/// The descriptions of all of them.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let ots = random_ot().iter().map(|row| row.entry()).chain(random_tables().iter().map(|row| row.entry()));
    let voles = vole_64().iter().map(|row| row.entry()).chain(vole_128().iter().map(|row| row.entry()));
    let oprfs = batch_prf().iter().map(|row| row.entry());
    let opprfs = opprf().iter().map(|row| row.entry());
    let multiplexers = multiplex_ring().iter().map(|row| row.entry()).chain(multiplex_bytes().iter().map(|row| row.entry()));
    let tests = equality().iter().map(|row| row.entry());
    let conversions = bits_to_ring().iter().map(|row| row.entry()).chain(multiplexers);
    let permutations = permute_share_64().iter().map(|row| row.entry()).chain(permute_share_128().iter().map(|row| row.entry()));
    let products = inner_product().iter().map(|row| row.entry());
    ots.chain(voles).chain(oprfs).chain(opprfs).chain(tests).chain(conversions).chain(products).chain(permutations)
}

/// The messages of this crate's protocols that are read from a frame; streams have nothing to read. A test holds the list against the source.
pub fn messages() -> impl Iterator<Item = &'static AnyMessage> {
    let files = [
        crate::base_ot::messages::MESSAGES,
        crate::gmw::messages::MESSAGES,
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
