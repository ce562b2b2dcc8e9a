//! `kkrt16`: a batched OPRF, one instance a bin (section 5 and Figure 5 of the paper).

use vesica_mpc::base_ot;
use vesica_mpc::code_oprf::{Kkrt16 as Oprf, PseudoRandom};
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;

use super::{Chunks, LIST, NO_STASH, ONE_LEARNS, PAYLOADS, Paper, SORTED_TAGS, StringKind, Strings};
use vesica_protocols::psi::finish::compare;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper KKRT16.
#[derive(Clone, Copy, Debug)]
pub enum Kkrt16 {}

impl Paper for Kkrt16 {
    const ENTRY: Entry = Entry {
        id: "kkrt16",
        aliases: &[],
        variants: &[
            compare::choice(&[LIST, compare::VACUUM, compare::FUSE, compare::BLOOM, compare::CUCKOO]),
            base_ot::CHOICE,
        ],
        task: Intersect::NAME,
        paper: <Oprf as Protocol>::ENTRY.paper,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CUCKOO_ONE),
        deviations: &[
            NO_STASH,
            "The OPRF's input is a hash of 128 bits, under a key of the run for each of the three functions, instead of \
         the item and the number of the function.",
            SORTED_TAGS,
            PAYLOADS,
            ONE_LEARNS,
            "The OPRF is oprf-kkrt16, with what it states.",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(5), <Oprf as Protocol>::ENTRY.modes[0].assumptions, &[SIZES])],
    };
    type Code = PseudoRandom;
    const CONTEXT: &'static str = "vesica v1 kkrt16 2016 salt to keys";
    const PAYLOAD_DOMAIN: &'static [u8; 16] = b"KKRT16  payloads";

    fn strings(_: &IntersectRequest, _: usize) -> Result<Strings, Unsupported> {
        Ok(Strings { kind: StringKind::Hash, chunks: Chunks::one(u128::BITS) })
    }
}
