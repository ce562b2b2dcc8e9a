//! The rows.

use vesica_party::{
    Assumption, CostClass, Entry, Leak, Learner, Mode, Resistance, Rounds, Security, Status, Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported, bitwise_and_width};
use vesica_structures::okvs::Kind;

use super::oracle::{self, FixedKeyAes, Sha256};
use super::{Variant, params};
use vesica_protocols::circuit_psi::vole::LTSXQ26;
use vesica_protocols::styles;
use vesica_protocols::tags::{self, TagCoding};
use vesica_protocols::tasks::{Intersect, SIZES};

const HOW: &str = "the receiver gets the sender's secret s, and with it every item of the sender that is in a \
                   dictionary of its own. The sender's tag of x hides A(x) + (s & delta(x)), and the receiver knows \
                   A(x) and delta(x) for every x: it takes candidates of light delta(x), guesses the few bits of s \
                   that matter, and sees by a tag when they are right. Semi-honest: 2^25 hashes at 2^20 items. \
                   Malicious: a receiver that flips one bit of each D(y) needs about 2^15. See docs/ltsxq26.md; \
                   ltsxq26-wide is the sound repair";

const ITEMS: Leak =
    Leak { to: Learner::Receiver, what: "all items of the sender that the receiver can think of", extra: None };

const fn mode(security: Security, corrupt_sender: Resistance, assumptions: &'static [Assumption]) -> Mode {
    Mode {
        security,
        corrupt_sender,
        corrupt_receiver: Resistance::None,
        rounds: Rounds::exactly(3),
        assumptions,
        leakage: &[SIZES, ITEMS],
    }
}

const fn modes(assumptions: &'static [Assumption]) -> [Mode; 2] {
    [
        mode(Security::SemiHonest, Resistance::SemiHonest, assumptions),
        mode(Security::Malicious, Resistance::Malicious, assumptions),
    ]
}

const SHA_MODES: &[Mode] = &modes(assume![
    (discrete_logarithm "gap-CDH on Ristretto"),
    "random oracles (SHA-512, BLAKE3)",
    "SHA-256 is a random oracle",
    "AES-128 is a PRF (rows)",
]);
const AES_MODES: &[Mode] = &modes(assume![
    (discrete_logarithm "gap-CDH on Ristretto"),
    "random oracles (SHA-512, BLAKE3)",
    "AES-128 is an ideal cipher (H^b, H^o, H^k, rows)",
]);

const BASE_OTS: &str = "Base OTs from MR19 instead of SimpleOT.";
const OKVS_SHAPES: &str = "The shapes of the OKVS follow from our bounds at 2^-43, not from the cited papers' \
                           measurements: 1.23 n cells (clustered), 1.05 n (band).";
const FREE: &str = "Free cells of the table are random.";
const OUTER: &str = "H^o is applied as the figures have it, and all hashes are whole; the authors' code leaves H^o \
                     out and runs 2 of the 64 rounds of SHA-256, or 2 of the 10 of AES.";
const TWEAK: &str = "H^o is the tweakable hash of Guo, Katz, Wang, Yu (2020), the item its tweak; the paper does not \
                     say how its arguments enter. tau is added to the item.";

macro_rules! broken_row {
    ($(#[$doc:meta])* $name:ident, $id:literal, $oracle:ty, $okvs:ident, $deviations:expr, $modes:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Variant for $name {
            const ENTRY: Entry = Entry {
                id: $id,
                aliases: &[],
                variants: &[],
                task: Intersect::NAME,
                paper: LTSXQ26,
                status: Status::Broken { how: HOW, false_match_bits: None },
                cost: CostClass::Symmetric,
                map_and_compare: Some(styles::BITS_OF_HASHES),
                deviations: $deviations,
                modes: $modes,
            };
            type Oracle = $oracle;
            const OKVS: Kind = Kind::$okvs;
            const CODING: TagCoding = TagCoding::Shuffled;

            fn widths(sender_items: usize, receiver_items: usize) -> Result<(usize, u32), Unsupported> {
                let width = params::figure_14(sender_items, receiver_items);
                Ok((width as usize, width))
            }
        }
    };
}

broken_row!(
    /// `ltsxq26`: SHA-256 and the clustered OKVS.
    Sha, "ltsxq26", Sha256, Clustered, &[BASE_OTS, OKVS_SHAPES, FREE, OUTER], SHA_MODES
);
broken_row!(
    /// `ltsxq26-band`: SHA-256 and the band OKVS.
    ShaBand, "ltsxq26-band", Sha256, Band, &[BASE_OTS, OKVS_SHAPES, FREE, OUTER], SHA_MODES
);
broken_row!(
    /// `ltsxq26-aes`: fixed-key AES and the clustered OKVS.
    Aes, "ltsxq26-aes", FixedKeyAes, Clustered, &[BASE_OTS, OKVS_SHAPES, FREE, OUTER, TWEAK], AES_MODES
);
broken_row!(
    /// `ltsxq26-aes-band`: fixed-key AES and the band OKVS.
    AesBand, "ltsxq26-aes-band", FixedKeyAes, Band, &[BASE_OTS, OKVS_SHAPES, FREE, OUTER, TWEAK], AES_MODES
);

/// `ltsxq26-wide`: Figure 14 with strings so wide that it holds.
#[derive(Clone, Copy, Debug)]
pub enum Wide {}

impl Variant for Wide {
    const ENTRY: Entry = Entry {
        id: "ltsxq26-wide",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            reference: "Ling, Tang, Shan, Xiang, Qiu. 2026; widened as Pinkas, Rosulek, Trieu, Yanai (Crypto 2019, \
                        ePrint 2019/634) have it",
            ..LTSXQ26
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::BITS_OF_HASHES),
        deviations: &[
            "Figure 14 with l of 396 to 461 instead of log2(n_s n_r) + 40, so that each of the sender's items outside \
             of the intersection differs from what the receiver knows in 128 unknown bits of s, except with 2^-41 for \
             all of them together: half of the failure budget.",
            "H^b is AES under the keys a_i, b_i; H^o is BLAKE3, keyed by w and the item: of a string with 128 unknown \
             bits it gives nothing away. The paper's out of log2(n_s n_r) + 40 bits is 42 + log2(n_s) + log2(n_r), \
             for collisions have a share of the budget.",
            "Tags are sorted on all bits and Golomb-Rice coded: the sort is the shuffle.",
            "No malicious mode: a receiver that encodes other strings than D(y) finds s bit by bit, whatever l is.",
            BASE_OTS,
            OKVS_SHAPES,
            FREE,
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                (discrete_logarithm "gap-CDH on Ristretto"),
                "random oracles (SHA-512, BLAKE3)",
                "AES-128 is a PRF whose Davies-Meyer form is one too (H^b), and a PRF for rows",
            ],
            &[SIZES],
        )],
    };
    type Oracle = oracle::Wide;
    const OKVS: Kind = Kind::Band;
    const CODING: TagCoding = TagCoding::SortedCoded;

    fn widths(sender_items: usize, receiver_items: usize) -> Result<(usize, u32), Unsupported> {
        // Twice as many evaluations are half the probability.
        Ok((bitwise_and_width(2 * sender_items)?, tags::tag_bits(sender_items, receiver_items)))
    }
}
