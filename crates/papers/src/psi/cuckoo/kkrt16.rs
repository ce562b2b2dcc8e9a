//! `kkrt16`: a batched OPRF, one instance a bin (section 5 and Figure 5 of the paper).

use std::marker::PhantomData;

use vesica_mpc::code_oprf::{Kkrt16 as Oprf, PseudoRandom};
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::filters;

use super::{Chunks, LIST, NO_STASH, ONE_LEARNS, PAYLOADS, Paper, SORTED_TAGS, StringKind, Strings};
use vesica_protocols::compared_entries;
use vesica_protocols::psi::finish::compare::{self, Comparison, List};
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper KKRT16, and what its tags are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Kkrt16<C = List>(PhantomData<fn() -> C>);

const ENTRY: Entry = Entry {
    id: "kkrt16",
    aliases: &[],
    variants: &[compare::choice(&[LIST, compare::VACUUM, compare::FUSE, compare::BLOOM, compare::CUCKOO])],
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

const ENTRIES: [Entry; 5] = compared_entries!(
    ENTRY,
    LIST,
    "kkrt16:compare=vacuum" => compare::VACUUM,
    "kkrt16:compare=fuse" => compare::FUSE,
    "kkrt16:compare=bloom" => compare::BLOOM,
    "kkrt16:compare=cuckoo" => compare::CUCKOO,
);

impl<C: Comparison> Paper for Kkrt16<C> {
    type Code = PseudoRandom;
    const ENTRY: Entry = ENTRIES[C::PLACE];
    const FILTER: Option<filters::Kind> = C::FILTER;
    const CONTEXT: &'static str = "vesica v1 kkrt16 2016 salt to keys";
    const PAYLOAD_DOMAIN: &'static [u8; 16] = b"KKRT16  payloads";

    fn strings(_: &IntersectRequest, _: usize) -> Result<Strings, Unsupported> {
        Ok(Strings { kind: StringKind::Hash, chunks: Chunks::one(u128::BITS) })
    }
}
