//! The row of the registry.

use vesica_mpc::base_ot;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{CostClass, Entry, Protocol, Rounds, Status, Task, assumptions};

use super::Jsz22R;
use crate::union::jsz22;
use vesica_protocols::membership::{BESIDE_UNION, For, semi_honest};
use vesica_protocols::styles;
use vesica_protocols::tasks::Union;

impl For<Union> for Jsz22R {
    const ENTRY: Entry = Entry {
        id: "jsz22-r",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: jsz22::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST),
        deviations: &[
            jsz22::OPRF,
            jsz22::NETWORK,
            jsz22::BINS,
            jsz22::DUMMIES,
            "The three values of an item travel in ascending order, and items in a random one. In the order of the \
             hash functions they would tell which of its bins a common item lies in, and so which item it may be.",
            "Random OTs by ot-silent, each turned by a bit. A place takes one string, since a common item has no \
             second one: the record, of any width, under a pad that BLAKE3 makes of an OT's block.",
        ],
        modes: &semi_honest(
            Rounds::between(9, 13),
            assumptions![jsz22::ASSUMPTIONS, <SilentOt as Protocol>::ENTRY.modes[0].assumptions],
            BESIDE_UNION,
        ),
    };
}
