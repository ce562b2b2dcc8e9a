//! `oos17`: one 1-of-`2^k` OT a bin (the paper's application to PSI), in the semi-honest model.

use vesica_mpc::base_ot;
use vesica_mpc::code_oprf::{Bch, Oos17 as Ot};
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};

use super::{Chunks, LIST, NO_STASH, ONE_LEARNS, PAYLOADS, Paper, SORTED_TAGS, StringKind, Strings};
use vesica_protocols::bins::POSITIONS;
use vesica_protocols::psi::finish::compare;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The paper OOS17.
#[derive(Clone, Copy, Debug)]
pub enum Oos17 {}

impl Paper for Oos17 {
    const ENTRY: Entry = Entry {
        id: "oos17",
        aliases: &[],
        variants: &[compare::choice(&[LIST, compare::VACUUM, compare::FUSE]), base_ot::CHOICE],
        task: Intersect::NAME,
        paper: <Ot as Protocol>::ENTRY.paper,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CUCKOO_ONE),
        deviations: &[
            NO_STASH,
            "A string has as many bits as the pairs of items that meet in a bin ask for, instead of those of the \
         items: 41 + log2(3 n_s). It is a hash of the item and its position that has nothing to do with the bin.",
            SORTED_TAGS,
            PAYLOADS,
            ONE_LEARNS,
            "The OT is ot-oos17 in its semi-honest mode, with what it states.",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(5), <Ot as Protocol>::ENTRY.modes[0].assumptions, &[SIZES])],
    };
    type Code = Bch;
    const CONTEXT: &'static str = "vesica v1 oos17 2017 salt to keys";
    const PAYLOAD_DOMAIN: &'static [u8; 16] = b"OOS17   payloads";

    /// A bin has one string of the receiver at most: so `3 n_s` pairs of strings are compared at most, of
    /// which one is equal with probability at most [`FailureEvent::ZeroDifference`].
    fn strings(request: &IntersectRequest, _: usize) -> Result<Strings, Unsupported> {
        let pairs = POSITIONS.saturating_mul(request.sender_items);
        Ok(Strings {
            kind: StringKind::Hash,
            chunks: Chunks::one(FailureEvent::ZeroDifference.bits() + ceil_log2(pairs)),
        })
    }
}
