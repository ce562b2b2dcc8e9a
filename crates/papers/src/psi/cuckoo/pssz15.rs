//! `pssz15`, "Phasing": permutation-based hashing takes `log2` of the bins off the strings that are compared
//! by the OTs of PSZ14.

use vesica_mpc::base_ot;
use vesica_mpc::code_oprf::{Kk13, WalshHadamard};
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{FailureEvent, Paper as Publication, Unsupported};
use vesica_structures::hashing::right_bits;

use super::places::POSITION_BITS;
use super::psz14::bits_for_all_pairs;
use super::{Chunks, HASHED_SUMS, LIST, NO_STASH, ONE_LEARNS, PAYLOADS, Paper, SORTED_TAGS, StringKind, Strings};
use vesica_protocols::psi::finish::compare;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper PSSZ15.
#[derive(Clone, Copy, Debug)]
pub enum Pssz15 {}

impl Paper for Pssz15 {
    const ENTRY: Entry = Entry {
        id: "pssz15",
        aliases: &[],
        variants: &[compare::choice(&[LIST, compare::VACUUM, compare::FUSE]), base_ot::CHOICE],
        task: Intersect::NAME,
        paper: Publication {
            key: "PSSZ15",
            title: "Phasing: Private Set Intersection using Permutation-based Hashing",
            reference: "B. Pinkas, T. Schneider, G. Segev, M. Zohner, USENIX Security 2015, ePrint 2015/634",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CUCKOO_CHUNKS),
        deviations: &[
            NO_STASH,
            "The number of bins is no power of two: the function of the right part is added to the left one modulo \
         the number of bins, and an item's three bins are different.",
            "A string also says which of the item's positions the bin is (2 bits): without, a right part in a bin \
         stands for several items.",
            "The right part is at least so wide that at most two of the receiver's items share one, except with \
         probability 2^-43: the bound for the table is for independent positions.",
            HASHED_SUMS,
            SORTED_TAGS,
            PAYLOADS,
            ONE_LEARNS,
            "The OT is ot-kk13, with what it states.",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(5), <Kk13 as Protocol>::ENTRY.modes[0].assumptions, &[SIZES])],
    };
    type Code = WalshHadamard;
    const CONTEXT: &'static str = "vesica v1 pssz15 2015 salt to keys";
    const PAYLOAD_DOMAIN: &'static [u8; 16] = b"PSSZ15  payloads";

    fn strings(request: &IntersectRequest, bins: usize) -> Result<Strings, Unsupported> {
        // A left part has at least so many bits.
        let left_bits = bins.max(1).ilog2();
        let right_bits = (bits_for_all_pairs(request) - left_bits)
            .max(right_bits(request.receiver_items, FailureEvent::HashTable.bits()));
        Ok(Strings { kind: StringKind::RightPart, chunks: Chunks::of_bytes(right_bits + POSITION_BITS)? })
    }
}
