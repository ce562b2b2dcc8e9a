//! The three rows of the registries.

use std::ops::RangeInclusive;

use vesica_party::{Entry, Leak, Learner, Mode, Protocol, Resistance, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use super::{Czz24, Params, Receiver, Sender};
use crate::registry::require_mode;
use crate::tasks::{AggregateRequest, Cardinality, Intersect, IntersectRequest, Sum};

const PAPER: Paper = Paper {
    key: "CZZ24",
    title: "Private Set Operations from Multi-Query Reverse Private Membership Test",
    reference: "Chen, Zhang, Zhang, Dong, Liu. PKC 2024, ePrint 2022/652",
};

const SIZES: Leak = Leak { to: Learner::Both, what: "the number of distinct items of the other side (see --pad-to)" };
const COUNT: Leak = Leak { to: Learner::Receiver, what: "the number of common items, exactly" };

const DIGESTS: &str = "The client's answers are digests, truncated to the width that their collisions allow, sorted (which shuffles them) and Golomb-Rice coded, in \
                       the place of a shuffled list of points or a Bloom filter.";
const SHUFFLED: &str = "The client asks in a random order, so that the bits say nothing of the order of its table.";

const fn mode(assumptions: &'static [&'static str], leakage: &'static [Leak]) -> [Mode; 1] {
    [Mode {
        security: Security::SemiHonest,
        corrupt_sender: Resistance::SemiHonest,
        corrupt_receiver: Resistance::SemiHonest,
        assumptions,
        leakage,
    }]
}

const TEST: &[&str] = &["DDH on Ristretto255", "hash-to-group is a random oracle", "BLAKE3 is a pseudo-random generator on group elements"];
const TEST_AND_OT: &[&str] = &[
    "DDH on Ristretto255",
    "gap-CDH on Ristretto255",
    "hash-to-group is a random oracle, as are SHA-512 and BLAKE3",
    "AES-128 as a random permutation and as a PRF",
];

impl Protocol for Czz24<Intersect> {
    const ENTRY: Entry = Entry {
        id: "czz24",
        aliases: &["mqrpmt"],
        task: Intersect::NAME,
        paper: PAPER,
        // ecdh-hfh99 sends less, and carries payloads.
        status: Status::Sound,
        deviations: &[
            DIGESTS,
            SHUFFLED,
            "Random OTs by SoftSpokenOT, each turned by a bit; the server's choice of nothing costs no message.",
        ],
        modes: &mode(TEST_AND_OT, &[SIZES]),
    };
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender<Intersect>;
    type Receiver = Receiver<Intersect>;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        require_mode::<Self>(request.security)?;
        request.check_sizes()?;
        if request.payload_bytes > 0 || request.both_learn {
            return Err(Unsupported::new(
                "payloads, and matches for the sender, are not served by protocol czz24",
                "choose another protocol, ecdh-hfh99 say",
            ));
        }
        let IntersectRequest { sender_items, receiver_items, security, .. } = *request;
        let sets = AggregateRequest { sender_items, receiver_items, security, columns: 0, groups: 1, at_least: 0, noisy: false };
        Params::new(sets, size_of::<u128>())
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

impl Protocol for Czz24<Cardinality> {
    const ENTRY: Entry = Entry {
        id: "czz24-cardinality",
        aliases: &[],
        task: Cardinality::NAME,
        paper: PAPER,
        status: Status::Recommended,
        deviations: &[DIGESTS, SHUFFLED],
        modes: &mode(TEST, &[SIZES]),
    };
    type Task = Cardinality;
    type Params = Params;
    type Sender = Sender<Cardinality>;
    type Receiver = Receiver<Cardinality>;

    fn derive(request: &AggregateRequest) -> Result<Params, Unsupported> {
        require_mode::<Self>(request.security)?;
        request.check_one_count()?;
        Params::new(*request, 0)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

impl Protocol for Czz24<Sum> {
    const ENTRY: Entry = Entry {
        id: "czz24-sum",
        aliases: &[],
        task: Sum::NAME,
        paper: PAPER,
        status: Status::Recommended,
        deviations: &[
            DIGESTS,
            SHUFFLED,
            "Random OTs by SoftSpokenOT, each turned by a bit; the value's mask is one of the pads itself, so that an item costs one masked value and not two.",
            "Sums in Z_2^64.",
        ],
        modes: &mode(TEST_AND_OT, &[SIZES, COUNT]),
    };
    type Task = Sum;
    type Params = Params;
    type Sender = Sender<Sum>;
    type Receiver = Receiver<Sum>;

    fn derive(request: &AggregateRequest) -> Result<Params, Unsupported> {
        require_mode::<Self>(request.security)?;
        request.check_one_total()?;
        if request.columns == 0 {
            return Err(Unsupported::new("a sum of no columns", "ask for the task cardinality, or give values"));
        }
        Params::new(*request, size_of::<u64>() * request.columns)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
