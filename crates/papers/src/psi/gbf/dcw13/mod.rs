//! PSI from a garbled Bloom filter: Dong, Chen, Wen, "When Private Set Intersection Meets Big Data: An
//! Efficient and Scalable Protocol" (CCS 2013), against semi-honest parties, with the random transfers of
//! Pinkas, Schneider, Zohner, "Faster Private Set Intersection Based on OT Extension" (USENIX Security
//! 2014), section 4.3.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   for each group of cells:
//!      r_i[0], r_i[1]            [ a random OT for each cell i ]         c_i random, r_i[c_i]
//!                                                                     b: the Bloom filter of Y
//!                                2. d_i = b_i + c_i
//!      <------------------------------------------------------------------------
//!   g_i = r_i[1 + d_i]                                                g_i = r_i[c_i], the same where b_i = 1
//!
//!   H(x, sum of g_i over the cells i of x) = tag, proof, key          H(y, sum of g_i over the cells i of y)
//!                                3. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                4. (labelled) payload_x + G(key_x), in the order of 3
//!      ------------------------------------------------------------------------>
//!                                5. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! For `x` in `Y` all bits at its cells are ones, and both sums are equal. For any other `x` some bit is
//! zero, except with the probability that sets the number of hash functions; there the receiver knows the
//! other string of that transfer, and the sum is random to it. Sums of several items may depend on each
//! other, but each is random, and is hashed together with its item.
//!
//! # Why there is no malicious mode
//!
//! The paper has one, in which the sender encrypts the garbled filter, and shares the key among the first
//! strings of all transfers with a threshold of half of them, so that a receiver with ones nearly everywhere
//! cannot decrypt. Rindal and Rosulek (ePrint 2016/746) showed that it is insecure: nothing checks the
//! shares, and a sender that puts a wrong one into one transfer learns the receiver's bit there from
//! whether the receiver can go on. [`rr16`](super::rr16) is their repair. Without either, a receiver that chooses
//! ones everywhere can test any item against the tags of `X`.
//!
//! | paper | here | what |
//! |---|---|---|
//! | client `C`, server `S` | [`Receiver`], `Y`; [`Sender`], `X` | who learns; who has the garbled filter |
//! | `m`, `k` | `shape.len()`, `shape.segments` | cells, hash functions |
//! | `BF_C`, `GBF_S` | `b`, `g` | the filter, the garbled filter |
//! | `GBF_(C and S)` | the receiver's `g` | what the transfers give |
//! | `h_i` | [`Gbf`](vesica_structures::okvs::Gbf) | the positions of an item |

mod messages;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Channel, CostClass, Entry, Mode, Protocol, Role, Rounds, Status, Task, assume, assumptions};
use vesica_structures::facts::{Paper, Unsupported};

pub(crate) use messages::MESSAGES;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use super::filter::Filter;
use crate::psi::gbf::GROUPS_SEARCH;
use vesica_protocols::psi::toss::bound;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The protocol `dcw13`.
#[derive(Clone, Copy, Debug)]
pub enum Dcw13 {}

impl Protocol for Dcw13 {
    const ENTRY: Entry = Entry {
        id: "dcw13",
        aliases: &["gbf"],
        variants: &[base_ot::CHOICE],
        task: Intersect::NAME,
        paper: Paper {
            key: "DCW13",
            title: "When Private Set Intersection Meets Big Data: An Efficient and Scalable Protocol",
            reference: "Dong, Chen, Wen. ACM CCS 2013, ePrint 2013/515",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::GBF),
        deviations: &[
            "Semi-honest mode only. The paper's malicious mode is insecure, as Rindal and Rosulek showed (ePrint \
             2016/746): shares of the key are not checked, so that a sender learns bits of the filter from whether \
             the receiver can go on. rr16 is their repair.",
            "The garbled filter is random, as in PSZ14, section 4.3: its cells are strings of random transfers, and \
             the sender sends a hash of each item's sum, instead of a filter that encodes its items. So a cell costs \
             its transfer and one bit.",
            "The filter is partitioned: each hash function has a segment of cells of its own. Transfers are made for \
             10^6 cells at most at a time.",
            "The number of hash functions follows from the probability that one of the sender's other items is a false \
             positive, 41 + log2(n_s), instead of the security parameter.",
            "The random OTs are extended by SoftSpokenOT; their choices are random too, and the receiver sends the \
             difference to the filter's bits.",
            "Tags are sorted on all bits and Golomb-Rice coded.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::between(4, 188),
            assumptions![
                <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
                assume![
                    "AES-128 as a random permutation (positions of items) and as an ideal cipher (H)",
                    "BLAKE3 is a random oracle (keys from the salt, keystreams of payloads)",
                    GROUPS_SEARCH,
                ],
            ],
            &[SIZES],
        )],
    };
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, _: Role) -> u64 {
        super::BYTES_PER_TRANSFER * params.groups.size() as u64
    }
}

/// The functions of items under this salt.
fn filter(params: &Params, ch: &Channel, salt: &[u8; 32]) -> Filter {
    let mut hasher = bound("vesica v1 dcw13 2026 salt to keys", ch);
    let finish = &params.finish;
    hasher.update(&[u8::from(finish.both_learn)]);
    for size in [
        finish.sender_items,
        finish.receiver_items,
        params.shape.segments,
        params.shape.cells,
        finish.tag_bits as usize,
        finish.payload_bytes,
    ] {
        hasher.update(&(size as u64).to_le_bytes());
    }
    Filter::derive(params.shape, hasher.update(salt), b"DCW13   payloads")
}
