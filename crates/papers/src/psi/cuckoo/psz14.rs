//! `psz14`: strings of a bin compared by chunks of 8 bits, each with a 1-of-256 OT ("Private
//! set intersection via OT" in the paper).

use vesica_mpc::base_ot;
use vesica_mpc::code_oprf::{Kk13, WalshHadamard};
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{FailureEvent, Paper as Publication, Unsupported, ceil_log2};

use super::{Chunks, HASHED_SUMS, LIST, NO_STASH, ONE_LEARNS, PAYLOADS, Paper, SORTED_TAGS, StringKind, Strings};
use vesica_protocols::psi::finish::compare;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper PSZ14.
#[derive(Clone, Copy, Debug)]
pub enum Psz14 {}

impl Paper for Psz14 {
    const ENTRY: Entry = Entry {
        id: "psz14",
        aliases: &[],
        variants: &[compare::choice(&[LIST, compare::VACUUM, compare::FUSE]), base_ot::CHOICE],
        task: Intersect::NAME,
        paper: Publication {
            key: "PSZ14",
            title: "Faster Private Set Intersection Based on OT Extension",
            reference: "B. Pinkas, T. Schneider, M. Zohner, USENIX Security 2014, ePrint 2014/447",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CUCKOO_CHUNKS),
        deviations: &[
            NO_STASH,
            "An item has one value for each of its bins, the sum for its own string (as in PSSZ15), instead of one \
         for each place that a bin is padded to.",
            "A string is a hash of the item and its position, of 41 + log2(n_s) + log2(n_r) bits and up to 7 more.",
            HASHED_SUMS,
            SORTED_TAGS,
            PAYLOADS,
            ONE_LEARNS,
            "The OT is ot-kk13, with what it states.",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(5), <Kk13 as Protocol>::ENTRY.modes[0].assumptions, &[SIZES])],
    };
    type Code = WalshHadamard;
    const CONTEXT: &'static str = "vesica v1 psz14 2014 salt to keys";
    const PAYLOAD_DOMAIN: &'static [u8; 16] = b"PSZ14   payloads";

    fn strings(request: &IntersectRequest, _: usize) -> Result<Strings, Unsupported> {
        Ok(Strings { kind: StringKind::Hash, chunks: Chunks::of_bytes(bits_for_all_pairs(request))? })
    }
}

/// Bits of a hash such that two different items of the two sets have the same one with probability at most
/// [`FailureEvent::ZeroDifference`]: any of `n_s n_r` pairs (`sigma` of the paper).
pub(super) fn bits_for_all_pairs(request: &IntersectRequest) -> u32 {
    FailureEvent::ZeroDifference.bits() + ceil_log2(request.sender_items) + ceil_log2(request.receiver_items)
}
